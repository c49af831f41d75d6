"""`SegmentReader` reads one segment of the history from its objects, a page at a time; `Readers` keeps some waiting."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby, islice
from threading import Lock
from typing import Final, NamedTuple

from ledgerframes.errors import DecodeError, LedgerframesError, RequestError
from ledgerframes.interfaces.history_pages import HistoryPage
from ledgerframes.objects.lines import Ahead, object_lines, page_of_lines
from ledgerframes.objects.sources import ObjectName, Objects, StoredObject
from ledgerframes.paging.cursor import Cursor
from ledgerframes.threads import spawn
from ledgerframes.timestamps import LATEST

#: Lines that are examined together while a reader searches for its place.
_LOOKED_AT: Final = 1_000
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


def complete_segments(objects: Iterable[StoredObject]) -> tuple[Segment, ...]:
    """The segments of some objects that lack none, in order."""
    return tuple(segment for segment in segments_of(objects) if segment.missing is None)


def consecutive(segments: Iterable[Segment]) -> list[Segment]:
    """Segments that follow each other, from the first one on as far as possible, in as few steps as possible.

    Lists may have several that cover the same record times, as where a server has changed their length.
    """
    best: dict[int, tuple[int, int, Segment]] = {}
    for segment in sorted(segments, key=lambda one: (one.after, one.up_to), reverse=True):
        end, steps, _ = best.get(segment.up_to, (segment.up_to, 0, segment))
        known = best.get(segment.after)
        if known is None or (end, -steps - 1) > (known[0], -known[1]):
            best[segment.after] = end, steps + 1, segment
    chain = [best[min(best)][2]] if best else []
    while chain and chain[-1].up_to in best:
        chain.append(best[chain[-1].up_to][2])
    return chain


def joined(chain: Sequence[Segment]) -> Segment:
    """Consecutive segments as one."""
    return Segment(chain[0].after, chain[-1].up_to, tuple(stored for segment in chain for stored in segment.objects))


class _Line(NamedTuple):
    """A line of an object.

    Attributes:
        raw: its item.
        name: the object's name.
        number: its own number in the object.
    """

    raw: bytes
    name: ObjectName
    number: int


@dataclass
class SegmentReader:
    """Returns pages of one segment; each starts inside or after the previous one, never before it.

    What cannot be read ends it, once everything was returned whose record time is over before that.

    Attributes:
        source: the source of the objects.
        segment: the segment to read.
        ahead: fetches the next object while another is read.
        passed: everything up to this cursor was passed; None before the first page.
        at: the position of the object being read, or of the first one to read.
        newest: the last item that was read, wanted or not.
        fault: why nothing is read any more, once something could not be.
    """

    source: Objects
    segment: Segment
    ahead: Ahead = spawn
    passed: Cursor | None = None
    at: int = 0
    newest: Cursor | None = None
    fault: LedgerframesError | None = None
    _lines: Generator[_Line] | None = None
    _buffered: list[_Line] = field(default_factory=list)
    _cursors: list[Cursor] = field(default_factory=list)  # of the kept lines

    def can_give(self, after: Cursor) -> bool:
        """Whether the items after a cursor were not passed yet."""
        return self.passed is None or self.passed <= after

    def is_over(self, after: Cursor) -> bool:
        """Whether there are no items after a cursor before what cannot be read."""
        return self.fault is not None and (not self._cursors or self._cursors[-1] <= after)

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
            if page is None and self.fault is not None:
                raise self.fault
            if page is None:
                return None
        start = bisect_right(self._cursors, after)
        if start or len(self._buffered) < size:
            page = self._advance(start, max(size - len(self._buffered) + start, 0))
            if page is None and self.fault is not None:
                raise self.fault
        count = min(bisect_right(self._cursors, last), size)
        if page is None or count < len(page):
            page, _ = _page_of(self._buffered[:count])
        return page

    def close(self) -> None:
        """Close the open object."""
        if self._lines is not None:
            self._lines.close()

    def _advance(self, dropped: int, more: int) -> HistoryPage | None:
        """Drop the first lines and read up to `more` further ones; None if there are none."""
        if self._lines is None:
            self._lines = self._read()
        lines = self._buffered[dropped:]
        passed, known = None if lines else self.newest, self.fault
        try:
            for line in _within(islice(self._lines, more if self.fault is None else 0), _LARGEST):
                lines.append(line)
        except (RequestError, DecodeError) as error:
            self.fault = error
        page, fault = _page_of(lines, passed)
        self.fault = fault or self.fault
        if self.fault is not known and page is not None:
            # The last record time may go on in what cannot be read.
            cursors = page.page_index.cursors
            page, _ = _page_of(lines[: cursors.index(cursors[-1])])
        self._cursors = [] if page is None else page.page_index.cursors
        self._buffered = lines[: len(self._cursors)]
        self.newest = self._cursors[-1] if self._cursors else self.newest
        return page

    def _read(self) -> Generator[_Line]:
        """The lines of all objects, one at a time."""
        objects = self.segment.objects
        with closing(object_lines(self.source, objects, lines=_LOOKED_AT, first=self.at, ahead=self.ahead)) as batches:
            for place, first, batch in batches:
                self.at = place
                for number, raw in enumerate(batch, first):
                    yield _Line(raw, objects[place].name, number)


def _page_of(lines: Sequence[_Line], passed: Cursor | None = None) -> tuple[HistoryPage | None, DecodeError | None]:
    """The lines as a page, up to the first fault, and that fault; `passed` is the item before them."""
    if not lines:
        return None, None
    try:
        page = page_of_lines([line.raw for line in lines], str(lines[0].name), lines[0].number)
        cursors = page.page_index.cursors
        if cursors == sorted(cursors) and (passed is None or passed <= cursors[0]):
            return page, None
    except DecodeError:
        page = None
    # A page may have lines of several objects: name the right one.
    for place, line in enumerate(lines):
        try:
            (cursor,) = page_of_lines([line.raw], str(line.name), line.number).page_index.cursors
        except DecodeError as error:
            return _page_of(lines[:place])[0], error
        if passed is not None and cursor < passed:
            words = f"an item at {cursor} follows one at {passed}; objects are in order"
            return _page_of(lines[:place])[0], DecodeError(f"{line.name}, line {line.number}: {words}")
        passed = cursor
    return page, None


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
            # Where one has met a fault, the objects from `first` on may be sound.
            near = [one for one in near if not (first and one.is_over(after))]
            nearest = max(near, key=lambda one: one.passed or BEFORE_ALL, default=None)
            if nearest is not None:
                self._waiting.remove(nearest)
        return nearest

    def new(self, segment: Segment, first: int = 0) -> SegmentReader:
        """Another reader, from an object of the segment on."""
        return SegmentReader(self.source, segment, self.ahead, at=first)

    def read(self, segment: Segment, after: Cursor, last: Cursor, size: int, first: int = 0) -> HistoryPage | None:
        """A page of a segment, by the reader closest before it or a new one, from the object `first` on."""
        reader = self.near(segment, after, first) or self.new(segment, first)
        return self.page(reader, after, last, size)

    @property
    def newest(self) -> Cursor | None:
        """The last item that one of them has read."""
        return max((one.newest for one in self._waiting if one.newest is not None), default=None)

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


def _within(lines: Iterable[_Line], most: int) -> Iterator[_Line]:
    """The first lines, up to `most` bytes together, but at least one."""
    for line in lines:
        yield line
        most -= len(line.raw)
        if most <= 0:
            return
