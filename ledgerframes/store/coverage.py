"""What a sync has to read: the wanted part of every migration, less what is settled; `sync` carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ledgerframes.errors import PagingError
from ledgerframes.interfaces.history import PageSource
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.window import Window
from ledgerframes.store.intervals import BEGINNING, CLOSED, Interval, missing
from ledgerframes.store.sync.shards import window_of
from ledgerframes.timestamps import EARLIEST, LATEST

#: More migrations than any network has had; a server that shows more invents them.
MIGRATIONS: Final = 60


def wanted_in(window: Window, migration_id: int) -> Interval | None:
    """The part of one migration that a window wants; an open side reaches to where the migration begins or ends."""
    lo, at = BEGINNING, CLOSED
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


def gaps(wanted: Iterable[Interval], covered: Sequence[Interval]) -> tuple[Interval, ...]:
    """What is wanted and not covered."""
    return tuple(gap for one in wanted for gap in missing(one, covered))


def migrations_after(source: PageSource, place: Cursor | None) -> Iterator[Cursor]:
    """The first place of every migration after a place, by one request each and one more."""
    for _ in range(MIGRATIONS):
        request = source.page_request(place, 1)
        cursors = source.send_page(request, server=None, revise=None).value.glimpse.cursors
        if not cursors:
            return
        if place is not None and cursors[0] <= place:
            raise PagingError(
                f"POST /v2/updates: asked for what follows {place}, the server sent an update at {cursors[0]}; it"
                " ignores the cursor"
            )
        yield cursors[0]
        place = Cursor(cursors[0].migration_id, LATEST)
    raise PagingError(
        f"POST /v2/updates: the server shows more than {MIGRATIONS} migrations, the last of them {place}; it makes them"
        " up as it is asked"
    )


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
