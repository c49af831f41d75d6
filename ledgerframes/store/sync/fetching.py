"""`Fetcher` reads intervals of the history with workers of this process; `HistorySync` commits their rows."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

import pyarrow as pa

from ledgerframes.errors import DecodeError, PagingError, PartialResultError, RequestError
from ledgerframes.interfaces.history import HistorySession, PageRows
from ledgerframes.loaders.extent import newest_of
from ledgerframes.objects.page_source import OBJECTS
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.modes import Mode, Outcome, Reading
from ledgerframes.paging.proofs import NOTHING
from ledgerframes.store.coverage import Interval, beyond, window_of
from ledgerframes.store.history_tables import Fetched
from ledgerframes.store.sync.rejects import RejectingDecoder
from ledgerframes.store.sync.scheduling import IDLE, Idle, Scheduler
from ledgerframes.store.sync.servers import AgreedServers, sender_of
from ledgerframes.store.sync.shards import Shard
from ledgerframes.timestamps import LATEST

_log = logging.getLogger("ledgerframes.store")
# So that all workers end at about the same time; every cut costs up to one wasted page.
_SHARDS_PER_WORKER: Final = 4
_LEAST_PAGES: Final = 4  # a shard reads up to a page beyond its end in vain
_STEPS: Final = 12  # of factor 16, from a page or a minute to all the years there are
_FACTOR: Final = 16
_SECOND: Final = 1_000_000


@dataclass
class Prober:
    """Finds a server's newest items, so that its pages can be final, and where a long interval is cut.

    Where to look is a guess, by the clock or by growing steps. What the server shows there is the proof. Any thread may
    use it.

    Attributes:
        servers: the servers.
        now: the clock's time in microseconds, where the search starts.
        newest: the newest migration known.
    """

    servers: AgreedServers
    now: int
    newest: int
    _ends: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.proofs = self.servers.proofs

    def needed(self, server: str, micros: int) -> bool:
        """Whether no part of a page after a record time would be final, and a probe may change that."""
        if not self.proofs.proves_ahead(server) or self.proofs.now().of(server) > micros:
            return False
        end = self._ends.get(server)
        return end is None or micros > end + self.proofs.settle

    def probes(self, server: str, cursor: Cursor) -> Iterator[None]:
        """Search for items as far ahead of a cursor as the server has any; yields after every request."""
        # A server in step with the clock has an item after this, and one request then proves nearly everything.
        aim = self.now - self.proofs.settle - 2 * _SECOND
        beyond = cursor.micros + self.proofs.settle + 1
        if beyond < aim <= LATEST:
            shown = self._first_after(server, Cursor(max(self.newest, cursor.migration_id), aim))
            yield
            if shown is not None:
                return
        for place in _outward(cursor, self.proofs.settle + 1):
            shown = self._first_after(server, place)
            yield
            if shown is None:
                break
        if not self.proofs.now().of(server) > cursor.micros:
            # There is nothing that far ahead, and asking again before every page would be useless.
            self._ends[server] = cursor.micros

    def end_of(self, interval: Interval) -> int:
        """A record time after which an interval, which has an item at its `lo`, had none when servers were asked."""
        if interval.hi < LATEST:  # mostly there is more behind a range that ends at a time: one request shows it
            beyond = self.servers.first_after(Cursor(interval.migration_id, interval.hi))
            if beyond is not None and beyond.migration_id == interval.migration_id:
                return interval.hi
        newest = newest_of(None, self.servers, Cursor(interval.migration_id, interval.lo))
        return min(newest.micros, interval.hi)

    def _first_after(self, server: str, after: Cursor) -> Cursor | None:
        try:
            return self.servers.first_after(after, server=server)
        except (RequestError, DecodeError) as error:  # a damaged answer to a probe proves as little as a lost one
            if len(self.servers.servers) == 1:
                raise
            _log.warning("%s could not be probed: %s", server, error)
            return None


def _likely_sender(session: HistorySession) -> str:
    """The likely sender of a read's next page: objects send many in a row, whoever is asked for the others."""
    last = session.last_server
    return sender_of(last) if last.endswith(OBJECTS) else session.server


def _outward(cursor: Cursor, step: int) -> Iterator[Cursor]:
    """Places after a cursor, at distances that grow by a factor."""
    for exponent in range(_STEPS):
        micros = cursor.micros + step * _FACTOR**exponent
        if micros > LATEST:
            return
        yield Cursor(cursor.migration_id, micros)


@dataclass
class Fetcher:
    """Workers of this process; a long interval is cut into more parts than there are workers.

    They fetch, and parse pages if the compiled decoder does that without the interpreter's lock. Columns are built in
    the thread that consumes them.

    Attributes:
        source: the servers that send pages.
        prober: finds the newest items of servers.
        workers: the number of concurrent workers.
        page_size: items per request.
        scheduler: runs the workers.
        ending: called if a read ends early, to interrupt what workers wait for.
        segments: reads segments of objects on a cluster, before anything is read here.
        rejecting: decodes pages, if the sync continues without broken items.
        left: the parts that could not be read for now, in words.
    """

    source: AgreedServers
    prober: Prober
    workers: int
    page_size: int
    scheduler: Scheduler
    ending: Callable[[], None]
    segments: Callable[[Sequence[Interval]], Iterator[Fetched]] | None = None
    rejecting: RejectingDecoder | None = None
    left: list[str] = field(default_factory=list)
    _waiting: deque[Shard] = field(default_factory=deque)
    _open: int = 0
    _keys: Iterator[int] = field(default_factory=count)
    _change: threading.Lock = field(default_factory=threading.Lock)

    def read(self, intervals: Sequence[Interval]) -> Generator[Fetched]:
        """Read all intervals; pages of one shard come in order, shards are interleaved.

        Raises:
            LedgerframesError: an error of a worker, after the pages before it.
        """
        done: list[Interval] = []
        for fetched in self.segments(intervals) if self.segments is not None else ():
            done.append(fetched.read)
            yield fetched
        rest = beyond(intervals, done) if done else intervals
        if not rest:
            return
        for interval in rest:
            self._put(self._shard(interval, uncut=self.workers > 1))
        workers = [self._work() for _ in range(self.workers)]
        with closing(self.scheduler.run(workers, ending=self.ending)) as results:
            # In one thread, as Python's lock lets only one decode: one behind 16 fetchers did 140 MB/s, 16 did 75.
            for fetched, page in results:
                yield fetched if page is None else replace(fetched, batches=self._decoded(page))

    def _decoded(self, page: PageRows) -> Mapping[str, pa.RecordBatch]:
        """The rows of a page that count, by table.

        Raises:
            DecodeError: the page breaks the contract.
        """
        if self.rejecting is not None:
            return self.rejecting.decode(page.page, page.rows)
        return self.source.history.decode_pages([(page.page, page.rows)])

    def _shard(self, interval: Interval, *, uncut: bool = False, top: int | None = None) -> Shard:
        # A shard reads by cursor inside one migration, since record times of migrations may overlap.
        reader = self._reader(interval)
        return Shard(next(self._keys), interval, reader, interval.hi if top is None else top, uncut=uncut)

    def _reader(self, interval: Interval) -> HistoryReader:
        endpoint = self.source.history.endpoint
        return HistoryReader(window_of(interval), page_size=self.page_size, endpoint=endpoint)

    def _put(self, shard: Shard) -> None:
        with self._change:
            self._waiting.append(shard)
            self._open += 1

    def _next(self) -> Shard | None:
        with self._change:
            return self._waiting.popleft() if self._waiting else None

    def _work(self) -> Generator[tuple[Fetched, PageRows | None] | Idle]:
        """One worker: takes shards until all are read, and yields after every request."""
        while self._open:
            shard = self._next()
            if shard is not None:
                yield from self._read(shard)
                continue
            yield IDLE

    def _read(self, shard: Shard) -> Generator[tuple[Fetched, PageRows | None]]:
        session = HistorySession(self.source, shard.reader)
        more = True
        while more:
            # Without a backlog the next page is the last, and carries its own proof.
            sender = _likely_sender(session)
            if shard.backlog and self.prober.needed(sender, shard.read_to):
                for _ in self.prober.probes(sender, shard.cursor):
                    yield shard.progress, None
            page: PageRows | None = None
            try:
                fetched, page, more = self._step(shard, session)
            except PartialResultError as error:
                _log.warning("%s", error)
                self.left.append(str(error))
                fetched, more = shard.progress, False
            except (PagingError, DecodeError) as error:
                # The only server left: reading on without it is impossible.
                if not self.source.leave_out(session.last_server, error):
                    raise
                # Pages that are not final yet are read again, and can be reached by a rewind.
                rest = shard.interval._replace(lo=shard.settled)
                shard.reader = self._reader(rest)
                session = HistorySession(self.source, shard.reader)
                fetched = shard.progress
            if not more:
                with self._change:
                    self._open -= 1
            yield fetched, page if page is not None and page.rows else None

    def _step(self, shard: Shard, session: HistorySession) -> tuple[Fetched, PageRows, bool]:
        """Request one page, and cut off the rest of the shard for other workers."""
        proofs = self.prober.proofs
        shard.rewind(proofs.now().of(_likely_sender(session)))
        shard.trim_page()
        # Taken before the request: a later proof proves nothing about the page.
        proof = proofs.now()
        mode, holds_back = shard.reader.mode, bool(shard.reader.held_back)
        before_it = session.last_server
        page, more = session.step()
        giver, page = page.server, replace(page, server=sender_of(page.server))
        behind = page.outcome is Outcome.BEHIND
        if (more or not behind) and self._is_pruned(shard, page, mode):
            rest = self._pruned(shard, session.end() if behind else None)
            if rest is None:  # the page lies after the pruned part
                return shard.progress, replace(page, rows=[]), False
            page, more = rest, False
        cursors = page.page.page_index.cursors
        # A page without the group held back from the one before, from the same URL, shows less, too.
        emptied = not cursors and proofs.contradicts(page.server, page.query.after)
        if (behind and giver == before_it) or emptied:
            proofs.lose(page.server)
        # A server that lacks what another one has shown, or it before, proves nothing by that page.
        final = NOTHING if page.outcome is Outcome.BEHIND or emptied else proof.of(page.server, cursors)
        if (objects := self.source.objects) is not None and giver == objects.name:
            final = min(final, objects.final(shard.interval.migration_id, cursors))
        fetched = self._take(shard, page, final, broken=page.server in proof.broken)
        if isinstance(mode, Reading) and page.outcome is not Outcome.BEHIND:
            # Also a page for the same place: it overlaps one that overlaps none itself.
            if not holds_back or shard.opened == (page.query.after,):
                fetched = replace(fetched, opening=shard.opening(page, giver))
                shard.opened = (page.query.after,)
            elif mode.cursor is not None and shard.proven < mode.cursor.micros - 1:
                # The held-back group joins the two, but late items before it may have been pruned meanwhile.
                opening = shard.opening(page, giver)
                fetched = replace(fetched, opening=opening._replace(lo=max(opening.lo, shard.proven)))
            shard.proven = final
        if more:
            self._share(shard, page)
        return fetched, page, more

    def _is_pruned(self, shard: Shard, page: PageRows, mode: Mode) -> bool:
        """Whether a server has pruned what was read or held back: its history now begins later."""
        cursors, after = page.page.page_index.cursors, page.query.after
        read_to = mode.cursor if isinstance(mode, Reading) else None
        if page.outcome is not Outcome.BEHIND:
            again = shard.rows and after is not None and after < shard.cursor  # a part is read again, to settle it
            read_to = shard.cursor if again else None
        if read_to is None or not cursors or cursors[0] <= read_to:
            return False
        first = self.source.first_after(None, server=page.server)
        if first is None:  # it has pruned everything since it sent the page
            return True
        self.source.begins[page.server] = first
        return first > read_to

    def _pruned(self, shard: Shard, page: PageRows | None) -> PageRows | None:
        """End a shard, with rows held back, where a server has pruned the next items; the rest becomes a new shard."""
        last = shard.reader.last
        lo = shard.read_to if page is None or last is None else last.micros
        _log.warning("%s was pruned while it was read", shard.interval._replace(lo=lo))
        self._put(self._shard(shard.interval._replace(lo=lo), top=shard.top))
        return page and replace(page, server=sender_of(page.server))

    def _take(self, shard: Shard, page: PageRows, final: int, *, broken: bool) -> Fetched:
        migration_id, _, hi = shard.interval
        cursors = page.page.page_index.cursors
        following = min((cursor for cursor in cursors if cursor.migration_id > migration_id), default=None)
        closing = None if following is None else self.prober.proofs.closes(migration_id, following)
        span = shard.cover(page, final, closing)
        shard.note(page)
        # What lies beyond the end of a sync is not stored, and so it has not read the migration to its end.
        more = any(cursor.migration_id == migration_id and cursor.micros > hi for cursor in cursors)
        exhausted = not more and (page.outcome is Outcome.END or following is not None)
        return replace(
            shard.progress, span=span, following=following, server=page.server, broken=broken, exhausted=exhausted
        )

    def _share(self, shard: Shard, page: PageRows) -> None:
        """Cut the rest of an interval into parts, for all workers once a full page shows that there is more.

        Some parts of a history are denser than others: where workers are idle, a part is cut again.
        """
        if self.workers == 1 or not page.page.page_index.cursors:
            return
        last = page.page.page_index.cursors[-1]
        # The page has reached the end of the shard.
        if last.migration_id != shard.interval.migration_id or last.micros >= shard.interval.hi:
            return
        if not shard.uncut:
            self._divide(shard, last.micros, 1 + max(0, self.workers - self._open))
        # Only a full page shows that there is more; probing costs more than a short interval does.
        elif len(page.page) >= min(self.page_size, shard.reader.maximum):
            shard.uncut = False
            try:
                shard.top = self.prober.end_of(shard.interval._replace(lo=last.micros))
            except (PagingError, DecodeError) as error:  # the page just read counts, whatever the search came upon
                _log.warning("%s One worker reads the rest of %s.", error, shard.interval)
            else:
                self._divide(shard, last.micros, _SHARDS_PER_WORKER * self.workers)

    def _divide(self, shard: Shard, seen: int, most: int) -> None:
        """Cut the rest of a long shard evenly into as many parts at most, of which the first stays with it."""
        pages, top = shard.rest() / self.page_size, min(shard.top, shard.interval.hi)
        shards = min(most, int(pages / _LEAST_PAGES))
        # Too small to be worth a request at every cut.
        if shards < 2 or top - seen < 2 * shards:
            return
        cuts = [seen + (top - seen) * part // shards for part in range(1, shards)]
        ends = [*cuts[1:], shard.interval.hi]
        rest = shard.shorten(cuts[0])
        for lo, hi in zip(cuts, ends, strict=True):
            self._put(self._shard(rest._replace(lo=lo, hi=hi), top=min(hi, top)))
