"""`HistorySync`: one sync of a history; finds what is missing, has it fetched and decoded, and commits it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import takewhile

from ledgerframes.config.settings import source_of
from ledgerframes.errors import PagingError, PartialResultError, StoreError
from ledgerframes.interfaces.paged_histories import are_two, known_by
from ledgerframes.loaders.extent import MIGRATIONS, Beginning, first_cursors, warn_of
from ledgerframes.loaders.progress import Progress
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import (
    BEGINNING,
    CLOSED,
    Interval,
    beyond,
    intersection,
    merged,
    missing,
    share_of,
    wanted_in,
)
from ledgerframes.store.history_tables import Fetched
from ledgerframes.store.sync.agreement import Agreement
from ledgerframes.store.sync.beginnings import FIRST, UNKNOWN, first_update
from ledgerframes.store.sync.committing import Committer
from ledgerframes.store.sync.compare import Comparison
from ledgerframes.store.sync.fetching import Fetcher
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.timestamps import EARLIEST, LATEST, format_timestamp

_log = logging.getLogger("ledgerframes.store")


@dataclass
class HistorySync:
    """One sync of a history, such as that of updates.

    Attributes:
        request: the arguments of the sync.
        agreement: the servers, the stored history, and whether they agree.
        shown: progress.
        fetch: reads intervals of the history.
        commit: commits rows and coverage.
        sources: the senders of rows, without anything secret, in order.
    """

    request: SyncRequest
    agreement: Agreement
    shown: Progress
    fetch: Fetcher
    commit: Committer
    sources: dict[str, None] = field(default_factory=dict)
    _left: list[str] = field(default_factory=list)
    _recognised: bool = True
    _lagging: Interval | None = None  # where all servers lag behind what is stored
    _seen: set[int] = field(default_factory=set)  # migrations that looks have shown
    _news: dict[Interval, bool] = field(default_factory=dict)  # whether a look at an interval has shown news

    def __post_init__(self) -> None:
        self.servers = self.agreement.servers
        self.history = self.agreement.history
        self.proofs = self.agreement.proofs
        self.objects = self.fetch.source.objects  # they may have items that servers have pruned

    @property
    def left(self) -> tuple[str, ...]:
        """The parts that could not be read for now, in words."""
        return (*self._left, *self.fetch.left)

    def run(self) -> None:
        """Read everything that is missing.

        Raises:
            RequestError: the servers did not answer; what was read before stays.
            DecodeError: an answer breaks the contract; what was read before stays.
            PagingError: a server's pages contradict each other; what was read before stays.
            StoreError: the storage refused, or a server belongs to another network.
        """
        known = self._begin()
        begun = self.history.coverage.begin
        done: set[int] = set()
        # Reading one migration may show that there is a later one.
        while new := sorted(known - done):
            if len(known) > MIGRATIONS:
                raise PagingError(
                    f"{self.servers.history.endpoint}: the servers show more than {MIGRATIONS} migrations; they invent"
                    " them on request"
                )
            self.fetch.prober.newest = max(known)
            self.history.note(known)
            intervals: list[Interval] = []
            for migration_id in new:
                intervals += self._worth_reading(migration_id)
            read = self._read(intervals) if intervals else set()
            known |= read | self._seen
            done.update(new)
        if self.history.written and not self.left and (intervals := self._proven_since(known)):
            self._read(intervals)
        # Pages read since may prove that a server does not lag, but lacks stored updates.
        if self._lagging is not None and self.history.written:
            self.agreement.compare(self._lagging, every=True)
        begin = self.history.coverage.begin
        if begin is not None and begin.late is not None and begin != begun:
            warn_of(Beginning(begin.late, proven=False), "the store")

    def _begin(self) -> set[int]:
        """The migrations to look at, once the servers are known to belong to the store's network."""
        network, stored = self.history.network, {*self.history.coverage.migrations}
        if network is not None:
            self.history.prepare(network, self.history.known_by)
        if not stored:
            return self._begin_store()
        later_ones = self._compare_newest(max(stored))
        if not self._recognised:
            return set()
        found = stored | later_ones | self._before(min(stored))
        if (start := self.request.window.start) is not None and self._begins_apart():
            following = min((one for one in stored if one > start.migration_id), default=CLOSED)
            found |= self._shown(start.migration_id - 1, following)
        # Of those that were known before, a killed sync may have stored nothing.
        found |= {one for one in self.history.coverage.known if one > min(stored)}
        # No page of a migration whose end was pruned shows the next one, if a killed sync stored none of it.
        begin = self.agreement.beginnings.first
        return found if begin is None or begin.migration_id < min(stored) else found | {begin.migration_id}

    def _begin_store(self) -> set[int]:
        """The migrations that servers show, if nothing is stored yet."""
        first, known_by = None, self.history.known_by
        if self.history.network is None:
            first = first_update(self.servers, self.agreement.beginnings)
            if first is None:
                if not self.request.window.names_start:
                    return set()
                raise PartialResultError(
                    f"{source_of(self.servers.servers[0])} shows no update: nothing is recorded yet, or all is pruned,"
                    " so the history since that start is unknown. Leave start= out, or name a scan that keeps more"
                )
            known_by = first.known_by
        elif not self.agreement.recognise_any():
            self._left.append("no server shows the update that names the store's network yet")
            return set()
        self._ask_objects(known_by)
        self.agreement.beginnings.check_window(self.request.window, ())
        if first is not None:
            # The name is in the log before any row, so the next sync recognises a killed first one.
            self.history.prepare(first.name, first.known_by)
        earliest = self.agreement.beginnings.earliest
        assert earliest is not None
        # All at once, so that the workers share all migrations of a first sync.
        return {earliest.migration_id} | self._shown(earliest.migration_id, CLOSED)

    def _compare_newest(self, newest: int) -> set[int]:
        """Look at every server at the end of the newest stored migration; returns the new migrations."""
        intervals = self._missing(newest)
        settled = self.history.coverage.settled
        ended = any(interval.migration_id == newest and interval.hi >= CLOSED for interval in settled)
        unwanted = wanted_in(self.request.window, newest) is None
        if (ended and wanted_in(self.request.window, newest + 1) is not None) or (unwanted and self._begins_apart()):
            # A sync was killed before it stored anything of the next one, or only others are wanted.
            interval = Interval(newest, CLOSED, CLOSED)
        elif intervals:
            interval = intervals[-1]
        else:
            self._recognised = True  # nothing is wanted there; servers are compared where something is
            return set()
        compared = self.agreement.compare(interval, every=True)
        self._recognised = compared.known
        self._news[interval] = self._adds(interval, compared)
        if compared.lags and not compared.news:
            self._left.append(f"{interval}: the servers lag behind the store, or have pruned this part")
            _log.warning("the servers lag behind the store in migration %d, or have pruned its rows", newest)
            self._lagging = interval
        later = {cursor.migration_id for cursor in compared.cursors if cursor.migration_id > newest}
        if interval.lo >= CLOSED and not later:  # the look may have ended before
            later = self._shown(newest, CLOSED)
        return later

    def _adds(self, interval: Interval, compared: Comparison) -> bool:
        """Whether reading an interval adds something, even if only that nothing more is there."""
        migration_id, coverage = interval.migration_id, self.history.coverage
        later = any(cursor.migration_id > migration_id for cursor in compared.cursors)
        read = {one for one, _ in coverage.followed} if later else coverage.ended
        unread = interval.hi >= CLOSED and migration_id not in read
        return compared.news or (unread and not compared.lags)

    def _holes(self, interval: Interval) -> list[Interval]:
        """The gaps that partial syncs left before the stored part of an interval."""
        stored = [one.hi for one in self.history.coverage.common if one.migration_id == interval.migration_id]
        before = interval._replace(hi=min(interval.hi, max(stored, default=interval.lo)))
        return list(missing(before, self.history.coverage.common))

    def _before(self, first: int) -> set[int]:
        """The migrations before the first stored one, and the servers' beginnings, if older items may be available."""
        begin, start = self.history.coverage.begin, self.request.window.start
        whole = (begin is not None and begin.proven) or (start is not None and start.migration_id >= first)
        lacking = [one for migration_id in self.history.coverage.migrations for one in self._missing(migration_id)]
        gaps = [gap for one in lacking for gap in (self._holes(one) if one.hi >= CLOSED else [one])]
        older = [*gaps, *([] if whole else [Interval(first - 1, BEGINNING, CLOSED)])]
        # Only servers' first items show whether older ones exist: asked once an hour, objects at every sync.
        if older and not self.request.window.names_start and all(map(self._is_pruned, older)):
            self._ask_objects(self.history.known_by)
            older = [one for one in older if not self._is_pruned(one)]
        if not older:
            return set()
        self._ask_beginnings()
        self.agreement.beginnings.check_window(self.request.window, self.history.coverage.common)
        earliest = self.agreement.beginnings.earliest
        if whole or earliest is None or earliest.migration_id >= first:
            return set()
        return {earliest.migration_id} | self._shown(earliest.migration_id - 1, first)

    def _shown(self, after: int, until: int) -> set[int]:
        """The migrations that servers show between two."""
        later = first_cursors(self.servers, Cursor(after, LATEST), self.servers.first_after)
        return {cursor.migration_id for cursor in takewhile(lambda cursor: cursor.migration_id < until, later)}

    def _begins_apart(self) -> bool:
        """Whether the window begins in a migration without stored rows, after the first stored one."""
        start, stored = self.request.window.start, self.history.coverage.migrations
        return start is not None and start.migration_id not in stored and start.migration_id > stored[0]

    def _ask_beginnings(self) -> None:
        """Ask every server where its history begins now."""
        for server, known in self.servers.each(self.agreement.recognise):
            # Its updates may be another network's, and none is stored beside them.
            if not known and server not in self.agreement.showing and self.servers.leave_out(server, UNKNOWN):
                self.agreement.beginnings.known.pop(server, None)
        self._ask_objects(self.history.known_by)

    def _ask_objects(self, network: frozenset[str]) -> None:
        """Find out where the objects begin; those of another network, as a reset leaves some, are not read."""
        if self.objects is None or (page := self.objects.first(FIRST)) is None:
            return
        if are_two(network, known_by(self.servers.history, page)):
            self.servers.leave_out(self.objects.name, "its objects are of another network than its pages")
        else:
            self.agreement.beginnings.note(self.objects.name, page)

    def _missing(self, migration_id: int) -> tuple[Interval, ...]:
        """The wanted parts of a migration that are not final, cut where the stored or available items begin."""
        wanted = wanted_in(self.request.window, migration_id)
        if wanted is None:
            return ()
        coverage = self.history.coverage
        lacking = missing(wanted, coverage.settled)
        begin = next((one.lo for one in coverage.common if one.migration_id == migration_id), BEGINNING)
        # Otherwise every sync would read again everything before, which servers have pruned.
        before = intersection(lacking, [Interval(migration_id, BEGINNING, begin)])
        first = self.agreement.beginnings.first
        pruned = first is not None and self.agreement.beginnings.before(first._replace(micros=first.micros - 1))
        if pruned and first is not None and first.migration_id == migration_id:
            later = [one for one in lacking if one.lo > BEGINNING]
            before = merged([*before, *intersection(later, [Interval(migration_id, begin, first.micros - 1)])])
        return (*before, *beyond(lacking, before))

    def _worth_reading(self, migration_id: int) -> list[Interval]:
        """The missing intervals of a migration that are worth reading: a look shows news, or they are not pruned."""
        worth_reading: list[Interval] = []
        stored = migration_id in self.history.coverage.migrations
        ends = {one.hi for one in self.history.coverage.settled if one.migration_id == migration_id}
        for interval in self._missing(migration_id):
            if self._is_pruned(interval):
                continue
            if interval not in self._news and stored and (interval.hi >= CLOSED or interval.lo in ends):
                compared = self.agreement.compare(interval, every=False)
                self._news[interval] = self._adds(interval, compared)
                # A late update of a migration between two known ones shows up here.
                self._seen |= {cursor.migration_id for cursor in compared.cursors if cursor.migration_id > migration_id}
            # A gap is read to its end if it becomes final; a read up to the newest item covers only what it shows.
            holes = (hole for hole in self._holes(interval) if not self._is_pruned(hole) and self._is_proven(hole))
            worth_reading += [interval] if self._news.get(interval, True) else holes
        return worth_reading

    def _proven_since(self, known: set[int]) -> list[Interval]:
        """Intervals that were read before another worker or page proved that they are final."""
        intervals: list[Interval] = []
        for migration_id in sorted(known):
            for interval in self._missing(migration_id):
                # Pages of an earlier migration may show more of a later one than was read.
                if (intervals or self._is_proven(interval)) and not self._is_pruned(interval):
                    intervals.append(interval)
        return intervals

    def _is_proven(self, interval: Interval) -> bool:
        """Whether a read would make any part of an interval final, by what its server has shown."""
        place = Cursor(interval.migration_id, max(interval.lo, EARLIEST))
        return self.proofs.now().of(next(iter(self.servers.having(place)))) > place.micros

    def _is_pruned(self, interval: Interval) -> bool:
        """Whether every server begins after an interval."""
        return self.agreement.beginnings.before(Cursor(interval.migration_id, interval.hi))

    def _read(self, intervals: list[Interval]) -> set[int]:
        """Read intervals; returns the later migrations that were seen."""
        seen: set[int] = set()
        self.commit.finality.expect(intervals)
        reached: dict[int, Interval] = {}
        try:
            with closing(self.fetch.read(intervals)) as results:
                for fetched in results:
                    rows = self._count(fetched)
                    reached[fetched.key] = fetched.read
                    self.commit.add(fetched)
                    if fetched.has_rows:
                        self.sources[source_of(fetched.server)] = None
                        read_to = format_timestamp(min(fetched.read.hi, LATEST))[:19]
                        self.shown.advance(rows, read_to, self._share(intervals, reached.values()))
                    if fetched.following is not None:
                        seen.add(fetched.following.migration_id)
            self.commit.finish()
        except BaseException as error:
            # After Ctrl-C or an error, complete pages are kept; the next sync resumes after them. No commit outlives
            # the store's lock.
            self._save_what_is_whole(error)
            raise
        return seen

    def _share(self, intervals: Iterable[Interval], reached: Iterable[Interval]) -> float | None:
        """The share of the wanted intervals that was read, from the servers' beginning to their newest item shown."""
        earliest, newest = self.agreement.beginnings.earliest, self.proofs.newest
        return None if earliest is None or newest is None else share_of(intervals, reached, earliest.micros, newest)

    def _save_what_is_whole(self, after: BaseException) -> None:
        try:
            self.commit.finish()
        except StoreError as error:
            if error is not after:
                _log.warning("the pages read last could not be committed: %s", error)

    def _count(self, fetched: Fetched) -> int:
        """The number of updates that were fetched."""
        name = self.history.of.index
        in_files = sum(file.rows for file in fetched.files.get(name, ()))
        return in_files + (len(fetched.batches[name]) if name in fetched.batches else 0)
