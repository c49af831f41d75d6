"""`derived_rows`, `derived_data`: a derived table, continued over what is not final; computed tables and stars."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.loaders.opening import Opening
from ledgerframes.models.computing import together
from ledgerframes.store.coverage import Interval, merged
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.derive.chunks import HistoryReader
from ledgerframes.store.derive.contracts import opening_of
from ledgerframes.store.derive.from_rows import supply_rows
from ledgerframes.store.derive.open_rows import final_data, open_rows
from ledgerframes.store.derive.progress import Basis, read, why_again
from ledgerframes.store.derive.rules import Change, changed
from ledgerframes.store.derive.tables import DERIVABLE, NEEDS, OPEN_CONTRACTS, SUMMED
from ledgerframes.store.lake import Lake
from ledgerframes.store.root import Root
from ledgerframes.store.table_sets import HISTORY
from ledgerframes.tables.table import Table

_CARRIED: Final = OPEN_CONTRACTS.name
#: The columns that rows are ordered by, as their models order them; then by their key.
_ORDERS: Final = {
    "round_history": ("round",),
    "rewards": ("created_at", "ended_at"),
    "coin_history": ("created_round",),
}
# Kept rows lie nearly in order: slices of this many rows on average cost less than copying each row.
_RUN: Final = 100


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
    return _summed(root) if name == SUMMED else _rows(root, name)


def derived_data(root: Root, name: str) -> ds.Dataset | None:
    """The rows of a table for everything that a store covers, of which the final ones are read from its files.

    Returns:
        None if the store does not keep the table, or if its rows do not match the current history.
    """
    change = _changed(root, name)
    if change is None:
        return None
    table = root.shown(name)
    schema = _plain(table.table)
    with damage_named([table]):
        final, others = final_data(table), open_rows(table, ~pc.field(table.table.key[0]).isin(change.keys))
    new = [part.select(schema.names).cast(schema) for part in (others, change.rows, change.open)]
    return ds.dataset([final, ds.dataset(pa.concat_tables(new).cast(final.schema))])


def _rows(root: Root, name: str) -> tuple[pa.Table, int] | None:
    change = _changed(root, name)
    own = read(root.document, name)
    if change is None or not own.begun:
        return None
    table = root.shown(name).table
    schema = _plain(table)
    with damage_named([root.shown(name)]):
        rows = root.shown(name).dataset().to_table(columns=schema.names).cast(schema)
    others = rows.filter(pc.invert(pc.is_in(rows[table.key[0]], change.keys))) if len(change.keys) else rows
    new = (part.select(schema.names).cast(schema) for part in (change.rows, change.open))
    rows, unknown = pa.concat_tables([others, *new]), own.unknown + change.unknown
    return _ordered(rows, name, table.key), unknown


def _plain(table: Table) -> pa.Schema:
    return pa.schema([pa.field(field.name, field.type) for field in table.schema])


def _changed(root: Root, name: str) -> Change | None:
    """The changes of the part that is not final to a table; None if its rows do not match the current history."""
    needed = [name, *NEEDS.get(name, ())]
    if not all(root.shown(table).exists for table in (*needed, _CARRIED)) or not root.has(HISTORY):
        return None
    final, covered = Basis.of(root), Basis.of(root, final=False)
    progress = {table: read(root.document, table) for table in (*needed, _CARRIED)}
    own = progress[name]
    if any(why_again(one, table, final) for table, one in progress.items()):
        return None
    if covered.intervals != merged(root.coverage.common) or any(one.done != own.done for one in progress.values()):
        return None
    # The models of the last minute take longer than all the rest, and a state never changes.
    if name not in root.continued:
        root.continued[name] = _continued(root, name, covered.beyond(own.done))
    change: Change | None = root.continued[name]
    return change


def _ordered(rows: pa.Table, name: str, key: Sequence[str]) -> pa.Table:
    """The rows in the order of their model; of the ids of an update's events, shorter ones come first."""
    names, order = rows.column_names, list(dict.fromkeys([*_ORDERS.get(name, ("record_time",)), *key]))
    if "event_id" in order:
        rows = rows.append_column("length", pc.utf8_length(rows["event_id"]))
        order.insert(order.index("event_id"), "length")
    index = np.asarray(pc.sort_indices(rows, sort_keys=[(column, "ascending") for column in order])).astype(np.int64)
    rows, jumps = rows.select(names), np.flatnonzero(np.diff(index) != 1) + 1
    if len(jumps) * _RUN > len(index):
        return rows.take(pa.array(index))
    ends = [*jumps, len(index)]
    return pa.concat_tables(
        rows.slice(index[start], end - start) for start, end in zip([0, *jumps], ends, strict=True) if end > start
    )


def _summed(root: Root) -> tuple[pa.Table, int] | None:
    """The rows of `supply_per_round`, from the kept rows of its inputs; these begin at ledger begin."""
    below = {name: _rows(root, name) for name in NEEDS[SUMMED]}
    there = {name: found for name, found in below.items() if found is not None}
    if len(there) < len(below):
        return None
    rows = supply_rows({name: found[0] for name, found in there.items()}, begun=True)
    return rows.sort_by("round"), there["mint_burn"][1]


def _continued(root: Root, name: str, beyond: Sequence[Interval]) -> Change | None:
    """The changes of the part that is not final to a table, after those to the tables that it needs.

    Returns:
        None if a derive is due, as computing the whole is better then.
    """
    history = HistoryReader(root)
    found = (part for interval in beyond if history.has_rows([interval]) for part in history.parts(interval, [()]))
    parts = list(islice(found, 2))
    if len(parts) > 1:
        return None
    done: dict[str, Change] = {}
    if not parts:
        none = root.shown(name).table.schema.empty_table()
        return Change(none, none)
    rows = history.rows(parts[0])

    def opened(table: str, wanted: pc.Expression) -> pa.Table:
        found = open_rows(root.shown(table), wanted)
        change = done.get(table)
        if change is None:
            return found
        key = root.shown(table).table.key[0]
        new = change.open.filter(wanted).select(found.column_names).cast(found.schema)
        return pa.concat_tables([found.filter(pc.invert(pc.is_in(found[key], change.keys))), new])

    with together(rows, opening=Opening(opening_of(rows, root.shown(_CARRIED))), rows_only=True) as inputs:
        for needed in (*NEEDS.get(name, ()), name):
            done[needed] = changed(needed, inputs, opened)
    return done[name]
