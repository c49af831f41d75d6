"""`TableSet`: the tables of one history, which commit rows and coverage together; the whole store uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledgerframes.interfaces.paged_histories import EVENT_HISTORY, UPDATE_HISTORY, PagedHistory

#: The property that identifies a table's network: the network's first migration and update.
NETWORK: Final = "ledgerframes.network"

#: The property with the network's synchronizers and its DSO's party: a scan may prune the first update.
KNOWN_BY: Final = "ledgerframes.known_by"


@dataclass(frozen=True)
class TableSet:
    """The tables of one history in a store, with coverage of their own.

    Attributes:
        name: its name in messages.
        pages: the history that fills the tables.
        first: the property of its tables that names the first item of that history.
    """

    name: str
    pages: PagedHistory
    first: str

    @property
    def order(self) -> tuple[str, ...]:
        """The tables in the order of writing: readers see an item only once everything that belongs to it is stored."""
        return self.pages.tables

    @property
    def index(self) -> str:
        """The table that is written last, with one row per item."""
        return self.pages.index

    @property
    def shown(self) -> tuple[str, ...]:
        """The tables in the order in which people name them, the index first."""
        return tuple(reversed(self.order))


HISTORY: Final = TableSet("history", UPDATE_HISTORY, NETWORK)
# The first event can be a rejected request, which is not in the update history, so it names no network.
VERDICTS: Final = TableSet("verdicts", EVENT_HISTORY, "ledgerframes.first_event")
SETS: Final = (HISTORY, VERDICTS)


def set_of(table: str) -> TableSet | None:
    """The set that a table belongs to; None for snapshots and other tables."""
    return next((tables for tables in SETS if table in tables.order), None)
