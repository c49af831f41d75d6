"""What a sync has to read: the wanted part of every migration, less what is covered; `sync` carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ledgerframes.decoding.peek import Cursor
from ledgerframes.instants import EARLIEST, LATEST
from ledgerframes.interfaces.history import PageSource
from ledgerframes.paging.window import Window
from ledgerframes.store.intervals import BEGINNING, CLOSED, Interval, missing
from ledgerframes.store.stretches import window_of

_OVERLAP: Final = 86_400_000_000  # a day


def wanted_in(window: Window, migration_id: int, *, settled: int = LATEST, followed: bool = False) -> Interval | None:
    """The part of one migration that a window wants.

    Args:
        window: what the caller asked for.
        migration_id: the migration.
        settled: nothing newer than this.
        followed: a later migration has been there for a while, so this one has ended.
    """
    lo, at = BEGINNING, CLOSED if followed else settled
    if window.start is not None:
        if migration_id < window.start.migration_id:
            return None
        if migration_id == window.start.migration_id:
            lo = window.start.micros - 1
    if window.since is not None:
        lo = max(lo, window.since - 1)
    if window.end is not None:
        if migration_id > window.end.migration_id:
            return None
        if migration_id == window.end.migration_id:
            at = min(at, window.end.micros - 1)
    if window.until is not None:
        at = min(at, window.until - 1)
    return Interval(migration_id, lo, at) if lo < at else None


def wanted_intervals(window: Window, first_places: Sequence[Cursor], settled: int) -> tuple[Interval, ...]:
    """The wanted part of every migration that is known.

    Args:
        window: what the caller asked for.
        first_places: for each migration, in order, a place at or after its first item.
        settled: nothing newer than this.
    """
    found = []
    for position, place in enumerate(first_places):
        followed = any(has_ended(later, settled) for later in first_places[position + 1 :])
        one = wanted_in(window, place.migration_id, settled=settled, followed=followed)
        if one is not None:
            found.append(one)
    return tuple(found)


def has_ended(following: Cursor, settled: int) -> bool:
    """Whether what was seen of a later migration is old enough for the one before to get nothing any more.

    Record times of two migrations may overlap around the change.
    """
    return following.micros <= settled - _OVERLAP


def gaps(wanted: Iterable[Interval], covered: Sequence[Interval]) -> tuple[Interval, ...]:
    """What is wanted and not covered."""
    return tuple(gap for one in wanted for gap in missing(one, covered))


def migrations_after(source: PageSource, place: Cursor | None) -> Iterator[Cursor]:
    """The first place of every migration after a place, by one request each and one more."""
    while True:
        request = source.page_request(place, 1)
        cursors = source.send_page(request, server=None, revise=None).value.glimpse.cursors
        if not cursors:
            return
        yield cursors[0]
        place = Cursor(cursors[0].migration_id, LATEST)


def missing_windows(window: Window, covered: Sequence[Interval]) -> list[Window]:
    """What of a window is not covered, the migrations that the store does not know included."""
    if not covered:
        return [window]
    ids = sorted({one.migration_id for one in covered})
    known = (one for migration_id in ids if (one := wanted_in(window, migration_id)) is not None)
    found = [window_of(gap) for gap in gaps(known, covered)]
    if window.end is None or window.end.migration_id > ids[-1]:
        found.append(Window(Cursor(ids[-1] + 1, EARLIEST), window.end, window.since, window.until))
    return found
