"""`ObjectPages`: pages of the update history from objects if there are some, and otherwise from servers; for syncs.

Objects satisfy one more assumption than servers (see `paging.proofs`): a listed object has every update of its segment
that lies more than `settle` before the segment's end. The scan had shown something after the segment when it wrote
the end of it, so this is the servers' own rule, applied when the object was written. The rest of a segment comes from
pages, so that every segment begins and ends with updates that both have shown.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Final

from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.errors import DecodeError, InputError, LedgerframesError, PagingError, RequestError, StoppedError
from ledgerframes.interfaces.history import HistorySession
from ledgerframes.interfaces.history_pages import UPDATES, HistoryPage, PageSource, Smaller, page_of, smaller_page
from ledgerframes.objects.lines import Ahead
from ledgerframes.objects.segments import (
    AFTER_ALL,
    BEFORE_ALL,
    Readers,
    Segment,
    SegmentReader,
    complete_segments,
    consecutive,
    joined,
)
from ledgerframes.objects.sources import ScanObjects
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.modes import PageQuery
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.threads import spawn
from ledgerframes.timestamps import DAY, LATEST
from ledgerframes.transport import Answer, Request, Stop

_log = logging.getLogger("ledgerframes.objects")
#: Appended to a server's URL for pages from its objects, whose size shows nothing about the server's own pages.
_OBJECTS: Final = "#objects"
#: If less than this share of a segment is wanted, pages are faster than its objects.
_WORTHWHILE: Final = 8


def sender_of(server: str) -> str:
    """The server whose objects or pages an answer came from."""
    return server.removesuffix(_OBJECTS)


def likely_sender(session: HistorySession) -> str:
    """The likely sender of a read's next page: objects send many in a row, whoever is asked for the others."""
    last = session.last_server
    return sender_of(last) if last.endswith(_OBJECTS) else session.server


@dataclass
class ObjectIndex:
    """The listed segments of a source, and the readers in the middle of one; thread-safe.

    Attributes:
        source: the source of the objects.
        segments: in order.
        settle: how long before its end a segment may lack updates, in microseconds.
        server: the server that listed the objects; empty if none did.
        ahead: fetches the next object while another is read.
        readers: those that wait in the middle of a segment.
        whole: the consecutive segments from the first one on as one, without a gap; None if there are none.
        broken: whether an object could not be read that the servers' pages do not replace.
    """

    source: ScanObjects
    segments: tuple[Segment, ...]
    settle: int
    server: str = ""
    ahead: Ahead = spawn
    readers: Readers = field(init=False)
    whole: Segment | None = field(init=False, default=None)
    broken: bool = False
    _failed: set[Segment] = field(default_factory=set)

    @classmethod
    def listed(
        cls, source: ScanObjects, settle: int, times: tuple[int, int], *, required: bool, ahead: Ahead = spawn
    ) -> ObjectIndex:
        """List the objects of some record times, (after, up_to].

        Args:
            source: the source of the objects.
            settle: see above.
            times: the record times.
            required: refuse a source that has no objects.
            ahead: fetches the next object while another is read.

        Raises:
            InputError: there are none, and they are required.
            RequestError: the source returned no list, and it is required.
        """
        try:
            objects = source.updates(*times)
        except (RequestError, PagingError, DecodeError) as error:
            if required:
                raise
            _log.warning("%s Pages are read instead of objects.", error)
            objects = None
        if objects is None and required:
            raise InputError(
                f"source='objects': {source.place} has no objects; give source='auto', which reads pages then"
            )
        segments = complete_segments(objects or ())
        _log.info("%s lists %d segments as objects", source.place, len(segments))
        return cls(source, segments, settle, objects[0].server if objects else "", ahead)

    def __post_init__(self) -> None:
        self.readers = Readers(self.source, self.ahead)
        self.whole = joined(consecutive(self.segments)) if self.segments else None

    def page(self, after: Cursor, size: int) -> HistoryPage | None:
        """The items after a cursor; None if objects lack them or cannot be read.

        Raises:
            StoppedError: the operation was stopped.
        """
        reader = self._reader(after)
        if reader is None:
            return None
        try:
            page = self._uncut(reader, after, Cursor(after.migration_id, self._end(reader.segment)), size)
        except StoppedError:
            raise
        except LedgerframesError as error:
            _log.warning("%s Pages are read instead.", error)
            self._failed.add(reader.segment)
            return None
        # One item, or several at one time, would leave it open whether the page was cut inside a tie.
        return page if page is not None and _shows_two_times(page) else None

    def older(self, after: Cursor, last: Cursor, size: int) -> HistoryPage | None:
        """The items between two cursors in the order of the history; None if there are none.

        Unlike `page`, this does not leave the end of each segment to servers, which have pruned it.

        Raises:
            StoppedError: the operation was stopped.
        """
        if self.whole is None or self.broken:
            return None
        reader = self.readers.near(self.whole, after) or self.readers.new(self.whole)
        try:
            return self._uncut(reader, after, last, size)
        except StoppedError:
            raise
        except LedgerframesError as error:
            _log.warning("%s Later items are not read from objects.", error)
            self.broken = True
            return None

    def _uncut(self, reader: SegmentReader, after: Cursor, last: Cursor, size: int) -> HistoryPage | None:
        """A page of a reader; one that a fault cuts short would pass for the last one, which servers' items follow."""
        page = self.readers.page(reader, after, last, size)
        if reader.fault is not None and len(page or ()) < size:
            raise reader.fault
        return page

    def _reader(self, after: Cursor) -> SegmentReader | None:
        """A reader for the items after a cursor: one that is close to it, or a new one."""
        segment = self._segment(after)
        if segment is None:
            return None
        nearest = self.readers.near(segment, after)
        if nearest is not None:  # the rest of the segment is read, however short
            return nearest
        self.readers.close(segment.after)
        # The first segment of a network begins in the year 1.
        length = min(segment.up_to - segment.after, DAY)
        worthwhile = (self._end(segment) - after.micros) * _WORTHWHILE >= length
        return self.readers.new(segment) if worthwhile else None

    def _segment(self, after: Cursor) -> Segment | None:
        """The segment whose objects have the items after a cursor."""
        segments = self.segments
        place = bisect_right(segments, after.micros, key=lambda segment: segment.after) - 1
        if place < 0:
            return None
        segment = segments[place]
        return segment if after.micros < self._end(segment) and segment not in self._failed else None

    def _end(self, segment: Segment) -> int:
        # Minus a microsecond, because an update may appear exactly `settle` after a newer one.
        return segment.up_to - self.settle - 1


@dataclass(frozen=True)
class ObjectPages:
    """A source of pages that reads from objects whatever they contain.

    Attributes:
        inner: the servers.
        index: the objects.
        left_out: servers that must not be asked; may include the name of pages from objects.
        begins: by server, where its pages begin; pruned items are read from objects.
        later: the later migrations that objects have shown, which are to be read in turn.
    """

    inner: PageSource
    index: ObjectIndex
    left_out: Collection[str] = ()
    begins: dict[str, Cursor] = field(default_factory=dict)
    later: set[int] = field(default_factory=set)

    @property
    def history(self) -> PagedHistory:
        """The history of the pages."""
        return self.inner.history

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers."""
        return self.inner.servers

    def send_page(
        self, query: PageQuery, *, server: str | tuple[str, ...] | None = None, revise: Smaller | None = None
    ) -> Answer[HistoryPage]:
        """Read one page from objects, or request it."""
        # A reader that names a server wants an answer from that server only.
        if self.known and not isinstance(server, str):
            began = time.monotonic()
            page = None
            if query.after is not None:  # otherwise a reader probes the server's page size
                page = self._older(query.after, query.page_size) or self.index.page(query.after, query.page_size)
            if page is not None:
                return answer_of(page, self.name, began)
        return self.inner.send_page(query, server=server, revise=revise)

    def first(self, size: int) -> HistoryPage | None:
        """The first items of all objects."""
        return self.index.older(BEFORE_ALL, AFTER_ALL, size)

    @property
    def name(self) -> str:
        """The sender's name for pages from objects."""
        return self.lister + _OBJECTS

    @property
    def lister(self) -> str:
        """The server that listed the objects."""
        return self.index.server or self.servers[0]

    @property
    def known(self) -> bool:
        """Whether objects count: the server that listed them has shown their items, and is not left out itself."""
        return self.lister in self.servers and self.name not in self.left_out

    def _older(self, after: Cursor, size: int) -> HistoryPage | None:
        """Items that no server has any more, followed by the first ones that a server has."""
        known = [self.begins[server] for server in self.servers if server in self.begins]
        begin = min(known, default=None) if len(known) == len(self.servers) else None
        if begin is None or after >= begin:
            return None
        last = Cursor(begin.migration_id, begin.micros - 1)
        page = self._past_a_tie(after, last, size)
        migration_id = after.migration_id + (after.micros >= LATEST)
        later = [cursor for cursor in (page.page_index.cursors if page else ()) if cursor.migration_id > migration_id]
        self.later.update(cursor.migration_id for cursor in later)
        # It ends the migration only if objects have all of that.
        if later and not self._reaches(later[0], migration_id):
            last = Cursor(migration_id, LATEST)
            page = self._past_a_tie(after, last, size)
        if page is not None and len(page) >= size and _shows_two_times(page):
            return page
        # Within a migration, objects that have the first item of a server have all before it; their items of a later
        # one show nothing about this one, as a writer may sort by record time alone.
        same = begin.migration_id == migration_id
        previous = before(begin) or BEFORE_ALL
        if not self.index.broken and (
            self._reaches(begin, migration_id) or (same and self.index.older(previous, begin, 1) is not None)
        ):
            # So that no group of equal times comes last: the servers' items continue it.
            most = min(max(size - len(page or ()), 2), self.inner.largest_pages.get(self.inner.servers[0], size))
            answer = self._first_left(before(begin), most)
            if answer.value.page_index.cursors[:1] == [begin]:
                bodies = [one.raw for one in (page, answer.value) if one is not None]
                return HistoryPage.read(
                    page_of(UPDATE_HISTORY, [line for body in bodies for line in UPDATE_HISTORY.raws_of(body)])
                )
            if answer.value.page_index.cursors:
                self.begins[answer.server] = answer.value.page_index.cursors[0]  # pruned since
        # Nothing follows one group at the end of the objects; a reader would wait for it.
        several = page is not None and _shows_two_times(page)
        return page if several else None

    def _past_a_tie(self, after: Cursor, last: Cursor, size: int) -> HistoryPage | None:
        return past_a_tie(self.index.older, after, last, size)

    def _reaches(self, cursor: Cursor, migration_id: int) -> bool:
        """Whether objects have everything before a cursor, including all of the earlier migrations."""
        whole = self.index.whole
        # An earlier migration may have had updates for a day after the next one began.
        needed = cursor.micros - 1 + OVERLAP * (cursor.migration_id - migration_id)
        return whole is not None and not self.index.broken and whole.up_to >= needed

    def _first_left(self, place: Cursor | None, size: int) -> Answer[HistoryPage]:
        """The first items that a server has; fewer if it limits pages."""

        def fewer(error: RequestError) -> PageQuery | None:
            nonlocal size
            smaller = smaller_page(size, error)
            if smaller == size:
                return None
            size = smaller
            return PageQuery(place, size)

        return self.inner.send_page(PageQuery(place, size), revise=fewer)

    def pause(self, seconds: float) -> None:
        """Wait."""
        self.inner.pause(seconds)

    @property
    def largest_pages(self) -> dict[str, int]:
        """By scan, the largest page that it has named."""
        return self.inner.largest_pages

    def stoppable(self, stop: Stop) -> ObjectPages:
        """The same for one operation, whose requests and pauses end once `stop` is set."""
        return replace(self, inner=self.inner.stoppable(stop))


def answer_of(page: HistoryPage, place: str, began: float) -> Answer[HistoryPage]:
    """A page from objects as if a server had sent it."""
    return Answer(page, 200, place, Request(UPDATES, UPDATES.path), len(page.raw), time.monotonic() - began, {})


def past_a_tie(
    read: Callable[[Cursor, Cursor, int], HistoryPage | None], after: Cursor, last: Cursor, size: int
) -> HistoryPage | None:
    """Items from objects; a page filled by one time may be cut inside a tie, so it has at least two times."""
    page = read(after, last, size)
    while page is not None and len(page) >= size and not _shows_two_times(page):
        size *= 2
        page = read(after, last, size)
    return page


def _shows_two_times(page: HistoryPage) -> bool:
    """Whether a page has items of at least two times; otherwise it may be cut inside a tie."""
    return page.page_index.cursors[0] != page.page_index.cursors[-1]
