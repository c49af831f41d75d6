"""`Named`: the state in which a table was left; `Listing`: whom a table tells of its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from ledgerframes.store.delta.table import DeltaStoreTable


class Named(msgspec.Struct, frozen=True):
    """A table in the state that it was left in.

    Attributes:
        version: of the Delta table; -1 if there was none.
        rows: how many it had, by its log.
        files: a checksum of the list of its files.
    """

    version: int = -1
    rows: int = 0
    files: int = 0


class Listing(Protocol):
    """Who keeps the list of the tables of a lake."""

    def making(self) -> None:
        """A table is about to be made."""

    def changed(self, table: DeltaStoreTable) -> None:
        """A table was made or changed."""
