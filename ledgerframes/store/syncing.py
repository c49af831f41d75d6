"""One sync of the update history: finds what is missing, has it fetched, decodes it, has it committed."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.decoding.history import decode_page
from ledgerframes.decoding.peek import Cursor
from ledgerframes.errors import StoreError
from ledgerframes.instants import LATEST, format_instant
from ledgerframes.interfaces.history import PageRows, PageSource
from ledgerframes.loaders.progress import Progress
from ledgerframes.paging.window import Window
from ledgerframes.settings import source_of
from ledgerframes.store.committing import Committer, Decoded
from ledgerframes.store.driving import Drive, ThreadDrive
from ledgerframes.store.extent import gaps, has_ended, migrations_after, wanted_intervals
from ledgerframes.store.fetching import Fetched, Fetchers, Task
from ledgerframes.store.history import Advance, HistoryTables
from ledgerframes.store.identity import News, check_every_server, check_network, first_update, look
from ledgerframes.store.intervals import CLOSED, Interval
from ledgerframes.store.rejecting import RejectingDecoder
from ledgerframes.transport import Clock, SystemClock

if TYPE_CHECKING:
    from ledgerframes.store.engine import ClusterFetchers

_log = logging.getLogger("ledgerframes.store")


@dataclass(frozen=True)
class Wish:
    """What a sync is asked to do.

    Attributes:
        window: the part of the history.
        settled: nothing newer than this record time, in microseconds.
        workers: how many fetch at once.
        page_size: items a request asks for.
        commit_bytes: rows of so many bytes make a commit.
    """

    window: Window
    settled: int
    workers: int
    page_size: int
    commit_bytes: int


@dataclass
class HistorySync:
    """One run over the history.

    Attributes:
        source: where pages come from.
        history: the store's tables, as last refreshed.
        wish: what to do.
        shown: progress.
        rejecting: decodes bad pages item by item, where the caller wants to go on.
        left: what could not be read for now, in words.
        fetchers: who reads; workers of this process by default.
        drive: runs workers and commits; threads by default.
        clock: for what happens every so often.
    """

    source: PageSource
    history: HistoryTables
    wish: Wish
    shown: Progress
    rejecting: RejectingDecoder | None = None
    left: list[str] = field(default_factory=list)
    sources: dict[str, None] = field(default_factory=dict)
    decode_seconds: float = 0.0
    decode_cpu_seconds: float = 0.0

    fetchers: Fetchers | ClusterFetchers | None = None
    drive: Drive = field(default_factory=ThreadDrive)
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        self.committer = Committer(self.history, self.drive, self.wish.commit_bytes, clock=self.clock.monotonic)
        self._known: dict[Cursor, Mapping[str, frozenset[str]]] = {}
        self._ahead: dict[str, tuple[Interval, ...]] = {}

    def run(self) -> None:
        """Read what is missing.

        Raises:
            RequestError: the servers gave no answer; what was read before stays.
            DecodeError: an answer breaks the contract; what was read before stays.
            StoreError: the storage refused, or a server belongs to another network.
        """
        places = self._begin()
        while places:
            looked = [self._task(gap) for gap in self._gaps(places)]
            following = self._read([task for task in looked if task is not None])
            places = self._later(places, following)
        self.history.join_slots()

    def _begin(self) -> list[Cursor]:
        """The migrations to look at, each by a place in it, after making sure of the network."""
        network = self.history.network
        if network is None:
            first = first_update(self.source)
            if first is None:
                return []
            network = f"{first[0].migration_id}/{first[1]}"
            if len(self.source.servers) > 1:
                check_every_server(self.source, first[1])
            self.history.prepare(network)
            return [first[0], *migrations_after(self.source, Cursor(first[0].migration_id, LATEST))]
        self.history.prepare(network)
        if len(self.source.servers) > 1:
            check_every_server(self.source, _update_of(network))
        self._ahead = {name: self.history.slots.ahead(name) for name in self.history.tables}
        return list(self._stored_migrations(int(network.partition("/")[0])))

    def _stored_migrations(self, first: int) -> Iterator[Cursor]:
        """A place in every migration up to the last one stored; asks only where one may have been left out."""
        covered = self.history.slots.common
        stored = sorted({one.migration_id: Cursor(one.migration_id, one.at) for one in covered}.values())
        if not stored:
            yield from migrations_after(self.source, None)
            return
        before: int | None = None
        for place in stored:
            skipped = place.migration_id > first if before is None else place.migration_id > before + 1
            if skipped:
                since = None if before is None else Cursor(before, LATEST)
                for found in migrations_after(self.source, since):
                    if found.migration_id >= place.migration_id:
                        break
                    yield found
            yield place
            before = place.migration_id
        if stored[-1].micros >= CLOSED:
            yield from migrations_after(self.source, stored[-1])

    def _gaps(self, places: list[Cursor]) -> tuple[Interval, ...]:
        wanted = wanted_intervals(self.wish.window, places, self.wish.settled)
        return gaps(wanted, self.history.slots.common)

    def _task(self, gap: Interval) -> Task | None:
        """How to read a gap, or None if a look shows that there is nothing new."""
        place = Cursor(gap.migration_id, gap.lo)
        extends = any((one.migration_id, one.at) == place for one in self.history.slots.common)
        if not extends:
            self._check_network()
            return Task(gap)
        known = self.history.ids_at(*place)
        if not known["updates"]:
            self._check_network()
            return Task(gap)
        self._known[place] = known
        news, same = look(self.source, place, known["updates"], self.wish.page_size)
        if not same:
            self._check_network()
        if news is News.BEHIND:
            self.left.append(f"{gap}: the servers lag behind what is stored")
            _log.warning("the servers lag behind the store after %s", format_instant(gap.lo))
        return Task(gap, again=True) if news is News.MORE else None

    def _check_network(self) -> None:
        network = self.history.network
        if network is not None and len(self.source.servers) == 1 and not self._checked:
            check_network(self.source, _update_of(network))
        self._checked = True

    _checked: bool = False

    def _read(self, tasks: list[Task]) -> Cursor | None:
        """Read gaps; give the first place seen of a migration after the last one."""
        following: Cursor | None = None
        last = max((task.gap.migration_id for task in tasks), default=None)
        fetchers = self.fetchers or Fetchers(self.source, self.wish.workers, self.wish.page_size, self.drive)
        self.fetchers = fetchers
        try:
            with closing(fetchers.read(tasks)) as pages:
                for one in pages:
                    self._take(one)
                    if one.following is not None and one.read.migration_id == last:
                        following = one.following
        except BaseException:
            self._save_what_is_whole()
            raise
        self.committer.finish()
        return following

    def _save_what_is_whole(self) -> None:
        try:
            self.committer.finish()
        except StoreError as error:
            _log.warning("the pages read last could not be committed: %s", error)

    def _take(self, one: Fetched) -> None:
        began, cpu = time.perf_counter(), time.thread_time()
        batches = self._decoded(one)
        self.decode_seconds += time.perf_counter() - began
        self.decode_cpu_seconds += time.thread_time() - cpu
        read = one.read
        if one.whole and read.at == self.wish.settled and one.following is not None:
            ended = self.wish.window.end is None and self.wish.window.until is None
            read = read._replace(at=CLOSED) if ended and has_ended(one.following, self.wish.settled) else read
        if batches or read.lo < read.at:
            self.committer.add(Decoded(batches, Advance(one.key, read)))
        if batches:
            self.sources[source_of(one.server if one.page is None else one.page.server)] = None
            self.shown.advance(len(batches["updates"]), format_instant(min(read.at, self.wish.settled))[:19])

    def _decoded(self, one: Fetched) -> dict[str, pa.RecordBatch]:
        if one.page is not None:
            return self._decode(one.page)
        if not one.batches:
            return {}
        first = Cursor(one.read.migration_id, one.batches["updates"]["record_time"][0].value)
        return {name: self._unseen(name, batch, first) for name, batch in one.batches.items()}

    def _decode(self, page: PageRows) -> dict[str, pa.RecordBatch]:
        rows = page.rows if len(page.rows) < len(page.page) else None
        if self.rejecting is not None:
            batches = self.rejecting.decode(page.page, rows)
        else:
            batches = decode_page(page.page.raw, rows=rows).batches
        first = page.page.glimpse.cursors[page.rows[0]]
        return {name: self._unseen(name, batch, first) for name, batch in batches.items()}

    def _unseen(self, name: str, batch: pa.RecordBatch, first: Cursor) -> pa.RecordBatch:
        """Without the rows that this table has already, from before a crash or from the last stored instant."""
        ahead = [one for one in self._ahead.get(name, ()) if one.migration_id == first.migration_id]
        known = self._known.get(first, {}).get(name)
        if not ahead and not known:
            return batch
        micros = batch["record_time"].cast(pa.int64())
        keep = pa.array([True] * len(batch), pa.bool_())
        for one in ahead:
            inside = pc.and_(pc.greater(micros, one.lo), pc.less_equal(micros, one.at))
            keep = pc.and_(keep, pc.invert(inside))
        if known:
            here = pc.equal(micros, first.micros)
            stored = pc.is_in(batch["update_id"], pa.array(sorted(known), pa.string()))
            keep = pc.and_(keep, pc.invert(pc.and_(here, stored)))
        return batch.filter(keep)

    def _later(self, places: list[Cursor], following: Cursor | None) -> list[Cursor]:
        """The migrations that turned up while the last known one was read."""
        if following is None or any(place.migration_id >= following.migration_id for place in places):
            return []
        return [following, *migrations_after(self.source, Cursor(following.migration_id, LATEST))]


def _update_of(network: str) -> str:
    return network.partition("/")[2]
