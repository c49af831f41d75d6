"""`load_history`, its tables, `load_update`, `load_verdicts` and `rebuild_items`: parts of scan's two histories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import pyarrow as pa

from ledgerframes.arguments import did_you_mean, refuse, shown
from ledgerframes.config.settings import source_of
from ledgerframes.decoding.history import decode_items
from ledgerframes.decoding.rebuild import by_update, rebuild_rows
from ledgerframes.errors import DecodeError, InputError
from ledgerframes.export.exporting import export_tables
from ledgerframes.export.report import ExportReport
from ledgerframes.frames import attrs_of, described, proof_of, shown_by_rows, to_arrow
from ledgerframes.interfaces.paged_histories import EVENT_HISTORY, UPDATE_HISTORY
from ledgerframes.interfaces.scan import UPDATE_BY_HASH, UPDATE_BY_ID
from ledgerframes.loaders.declaring import NAMES, SHAPE, HistoryRequest, history_loader, loader
from ledgerframes.loaders.event_choice import EventChoice
from ledgerframes.loaders.history_reading import read_history
from ledgerframes.loaders.table_loader import TableLoad
from ledgerframes.tables.catalogue import table_named
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from ledgerframes.transport import Answer, Endpoint

Frame = TypeVar("Frame")


@shown_by_rows
class History(NamedTuple, Generic[Frame]):
    """The three tables of a part of the update history.

    Attributes:
        updates: one row per update.
        events: one row per event of a transaction, in preorder.
        reassignments: one row per leg of a reassignment.
    """

    updates: Frame
    events: Frame
    reassignments: Frame

    def __getitem__(self, name: Any) -> Any:
        """A table by its name, or by its place as in every tuple.

        Raises:
            InputError: it is not a table of a history.
        """
        if not isinstance(name, str):
            return tuple.__getitem__(self, name)  # a NamedTuple has no super()
        if name not in self._fields:
            there = ", ".join(self._fields)
            hint = (
                did_you_mean(name, self._fields) or f"; there are {there}, and lf.NAME(history) computes other tables"
            )
            raise InputError(f"history[{name!r}]: a history has no such table{hint}")
        return getattr(self, name)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> ExportReport:
        """Write the three tables as Parquet files, with their provenance; `lf.rewards(path)` and its like read them.

        Args:
            path: a folder, for `updates.parquet`, `events.parquet` and `reassignments.parquet`.
            overwrite: whether files of an earlier one may be replaced.

        Returns:
            Rows and bytes of each table. Personal data is left out unless the history was loaded to keep it.

        Raises:
            InputError: the files are there or cannot be written.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     report = lf.load_history(net).save(folder + "/history")
            ...     len(lf.template_activity(folder + "/history")) > 0
            True
        """
        tables = {}
        for name, frame in self._asdict().items():
            table = table_named(name)
            columns = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
            rows = to_arrow(frame, table, [column for column in table.names if column in columns], name=name)
            tables[name] = described(rows, {**proof_of(frame), "table": name, "rows": len(rows)})
        return export_tables(tables, path, overwrite=overwrite)


@history_loader(UPDATE_HISTORY, NAMES, "source")
def load_history(request: HistoryRequest) -> History[Any]:
    """Load a part of the update history (contract: POST /v2/updates).

    Args:
        net: the network.

    Returns:
        History(updates, events, reassignments): one row per update, per event of a transaction and per leg of a
        reassignment, in the order of migration id, record time and the server. Times are UTC in microseconds,
        amounts are in the unit that `lf.describe` gives.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     updates, events, reassignments = lf.load_history(net, limit=100)
        >>> len(updates)
        100
    """
    return History(**read_history(request))


@history_loader(UPDATE_HISTORY, ("updates",))
def load_updates(request: HistoryRequest) -> Any:
    """Load the table `updates` of a part of the update history (contract: POST /v2/updates).

    Returns:
        One row per update, in the order of migration id, record time and the server. Times are UTC in microseconds;
        `lf.describe("updates")` lists every column with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     frame = lf.load_updates(net, columns=["record_time", "update_id"])
        >>> list(frame.columns)
        ['record_time', 'update_id']
    """
    return read_history(request)["updates"]


@history_loader(UPDATE_HISTORY, ("events",))
def load_events(
    request: HistoryRequest,
    *,
    template: str | Iterable[str] | None = None,
    party: str | Iterable[str] | None = None,
    choice: str | Iterable[str] | None = None,
) -> Any:
    """Load the table `events` of a part of the update history (contract: POST /v2/updates).

    Args:
        template: keep only events of this template, as Module:Entity, or of one of several. The pages are read all the
            same, and what is not wanted of each is dropped. `attrs["only"]` says so, and computed tables, which need
            all events, refuse the frame.
        party: keep only events in which this party acts, signs or observes, or one of several.
        choice: keep only exercises of this choice, or of one of several.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     frame = lf.load_events(net, columns=["record_time", "update_id"])
        >>> list(frame.columns)
        ['record_time', 'update_id']
    """
    only = EventChoice.of(template=template, party=party, choice=choice)
    return read_history(replace(request, only=only))["events"]


@history_loader(UPDATE_HISTORY, ("reassignments",))
def load_reassignments(request: HistoryRequest) -> Any:
    """Load the table `reassignments` of a part of the update history (contract: POST /v2/updates).

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     frame = lf.load_reassignments(net, columns=["record_time", "update_id"])
        >>> list(frame.columns)
        ['record_time', 'update_id']
    """
    return read_history(request)["reassignments"]


@loader(UPDATES, keywords=SHAPE)
def load_update(
    load: TableLoad,
    update_id: str | None = None,
    *,
    hash: str | None = None,  # noqa: A002 - the contract's word
) -> History[Any]:
    """Load one update by its id, or by the hash of its prepared transaction.

    Contract: GET /v1/updates/{update_id} or its successor, and GET /v2/updates/hash/{hash}. Every scan is asked, until
    one has it.

    Args:
        update_id: the update's id.
        hash: instead, the hash of the prepared transaction, as in `external_transaction_hash` of the updates.

    Returns:
        History(updates, events, reassignments), the first with one row.

    Raises:
        InputError: an argument breaks a rule, or not exactly one of `update_id` and `hash` is given.
        NotFoundError: no scan knows the update, as all may have pruned it, or none has the hash indexed.
        DecodeError: the answer is another update.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50, release="0.9") as net:
        ...     updates = lf.load_updates(net)
        ...     by_id = lf.load_update(net, updates.update_id[0])
        ...     by_hash = lf.load_update(net, hash=updates.external_transaction_hash.dropna().iloc[0])
        >>> by_id.updates.update_id[0] == updates.update_id[0], len(by_hash.updates)
        (True, 1)
    """
    if (update_id is None) == (hash is None):
        raise InputError(
            f"update_id={shown(update_id)} and hash={shown(hash)}: give one of them, the id of an update or the hash of"
            " its prepared transaction"
        )
    calls = load.net.scan.raw
    if hash is not None:
        return _single(load, calls.update_by_hash(hash), UPDATE_BY_HASH, f"hash {hash}")
    answer = calls.update_by_id(cast("str", update_id))
    return _single(load, answer, UPDATE_BY_ID, f"update {update_id}", update_id=update_id)


def rebuild_items(history: History[Any]) -> Iterator[dict[str, Any]]:
    """Rebuild the JSON items that the server sent, in order, with exact decimals.

    Args:
        history: the result of `load_history`, in any form, with all columns; the three tables must belong together.

    Returns:
        An iterator with one dictionary per update, equal to the server's item as
        `json.loads(text, parse_float=Decimal)` reads it.

    Raises:
        InputError: a column, an update's events or its reassignment is missing, or personal data was left out.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     history = lf.load_history(net)
        >>> item = next(lf.rebuild_items(history))
        >>> item["update_id"] == history.updates.update_id[0]
        True
    """
    if not all(hasattr(history, name) for name in NAMES):
        refuse("history", history, "give the result of lf.load_history")
    _check_as_sent(history)
    tables = ((table, getattr(history, table.name)) for table in (UPDATES, EVENTS, REASSIGNMENTS))
    rows = by_update({table.name: to_arrow(frame, table, table.names) for table, frame in tables})
    for row, events, leg in rows:
        if row["kind"] != "transaction" and leg is None:
            raise InputError(
                f"history: the reassignment of update {row['update_id']} is missing; pass all three tables"
            )
        if row["kind"] == "transaction" and len(events) != row["event_count"]:
            raise InputError(f"history: events of update {row['update_id']} are missing; pass all three tables")
    return rebuild_rows(rows)


def _check_as_sent(history: History[Any]) -> None:
    """Refuse frames whose provenance lists members that were left out."""
    for name, frame in zip(NAMES, history, strict=True):
        if left_out := attrs_of(frame).get("left_out"):
            raise InputError(
                f"history: {name} was stored or exported without personal data ({', '.join(left_out)}), so what the "
                "server sent cannot be rebuilt; load the history from the network, or from a lake that keeps it"
            )


def _single(
    load: TableLoad, answer: Answer[bytes] | None, endpoint: Endpoint, what: str, *, update_id: str | None = None
) -> History[Any]:
    assert answer is not None, "both calls raise if there is no such update"
    batches = decode_items([answer.value], endpoint=f"{endpoint.method} {endpoint.path}")
    sent = batches["updates"]["update_id"][0].as_py()
    if sent != (update_id or sent):
        raise DecodeError(
            f"{endpoint}: asked for {shown(what)}, the server sent update {shown(sent)}; ask another scan",
            endpoint=str(endpoint), table="updates", column="update_id",
        )  # fmt: skip
    load.origin.servers[source_of(answer.server)] = None
    frames = {name: load.of_table(table_named(name)).frame(batch, part=what) for name, batch in batches.items()}
    return History(**frames)


_TABLES: Final = ("verdicts", "views", "app_activity")


@shown_by_rows
class Verdicts(NamedTuple, Generic[Frame]):
    """The decisions of mediators in a part of the history.

    Attributes:
        verdicts: one row per confirmation request.
        views: one row per view of a request.
        app_activity: one row per app provider that a request gave activity to; empty on servers that send none.
    """

    verdicts: Frame
    views: Frame
    app_activity: Frame


@history_loader(EVENT_HISTORY, _TABLES)
def load_verdicts(request: HistoryRequest) -> Verdicts[Any]:
    """Load what mediators decided in a part of the history, rejected and wholly private requests included.

    Endpoint: POST /v0/events. Reassignments have no verdict, so they have no row; their updates, like all others, are
    in `load_history`, with the same `update_id`. A scan may show verdicts later than updates, from the newest of which
    `last` counts back: `attrs["complete"]` is False then, and `attrs["known_to"]` says up to where there are verdicts.
    How long a confirmation took is `finalization_time` less `record_time`.

    Returns:
        Verdicts(verdicts, views, app_activity): one row per request, per view of a request, and per app provider that
        a request gave activity to, in the order of migration id, record time and the server. Times are UTC in
        microseconds, traffic is in bytes.

    Raises:
        InputError: an argument breaks a rule, the scan does not serve the route, or no part is named and the history
            is longer than that.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=100) as net:
        ...     verdicts, views, app_activity = lf.load_verdicts(net, limit=50)
        >>> sorted(verdicts.result.unique())
        ['VERDICT_RESULT_ACCEPTED', 'VERDICT_RESULT_REJECTED']
    """
    return Verdicts(**read_history(request))
