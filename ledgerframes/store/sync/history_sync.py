"""One sync of the update history: finds what is missing, has it fetched, decodes it, has it committed."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ledgerframes.config.settings import source_of
from ledgerframes.decoding.history import decode_page
from ledgerframes.errors import PagingError, StoreError
from ledgerframes.loaders.progress import Progress
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import OVERLAP, Proofs
from ledgerframes.paging.seen_ids import SeenIds
from ledgerframes.paging.window import Window
from ledgerframes.store.coverage import CLOSED, Interval, missing, wanted_in
from ledgerframes.store.history_tables import Advance, Decoded, HistoryTables
from ledgerframes.store.sync.agreement import Agreement, first_update
from ledgerframes.store.sync.committing import Committer
from ledgerframes.store.sync.driving import Drive, ThreadDrive
from ledgerframes.store.sync.fetching import Fetched, Fetchers
from ledgerframes.store.sync.probing import MIGRATIONS, Prober, first_after, migrations_after
from ledgerframes.store.sync.rejects import RejectingDecoder
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.timestamps import EARLIEST, LATEST, format_instant
from ledgerframes.transport import Clock, SystemClock
from ledgerframes.transport.stopping import Stop

if TYPE_CHECKING:
    from ledgerframes.store.sync.dask_fetching import ClusterFetchers

_log = logging.getLogger("ledgerframes.store")
_A_DAY: Final = 86_400_000_000
_YEARS: Final = 5 * 365 * _A_DAY


@dataclass(frozen=True)
class Wish:
    """What a sync is asked to do.

    Attributes:
        window: the part of the history.
        settle: how long after its newest item a server may show an older one, in microseconds.
        now: where the clock says that the history ends, in microseconds: where to look first.
        workers: how many fetch at once.
        page_size: items a request asks for.
        commit_bytes: rows of so many bytes make a commit.
        overlap: how long after the first item of a migration the one before may get more, in microseconds.
        replicas: several machines answer behind one URL.
    """

    window: Window
    settle: int
    now: int
    workers: int
    page_size: int
    commit_bytes: int
    overlap: int = OVERLAP
    replicas: bool = False


@dataclass
class HistorySync:
    """One run over the history.

    Attributes:
        servers: where pages come from.
        history: the store's tables, as last refreshed.
        wish: what to do.
        shown: progress.
        rejecting: decodes bad pages item by item, where the caller wants to go on.
        rejected: the ids of updates that are kept aside.
        left: what could not be read for now, in words.
        fetchers: makes who reads; workers of this process by default.
        drive: runs workers and commits; threads by default.
        clock: for what happens every so often.
    """

    servers: AgreedServers
    history: HistoryTables
    wish: Wish
    shown: Progress
    rejecting: RejectingDecoder | None = None
    rejected: Collection[str] = ()
    left: list[str] = field(default_factory=list)
    sources: dict[str, None] = field(default_factory=dict)
    decode_seconds: float = 0.0
    decode_cpu_seconds: float = 0.0
    fetchers: Fetchers | ClusterFetchers | None = None
    drive: Drive = field(default_factory=ThreadDrive)
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        wish = self.wish
        self.stop = Stop()
        self.servers = self.servers.stoppable(self.stop)
        self.committer = Committer(self.history, self.drive, wish.commit_bytes, self.clock.monotonic, self._confirmed)
        self.proofs = Proofs(wish.settle, wish.overlap, replicas=wish.replicas)
        self.prober = Prober(self.servers, self.proofs, wish.now, newest=0)
        self._agreement = Agreement(self.servers, self.history, self.proofs, wish.page_size, self.rejected)
        self._recognised = True
        self._seen: set[int] = set()  # migrations that looks have shown
        self._ids = SeenIds()
        self._news: dict[Interval, bool] = {}  # by gap, whether a look at it has shown something new
        self._stale: set[int] = set()
        self._final: dict[int, int] = {}  # by stretch, up to where what was handed to the committer is final
        self._sure: dict[int, int] = {}  # likewise, of what was handed over by servers that were confirmed
        self._first: Cursor | None = None  # where the first update of a store that is made now lies
        self._gave: dict[str, int] = {}  # who gave what the committer has collected, and their breaks by then

    def run(self) -> None:
        """Read what is missing.

        Raises:
            RequestError: the servers gave no answer; what was read before stays.
            DecodeError: an answer breaks the contract; what was read before stays.
            PagingError: a server's pages contradict each other; what was read before stays.
            StoreError: the storage refused, or a server belongs to another network.
        """
        known = self._begin()
        done: set[int] = set()
        while new := sorted(known - done):
            if len(known) > MIGRATIONS:
                raise PagingError(
                    f"POST /v2/updates: the servers show more than {MIGRATIONS} migrations; they make them up as they"
                    " are asked"
                )
            self.prober.newest = max(known)
            gaps = [gap for migration_id in new for gap in self._gaps(migration_id)]
            if gaps:
                known |= self._read(gaps)
            known |= self._seen
            done.update(new)
        if self.committer.commits or not self.history.slots.in_step:
            self.history.finish()
        self._check_clock()

    def _begin(self) -> set[int]:
        """The migrations to look at, after making sure of the network."""
        network = self.history.network
        if network is None:
            first = first_update(self.servers, self.proofs)
            if first is None:
                return set()
            self.history.prepare(f"{first[0].migration_id}/{first[1]}")
            self._first = first[0]
            later = migrations_after(self.servers, Cursor(first[0].migration_id, LATEST))
            return {first[0].migration_id, *(place.migration_id for place in later)}
        self.history.prepare(network)
        stored = {part.migration_id for part in self.history.slots.common}
        if not stored:
            if not self._agreement.recognise():
                self.left.append("no server shows the update by which the store knows its network yet")
                return set()
            return {place.migration_id for place in migrations_after(self.servers, None)}
        found = self._look(max(stored))
        return stored | found | self._before(min(stored)) if self._recognised else set()

    def _look(self, newest: int) -> set[int]:
        """Look at every server where the newest stored migration ends; gives the migrations that are new."""
        gaps = self._missing(newest)
        ended = any(part.migration_id == newest and part.at >= CLOSED for part in self.history.slots.settled)
        if gaps:
            gap = gaps[-1]
        elif ended and wanted_in(self.wish.window, newest + 1) is not None:
            gap = Interval(newest, CLOSED, CLOSED)  # a sync was killed before it stored anything of the next one
        else:
            self._recognised = True  # nothing is wanted there, and servers are looked at where something is
            return set()
        look = self._agreement.look(gap, every=True)
        self._recognised = look.known
        self._news[gap] = look.news
        if look.lags and not look.news:
            self.left.append(f"{gap}: the servers lag behind what is stored")
            _log.warning("the servers lag behind the store in migration %d", newest)
        return {place.migration_id for place in look.places if place.migration_id > newest}

    def _before(self, first: int) -> set[int]:
        """The migrations before the first one stored: an update of one can be a late one."""
        begin = self.history.slots.begin
        if first <= 0 or begin == first or wanted_in(self.wish.window, first - 1) is None:
            return set()
        place = first_after(self.servers, None, self.proofs)
        if place is None or place.migration_id > first:
            return set()
        if place.migration_id == first:
            if self.proofs.now().of(self.servers.servers[0]) >= self.proofs.closes(first - 1, place):
                self.history.slots.begin = first  # goes with the next commit
            return set()
        found = {place.migration_id}
        for later in migrations_after(self.servers, Cursor(place.migration_id, LATEST)):
            if later.migration_id >= first:
                break
            found.add(later.migration_id)
        return found

    def _missing(self, migration_id: int) -> tuple[Interval, ...]:
        """What of a migration is wanted and not final."""
        wanted = wanted_in(self.wish.window, migration_id)
        return () if wanted is None else missing(wanted, self.history.slots.settled)

    def _gaps(self, migration_id: int) -> list[Interval]:
        """The gaps of a migration that are worth reading: a look shows where there is nothing new."""
        found = []
        for gap in self._missing(migration_id):
            stored = any(part.migration_id == migration_id for part in self.history.slots.common)
            if gap not in self._news and stored and gap.at >= CLOSED:
                look = self._agreement.look(gap, every=False)
                self._news[gap] = look.news
                # A late update of a migration between two known ones shows here.
                self._seen |= {place.migration_id for place in look.places if place.migration_id > migration_id}
            if self._news.get(gap, True):
                found.append(gap)
        return found

    def _read(self, gaps: list[Interval]) -> set[int]:
        """Read gaps; give the migrations that were seen."""
        seen: set[int] = set()
        fetchers = self.fetchers
        if fetchers is None:
            wish = self.wish
            fetchers = Fetchers(
                self.servers, self.prober, wish.workers, wish.page_size, self.drive, self.stop.set, self.left
            )
            self.fetchers = fetchers
        try:
            with closing(fetchers.read(gaps)) as pages, self._ending():
                for fetched in pages:
                    self._take(fetched)
                    if fetched.following is not None:
                        seen.add(fetched.following.migration_id)
        except BaseException:
            self._save_what_is_whole()
            raise
        self.committer.finish()
        return seen

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Break off what workers wait for, when the read ends early."""
        try:
            yield
        except BaseException:
            self.stop.set()
            raise

    def _confirmed(self, pages: list[Decoded]) -> list[Decoded]:
        """Pages about to be committed, once the servers that gave them have shown again which network they are of.

        Behind one URL another network may answer from some request on. What came from a server that cannot be asked,
        or has shown less since, is committed, but is not final: the next sync compares it and reads it again.

        Raises:
            StoreError: a server is of another network by now; none of these pages may be committed.
        """
        gave, self._gave = sorted(self._gave.items()), {}
        sure = [self._agreement.confirm(server, self._first) for server, _ in gave]
        sure += [self.proofs.breaks(server) <= breaks for server, breaks in gave]  # none has shown less since
        if not all(sure):
            keys = {page.advance.key for page in pages}
            self._stale |= keys
            self._final.update({key: self._sure[key] for key in keys & self._sure.keys()})
            pages = [replace(page, advance=self._unsettled(page.advance)) for page in pages]
        self._sure.update({page.advance.key: page.advance.settled for page in pages})
        return pages

    def _unsettled(self, advance: Advance) -> Advance:
        return replace(advance, settled=self._sure.get(advance.key, advance.gap.lo))

    def _save_what_is_whole(self) -> None:
        try:
            self.committer.finish()
        except StoreError as error:
            _log.warning("the pages read last could not be committed: %s", error)

    def _take(self, fetched: Fetched) -> None:
        began, cpu = time.perf_counter(), time.thread_time()
        batches = self._decoded(fetched)
        self._check_ids(batches)
        self.decode_seconds += time.perf_counter() - began
        self.decode_cpu_seconds += time.thread_time() - cpu
        if fetched.server:
            self._gave.setdefault(fetched.server, fetched.breaks)
        before = self._final.get(fetched.key, fetched.read.lo)
        if batches or fetched.span.lo < fetched.span.at or fetched.settled > before or fetched.exhausted:
            advance = Advance(fetched.key, fetched.read, self._settled(fetched), fetched.exhausted)
            self.committer.add(Decoded(batches, fetched.span, advance))
        if batches:
            self.sources[source_of(fetched.server)] = None
            self.shown.advance(len(batches["updates"]), format_instant(min(fetched.read.at, LATEST))[:19])

    def _check_ids(self, batches: Mapping[str, pa.RecordBatch]) -> None:
        updates = batches.get("updates")
        if updates is not None:
            times = updates["record_time"].cast(pa.int64()).to_pylist()
            places = [Cursor(*place) for place in zip(updates["migration_id"].to_pylist(), times, strict=True)]
            self._ids.check(updates["update_id"].to_pylist(), places)

    def _settled(self, fetched: Fetched) -> int:
        """Up to where a stretch is final; not by a page of a server that has shown less since."""
        before = self._final.get(fetched.key, fetched.read.lo)
        if self.proofs.now().breaks.get(fetched.server, 0) > fetched.breaks:
            self._stale.add(fetched.key)  # what follows in this stretch would join on to it
        settled = before if fetched.key in self._stale else max(before, fetched.settled)
        self._final[fetched.key] = settled
        return settled

    def _decoded(self, fetched: Fetched) -> Mapping[str, pa.RecordBatch]:
        if fetched.page is None:
            return fetched.batches
        page = fetched.page
        rows = page.rows if len(page.rows) < len(page.page) else None
        if self.rejecting is not None:
            return self.rejecting.decode(page.page, rows)
        return decode_page(page.page.raw, rows=rows).batches

    def _check_clock(self) -> None:
        """Say that the machine's clock is wrong, where what servers show is years away from it."""
        newest = self.proofs.newest
        if newest is not None and not -_YEARS < newest - self.wish.now < _A_DAY:
            _log.warning(
                "the newest update seen was recorded at %s, this machine's clock says %s; last= counts from the clock",
                format_instant(newest), format_instant(min(max(self.wish.now, EARLIEST), LATEST)),
            )  # fmt: skip
