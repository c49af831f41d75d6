"""`Computed`: the computed tables that a star is made of, as the store keeps them or, if it does not, made aside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.deriving import derive_aside
from ledgerframes.store.derive.progress import Basis, read
from ledgerframes.store.lake import Lake, View

#: The computed tables of a star, in the order of computing.
NEEDED: Final = ("round_history", "rewards", "transfers", "traffic_purchases", "mint_burn")


class Computed:
    """The computed tables of one state of a store.

    Args:
        view: the store's state.
        scratch: a folder for tables that the store does not keep.
    """

    def __init__(self, view: View, scratch: Path) -> None:
        final = Basis.of(view)
        kept = {name: view.tables[name] for name in NEEDED if _is_current(view.tables[name], final)}
        missing = [name for name in NEEDED if name not in kept]
        aside = Lake(scratch)
        if missing:
            # What depends on rounds is computed beside its own table of them.
            wanted = NEEDED if "rewards" in missing else missing
            wanted = [name for name in wanted if name in missing or name == "round_history"]
            derive_aside(aside, view, wanted, Basis.of(view, final=False))
        self._tables = kept | {name: aside.table(name).refresh() for name in missing}

    def table(self, name: str) -> DeltaStoreTable:
        """One of the tables."""
        return self._tables[name]

    def reach(self, name: str) -> Sequence[Interval]:
        """The part of the history that a table is computed from."""
        return read(self._tables[name]).done


def _is_current(table: DeltaStoreTable, basis: Basis) -> bool:
    """Whether a store keeps a table and could continue it: its rows are those of the history as it is."""
    return table.exists and not read(table).why_again(table.name, basis)
