"""`Named`: the state in which a table was left; `Listing`: the recipient of a table's changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from ledgerframes.store.delta.table import DeltaStoreTable


class Named(msgspec.Struct, frozen=True):
    """The state in which a table was left.

    Attributes:
        version: of the Delta table; -1 if there was none.
        rows: the number of its rows, by its log: fewer show that it lost entries.
    """

    version: int = -1
    rows: int = 0


class Listing(Protocol):
    """The owner of the list of a lake's tables."""

    def making(self) -> None:
        """Prepare for a table that is about to be created."""

    def changed(self, table: DeltaStoreTable) -> None:
        """Record that a table was created or changed."""
