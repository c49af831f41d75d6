"""`SegmentReader` reads one segment of the history from its objects, a page at a time; `Readers` keeps some waiting."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, islice, pairwise
from threading import Lock
from typing import Final

from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.history_pages import HistoryPage
from ledgerframes.objects.history import page_of_lines
from ledgerframes.objects.lines import read_lines
from ledgerframes.objects.sources import Objects, StoredObject
from ledgerframes.paging.cursor import Cursor
from ledgerframes.threads import result, spawn
from ledgerframes.timestamps import LATEST

#: Starts a call whose result is needed later, in a thread of the given name.
Ahead = Callable[[Callable[[], None], str], Future[None]]

#: Lines that are examined together while a reader searches for its place.
_LOOKED_AT: Final = 1_000
_BYTES: Final = 16 * 2**20
#: The longest page, unless one item is longer.
_LARGEST: Final = 64 * 2**20
#: Before and after every item of a history.
BEFORE_ALL: Final = Cursor(-(2**63) - 1, LATEST)
AFTER_ALL: Final = Cursor(2**63, LATEST)


@dataclass(frozen=True)
class Segment:
    """A range of record times, and the objects with their updates.

    Attributes:
        after: exclusive, in microseconds.
        up_to: inclusive.
        objects: in order.
    """

    after: int
    up_to: int
    objects: tuple[StoredObject, ...]

    @property
    def missing(self) -> int | None:
        """The number of its first object that is not there; None if it is complete, judging by their numbers."""
        numbers = {stored.name.number for stored in self.objects}
        return next((number for number in range(len(self.objects)) if number not in numbers), None)


def segments_of(objects: Iterable[StoredObject]) -> list[Segment]:
    """The segments of some objects, each name once, in order; an object may be missing."""
    ordered = sorted(objects, key=lambda stored: stored.name)
    grouped = groupby(ordered, key=lambda stored: (stored.name.after, stored.name.up_to))
    return [Segment(after, up_to, tuple(own)) for (after, up_to), own in grouped if after < up_to]


@dataclass
class SegmentReader:
    """Returns pages of one segment; each starts inside or after the previous one, never before it.

    Attributes:
        source: the source of the objects.
        segment: the segment to read.
        ahead: fetches the next object while another is read.
        passed: everything up to this cursor was passed; None before the first page.
        at: the position of the object being read, or of the first one to read.
    """

    source: Objects
    segment: Segment
    ahead: Ahead = spawn
    passed: Cursor | None = None
    at: int = 0
    _lines: Generator[bytes] | None = None
    _line: int = 0  # the number, in its object, of the last line read
    _buffered: list[bytes] = field(default_factory=list)
    _origins: list[tuple[int, int]] = field(default_factory=list)  # their objects' positions and line numbers
    _cursors: list[Cursor] = field(default_factory=list)  # of the kept lines

    def can_give(self, after: Cursor) -> bool:
        """Whether the items after a cursor were not passed yet."""
        return self.passed is None or self.passed <= after

    def page(self, after: Cursor, last: Cursor, size: int) -> HistoryPage | None:
        """The items after a cursor and up to another one; None if there are none.

        Args:
            after: the first cursor, exclusive.
            last: the last one, inclusive.
            size: the maximum number of items; fewer are returned if they are very long.

        Raises:
            RequestError: an object could not be fetched.
            DecodeError: an object is damaged, or its items are not in order.
        """
        page: HistoryPage | None = None
        # Before anything is dropped: a reader that reaches the end has passed all of it, too.
        self.passed = after
        while not self._cursors or self._cursors[-1] <= after:
            page = self._advance(len(self._buffered), _LOOKED_AT)
            if page is None:
                return None
        start = bisect_right(self._cursors, after)
        if start or len(self._buffered) < size:
            page = self._advance(start, max(size - len(self._buffered) + start, 0))
        count = min(bisect_right(self._cursors, last), size)
        if page is None or count < len(page):
            page = self._parsed(self._buffered[:count]) if count else None
        return page

    def close(self) -> None:
        """Close the open object."""
        if self._lines is not None:
            self._lines.close()

    def _advance(self, dropped: int, more: int) -> HistoryPage | None:
        """Drop the first lines and read up to `more` further ones; None if there are none."""
        if self._lines is None:
            self._lines = self._read()
        remaining, origins = self._buffered[dropped:], self._origins[dropped:]
        passed = [] if remaining else self._cursors[-1:]
        for line in _within(islice(self._lines, more), _LARGEST):
            remaining.append(line)
            origins.append((self.at, self._line))
        self._buffered, self._origins = remaining, origins
        page = self._parsed(self._buffered) if self._buffered else None
        self._cursors = [] if page is None else page.page_index.cursors
        for place, (former, latter) in enumerate(pairwise([*passed, *self._cursors]), 1 - len(passed)):
            if latter < former:
                name, number = self._origin(place)
                raise DecodeError(
                    f"{name}, line {number}: an item at {latter} follows one at {former}; objects are in order"
                )
        return page

    def _parsed(self, lines: list[bytes]) -> HistoryPage:
        try:
            return page_of_lines(lines, *self._origin(0))
        except DecodeError:
            # A page may have lines of several objects: name the right one.
            for place, line in enumerate(lines):
                page_of_lines([line], *self._origin(place))
            raise

    def _origin(self, place: int) -> tuple[str, int]:
        """The object of a kept line, and the line's number there."""
        at, line = self._origins[place]
        return str(self.segment.objects[at].name), line

    def _read(self) -> Generator[bytes]:
        """The lines of all objects; the next object is fetched while one is read."""
        pending: Future[None] | None = None
        for place, stored in list(enumerate(self.segment.objects))[self.at :]:
            if pending is not None:
                result(pending)
            self.source.fetch(stored)
            following = self.segment.objects[place + 1 : place + 2]
            pending = self.ahead(partial(self.source.fetch, *following), "ledgerframes-object") if following else None
            self.at, self._line = place, 0
            with self.source.opened(stored) as file:
                for batch in read_lines(file, str(stored.name), lines=_LOOKED_AT, most=_BYTES):
                    for line in batch:
                        self._line += 1
                        yield line


@dataclass
class Readers:
    """Readers that wait for the next page of a reader of pages, each in the middle of a segment; thread-safe.

    Attributes:
        source: the source of the objects.
        ahead: fetches the next object while another is read.
        most: how many wait; the least recently used ones are closed.
    """

    source: Objects
    ahead: Ahead = spawn
    most: int = 512
    _waiting: list[SegmentReader] = field(default_factory=list)
    _change: Lock = field(default_factory=Lock)

    def near(self, segment: Segment, after: Cursor, first: int = 0) -> SegmentReader | None:
        """The reader closest before a cursor in a segment, from its object `first` on; None if there is none."""
        with self._change:
            near = [one for one in self._waiting if one.segment is segment and one.at >= first and one.can_give(after)]
            nearest = max(near, key=lambda one: one.passed or BEFORE_ALL, default=None)
            if nearest is not None:
                self._waiting.remove(nearest)
        return nearest

    def new(self, segment: Segment, first: int = 0) -> SegmentReader:
        """Another reader, from an object of the segment on."""
        return SegmentReader(self.source, segment, self.ahead, at=first)

    def page(self, reader: SegmentReader, after: Cursor, last: Cursor, size: int) -> HistoryPage | None:
        """A page of a reader, which then waits; see `SegmentReader.page`."""
        try:
            page = reader.page(after, last, size)
        except BaseException:
            reader.close()
            raise
        with self._change:
            self._waiting.append(reader)
            for old in self._waiting[: -self.most]:
                old.close()
            del self._waiting[: -self.most]
        return page

    def close(self, up_to: int = LATEST) -> None:
        """Close the readers of segments that end by a record time; of all by default."""
        with self._change:
            for reader in [one for one in self._waiting if one.segment.up_to <= up_to]:
                reader.close()
                self._waiting.remove(reader)


def _within(lines: Iterable[bytes], most: int) -> Iterator[bytes]:
    """The first lines, up to `most` bytes together, but at least one."""
    for line in lines:
        yield line
        most -= len(line)
        if most <= 0:
            return
