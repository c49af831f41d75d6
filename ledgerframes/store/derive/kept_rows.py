"""The rows of kept tables: those that can still change, in files of their own, and what is not final yet.

`deriving` replaces the first; `derived_rows` and `derived_data` return all rows, for computed tables and stars.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.store.coverage import Interval, beyond, merged
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.delta.stored_files import StoredFile
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.chunks import HistoryReader
from ledgerframes.store.derive.progress import Basis, read, why_again
from ledgerframes.store.derive.rules import Change, changes, plain, supply_rows
from ledgerframes.store.derive.tables import DERIVABLE, NEEDS, OPEN_CONTRACTS, SUMMED
from ledgerframes.store.lake import Lake
from ledgerframes.store.read.reading import sorted_rows
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY

#: The columns that rows are ordered by, as their models order them; then by their key.
_ORDERS: Final = {
    "round_history": ("round",),
    "rewards": ("created_at", "ended_at"),
    "coin_history": ("created_round",),
}


def files_of(
    table: DeltaStoreTable, data: ds.FileSystemDataset, *, changing: bool
) -> Iterator[tuple[StoredFile, ds.ParquetFileFragment]]:
    """The files of rows that can still change, or of the others, each with its rows."""
    listed = table.files.listed
    for fragment in data.get_fragments() if listed else ():
        if listed[fragment.path].changes == changing:
            yield listed[fragment.path], fragment


def open_rows(table: DeltaStoreTable, wanted: pc.Expression, change: Change | None = None) -> pa.Table:
    """The open rows that match a filter, after a change, in the declared columns and types."""
    new = () if change is None else (change.open.filter(wanted),)
    if change is not None and len(change.keys):
        wanted &= ~pc.field(table.table.key[0]).isin(change.keys)
    data, schema = table.dataset(), plain(table.table)
    with damage_named([table]):
        old = [rows.to_table(schema=data.schema, filter=wanted) for _, rows in files_of(table, data, changing=True)]
    parts = (part.select(schema.names).cast(schema) for part in (*old, *new))
    return pa.concat_tables([schema.empty_table(), *parts])


def derived_rows(lake: Lake, name: str) -> tuple[pa.Table, int] | None:
    """The rows of a table for everything that a store covers, and how many items were not understood.

    Args:
        lake: the store.
        name: the table's name.

    Returns:
        None if the store does not keep the table, or if its rows do not match the current history.
    """
    if name not in DERIVABLE:
        return None
    root = lake.at()
    own = NEEDS[SUMMED] if name == SUMMED else (name,)
    kept = {one: data for one in own if (data := derived_data(root, one)) is not None}
    progress = [read(root.document, one) for one in own]
    if len(kept) < len(own) or not all(one.begun for one in progress):
        return None
    unknown = progress[-1].unknown + root.continued[own[-1]].unknown
    with damage_named(map(root.shown, own)):
        if name == SUMMED:
            return supply_rows(kept, begun=True), unknown
        table, schema = root.shown(name).table, plain(root.shown(name).table)
        return _ordered(kept[name].to_table(columns=schema.names).cast(schema), name, table.key), unknown


def derived_data(root: Root, name: str) -> ds.Dataset | None:
    """The rows of a table for everything that a store covers, of which the final ones are read from its files.

    Returns:
        None if the store does not keep the table, or if its rows do not match the current history.
    """
    change = _changed(root, name)
    if change is None:
        return None
    table = root.shown(name)
    data, schema = table.dataset(), plain(table.table)
    new = [open_rows(table, pc.scalar(True), change), change.rows.select(schema.names).cast(schema)]  # noqa: FBT003
    final = [rows for _, rows in files_of(table, data, changing=False)]
    kept = ds.FileSystemDataset(final, data.schema, data.format, data.filesystem)
    return ds.dataset([kept, ds.dataset(pa.concat_tables(new).cast(data.schema))])


def _changed(root: Root, name: str) -> Change | None:
    """The changes of the part that is not final to a table; None if its rows do not match the current history."""
    needed = [name, *NEEDS.get(name, ()), OPEN_CONTRACTS.name]
    if not all(root.shown(table).exists for table in needed) or not root.has(HISTORY):
        return None
    final, covered = Basis.of(root), Basis.of(root, final=False)
    progress = {table: read(root.document, table) for table in needed}
    done = progress[name].done
    if any(why_again(one, table, final) for table, one in progress.items()):
        return None
    if covered.intervals != merged(root.coverage.common) or any(one.done != done for one in progress.values()):
        return None
    # The models of the last minute take longer than all the rest, and a state never changes.
    if name not in root.continued:
        root.continued[name] = _continued(root, name, beyond(covered.intervals, done))
    change: Change | None = root.continued[name]
    return change


def _continued(root: Root, name: str, new: Sequence[Interval]) -> Change | None:
    """The changes of the part that is not final to a table, after those to the tables that it needs.

    Returns:
        None if a derive is due, as computing the whole is better then.
    """
    history = HistoryReader(root)
    parts = list(islice(history.parts(new), 2))
    if len(parts) > 1:
        return None
    if not parts:
        none = plain(root.shown(name).table).empty_table()
        return Change(none, none)
    done: dict[str, Change] = {}
    with changes(
        history.rows(parts[0]), lambda table, wanted: open_rows(root.shown(table), wanted, done.get(table))
    ) as changed:
        for table in (*NEEDS.get(name, ()), name):
            done[table] = changed(table)
    return done[name]


def _ordered(rows: pa.Table, name: str, key: Sequence[str]) -> pa.Table:
    """The rows in the order of their model; of the ids of an update's events, shorter ones come first."""
    names, order = rows.column_names, list(dict.fromkeys([*_ORDERS.get(name, ("record_time",)), *key]))
    if "event_id" in order:
        rows = rows.append_column("length", pc.utf8_length(rows["event_id"]))
        order.insert(order.index("event_id"), "length")
    return sorted_rows(rows, order).select(names)
