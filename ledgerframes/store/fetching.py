"""Reads stretches of the history with several workers, which only fetch; `sync` decodes and commits what they bring."""

from __future__ import annotations

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
from ledgerframes.interfaces.history import HistorySession, PageRows, PageSource
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.window import before
from ledgerframes.store.driving import IDLE, Drive, Idle
from ledgerframes.store.intervals import Interval
from ledgerframes.store.stretches import Stretch, even_cuts, find_top, halfway, window_of

_PIECES_A_WORKER: Final = 1
_PAGES_A_PIECE: Final = 4  # a piece reads up to a page beyond its end, for nothing


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
        drive: runs the workers.
        seconds: time the workers spent, waiting for answers included.
        cpu_seconds: processor time of it.
    """

    source: PageSource
    workers: int
    page_size: int
    drive: Drive
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    _waiting: deque[Stretch] = field(default_factory=deque)
    _open: int = 0
    _idle: int = 0
    _keys: Iterator[int] = field(default_factory=count)
    _change: threading.Lock = field(default_factory=threading.Lock)
    _rests: dict[int, float] = field(default_factory=dict)

    def read(self, tasks: Sequence[Task]) -> Generator[Fetched]:
        """Read all gaps; pages of one stretch come in order, stretches mixed.

        Raises:
            LedgerframesError: what a worker met; the pages before it have been given.
        """
        for task in tasks:
            self._put(self._stretch(task.gap, again=task.again, uncut=self.workers > 1))
        yield from self.drive.run([self._work() for _ in range(self.workers)])

    def _stretch(self, gap: Interval, *, again: bool = False, uncut: bool = False, top: int | None = None) -> Stretch:
        reader = HistoryReader(window_of(gap, again=again), page_size=self.page_size)
        return Stretch(next(self._keys), gap, reader, gap.at if top is None else top, uncut=uncut)

    def _put(self, stretch: Stretch) -> None:
        with self._change:
            self._waiting.append(stretch)
            self._open += 1

    def _take(self) -> Stretch | None:
        with self._change:
            return self._waiting.popleft() if self._waiting else None

    def _done(self, stretch: Stretch) -> None:
        with self._change:
            self._open -= 1
            self._rests.pop(stretch.key, None)

    def _work(self) -> Generator[Fetched | Idle]:
        """One worker: takes stretches until all are read; yields after every page."""
        while self._open:
            stretch = self._take()
            if stretch is not None:
                yield from self._read(stretch)
                continue
            self._count_idle(1)
            yield IDLE
            self._count_idle(-1)

    def _count_idle(self, more: int) -> None:
        with self._change:
            self._idle += more

    def _read(self, stretch: Stretch) -> Generator[Fetched]:
        session = HistorySession(self.source, stretch.reader)
        more = True
        while more:
            began, cpu = time.perf_counter(), time.thread_time()
            stretch.trim_page()
            page, more = session.step()
            self._note(stretch, page)
            fetched = self._fetched(stretch, page, ended=not more)
            if more:
                self._share(stretch, page)
            else:
                self._done(stretch)
            self._spent(time.perf_counter() - began, time.thread_time() - cpu)
            yield fetched

    def _spent(self, seconds: float, cpu_seconds: float) -> None:
        with self._change:
            self.seconds += seconds
            self.cpu_seconds += cpu_seconds

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
        rest = stretch.gap._replace(lo=seen)
        look = partial(probe, self.source)
        top = find_top(rest, look, workers=self.workers, each=self.drive.each, scale=scale)
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
