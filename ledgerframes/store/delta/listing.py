"""`Listing`: what a table tells the list of a lake's tables before it changes."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ledgerframes.store.delta.table import DeltaStoreTable


class Listing(Protocol):
    """The list of the tables of a lake."""

    def names(self) -> Collection[str]:
        """Every table that may be there."""

    def making(self, name: str) -> None:
        """A table is about to be made."""

    def changing(self, table: DeltaStoreTable) -> None:
        """A table is about to be changed."""
