"""The inputs of models from a store, for the engine of `store.sql` and of the star."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from ledgerframes.models.inputs import Give
from ledgerframes.paging.cursor import Window
from ledgerframes.store.read.reading import Part
from ledgerframes.store.view import View
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


def gives_of(view: View, *, allow_partial: bool) -> dict[str, Give]:
    """The source of each input of models; a table that the store does not have is empty.

    Args:
        view: the store's state.
        allow_partial: accept a history with gaps.
    """
    return {name: _give(view, name, table, allow_partial=allow_partial) for name, table in _INPUTS.items()}


def _give(view: View, name: str, table: Table, *, allow_partial: bool) -> Give:
    @cache
    def part() -> Part:
        return Part.of(view, name, Window(), allow_partial=allow_partial)

    def give(needed: set[str], listed: set[str], room: int) -> Any:
        return part().give(needed, listed, room) if name in view.stored else table.schema.empty_table()

    return give
