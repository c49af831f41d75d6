"""`load_history` and its relatives: the update history, none lost and none twice, in one pass over the pages."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, Unpack

import pyarrow as pa

from ledgerframes.decoding.history import ALL, decode_items, decode_page
from ledgerframes.decoding.rebuild import rebuild_rows
from ledgerframes.errors import DecodeError, InputError, PagingError, PartialResultError, RequestError
from ledgerframes.instants import format_instant
from ledgerframes.interfaces.history import PageRows, read_pages
from ledgerframes.interfaces.scan import UPDATE_BY_HASH, UPDATE_BY_ID
from ledgerframes.loaders.frames import As, Decimals, check_shape, shape, to_arrow
from ledgerframes.loaders.probes import plan_window
from ledgerframes.loaders.progress import progress_of
from ledgerframes.loaders.provenance import Provenance
from ledgerframes.paging.history import MAXIMUM, HistoryReader
from ledgerframes.paging.window import Bound, wanted_window
from ledgerframes.settings import source_of
from ledgerframes.tables.catalogue import table_named
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from ledgerframes.transport.judging import Answer
from ledgerframes.transport.request import Endpoint

if TYPE_CHECKING:
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.loaders")

#: A load that names no part of the history stops here and says what the whole would cost.
_PAGES_UNASKED: Final = 100
_NAMES: Final = ("updates", "events", "reassignments")


class History(NamedTuple):
    """The three tables of a part of the update history.

    Attributes:
        updates: one row an update.
        events: one row an event of a transaction, in preorder.
        reassignments: one row a half of a reassignment.
    """

    updates: Any
    events: Any
    reassignments: Any


def load_history(
    net: Network,
    *,
    start: Bound | None = None,
    end: Bound | None = None,
    last: str | timedelta | None = None,
    limit: int | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    page_size: int = 1000,
    as_: As = "pandas",
    decimals: Decimals = "object",
    allow_partial: bool = False,
    progress: bool | None = None,
) -> History:
    """Load a part of the update history (contract: POST /v2/updates).

    Args:
        net: the network.
        start: inclusive, in UTC; a time for every migration from there, or a pair (migration id, time).
        end: exclusive; likewise.
        last: count back from now: `"1h"`, `"7d"`, a timedelta; instead of `start`.
        limit: how many updates at most.
        columns: the columns to keep, by table name; all by default.
        page_size: how many items a request asks for; adapted to what the server can do.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.
        progress: True shows a bar, False nothing, None a bar where somebody looks.

    Returns:
        History(updates, events, reassignments), each in order of migration id, record time and the server's order.

    Raises:
        InputError: an argument breaks a rule, or no part is named and the history is long.
        RequestError: the servers gave no answer.
        DecodeError: an answer breaks the contract.
        PagingError: the pages contradict each other.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox() as net:
        ...     updates, events, reassignments = lf.load_history(net, limit=100)
        >>> len(updates)
        100
    """
    options = HistoryOptions(
        start=start, end=end, last=last, limit=limit, page_size=page_size, as_=as_, decimals=decimals,
        allow_partial=allow_partial, progress=progress,
    )  # fmt: skip
    return History(**_load(net, ALL, columns or {}, options))


class HistoryOptions(TypedDict, total=False):
    """The keyword arguments that the loaders of the history share; see `load_history`."""

    start: Bound | None
    end: Bound | None
    last: str | timedelta | None
    limit: int | None
    page_size: int
    as_: As
    decimals: Decimals
    allow_partial: bool
    progress: bool | None


def load_updates(net: Network, *, columns: Sequence[str] | None = None, **options: Unpack[HistoryOptions]) -> Any:
    """Load `updates` alone, keeping the columns named; the other arguments and the errors are `load_history`'s."""
    return _load_one(net, "updates", columns, options)


def load_events(net: Network, *, columns: Sequence[str] | None = None, **options: Unpack[HistoryOptions]) -> Any:
    """Load `events` alone, keeping the columns named; the other arguments and the errors are `load_history`'s."""
    return _load_one(net, "events", columns, options)


def load_reassignments(net: Network, *, columns: Sequence[str] | None = None, **options: Unpack[HistoryOptions]) -> Any:
    """Load `reassignments` alone, keeping the columns named; the rest is `load_history`'s."""
    return _load_one(net, "reassignments", columns, options)


def load_update(net: Network, update_id: str, *, as_: As = "pandas", decimals: Decimals = "object") -> History:
    """Load one update by its id (contract: GET /v1/updates/{update_id}, or its successor).

    Raises:
        NotFoundError: the scan does not know the update.
    """
    check_shape(as_, decimals)
    return _single(net.scan.raw("update_by_id", update_id), UPDATE_BY_ID, f"update {update_id}", as_, decimals)


def load_update_by_hash(net: Network, hash: str, *, as_: As = "pandas", decimals: Decimals = "object") -> History:  # noqa: A002
    """Load the update of a prepared transaction's hash (contract: GET /v2/updates/hash/{hash}).

    Raises:
        NotFoundError: no scan has the hash indexed.
    """
    check_shape(as_, decimals)
    return _single(net.scan.raw("update_by_hash", hash), UPDATE_BY_HASH, f"hash {hash}", as_, decimals)


def rebuild_items(history: History) -> Iterator[dict[str, Any]]:
    """Rebuild the JSON items that the server sent, in order, with exact decimals.

    Args:
        history: what `load_history` gave, in any form, with all columns; parts of it must belong together.

    Yields:
        One dictionary an update, equal to the server's item (`json.loads(text, parse_float=Decimal)`).

    Raises:
        InputError: a column is missing, or an update's events or reassignment are.
    """
    updates = _rows(to_arrow(history.updates, UPDATES, UPDATES.names))
    events_of: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(to_arrow(history.events, EVENTS, EVENTS.names)):
        events_of.setdefault(row["update_id"], []).append(row)
    reassignments = _rows(to_arrow(history.reassignments, REASSIGNMENTS, REASSIGNMENTS.names))
    halves = {row["update_id"]: row for row in reassignments}
    for row in updates:
        update_id = row["update_id"]
        if row["kind"] != "transaction" and update_id not in halves:
            raise InputError(f"history: the reassignment of update {update_id} is missing; pass all three tables")
        if row["kind"] == "transaction" and len(events_of.get(update_id, ())) != row["event_count"]:
            raise InputError(f"history: events of update {update_id} are missing; pass all three tables")
    return rebuild_rows(updates, events_of, halves)


def _rows(data: pa.Table) -> list[dict[str, Any]]:
    """Rows as dictionaries, times as integer microseconds."""
    columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in data.columns]
    rows: list[dict[str, Any]] = pa.table(columns, names=data.column_names).to_pylist()
    return rows


def _load_one(net: Network, name: str, columns: Sequence[str] | None, options: HistoryOptions) -> Any:
    return _load(net, {name}, {} if columns is None else {name: columns}, options)[name]


def _load(
    net: Network, tables: Collection[str], columns: Mapping[str, Sequence[str]], options: HistoryOptions
) -> dict[str, Any]:
    as_, decimals = options.get("as_", "pandas"), options.get("decimals", "object")
    check_shape(as_, decimals)
    wanted = wanted_window(options.get("start"), options.get("end"), options.get("last"))
    limit = options.get("limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise InputError(f"limit={limit!r} is not a whole number of updates, 1 or more")
    kept = {name: table_named(name).pick(columns.get(name)) for name in tables}
    for name in columns:
        if name not in kept:
            raise InputError(f"columns names table {name!r}; this load gives {', '.join(_NAMES)}")
    reader = HistoryReader(wanted, limit=limit, page_size=_page_size(options.get("page_size", MAXIMUM)))
    pages = _Pages(net, reader, kept, asked=limit is not None or not wanted.whole)
    pages.read(progress=options.get("progress"), allow_partial=options.get("allow_partial", False))
    attrs = pages.provenance().attrs()
    return {
        name: shape(data, table_named(name), as_=as_, decimals=decimals, attrs=attrs)
        for name, data in pages.tables(attrs).items()
    }


def _page_size(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAXIMUM:
        raise InputError(f"page_size={value!r} is not a whole number from 1 to {MAXIMUM}")
    return value


class _Pages:
    """Collects the record batches of one read."""

    def __init__(
        self, net: Network, reader: HistoryReader, columns: Mapping[str, Sequence[str]], *, asked: bool
    ) -> None:
        self._net = net
        self._reader = reader
        self._columns = columns
        self._asked = asked
        self._batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in columns}
        self._servers: dict[str, None] = {}
        self._complete = True

    def read(self, *, progress: bool | None, allow_partial: bool) -> None:
        with progress_of("history", shown=progress, total=self._reader.limit) as shown:
            try:
                for count, page in enumerate(read_pages(self._net.scan, self._reader), 1):
                    if count >= _PAGES_UNASKED and not self._asked:
                        raise self._too_much()
                    self._add(page)
                    shown.advance(len(page.rows), format_instant(page.page.glimpse.cursors[page.rows[-1]].micros)[:19])
            except (RequestError, DecodeError, PagingError, PartialResultError) as error:
                if not allow_partial:
                    raise
                self._complete = False
                _log.warning("the load ended early: %s", error)

    def _add(self, page: PageRows) -> None:
        rows = page.rows if len(page.rows) < len(page.page) else None
        self._servers[source_of(page.server)] = None
        for name, batch in decode_page(page.page.raw, tables=self._columns.keys(), rows=rows).batches.items():
            self._batches[name].append(batch.select(list(self._columns[name])))

    def _too_much(self) -> InputError:
        estimate = plan_window(self._net, self._reader.window)
        return InputError(
            f'this would load the whole history ({estimate}); say how much you want, for example last="1h",'
            ' start="2026-01-30" or limit=10_000, or start=(0, "0001-01-01") for all of it'
        )

    def tables(self, attrs: Mapping[str, Any]) -> dict[str, pa.Table]:
        """The collected data; each table's batches are let go as they are joined."""
        found = {}
        for name, columns in self._columns.items():
            declared = table_named(name).schema
            schema = pa.schema([declared.field(column) for column in columns]).with_metadata(
                {**declared.metadata, "ledgerframes": json.dumps(attrs)}
            )
            batches = [batch.replace_schema_metadata(schema.metadata) for batch in self._batches.pop(name)]
            found[name] = pa.Table.from_batches(batches, schema)
        return found

    def provenance(self) -> Provenance:
        """Where the data came from."""
        reader = self._reader
        window = reader.window
        return Provenance(
            tuple(self._servers), str(window), reader.last, self._complete, from_beginning=window.from_beginning
        )


def _single(answer: Answer[bytes] | None, endpoint: Endpoint, what: str, as_: As, decimals: Decimals) -> History:
    assert answer is not None, "both calls raise where there is no such update"
    batches = decode_items([answer.value], endpoint=f"{endpoint.method} {endpoint.path}").batches
    attrs = Provenance((source_of(answer.server),), what, None, complete=True).attrs()
    return History(
        **{
            name: shape(pa.Table.from_batches([batch]), table_named(name), as_=as_, decimals=decimals, attrs=attrs)
            for name, batch in batches.items()
        }
    )
