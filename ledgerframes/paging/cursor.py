"""`Cursor`: a position in the update history, and the cursors of a page; paging, planning and the store use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from ledgerframes.timestamps import EARLIEST, LATEST, format_timestamp

_LOWEST: Final = -(2**63)


# Integers, because times do not sort as text: `…00.137Z` sorts before `…00Z`.
class Cursor(NamedTuple):
    """A position in the history: migration id, then record time in microseconds; compared as integers."""

    migration_id: int
    micros: int

    def __str__(self) -> str:
        return f"(migration {self.migration_id}, {format_timestamp(self.micros)})"


@dataclass(frozen=True)
class Glimpse:
    """The cursors and update ids of a page's items, in the server's order.

    Attributes:
        cursors: of every item.
        update_ids: of every item.
        rowless: the ids of items without a row in the table by whose ids a store compares: reassignments, if it has
            verdicts.
    """

    cursors: list[Cursor]
    update_ids: list[str]
    rowless: frozenset[str] = frozenset()


def before(cursor: Cursor) -> Cursor | None:
    """The cursor directly before another one; None means the beginning of the ledger."""
    if cursor.micros > EARLIEST:
        return Cursor(cursor.migration_id, cursor.micros - 1)
    # Servers return items strictly after a cursor, and any higher migration id counts as later.
    return Cursor(cursor.migration_id - 1, LATEST) if cursor.migration_id > _LOWEST else None


def shown(cursor: Cursor | None) -> str:
    """A cursor in words."""
    return "ledger begin" if cursor is None else str(cursor)
