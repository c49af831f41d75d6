"""The extent of a scan's history, found by few small requests: its beginning, its migrations, its newest update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, PagingError, PartialResultError, RequestError
from ledgerframes.loaders.beginning import Beginning, having, proven_by
from ledgerframes.paging.cursor import Cursor, Window, window
from ledgerframes.paging.modes import PageQuery
from ledgerframes.timestamps import EARLIEST, EPOCH, LATEST, MICROSECOND, parse_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.history_pages import ScanPages
    from ledgerframes.interfaces.scan import Scan

#: Items of a page used as a sample; a few of them cost less than one page of 1,000.
SAMPLE_SIZE: Final = 60
#: More migrations than any network has had; a server that shows more makes them up.
_MIGRATIONS: Final = 60
#: How far before the server's own time its newest update is looked for first.
_RECENT: Final = 60_000_000
_WIDER: Final = 8
#: The range in which the least pruned scan shows the most.
EVERYTHING: Final = window("begin")


@dataclass(frozen=True)
class Extent:
    """The extent of a scan's history: its beginning, the first place of each migration, and the newest update."""

    pages: ScanPages
    beginning: Beginning
    firsts: tuple[Cursor, ...]
    newest: Cursor


def newest_time(scan: Scan) -> int:
    """The newest record time that a scan shows, in microseconds: what `last` counts back from.

    Raises:
        PartialResultError: it shows none.
    """
    extent = extent_of(scan, having(scan.update_pages, EVERYTHING))
    if extent is None:
        raise PartialResultError(f"{nothing_shown(scan)}, so last= has nothing to count back from")
    return extent.newest.micros


def nothing_shown(scan: Scan) -> str:
    """The message for a scan that shows no update."""
    return f"{source_of(scan.servers[0])} shows no update: nothing is recorded yet, or it has pruned everything"


def extent_of(scan: Scan, pages: ScanPages) -> Extent | None:
    """Find the extent of a scan, with about two requests, and one or two per migration; None while it shows nothing.

    Args:
        scan: asked for its newest snapshot.
        pages: its updates, from the server that a load would read.

    Raises:
        PagingError: the server does not keep to the order of the history, or its migrations do not end.
    """
    page = ask(pages, None, SAMPLE_SIZE).value
    if not page.page_index.cursors:
        return None
    begin = page.page_index.cursors[0]
    firsts = (begin, *first_cursors(pages, Cursor(begin.migration_id, LATEST)))
    return Extent(pages, Beginning(begin, proven_by(page)), firsts, newest_of(scan, pages, firsts[-1]))


def newest_of(scan: Scan, pages: ScanPages, first: Cursor) -> Cursor:
    """The newest update of a migration: near the server's own time, near the migration's newest snapshot, or by steps.

    Where to look is a guess; a page proves that nothing of the migration follows.

    Raises:
        PagingError: the server does not keep to the order of the history.
    """
    migration_id, high, step = first.migration_id, LATEST, 0
    answer = ask(pages, first, SAMPLE_SIZE)
    place, full = _last_shown(answer, first)
    for guess in (_server_time(answer) - _RECENT, None):
        micros = _newest_snapshot(scan, migration_id) if guess is None and full and not step else guess
        if not full or micros is None or not place.micros < micros < high:
            continue
        answer = ask(pages, Cursor(migration_id, micros), SAMPLE_SIZE)
        step = len(_shown(answer, migration_id))
        high = high if step else micros
        place, full = _last_shown(answer, place) if step else (place, full)
    while True:
        answer = ask(pages, place, SAMPLE_SIZE)
        if not _shown(answer, migration_id):
            return place
        before_it, (place, full) = place, _last_shown(answer, place)
        if place <= before_it:
            raise _unordered(before_it, place)
        step = (place.micros - before_it.micros) * _WIDER
        while full and step and place.micros + step < high:
            answer = ask(pages, Cursor(migration_id, place.micros + step), SAMPLE_SIZE)
            if _shown(answer, migration_id):
                (place, full), step = _last_shown(answer, place), step * _WIDER
            else:
                high, step = place.micros + step, step // _WIDER


def _shown(answer: Any, migration_id: int) -> list[Cursor]:
    """The places of a page that lie in a migration."""
    return [place for place in answer.value.page_index.cursors if place.migration_id == migration_id]


def _last_shown(answer: Any, place: Cursor) -> tuple[Cursor, bool]:
    """The last place of a page in its migration, and whether it may be followed by many."""
    cursors = _shown(answer, place.migration_id)
    return max(cursors, default=place), len(cursors) >= SAMPLE_SIZE


def _server_time(answer: Any) -> int:
    """When a server answered, by its own clock: a recording then asks for the same when it is replayed."""
    try:
        return int(parsedate_to_datetime(answer.headers.get("date", "")).timestamp()) * 1_000_000
    except ValueError:
        return LATEST


def _newest_snapshot(scan: Scan, migration_id: int) -> int | None:
    """The time of the newest snapshot, a few hours before the newest update; None if there is none."""
    try:
        answer = scan.snapshot_time(before=EPOCH + LATEST * MICROSECOND, migration_id=migration_id)
        return None if answer is None else parse_timestamp(answer.record_time)[0]
    except (RequestError, DecodeError, ValueError):
        return None


def within(wanted: Window, migration_id: int) -> tuple[int, int]:
    """The instants between which a window lies in a migration; empty if it does not reach into it."""
    low = EARLIEST if wanted.since is None else wanted.since
    high = LATEST if wanted.until is None else wanted.until
    if wanted.start is not None:
        if migration_id < wanted.start.migration_id:
            return 0, 0
        low = wanted.start.micros if migration_id == wanted.start.migration_id else low
    if wanted.end is not None:
        if migration_id > wanted.end.migration_id:
            return 0, 0
        high = wanted.end.micros if migration_id == wanted.end.migration_id else high
    return low, high


def latest_migration(scan: Scan) -> int | None:
    """The newest migration id that the scan shows, by one request per migration."""
    return max((first.migration_id for first in first_cursors(scan.update_pages)), default=None)


def first_cursors(pages: ScanPages, place: Cursor | None = None) -> Iterator[Cursor]:
    """The first cursor of each migration after a place, in order, by one request per migration and one more.

    Raises:
        PagingError: the server does not keep to the order of the history, or its migrations do not end.
    """
    for _ in range(_MIGRATIONS):
        first = first_after(pages, place)
        if first is None:
            return
        yield first
        # Any higher migration id counts as later, so the rest of a migration is skipped in one request.
        place = Cursor(first.migration_id, LATEST)
    if (first := first_after(pages, place)) is not None:
        raise PagingError(
            f"POST /v2/updates: after {_MIGRATIONS} migrations the server shows one more at {first}; check scan_url="
        )


def first_after(pages: ScanPages, place: Cursor | None) -> Cursor | None:
    """The cursor of the first update after a place.

    Raises:
        PagingError: the server does not keep to the order of the history.
    """
    cursors = ask(pages, place, 1).value.page_index.cursors
    if cursors and place is not None and cursors[0] <= place:
        raise _unordered(place, cursors[0])
    return cursors[0] if cursors else None


def _unordered(place: Cursor, shown: Cursor) -> PagingError:
    return PagingError(
        f"POST /v2/updates: asked for what follows {place}, the server sent an update of {shown};"
        " a server that does not keep to the order cannot be searched"
    )


def ask(pages: ScanPages, place: Cursor | None, page_size: int) -> Any:
    """The answer with the updates after a place."""
    return pages.send_page(PageQuery(place, page_size))
