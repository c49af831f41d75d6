"""Loaders of scan's snapshots: the active contracts, and parties' coins."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from itertools import product
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from ledgerframes.arguments import choice
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import InputError
from ledgerframes.interfaces import scan_snapshots as routes
from ledgerframes.interfaces.answers import reading, reads
from ledgerframes.interfaces.rules import PartyId, Positive32, distinct, fits, thousands
from ledgerframes.loaders.acs.pages import SnapshotReader, contracts_of, snapshot_of
from ledgerframes.loaders.acs.times import snapshot_at
from ledgerframes.loaders.declaring import SOURCES, Source, loader
from ledgerframes.loaders.opening import proof
from ledgerframes.loaders.table_loader import OneServer, TableLoad, needing
from ledgerframes.paging.cursor import Bound, Cursor
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS, COINS, LOCKED_COINS, NOT_IN_SNAPSHOTS
from ledgerframes.timestamps import format_timestamp

_log = logging.getLogger("ledgerframes.loaders")
#: The most pages to read when no argument selects contracts.
_FREE_PAGES: Final = 100
_LEFT_OUT: Final = ("/event_type",)
_ABSENT: Final = tuple(column.name for column in ACTIVE_CONTRACTS.columns if column.source == NOT_IN_SNAPSHOTS)


_template_of: Final = reads(str, "template_id")


def needing_snapshots() -> AbstractContextManager[None]:
    """Turn "unknown route" into an error that names the other source of active contracts."""
    instead = 'load the history from start="begin" and use lf.active_contracts'
    versions = (routes.ACTIVE_CONTRACTS, routes.ACTIVE_CONTRACTS_V1, routes.ACTIVE_CONTRACTS_V0)
    return needing(*versions, routes.SNAPSHOT_TIME, instead=instead)


def read_contracts(
    items: Sequence[bytes | Raw], place: str = ACTIVE_CONTRACTS.endpoints[0], named: Sequence[str] | None = None
) -> pa.RecordBatch:
    """Decode active contracts.

    Args:
        items: one contract each.
        place: their origin, for messages.
        named: the name of each of them in messages; its position by default.

    Raises:
        DecodeError: an item breaks the contract.
    """
    nothing = dict.fromkeys(_ABSENT, [None] * len(items))
    batch = read_records(ACTIVE_CONTRACTS, items, place, supplied=nothing, left_out=_LEFT_OUT, named=named)
    return _plain_ids(batch)


@loader(ACTIVE_CONTRACTS)
def load_active_contracts(
    load: TableLoad,
    *,
    at: Bound | None = None,
    templates: Iterable[str] | None = None,
    parties: Iterable[str] | None = None,
    page_size: int = 1000,
    source: Source = "pages",
) -> Any:
    """Load the contracts active at a snapshot, without replaying the history.

    The whole frame is held in memory and a large network has millions of contracts, so select by `templates` or
    `parties`. Without these and without `limit`, 100 pages at most are read.

    Payloads are as sent, so those of licenses contain the operators' contact points; `expand` and exports leave these
    out unless `connect` was called with `personal=True`.

    As `opening=` of `active_contracts` it replaces the history before the snapshot. Load the history from the
    snapshot's time, `attrs["cursor"]`, or earlier: releases differ in whether a snapshot includes updates recorded at
    exactly its time, and a contract that is in both counts once.

    Endpoint: POST /v2/state/acs; older scans: POST /v1/state/acs, POST /v0/state/acs; objects: GET
    /v0/history/bulk/acs.

    Args:
        net: the network; its scan is asked. All pages come from one server.
        at: a time, or for pages a pair (migration id, time): the newest snapshot at or before it; the newest of all by
            default. Scans write fewer snapshots as objects than they have, one a day for example.
        templates: only contracts of these templates, each as `Module:Entity`, as the column template_name has it. Those
            that are not of Splice need the name of their package: `package-name:Module:Entity`.
        parties: only contracts that one of these parties signs or observes. More than 1,000 of either take several
            requests, all of one snapshot.
        page_size: how many contracts to request at once; a server that allows fewer sends its maximum.
        source: `"pages"`, or `"objects"` for the compressed files that newer scans write of some snapshots (young, and
            not on every scan). An object holds every contract, so all of them are downloaded whatever `templates` and
            `parties` say; members of payloads are in the order of their names; `page_size` is then how many contracts
            are decoded at once.

    Returns:
        One row per contract, in the order of creation, with the columns of `active_contracts`, update_id and event_id.
        Columns that a snapshot has no values for are null: the synchronizers, reassignment_counter, in_flight, and
        migration_id and record_time of the creation. A contract that only an assignment shows is not in any snapshot.
        `attrs["cursor"]` is the snapshot's migration id and record time. Objects do not name the migration: it is the
        one that has a snapshot at that time, and None stands for the cursor where none or several have;
        `attrs["at"]` is the time then.

    Raises:
        InputError: an argument is not valid, the scan serves none of the routes or has no objects, or there are more
            than 100 pages and none of `templates`, `parties` and `limit` is given.
        NotFoundError: there is no snapshot at or before `at`.
        PagingError: the scan repeats a page token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     coins = lf.load_active_contracts(net, templates=["Splice.Amulet:Amulet"])
        >>> set(coins.template_name)
        {'Splice.Amulet:Amulet'}
    """
    filters: dict[str, Any] = {}
    if templates is not None:
        filters["templates"] = routes.template_names(distinct(templates, "templates"))
    if parties is not None:
        filters["parties"] = distinct(parties, "parties", PartyId)
    if choice(source, "source", SOURCES) == "objects":
        with needing(routes.SNAPSHOT_TIME, instead="give source='pages'"):
            return _objects(load, at, filters, page_size)
    with needing_snapshots():
        return _pages(load, at, filters, page_size, read_contracts)


@loader(
    COINS,
    needs=(routes.COINS, routes.COINS_V1, routes.COINS_V0, routes.SNAPSHOT_TIME),
    instead="load_active_contracts with parties= returns whole contracts, load_holdings_summary their sums",
)
def load_coins(load: TableLoad, owners: Iterable[str], *, at: Bound | None = None, page_size: int = 1000) -> Any:
    """Load the coins of some parties at a snapshot: one row per coin contract, locked ones too.

    Rows are in the order of creation; `attrs["cursor"]` is the snapshot's migration id and record time.

    Endpoint: POST /v2/holdings/state; older scans: POST /v1/holdings/state, POST /v0/holdings/state.

    Args:
        net: the network; its scan is asked, without a token. All pages come from one server.
        owners: the owners' party ids; a party without coins has no row. More than 1,000 take several requests, all
            of one snapshot.
        at: a time, or a pair (migration id, time): the newest snapshot at or before it; the newest of all by default.
        page_size: how many coins to request at once; a server that allows fewer sends its maximum.

    Raises:
        InputError: an argument is not valid, or the scan serves none of the routes.
        NotFoundError: there is no snapshot at or before `at`.
        DecodeError: an answer breaks the contract, or contains a contract that is not a coin.
        PagingError: the scan repeats a page token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     owners = lf.load_licenses(net).validator
        ...     coins = lf.load_coins(net, owners)
        >>> list(coins.columns[:3])
        ['owner', 'amount', 'created_round']
    """
    filters = {"owners": distinct(owners, "owners", PartyId)}
    with needing(*load.needs, instead=load.instead):
        return _pages(load, at, filters, page_size, _read_coins)


def _objects(load: TableLoad, at: Bound | None, filters: dict[str, Any], lines: int) -> Any:
    """Load a snapshot from its objects into one frame, so many lines at a time."""
    size = fits(lines, Positive32, "page_size")
    snapshot, migration_id = snapshot_of(load.net, at)
    load.origin.servers[snapshot.place] = None
    most, rows = _FREE_PAGES * size, 0
    batches: list[pa.RecordBatch] = []
    with (
        load.origin.tolerating(allow_partial=load.allow_partial),
        closing(contracts_of(load.net.scan, snapshot, size, **filters)) as parts,
    ):
        for name, contracts in parts:
            rows += len(contracts)
            if load.limit is None and not filters and rows > most:
                raise InputError(
                    f"the snapshot has more than {most:,} contracts: give templates= or parties=, or limit= with as"
                    " many rows as memory holds"
                )
            if contracts:
                batches.append(read_contracts([*contracts.values()], name, [f"line {number}" for number in contracts]))
            if load.limit is not None and rows >= load.limit:
                break
    if migration_id is None:
        _log.info("the migration of the snapshot of %s is not known", format_timestamp(snapshot.micros))
    table = pa.Table.from_batches(batches, schema=load.table.schema)
    return _frame(load, table, filters, migration_id, snapshot.micros)


def _pages(load: TableLoad, at: Bound | None, filters: dict[str, Any], page_size: int, read: Any) -> Any:
    """Load all pages of a snapshot into one frame."""
    size = fits(page_size, Positive32, "page_size")
    place = snapshot_at(load.net, at)
    parts = _parts(filters)
    reader = SnapshotReader(OneServer(load.net.scan, load.origin), load.table, place, parts, size)
    batches: list[pa.RecordBatch] = []
    rows = 0
    with load.origin.tolerating(allow_partial=load.allow_partial):
        for items in reader.pages(restart=batches.clear):
            rows = sum(batch.num_rows for batch in batches) if batches else 0
            if load.limit is None and not filters and len(batches) >= _FREE_PAGES:
                raise InputError(
                    f"the snapshot has more than {rows:,} contracts, {_FREE_PAGES} pages: give templates= or parties=,"
                    " or limit= with as many rows as memory holds"
                )
            batches.append(read(items))
            if load.limit is not None and rows + len(items) >= load.limit and len(parts) == 1:
                break
    table = pa.Table.from_batches(batches, schema=load.table.schema)
    if len(parts) > 1:
        table = _joined(table)
    return _frame(load, table, filters, *place)


def _frame(load: TableLoad, table: pa.Table, filters: Mapping[str, Any], migration_id: int | None, micros: int) -> Any:
    """The contracts of a snapshot, with the provenance by which they can be an opening."""
    cursor, at = None, format_timestamp(micros)
    if migration_id is not None:
        cursor, at = Cursor(migration_id, micros), f"({migration_id}, {at})"
    attrs = proof(
        table.slice(0, load.limit),
        templates=filters.get("templates"),
        parties=filters.get("parties", filters.get("owners")),
        snapshot=True,
    )
    return load.frame(table, cursor=cursor, at=at, **attrs)


def _parts(filters: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments of each request for a snapshot: every combination of parts of the lists."""
    return [dict(zip(filters, lists, strict=True)) for lists in product(*map(thousands, filters.values()))]


def _joined(table: pa.Table) -> pa.Table:
    """The contracts of several requests in the order of creation, each once: it may have a party of every request."""
    firsts = table["contract_id"].to_pandas().drop_duplicates().index
    return table.take(pa.array(firsts)).sort_by("created_at")


def _read_coins(items: Sequence[Raw]) -> pa.RecordBatch:
    """Decode a page of coins; a locked coin contains the record that others are."""
    endpoint = COINS.endpoints[0]
    locked = [_is_locked(item, position, endpoint) for position, item in enumerate(items)]
    parts, order = [], []
    for table, wanted in ((COINS, False), (LOCKED_COINS, True)):
        rows = [row for row, index in enumerate(locked) if index is wanted]
        supplied = {"locked": [wanted] * len(rows)}
        coins = read_records(table, [items[row] for row in rows], endpoint, supplied=supplied, left_out=_LEFT_OUT)
        parts.append(_plain_ids(coins))
        order += rows
    whole = pa.Table.from_batches(parts, schema=COINS.schema)
    sorted_rows = whole.take(pc.sort_indices(pa.array(order, pa.int64()))).combine_chunks()
    return sorted_rows.to_batches()[0] if len(items) else parts[0]


def _is_locked(item: Raw, position: int, endpoint: str) -> bool:
    with reading(endpoint, table=COINS.name, column="template_id", item=f"item {position}"):
        name = _template_of(item).rpartition(":")[2]
        if name not in {"Amulet", "LockedAmulet"}:
            raise ValueError(f"a contract of {name!r}, not a coin")
    return name == "LockedAmulet"


def _plain_ids(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Write event ids as the history does: in snapshots, older scans prefix them with #."""
    place = batch.schema.get_field_index("event_id")
    plain = pc.replace_substring_regex(batch.column(place), "^#", "")
    return batch.set_column(place, batch.schema.field(place), plain)
