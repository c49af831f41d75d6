"""A place in the update history, and the places of the items of a page: what paging, planning and storing count in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from ledgerframes.timestamps import EARLIEST, LATEST, format_timestamp

_LOWEST: Final = -(2**63)


class Cursor(NamedTuple):
    """A place in the history: migration id, then record time in microseconds; compared as integers."""

    migration_id: int
    micros: int

    def __str__(self) -> str:
        return f"(migration {self.migration_id}, {format_timestamp(self.micros)})"


@dataclass(frozen=True)
class Glimpse:
    """The cursors and update ids of a page's items, in the server's order."""

    cursors: list[Cursor]
    update_ids: list[str]


def before(place: Cursor) -> Cursor | None:
    """The cursor after which `place` is the first one possible; None is ledger begin."""
    if place.micros > EARLIEST:
        return Cursor(place.migration_id, place.micros - 1)
    return Cursor(place.migration_id - 1, LATEST) if place.migration_id > _LOWEST else None


def shown(place: Cursor | None) -> str:
    """A place in words."""
    return "ledger begin" if place is None else str(place)
