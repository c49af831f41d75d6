"""`read_objects`: a window of the update history from objects, as pages that are decoded like a server's."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from ledgerframes.decoding.paged_histories import UPDATE_HISTORY
from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import DecodeError, InputError, PagingError
from ledgerframes.interfaces.history import PageRows
from ledgerframes.interfaces.history_pages import HistoryPage, page_of
from ledgerframes.objects.lines import read_lines
from ledgerframes.objects.sources import ObjectSource, StoredObject
from ledgerframes.paging.cursor import Cursor, PageIndex, Window
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.modes import Outcome, PageQuery
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.paging.seen_ids import SeenIds
from ledgerframes.stopping import held_back
from ledgerframes.threads import ended, result, spawn
from ledgerframes.timestamps import EARLIEST, LATEST
from ledgerframes.transport import Stop

_log = logging.getLogger("ledgerframes.objects")
#: Bytes of lines that are decoded at once; about as large as a page of 1,000.
PAGE_BYTES: Final = 16 * 2**20
_LEAVING: Final = 1.0


#: Some lines of an object: the object, the number of the first line from 1, and the lines.
Lines = tuple[StoredObject, int, list[bytes]]


@dataclass
class ObjectReader:
    """Decides which items of objects belong to a read of one window, each once.

    Attributes:
        window: the wanted range.
        limit: the maximum number of updates to read.
        first: the cursor of the first item in the first of all objects, if that one was read.
        last: the cursor of the last update taken.
        taken: the number of updates taken.
        beyond: whether the objects reach the window's end, or an item at or after it was read.
        lost_overlap: always False; see `HistoryReader`.
        newest: the last cursor of all items read, wanted or not.
    """

    window: Window
    limit: int | None = None
    first: Cursor | None = None
    last: Cursor | None = None
    taken: int = 0
    beyond: bool = False
    lost_overlap: bool = False
    newest: Cursor | None = None
    _ids: SeenIds = field(default_factory=lambda: SeenIds("objects"))

    def take(self, page_index: PageIndex, name: str) -> list[int]:
        """Decide which rows of a page count.

        Raises:
            PagingError: an update lies before one of an earlier object, which lacks it.
        """
        fresh = self._fresh(page_index, name)
        rows = [row for row in fresh if self.window.whole or self._wanted(page_index.cursors[row])]
        if self.limit is not None:
            rows = rows[: max(self.limit - self.taken, 0)]
        self.taken += len(rows)
        self.last = page_index.cursors[rows[-1]] if rows else self.last
        return rows

    @property
    def done(self) -> bool:
        """Whether the read is complete."""
        end, newest = self.window.end, self.newest
        full = self.limit is not None and self.taken >= self.limit
        return full or (end is not None and newest is not None and newest >= end)

    def _wanted(self, cursor: Cursor) -> bool:
        self.beyond = self.beyond or self.window.ends_before(cursor)
        return self.window.nearest(cursor) == cursor

    def _fresh(self, page_index: PageIndex, name: str) -> Sequence[int]:
        """The items that no earlier object had: segments of two lists may overlap."""
        fresh: Sequence[int] = range(len(page_index.cursors))
        # Asked only where segments overlap: over all items, two hashes of 64 bits could be equal by chance.
        if self.newest is not None and min(page_index.cursors) <= self.newest:
            repeated = self._ids.has(page_index.update_ids, page_index.cursors)
            fresh = [row for row in fresh if page_index.cursors[row] > self.newest or not repeated[row]]
        for row in fresh:
            cursor = page_index.cursors[row]
            if self.newest is not None and cursor < self.newest:
                raise PagingError(
                    f"{name}: update {page_index.update_ids[row]} at {cursor} comes after {self.newest}; the objects"
                    " are not in order of migration id and record time, or one of them lacks it. Read by source='pages'"
                )
            self.newest = cursor
        self._ids.check([page_index.update_ids[row] for row in fresh], [page_index.cursors[row] for row in fresh])
        return fresh


def read_objects(source: ObjectSource, reader: ObjectReader, *, lines: int = MAXIMUM) -> Iterator[PageRows]:
    """Read the objects of the reader's window; the next object is fetched while one is decoded.

    Args:
        source: the source of the objects.
        reader: decides which items count.
        lines: the maximum number of items per page.

    Raises:
        InputError: the source has no objects.
        RequestError: an object could not be fetched.
        DecodeError: an object is damaged, or an item breaks the contract.
        PagingError: objects contradict each other.
    """
    after, up_to = listed_times(reader.window)
    stored = source.updates(after, up_to)
    if stored is None:
        raise InputError(
            f"source='objects': {source.place} has no objects; give source='pages', or scan_url= of a scan that has"
            " some"
        )
    # Segments follow record time: the listed ones are complete as far as the window needs.
    reader.beyond = any(one.name.up_to >= up_to for one in stored)
    # A list begins with the object that contains a time, so there is none before an object that begins later.
    whole = bool(stored) and (after <= EARLIEST or stored[0].name.after > after)
    for page, name in object_pages(source, stored, lines=lines):
        if whole and reader.first is None:
            reader.first = page.page_index.cursors[0]
        rows = reader.take(page.page_index, name)
        if rows:
            yield PageRows(page, rows, source.place, PageQuery(None, lines), Outcome.MORE)
        if reader.done:
            return


def object_pages(
    source: ObjectSource, stored: Sequence[StoredObject], *, lines: int
) -> Generator[tuple[HistoryPage, str]]:
    """The lines of objects as pages, each with its object's name; the next object is fetched meanwhile.

    Raises:
        RequestError: an object could not be fetched.
        DecodeError: an object is damaged, or an item has no place in the history.
    """
    with closing(object_lines(source, stored, lines=lines)) as batches:
        for one, line, batch in batches:
            yield page_of_lines(batch, str(one.name), line), str(one.name)


def object_lines(source: ObjectSource, stored: Sequence[StoredObject], *, lines: int) -> Generator[Lines]:
    """The lines of objects, some at a time; the next object is fetched meanwhile.

    Raises:
        RequestError: an object could not be fetched.
        DecodeError: an object is damaged.
    """
    stop = Stop()
    fetching = source.stoppable(stop)
    pending: Future[None] | None = None
    try:
        for place, one in enumerate(stored):
            if pending is not None:
                with held_back(stop.set):
                    result(pending)
            pending = None
            following = stored[place + 1 : place + 2]
            fetching.fetch(one)
            if following:
                pending = spawn(partial(fetching.fetch, following[0]), "ledgerframes-object")
            line = 1
            with fetching.opened(one) as file:
                for batch in read_lines(file, str(one.name), lines=lines, most=PAGE_BYTES):
                    yield one, line, batch
                    line += len(batch)
    finally:
        # Also if the caller stops early: the download under way must not outlive the read.
        stop.set()
        if pending is not None:
            ended(pending, _LEAVING)


def listed_times(window: Window) -> tuple[int, int]:
    """The record times, (after, up_to], of the objects that a window needs.

    A list of objects knows no migrations. A window that begins or ends inside of one needs a day more, as record times
    of neighbouring migrations may overlap by that much.
    """
    start, end = window.start, window.end
    slack = 0 if start is not None and end is not None and start.migration_id == end.migration_id else OVERLAP
    after = EARLIEST if start is None else start.micros - 1 - slack
    after = max(after, EARLIEST if window.since is None else window.since - 1)
    up_to = LATEST if end is None else end.micros + slack
    up_to = min(up_to, LATEST if window.until is None else window.until)
    # A microsecond more than wanted: a segment may end there, and only the next one has an item that proves the end.
    up_to = min(up_to + 1, LATEST)
    after = min(max(after, EARLIEST), LATEST - 1)
    return after, max(up_to, after + 1)


def page_of_lines(batch: list[bytes], name: str, line: int = 1) -> HistoryPage:
    """Some lines as a page.

    Args:
        batch: the lines.
        name: the object's name, for messages.
        line: the number of the first one, for messages.

    Raises:
        DecodeError: a line is not an item, or has no place in the history.
    """
    try:
        return HistoryPage.read(page_of(UPDATE_HISTORY, batch))
    except DecodeError as error:
        raise DecodeError(
            f"{name}, from line {line} on: {error}", endpoint=error.endpoint, table=error.table, item=error.item
        ) from error
    except (msgspec.DecodeError, *UNREADABLE) as error:
        raise DecodeError(f"{name}: line {line} or a later one is not an item: {error}", item=name) from error
