"""Reads stretches of the history with several workers, which only fetch; `sync` decodes and commits what they bring."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final

import pyarrow as pa

from ledgerframes.decoding.peek import Cursor
from ledgerframes.errors import LedgerframesError
from ledgerframes.interfaces.history import HistorySession, PageRows, PageSource
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.window import before
from ledgerframes.store.intervals import Interval
from ledgerframes.store.stretches import Stretch, even_cuts, find_top, halfway, window_of

_PAGES_AHEAD: Final = 2
_PIECES_A_WORKER: Final = 1
_PAGES_A_PIECE: Final = 4  # a piece reads up to a page beyond its end, for nothing
_LOOK: Final = 0.2


@dataclass(frozen=True)
class Fetched:
    """One page of a stretch, and how far the stretch is read with it.

    Attributes:
        key: which stretch.
        read: from where to where it is read, this page included.
        page: the page and the rows that count, if there are any.
        ended: whether the stretch is finished.
        whole: whether it was read to its end: the server has shown an item beyond.
        following: the first place of a later migration that was seen.
        batches: the rows, where somebody else has decoded them; by table.
        server: who sent those.
    """

    key: int
    read: Interval
    page: PageRows | None
    ended: bool
    whole: bool
    following: Cursor | None
    batches: Mapping[str, pa.RecordBatch] = field(default_factory=dict)
    server: str = ""


@dataclass(frozen=True)
class Task:
    """A gap to read, and whether the instant before it is to be read again."""

    gap: Interval
    again: bool = False


@dataclass
class Fetchers:
    """Workers that take stretches, and cut off parts of long ones for those that have nothing to do.

    Attributes:
        source: where pages come from.
        workers: how many read at once.
        page_size: items a request asks for.
        seconds: time the workers spent, waiting for answers included.
        cpu_seconds: processor time of it.
    """

    source: PageSource
    workers: int
    page_size: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    _waiting: deque[Stretch] = field(default_factory=deque)
    _open: int = 0
    _idle: int = 0
    _stopped: bool = False
    _keys: Iterator[int] = field(default_factory=count)
    _change: threading.Condition = field(default_factory=threading.Condition)
    _rests: dict[int, float] = field(default_factory=dict)

    def read(self, tasks: Sequence[Task]) -> Generator[Fetched]:
        """Read all gaps; pages of one stretch come in order, stretches mixed.

        Raises:
            LedgerframesError: what a worker met; the pages before it have been given.
        """
        found: queue.Queue[Fetched | BaseException | None] = queue.Queue(self.workers + _PAGES_AHEAD)
        self._stopped = False
        for task in tasks:
            self._put(self._stretch(task.gap, again=task.again, uncut=self.workers > 1))
        threads = [
            threading.Thread(target=self._work, args=(found,), name=f"ledgerframes-fetch-{number}", daemon=True)
            for number in range(self.workers)
        ]
        for thread in threads:
            thread.start()
        running = len(threads)
        try:
            while running:
                one = found.get()
                if one is None:
                    running -= 1
                elif isinstance(one, BaseException):
                    raise one
                else:
                    yield one
        finally:
            self._stop(found, threads)

    def _stop(self, found: queue.Queue[Fetched | BaseException | None], threads: Sequence[threading.Thread]) -> None:
        with self._change:
            self._stopped = True
            self._change.notify_all()
        while any(thread.is_alive() for thread in threads):
            try:
                found.get(timeout=_LOOK)
            except queue.Empty:
                continue

    def _stretch(self, gap: Interval, *, again: bool = False, uncut: bool = False, top: int | None = None) -> Stretch:
        reader = HistoryReader(window_of(gap, again=again), page_size=self.page_size)
        return Stretch(next(self._keys), gap, reader, gap.at if top is None else top, uncut=uncut)

    def _put(self, stretch: Stretch) -> None:
        with self._change:
            self._waiting.append(stretch)
            self._open += 1
            self._change.notify()

    def _take(self) -> Stretch | None:
        with self._change:
            self._idle += 1
            try:
                while not self._waiting:
                    if self._stopped or not self._open:
                        return None
                    self._change.wait()
                return None if self._stopped else self._waiting.popleft()
            finally:
                self._idle -= 1

    def _done(self, stretch: Stretch) -> None:
        with self._change:
            self._open -= 1
            self._rests.pop(stretch.key, None)
            if not self._open:
                self._change.notify_all()

    def _work(self, found: queue.Queue[Fetched | BaseException | None]) -> None:
        began, cpu = time.perf_counter(), time.thread_time()
        try:
            while (stretch := self._take()) is not None:
                self._read(stretch, found)
                self._done(stretch)
        except LedgerframesError as error:
            found.put(error)
        except BaseException as error:  # noqa: BLE001 - a worker's bug must end the read, not leave it waiting
            found.put(error)
        finally:
            with self._change:
                self.seconds += time.perf_counter() - began
                self.cpu_seconds += time.thread_time() - cpu
            found.put(None)

    def _read(self, stretch: Stretch, found: queue.Queue[Fetched | BaseException | None]) -> None:
        session = HistorySession(self.source, stretch.reader)
        more = True
        while more and not self._stopped:
            stretch.trim_page()
            page, more = session.step()
            self._note(stretch, page)
            found.put(self._fetched(stretch, page, ended=not more))
            if more:
                self._share(stretch, page)

    def _note(self, stretch: Stretch, page: PageRows) -> None:
        if page.rows and stretch.first is None:
            stretch.first = page.page.glimpse.cursors[page.rows[0]].micros
        stretch.rows += len(page.rows)
        with self._change:
            self._rests[stretch.key] = stretch.rest()

    def _fetched(self, stretch: Stretch, page: PageRows, *, ended: bool) -> Fetched:
        whole = ended and stretch.reader.beyond
        later = [place for place in page.page.glimpse.cursors if place.migration_id > stretch.gap.migration_id]
        at = stretch.gap.at if whole else stretch.reached
        return Fetched(
            key=stretch.key,
            read=stretch.gap._replace(at=at),
            page=page if page.rows else None,
            ended=ended,
            whole=whole,
            following=min(later, default=None),
        )

    def _share(self, stretch: Stretch, page: PageRows) -> None:
        """Give others a part of what is left, if they wait and it is worth it."""
        if self.workers == 1 or not page.page.glimpse.cursors:
            return
        last = page.page.glimpse.cursors[-1]
        if last.migration_id != stretch.gap.migration_id or last.micros >= stretch.gap.at:
            return
        if stretch.uncut and len(page.page) >= min(self.page_size, stretch.reader.maximum):
            stretch.uncut = False
            self._cut(stretch, last.micros)
            return
        with self._change:
            wanted = self._idle > len(self._waiting) and self._rests[stretch.key] >= max(self._rests.values())
        if wanted and (middle := halfway(stretch, last.micros, self.page_size)) is not None:
            self._put(self._stretch(stretch.shorten(middle), top=stretch.top))

    def _cut(self, stretch: Stretch, seen: int) -> None:
        """Part a long stretch evenly, after a look at where its items end."""
        scale = seen - stretch.first if stretch.first is not None else 1
        top = find_top(stretch.gap._replace(lo=seen), partial(probe, self.source), workers=self.workers, scale=scale)
        stretch.top = top
        pages = stretch.rest() / self.page_size
        pieces = min(_PIECES_A_WORKER * self.workers, int(pages / _PAGES_A_PIECE))
        if pieces < 2 or top - seen < 2 * pieces:
            return
        cuts = even_cuts(seen, top, pieces)
        ends = [*cuts[1:], stretch.gap.at]
        left = stretch.shorten(cuts[0])
        for lo, at in zip(cuts, ends, strict=True):
            self._put(self._stretch(left._replace(lo=lo, at=at), top=min(at, top)))


def probe(source: PageSource, migration_id: int, micros: int) -> int | None:
    """The record time of the first item of a migration after an instant."""
    request = source.page_request(before(Cursor(migration_id, micros + 1)), 1)
    places = source.send_page(request, server=None, revise=None).value.glimpse.cursors
    return places[0].micros if places and places[0].migration_id == migration_id else None
