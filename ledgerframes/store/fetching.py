"""Reads stretches of the history with several workers, which only fetch; `sync` decodes and commits what they bring."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

import pyarrow as pa

from ledgerframes.errors import DecodeError, PagingError, PartialResultError
from ledgerframes.interfaces.history import HistorySession, PageRows
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.modes import Outcome
from ledgerframes.paging.proofs import NOTHING
from ledgerframes.store.driving import IDLE, Drive, Idle
from ledgerframes.store.intervals import Interval
from ledgerframes.store.probing import Prober, first_after
from ledgerframes.store.servers import AgreedServers
from ledgerframes.store.stretches import Stretch, even_cuts, find_top, halfway, window_of

_log = logging.getLogger("ledgerframes.store")
_PIECES_A_WORKER: Final = 1
_PAGES_A_PIECE: Final = 4  # a piece reads up to a page beyond its end, for nothing


@dataclass(frozen=True)
class Fetched:
    """One page of a stretch, and how far the stretch is read with it.

    Attributes:
        key: which stretch.
        read: from where to where it is read, this page included.
        settled: up to where what was read is final.
        span: what this page covers.
        page: the page and the rows that count, if there are any.
        following: the first place of a later migration that was seen.
        server: who sent the page.
        breaks: how often that server had shown less than before when the page was asked for.
        ended: whether the stretch is finished.
        exhausted: whether the server had nothing more in this migration.
        batches: the rows, where somebody else has decoded them; by table.
    """

    key: int
    read: Interval
    settled: int
    span: Interval
    page: PageRows | None
    following: Cursor | None
    server: str
    breaks: int = 0
    ended: bool = False
    exhausted: bool = False
    batches: Mapping[str, pa.RecordBatch] = field(default_factory=dict)


@dataclass
class Fetchers:
    """Workers that take stretches, and cut off parts of long ones for those that have nothing to do.

    Attributes:
        source: where pages come from.
        prober: looks how far servers have got.
        workers: how many read at once.
        page_size: items a request asks for.
        drive: runs the workers.
        ending: called where a read ends early, to break off what workers wait for.
        left: what could not be read for now, in words.
        seconds: time the workers spent, waiting for answers included.
        cpu_seconds: processor time of it.
    """

    source: AgreedServers
    prober: Prober
    workers: int
    page_size: int
    drive: Drive
    ending: Callable[[], None]
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    _waiting: deque[Stretch] = field(default_factory=deque)
    _open: int = 0
    _idle: int = 0
    _keys: Iterator[int] = field(default_factory=count)
    _change: threading.Lock = field(default_factory=threading.Lock)
    _rests: dict[int, float] = field(default_factory=dict)

    def read(self, gaps: Sequence[Interval]) -> Generator[Fetched]:
        """Read all gaps; pages of one stretch come in order, stretches mixed.

        Raises:
            LedgerframesError: what a worker met; the pages before it have been given.
        """
        for gap in gaps:
            self._put(self._stretch(gap, uncut=self.workers > 1))
        yield from self.drive.run([self._work() for _ in range(self.workers)], ending=self.ending)

    def _stretch(self, gap: Interval, *, uncut: bool = False, top: int | None = None) -> Stretch:
        reader = HistoryReader(window_of(gap), page_size=self.page_size)
        return Stretch(next(self._keys), gap, reader, gap.at if top is None else top, uncut=uncut)

    def _put(self, stretch: Stretch) -> None:
        with self._change:
            self._waiting.append(stretch)
            self._open += 1

    def _next(self) -> Stretch | None:
        with self._change:
            return self._waiting.popleft() if self._waiting else None

    def _done(self, stretch: Stretch) -> None:
        with self._change:
            self._open -= 1
            self._rests.pop(stretch.key, None)

    def _work(self) -> Generator[Fetched | Idle]:
        """One worker: takes stretches until all are read; yields after every page."""
        while self._open:
            stretch = self._next()
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
            if stretch.backlog and self.prober.needed(session.server, stretch.at):
                for _ in self.prober.probes(session.server, stretch.place):
                    yield self._fetched(stretch)
            began, cpu = time.perf_counter(), time.thread_time()
            try:
                fetched, more = self._step(stretch, session)
            except PartialResultError as error:
                _log.warning("%s", error)
                self.left.append(str(error))
                fetched, more = self._fetched(stretch), False
            except (PagingError, DecodeError) as error:
                if not self.source.leave_out(session.last_server, error):
                    raise
                # What the server gave and is not final is read again, and can be reached by a rewind.
                rest = stretch.gap._replace(lo=stretch.settled)
                stretch.reader = HistoryReader(window_of(rest), page_size=self.page_size)
                session = HistorySession(self.source, stretch.reader)
                fetched = self._fetched(stretch)
            if not more:
                self._done(stretch)
                fetched = replace(fetched, ended=True)
            self._spent(time.perf_counter() - began, time.thread_time() - cpu)
            yield fetched

    def _step(self, stretch: Stretch, session: HistorySession) -> tuple[Fetched, bool]:
        """Ask for one page, and cut off a part of what is left for those who have nothing to do."""
        proofs = self.prober.proofs
        stretch.rewind(proofs.now().of(session.server))
        stretch.trim_page()
        proof = proofs.now()  # what is proven before the page is asked for
        page, more = session.step()
        places = page.page.glimpse.cursors
        if not places and proofs.contradicts(page.server, page.asked.after):
            proofs.lose(page.server)
            _log.warning("%s shows less than before: what it has just sent is read again later", page.server)
        proofs.saw(page.server, places)
        final = NOTHING if page.outcome is Outcome.BEHIND else proof.of(page.server, places)
        fetched = self._take(stretch, page, final, proof.breaks.get(page.server, 0))
        if more:
            self._share(stretch, page)
        return fetched, more

    def _take(self, stretch: Stretch, page: PageRows, final: int, breaks: int) -> Fetched:
        migration_id = stretch.gap.migration_id
        later = [place for place in page.page.glimpse.cursors if place.migration_id > migration_id]
        following = min(later, default=None)
        closing = None if following is None else self.prober.proofs.closes(migration_id, following)
        span = stretch.cover(page, final, closing)
        stretch.note(page)
        with self._change:
            self._rests[stretch.key] = stretch.rest()
        found = self._fetched(stretch)
        exhausted = page.outcome is Outcome.END or following is not None
        return replace(
            found,
            exhausted=exhausted,
            span=span,
            page=page if page.rows else None,
            following=following,
            server=page.server,
            breaks=breaks,
        )

    def _fetched(self, stretch: Stretch) -> Fetched:
        """How far a stretch is read, with no page."""
        read = stretch.gap._replace(at=stretch.at)
        nothing = stretch.gap._replace(lo=stretch.at, at=stretch.at)
        return Fetched(stretch.key, read, stretch.settled, nothing, None, None, "")

    def _spent(self, seconds: float, cpu_seconds: float) -> None:
        with self._change:
            self.seconds += seconds
            self.cpu_seconds += cpu_seconds

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
        top = find_top(rest, self._probe, workers=self.workers, each=self.drive.each, scale=scale)
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

    def _probe(self, migration_id: int, micros: int) -> int | None:
        """The record time of the first item of a migration after an instant."""
        place = first_after(self.source, before(Cursor(migration_id, micros + 1)), self.prober.proofs)
        return place.micros if place is not None and place.migration_id == migration_id else None
