"""The extent of a scan's history, found by few small requests: its beginning, its migrations, its newest update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from ledgerframes.config.settings import source_of
from ledgerframes.errors import BeginsLateWarning, DecodeError, PagingError, PartialResultError, RequestError, warn
from ledgerframes.interfaces.answers import members_of
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, HistoryPage, OneNetwork, PagedHistory
from ledgerframes.paging.cursor import Cursor, Window, before, wanted_window
from ledgerframes.paging.modes import PageQuery
from ledgerframes.timestamps import EARLIEST, EPOCH, LATEST, MICROSECOND, format_timestamp, http_date, parse_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.history_pages import PageSource, ScanPages
    from ledgerframes.interfaces.scan import Scan

#: Updates of a first page that are examined before the others: the first few reveal a truncated history.
FEW: Final = 50
#: The beginning of a complete history.
WHOLE: Final = Cursor(-(2**63), EARLIEST - 1)
_TABLES: Final = ("events", "reassignments")
# A network's history begins with the creation of its DSO, in one choice.
_TEMPLATE: Final = "Splice.DsoBootstrap:DsoBootstrap"
_CHOICE: Final = "DsoBootstrap_Bootstrap"


@dataclass(frozen=True)
class Beginning:
    """The beginning of the available history.

    Attributes:
        first: the cursor of the first update.
        proven: whether the ledger begins there: True, False, or None if unknown.
    """

    first: Cursor
    proven: bool | None

    @property
    def late(self) -> Cursor | None:
        """Where it begins, if the ledger began earlier."""
        return self.first if self.proven is False else None

    @property
    def at(self) -> Cursor:
        """Everything recorded from here on is available, in the order of migrations and times."""
        return WHOLE if self.proven else self.first

    def has(self, migration_id: int, micros: int) -> bool:
        """Whether an item of that place must be available, if it exists."""
        return self.at <= (migration_id, micros)

    def __str__(self) -> str:
        if self.proven:
            return "ledger begin"
        return f"{format_timestamp(self.first.micros)} of migration {self.first.migration_id} (the first update there)"


def beginning_of(pages: PageSource, server: str | None = None) -> Beginning | None:
    """Ask for the first items of a history, as one server or the preferred one shows it; None while it has none."""
    named = None if server is None else (server,)
    page = pages.send_page(PageQuery(None, FEW), server=named).value
    return Beginning(page.page_index.cursors[0], proven_by(page, pages.history)) if page.page_index.cursors else None


def having(pages: ScanPages, window: Window) -> ScanPages:
    """The pages of servers that reach back as far as a window; otherwise those that begin first.

    Raises:
        PagingError: the servers asked belong to two networks.
    """
    begins: dict[str, Cursor] = {}
    network = OneNetwork(pages.history)
    for server in pages.servers if len(pages.servers) > 1 else ():
        try:
            page = pages.send_page(PageQuery(None, 1), server=server).value
        except (RequestError, DecodeError):
            continue
        network.check(server, page)
        if page.page_index.cursors:
            begins[server] = page.page_index.cursors[0]
            if window.names_start and len(begins) == 1 and not window.wants_before(begins[server]):
                return pages  # the preferred one has it
    reach = [server for server, begin in begins.items() if window.names_start and not window.wants_before(begin)]
    first = [server for server, begin in begins.items() if begin == min(begins.values())]
    return replace(pages, sender=pages.sender.on(*(reach or first))) if begins else pages


def proven_by(page: HistoryPage, history: PagedHistory = UPDATE_HISTORY) -> bool | None:
    """Whether the ledger begins with a page that begins with the first available item."""
    proven: bool | None = None
    for count in (FEW, len(page)):
        rows = range(min(count, len(page)))
        try:
            if history is UPDATE_HISTORY:
                decoded = history.decode_pages([(page, rows)], tables=_TABLES)
            else:
                items = history.raws_of(page.raw)
                updates = [update for row in rows if (update := _carried(items[row])) is not None]
                decoded = UPDATE_HISTORY.decode_items(updates, endpoint=history.endpoint, tables=_TABLES)
        except (DecodeError, msgspec.MsgspecError):
            return None  # the caller's own reading reports the error
        events, legs = (decoded[name] for name in _TABLES)
        proven = from_beginning(events, legs, first=page.page_index.cursors[0])
        if proven is not None or count >= len(page):
            break
    return proven


def from_beginning(
    events: pa.RecordBatch, reassignments: pa.RecordBatch, *, first: Cursor | None = None
) -> bool | None:
    """Whether a history begins where the ledger does, by its first updates (the contract documents no sign of it).

    A scan that prunes answers as if its history began later, so being shown first proves nothing about an item.

    Args:
        events: those of the first updates.
        reassignments: the legs among the same updates.
        first: the cursor of the first update, if known: nothing can precede the smallest possible one.

    Returns:
        True if one of the first updates, all at one cursor, bootstraps the DSO, or nothing can precede it; False if
        a contract is exercised or unassigned that nothing here created or assigned; None otherwise.
    """
    if first is not None and before(first) is None:
        return True
    if events.num_rows:
        # Updates at one cursor are in the server's own order.
        here = pc.and_(
            pc.equal(events["migration_id"], events["migration_id"][0]),
            pc.equal(events["record_time"], events["record_time"][0]),
        )
        bootstraps = pc.and_(pc.equal(events["template_name"], _TEMPLATE), pc.equal(events["choice"], _CHOICE))
        if pc.any(pc.and_(here, bootstraps.fill_null(fill_value=False))).as_py():
            return True
    begun = _ids(events, "event_type", "created_event") | _ids(reassignments, "kind", "assignment")
    used = _ids(events, "event_type", "exercised_event") | _ids(reassignments, "kind", "unassignment")
    return False if used - begun else None


def _ids(rows: pa.RecordBatch, column: str, value: str) -> set[str]:
    return {*rows["contract_id"].filter(pc.equal(rows[column], value)).to_pylist()} - {None}


def _carried(item: bytes) -> Raw | None:
    """The update that an item of the other history carries, if it does."""
    update = members_of(item).get("update")
    return None if update is None or bytes(update) == b"null" else update


def warn_of(beginning: Beginning, source: str) -> None:
    """Warn that the history of a source begins after ledger begin."""
    warn(
        f"{source} begins at {beginning.first}, after ledger begin: older updates were pruned, or never stored there",
        BeginsLateWarning,
    )


#: Items of a page used as a sample; a few of them cost less than one page of 1,000.
SAMPLE_SIZE: Final = 60
#: Far more migrations than any network has had; upgrades no longer change the id. A server with more makes them up.
MIGRATIONS: Final = 30
#: How far before the server's own time its newest update is looked for first.
_RECENT: Final = 60_000_000
_WIDER: Final = 8
#: So many pages in a row, smaller than the server can send, have new updates, not the rest of the history.
_SMALL_PAGES: Final = 40
#: The range in which the least pruned scan shows the most.
EVERYTHING: Final = wanted_window("begin")


@dataclass(frozen=True)
class Extent:
    """The extent of a scan's history: its beginning, the first place of each migration, and the newest update."""

    pages: ScanPages
    beginning: Beginning
    firsts: tuple[Cursor, ...]
    newest: Cursor


def newest_time(scan: Scan) -> int:
    """The newest record time that any scan shows, in microseconds: what `last` counts back from.

    Raises:
        PartialResultError: it shows none.
    """
    extent = extent_of(scan, having(scan.update_pages, EVERYTHING))
    if extent is None:
        raise PartialResultError(f"{nothing_shown(scan)}, so last= has nothing to count back from")
    return furthest(scan, extent).newest.micros


def furthest(scan: Scan, extent: Extent) -> Extent:
    """The extent of the scan that shows the newest update, where the one examined is a minute or more behind it."""
    for server in scan.update_pages.servers:
        beyond = Cursor(extent.newest.migration_id, min(extent.newest.micros + _RECENT, LATEST))
        one = replace(extent.pages, sender=scan.update_pages.sender.on(server))
        with suppress(RequestError, DecodeError, PagingError):
            if server != extent.pages.servers[0] and len(one.send_page(PageQuery(beyond, 1), server=server).value):
                extent = max(extent, extent_of(scan, one) or extent, key=attrgetter("newest"))
    return extent


def nothing_shown(scan: Scan) -> str:
    """The message for a scan that shows no update."""
    return f"{source_of(scan.servers[0])} shows no update: nothing is recorded yet, or it has pruned everything"


def extent_of(scan: Scan, pages: ScanPages) -> Extent | None:
    """Find the extent of a scan, with about two requests, and one or two per migration; None while it shows nothing.

    Args:
        scan: asked for its newest snapshot.
        pages: its updates, or its verdicts, from the server that a load would read.

    Raises:
        PagingError: the server does not keep to the order of the history, or its migrations do not end.
    """
    page = pages.send_page(PageQuery(None, sample_size(pages))).value
    if not page.page_index.cursors:
        return None
    begin = page.page_index.cursors[0]
    firsts = (begin, *first_cursors(pages, Cursor(begin.migration_id, LATEST)))
    return Extent(pages, Beginning(begin, proven_by(page, pages.history)), firsts, newest_of(scan, pages, firsts[-1]))


def newest_of(scan: Scan | None, pages: PageSource, first: Cursor) -> Cursor:
    """The newest update of a migration: near the server's own time, near the migration's newest snapshot, or by steps.

    Where to look is a guess; a page proves that nothing of the migration follows, or only what is recorded meanwhile.

    Args:
        scan: asked for its newest snapshot; None for no guess by it.
        pages: the history.
        first: a place of the migration, from which it is searched.

    Raises:
        PagingError: the server does not keep to the order of the history.
    """
    migration_id, high, beyond = first.migration_id, LATEST, False

    def look(after: Cursor) -> tuple[Any, list[Cursor], bool]:
        """A page, the places on it that lie in the migration, and whether many may follow them."""
        page = pages.send_page(PageQuery(after, sample_size(pages)))
        places = [place for place in page.value.page_index.cursors if place.migration_id == migration_id]
        return page, places, len(places) >= sample_size(pages)

    answer, shown, full = look(first)
    place, most = max(shown, default=first), len(shown)
    recent = _server_time(answer) - _RECENT
    for guess in (recent, None):
        micros = newest_snapshot(scan, migration_id) if guess is None and scan and full and not beyond else guess
        if not full or micros is None or not place.micros < micros < high:
            continue
        _, shown, more = look(Cursor(migration_id, micros))
        if shown:
            place, full, beyond = max(shown), more, True
        else:
            high = micros
    # A busy network has recorded more at every request, so a page with the last minute that is not full is the end;
    # of a scan that lags behind its clock, or of whose clock nothing is known, many such pages in a row are.
    small = 0
    while full or (place.micros < recent and small < _SMALL_PAGES):
        _, shown, full = look(place)
        if not shown:
            break
        before_it, place = place, max(shown)
        small = small + 1 if len(shown) < most else 0
        if place <= before_it:
            raise _unordered(pages, before_it, place)
        step = (place.micros - before_it.micros) * _WIDER
        while full and step and place.micros + step < high:
            _, shown, more = look(Cursor(migration_id, place.micros + step))
            if shown:
                place, full, step = max(shown), more, step * _WIDER
            else:
                high, step = place.micros + step, step // _WIDER
    return place


def sample_size(pages: PageSource) -> int:
    """The items of a full sample: fewer where a server allows no larger pages."""
    return min([SAMPLE_SIZE, *(pages.largest_pages.get(server, SAMPLE_SIZE) for server in pages.servers)])


def _server_time(answer: Any) -> int:
    """When a server answered, by its own clock: a recording then asks for the same when it is replayed."""
    try:
        return int(http_date(answer.headers.get("date", "")).timestamp()) * 1_000_000
    except ValueError:
        return LATEST


def newest_snapshot(scan: Scan, migration_id: int) -> int | None:
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


def frame_of(places: Sequence[tuple[int, ...]], *times: str) -> pd.DataFrame:
    """A frame of places: their migration ids, and microseconds as times under these names."""
    frame = pd.DataFrame(places, columns=["migration_id", *times], dtype="int64")
    return frame.astype(dict.fromkeys(times, "datetime64[us, UTC]"))


def first_cursors(
    pages: PageSource, place: Cursor | None = None, search: Callable[[Cursor | None], Cursor | None] | None = None
) -> Iterator[Cursor]:
    """The first cursor of each migration after a place, in order, by one request per migration and one more.

    Args:
        pages: the history.
        place: None means the beginning of the ledger.
        search: finds the first cursor after a place, by default as `first_after` does.

    Raises:
        PagingError: the server does not keep to the order of the history, or its migrations do not end.
    """
    search = partial(first_after, pages) if search is None else search
    for _ in range(MIGRATIONS):
        first = search(place)
        if first is None:
            return
        yield first
        # Any higher migration id counts as later, so the rest of a migration is skipped in one request.
        place = Cursor(first.migration_id, LATEST)
    if (first := search(place)) is not None:
        raise PagingError(
            f"{pages.history.endpoint}: after {MIGRATIONS} migrations the server shows one more at {first}; check"
            " scan_url="
        )


def first_after(pages: PageSource, place: Cursor | None) -> Cursor | None:
    """The cursor of the first update after a place.

    Raises:
        PagingError: the server does not keep to the order of the history.
    """
    cursors = pages.send_page(PageQuery(place, 1)).value.page_index.cursors
    if cursors and place is not None and cursors[0] <= place:
        raise _unordered(pages, place, cursors[0])
    return cursors[0] if cursors else None


def _unordered(pages: PageSource, place: Cursor, shown: Cursor) -> PagingError:
    return PagingError(
        f"{pages.history.endpoint}: asked for what follows {place}, the server sent an update of {shown};"
        " a server that does not keep to the order cannot be searched"
    )
