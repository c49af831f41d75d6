"""`ObjectPages`: pages of the update history from objects, where these are as good as pages of servers; for syncs.

Objects satisfy one more assumption than servers (see `paging.proofs`): a listed object has every update of its segment
that lies more than `settle` before the segment's end. The scan had shown something after the segment when it wrote
the end of it, so this is the servers' own rule, applied when the object was written. The rest of a segment comes from
pages, so that every segment begins and ends with updates that both have shown.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ledgerframes.errors import DecodeError, LedgerframesError, PagingError, RequestError, StoppedError
from ledgerframes.interfaces.history_pages import PageSource, shrinking
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, HistoryPage
from ledgerframes.objects.history import answer_of
from ledgerframes.objects.names import Segment, complete_segments, consecutive, objects_of
from ledgerframes.objects.readers import AFTER_ALL, BEFORE_ALL, Item, Readers, page_of_items, shows_two_times
from ledgerframes.objects.sources import Ahead, no_objects, scan_objects
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.modes import PageQuery
from ledgerframes.paging.proofs import NOTHING
from ledgerframes.threads import spawn
from ledgerframes.timestamps import EARLIEST, LATEST
from ledgerframes.transport import Answer

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan

_log = logging.getLogger("ledgerframes.objects")
#: Appended to a server's URL for pages from its objects, whose size shows nothing about the server's own pages.
OBJECTS: Final = "#objects"


@dataclass
class Chain:
    """Segments that follow each other without a gap.

    Attributes:
        segments: in order.
        readers: of their objects.
        broken: whether an object could not be read that the servers' pages do not replace.
    """

    segments: Sequence[Segment]
    readers: Readers
    broken: bool = False

    @property
    def up_to(self) -> int:
        """Where it ends, inclusive."""
        return self.segments[-1].up_to


@dataclass
class ObjectIndex:
    """The listed segments of a source, and readers of their objects; thread-safe.

    Attributes:
        chains: the segments, in order.
        settle: how long before its end a segment may lack updates, in microseconds.
        server: the server that listed the objects; empty if none did.
    """

    chains: Sequence[Chain]
    settle: int
    server: str = ""
    _failed: set[Segment] = field(default_factory=set)

    @property
    def segments(self) -> list[Segment]:
        """The segments of all chains, in order."""
        return [segment for chain in self.chains for segment in chain.segments]

    def close(self) -> None:
        """Close all readers."""
        for chain in self.chains:
            chain.readers.close()

    def page(self, after: Cursor, size: int) -> HistoryPage | None:
        """The items after a cursor; None if objects lack them or cannot be read.

        Raises:
            StoppedError: the operation was stopped.
        """
        found = self._segment(after)
        if found is None:
            return None
        chain, number = found
        segment = chain.segments[number]
        first, end = len(objects_of(chain.segments[:number])), self._end(segment)
        # The rest of a segment is read, however short.
        if not chain.readers.is_near(after, first) and not segment.is_worth(end - after.micros):
            return None
        try:
            items = chain.readers.page(after, Cursor(after.migration_id, end), size, first=first)
            # One item, or several at one time, would leave it open whether the page was cut inside a tie.
            return page_of_items(items) if shows_two_times(items) else None
        except StoppedError:
            raise
        except LedgerframesError as error:
            _log.warning("%s Pages are read instead.", error)
            self._failed.add(segment)
            return None

    def older(self, after: Cursor, last: Cursor, size: int) -> list[Item]:
        """The items between two cursors in the order of the history, from the first chain.

        Unlike `page`, this does not leave the end of each segment to servers, which have pruned it.

        Raises:
            StoppedError: the operation was stopped.
        """
        if not self.chains or self.chains[0].broken:
            return []
        try:
            return self.chains[0].readers.page(after, last, size)
        except StoppedError:
            raise
        except LedgerframesError as error:
            _log.warning("%s Later items are not read from objects.", error)
            self.chains[0].broken = True
            return []

    @property
    def final(self) -> int:
        """The record time up to which the first chain has everything."""
        return self._end(self.chains[0].segments[-1]) if self.chains else NOTHING

    def _segment(self, after: Cursor) -> tuple[Chain, int] | None:
        """The segment whose objects have the items after a cursor: its chain, and its position there."""
        for chain in self.chains:
            number = bisect_right(chain.segments, after.micros, key=lambda segment: segment.after) - 1
            if number >= 0 and after.micros < chain.up_to:
                segment = chain.segments[number]
                return (chain, number) if after.micros < self._end(segment) and segment not in self._failed else None
        return None

    def _end(self, segment: Segment) -> int:
        # Minus a microsecond, because an update may appear exactly `settle` after a newer one.
        return segment.up_to - self.settle - 1


@dataclass(frozen=True)
class ObjectPages:
    """Pages of whatever objects contain.

    Attributes:
        inner: the servers, which have the rest.
        index: the objects.
        left_out: servers that must not be asked; may include the name of pages from objects.
        begins: by server, where its pages begin; pruned items are read from objects.
    """

    inner: PageSource
    index: ObjectIndex
    left_out: Collection[str] = ()
    begins: dict[str, Cursor] = field(default_factory=dict)

    def page(self, query: PageQuery) -> Answer[HistoryPage] | None:
        """Read one page from objects; None if servers are to be asked for it."""
        if query.after is None or not self.known:  # from ledger begin on, a reader probes the server's page size
            return None
        began = time.monotonic()
        page = self._older(query.after, query.page_size) or self.index.page(query.after, query.page_size)
        return None if page is None else answer_of(page, self.name, began)

    def first(self, size: int) -> HistoryPage | None:
        """The first items of all objects."""
        items = self.index.older(BEFORE_ALL, AFTER_ALL, size)
        return page_of_items(items) if items else None

    @property
    def name(self) -> str:
        """The sender's name for pages from objects."""
        return self.lister + OBJECTS

    @property
    def lister(self) -> str:
        """The server that listed the objects."""
        return self.index.server or self.inner.servers[0]

    @property
    def known(self) -> bool:
        """Whether objects count: the server that listed them has shown their items, and is not left out itself."""
        return self.lister in self.inner.servers and self.name not in self.left_out

    def _older(self, after: Cursor, size: int) -> HistoryPage | None:
        """Items that no server has any more, followed by the first ones that a server has in the same migration."""
        begin = self._begin
        if begin is None or after >= begin:
            return None
        items = self.index.older(after, begin, size)
        while len(items) >= size and not shows_two_times(items):  # a tie larger than the servers' largest page
            size *= 2
            items = self.index.older(after, begin, size)
        migration_id = after.migration_id + (after.micros >= LATEST)
        if len(items) >= size or (items and items[-1].cursor.migration_id > migration_id):
            return page_of_items(items)
        # Objects that have the first item of a server have all before it in its migration, and it has all after it.
        if begin.migration_id == migration_id and items and items[-1].cursor == begin:
            items = [item for item in items if item.cursor < begin]
            # So that no group of equal times comes last: the servers' items continue it.
            most = min(max(size - len(items), 2), self.inner.largest_pages.get(self.inner.servers[0], size))
            rest = PageQuery(before(begin), most)
            answer = self.inner.send_page(rest, revise=shrinking(rest.after, [most]))
            if answer.value.page_index.cursors[:1] == [begin]:
                raws = [item.line.raw for item in items] + UPDATE_HISTORY.raws_of(answer.value.raw)
                return HistoryPage.read(UPDATE_HISTORY.body_of(raws))
            if answer.value.page_index.cursors:
                self.begins[answer.server] = answer.value.page_index.cursors[0]  # pruned since
        # Nothing follows one group at the end of the objects; a reader would wait for it.
        return page_of_items(items) if shows_two_times(items) else None

    @property
    def _begin(self) -> Cursor | None:
        """Where the first server begins; None if one is unknown."""
        servers = self.inner.servers
        known = [self.begins[server] for server in servers if server in self.begins]
        return min(known, default=None) if len(known) == len(servers) else None

    def final(self, migration_id: int, cursors: Sequence[Cursor]) -> int:
        """Up to which record time a page from objects, with items at these cursors, is complete for a migration."""
        begin = self._begin
        if begin is not None and begin.migration_id == migration_id and begin <= cursors[-1]:
            return LATEST  # it goes on with the servers' items, and they have what follows
        own = [cursor.micros for cursor in cursors if cursor.migration_id == migration_id]
        return max([self.index.final, *own])


@contextmanager
def object_index(
    scan: Scan,
    settle: int,
    *,
    workers: int = 1,
    required: bool = False,
    ahead: Ahead = spawn,
) -> Iterator[ObjectIndex]:
    """The objects of a scan, which lie in a temporary folder while they are read.

    Args:
        scan: the interface.
        settle: how long before its end a segment may lack updates, in microseconds.
        workers: how many read at once.
        required: refuse a scan that has no objects.
        ahead: fetches the next object while another is read.

    Raises:
        InputError: the scan has no objects, and they are required.
        RequestError: it returned no list, and it is required.
        StoreError: the folder cannot be created.
    """
    with scan_objects(scan, cached=workers, ahead=ahead) as source:
        try:
            objects = source.updates(EARLIEST, LATEST)
        except (RequestError, PagingError, DecodeError) as error:
            if required:
                raise
            _log.warning("%s Pages are read instead of objects.", error)
            objects = None
        if objects is None and required:
            raise no_objects(source.place, "source='auto', which reads pages then")
        chains: list[Chain] = []
        left = complete_segments(objects or ())
        _log.info("%s lists %d segments as objects", source.place, len(left))
        while left:
            segments = consecutive(left)
            chains.append(Chain(segments, Readers(source, objects_of(segments), most=2 * workers)))
            left = [segment for segment in left if segment.after >= segments[-1].up_to]
        index = ObjectIndex(chains, settle, objects[0].server if objects else "")
        try:
            yield index
        finally:
            index.close()
