"""`Readers` reads objects that follow one another as pages of the history, from any place; every source has one."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from threading import Lock
from typing import Final, NamedTuple

import msgspec

from ledgerframes.decoding.page_index import cursor_of
from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import DecodeError, LedgerframesError, RequestError
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, HistoryPage
from ledgerframes.objects.lines import Line, Objects, object_lines
from ledgerframes.objects.names import StoredObject
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.timestamps import LATEST

#: Items that are read beyond a page: where they are out of order, the page may lack some.
_AHEAD: Final = 200
#: The longest page in bytes, unless one item is longer.
_LARGEST: Final = 64 * 2**20
#: Before and after every item of a history.
BEFORE_ALL: Final = Cursor(-(2**63) - 1, LATEST)
AFTER_ALL: Final = Cursor(2**63, LATEST)


class Item(NamedTuple):
    """An item of a history, and its line.

    Attributes:
        cursor: its place in the history.
        line: the line.
    """

    cursor: Cursor
    line: Line


def item_of(line: Line) -> Item:
    """The item of a line.

    Raises:
        DecodeError: it has none, or one without a place in the history, or whose time contradicts the object's name.
    """
    try:
        item = Item(cursor_of(line.raw), line)
    except DecodeError as error:
        raise DecodeError(f"{line}: {error}", endpoint=error.endpoint, table=error.table, item=error.item) from error
    except (msgspec.DecodeError, *UNREADABLE) as error:
        raise DecodeError(f"{line} is not an item: {error}", item=str(line.name)) from error
    # Updates of a migration may be later than a segment's end if the next migration has begun.
    if item.cursor.micros > line.name.up_to + OVERLAP:
        raise DecodeError(
            f"{line} is at {item.cursor}, after the end in the object's name; was it renamed?", item=str(line.name)
        )
    return item


def body_of(items: Sequence[Item]) -> bytes:
    """Items as the body of a page."""
    return UPDATE_HISTORY.body_of([item.line.raw for item in items])


def page_of_items(items: Sequence[Item]) -> HistoryPage:
    """Items as a page.

    Raises:
        DecodeError: an item cannot be read.
    """
    return HistoryPage.read(body_of(items))


def shows_two_times(items: Sequence[Item]) -> bool:
    """Whether items are of two cursors at least; otherwise they may be cut inside a tie."""
    return bool(items) and items[0].cursor != items[-1].cursor


@dataclass(eq=False)
class _Reader:
    """Returns pages of some objects; each begins inside or after the previous one, never before it.

    Attributes:
        lines: what is left to read.
        at: the position of the object being read.
        passed: everything up to this cursor was passed.
        newest: the cursor of the last item that was read, wanted or not.
        held: the items that were read and not passed.
        fault: why nothing more can be read.
    """

    lines: Generator[Line]
    at: int
    passed: Cursor = BEFORE_ALL
    newest: Cursor | None = None
    held: deque[Item] = field(default_factory=deque)
    fault: LedgerframesError | None = None

    def page(self, after: Cursor, last: Cursor, size: int, *, allow_partial: bool) -> list[Item]:
        self.passed = after
        while self.held and self.held[0].cursor <= after:
            self.held.popleft()
        try:
            if self.fault is None:
                self._fill(after, size)
        except (RequestError, DecodeError) as error:
            self.fault = error
            # The last record time may go on in what cannot be read.
            while self.held and self.held[-1].cursor == self.newest:
                self.held.pop()
        items = list(takewhile(lambda item: item.cursor <= last, islice(self.held, size)))
        if self.fault is not None and len(items) < size and not (items and allow_partial):
            raise self.fault
        return items

    def _fill(self, after: Cursor, size: int) -> None:
        room = _LARGEST - sum(len(item.line.raw) for item in self.held)
        while not self.held or (len(self.held) < size + _AHEAD and room > 0):
            line = next(self.lines, None)
            if line is None:
                return
            item = item_of(line)
            if self.newest is not None and item.cursor < self.newest:
                raise DecodeError(
                    f"{line}: an item at {item.cursor} follows one at {self.newest}; objects are in order"
                )
            self.newest, self.at = item.cursor, line.place
            if item.cursor > after:
                self.held.append(item)
                room -= len(line.raw)


@dataclass
class Readers:
    """Reads objects that follow one another; readers wait in the middle for what follows their last page. Thread-safe.

    Attributes:
        source: opens the objects.
        objects: in order.
        most: how many readers wait; the least recently used ones are closed.
    """

    source: Objects
    objects: Sequence[StoredObject]
    most: int = 16
    _waiting: list[_Reader] = field(default_factory=list)
    _change: Lock = field(default_factory=Lock)

    @property
    def newest(self) -> Cursor | None:
        """The last item that one of the waiting readers has read."""
        return max((one.newest for one in self._waiting if one.newest is not None), default=None)

    def page(
        self, after: Cursor, last: Cursor, size: int, *, first: int = 0, allow_partial: bool = False
    ) -> list[Item]:
        """The items after a cursor and up to another one; fewer than `size` if these are all, or very long.

        Args:
            after: the first cursor, exclusive.
            last: the last one, inclusive.
            size: the maximum number of items.
            first: the position of an object before which no such item lies.
            allow_partial: return those before what cannot be read, whose record time is over before that.

        Raises:
            RequestError: an object could not be fetched.
            DecodeError: an object is damaged, or its items are not in order.
        """
        reader = self._taken(after, first)
        try:
            items = reader.page(after, last, size, allow_partial=allow_partial)
        except BaseException:
            reader.lines.close()
            raise
        with self._change:
            self._waiting.append(reader)
            surplus = self._waiting[: -self.most]
            del self._waiting[: -self.most]
        for old in surplus:
            old.lines.close()
        return items

    def is_near(self, after: Cursor, first: int) -> bool:
        """Whether a reader waits between an object and a cursor in it or behind it."""
        with self._change:
            return self._near(after, first) is not None

    def close(self) -> None:
        """Close all readers."""
        with self._change:
            readers = [*self._waiting]
            self._waiting.clear()
        for reader in readers:
            reader.lines.close()

    def _taken(self, after: Cursor, first: int) -> _Reader:
        """The reader closest before a cursor, which no longer waits, or a new one from an object on."""
        with self._change:
            reader = self._near(after, first)
            if reader is not None:
                self._waiting.remove(reader)
                return reader
        return _Reader(object_lines(self.source, self.objects, first), first)

    def _near(self, after: Cursor, first: int) -> _Reader | None:
        near = [one for one in self._waiting if one.at >= first and one.passed <= after]
        return max(near, key=lambda one: one.passed, default=None)
