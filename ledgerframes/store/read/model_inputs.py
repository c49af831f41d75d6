"""The inputs of models from a store, for the engine of `store.sql` and of the star."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from ledgerframes.models.inputs import Give
from ledgerframes.paging.cursor import Window
from ledgerframes.store.read.reading import Part
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import STORED
from ledgerframes.tables.from_snapshots import SNAPSHOTS_READ
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from ledgerframes.tables.replayed import ACTIVE
from ledgerframes.tables.table import Table
from ledgerframes.tables.verdicts import VERDICTS

_INPUTS: Final = {
    **{table.name: table for table in (UPDATES, EVENTS, REASSIGNMENTS, VERDICTS)},
    "opening": ACTIVE,
    **SNAPSHOTS_READ,
}


def gives_of(root: Root, *, allow_partial: bool) -> dict[str, Give]:
    """The source of each input of models; a table that the store does not have is empty.

    Args:
        root: the store's state.
        allow_partial: accept a history with gaps.
    """
    return {name: _give(root, name, table, allow_partial=allow_partial) for name, table in _INPUTS.items()}


def known_of(root: Root, updates: Part) -> dict[str, Any]:
    """The settings of models over all that a lake has: where it begins, and what its updates prove of that.

    Where nothing shows whether the ledger began earlier, as on one without a DSO, balances are counted from there; days
    are not called whole, and parties not new.
    """
    low = updates.begins_late or root.coverage.start
    proven = updates.complete and updates.from_beginning is True
    return {
        "begun": updates.complete and updates.from_beginning is not False,
        "new_known": proven,
        "may_have_gap": not updates.complete,
        "range_known": proven or (updates.complete and low is not None),
        "range_low": None if low is None else low.micros,
    }


def _give(root: Root, name: str, table: Table, *, allow_partial: bool) -> Give:
    @cache
    def part() -> Part:
        return Part.of(root, name, Window(), allow_partial=allow_partial)

    def give(needed: set[str], listed: set[str], room: int) -> Any:
        stored = name in STORED and root.shown(name).exists
        return part().give(needed, listed, room) if stored else table.schema.empty_table()

    return give
