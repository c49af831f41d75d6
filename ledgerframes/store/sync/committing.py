"""`Finality` and `Committer`: what is final of fetched pages, and their commit in a thread; `HistorySync` has one."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import pyarrow as pa

from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import NOTHING
from ledgerframes.store.coverage import BEGINNING, CLOSED, Begin, Interval, intersection
from ledgerframes.store.history_tables import Fetched, Opening
from ledgerframes.store.sync.agreement import Agreement
from ledgerframes.store.sync.scheduling import Scheduler
from ledgerframes.tables.history import EVENTS
from ledgerframes.threads import result

#: Bytes of rows in memory that trigger the first commit of a sync.
FIRST: Final = 64_000_000
#: Bytes of rows that trigger a commit in a very long sync: smaller commits make more files and log entries, and larger
#: ones take three times the difference in memory.
LARGEST: Final = 192_000_000
#: By how much each full commit raises the size of the next, so that a million updates take less than 750 MB of memory.
STEP: Final = 500_000
# A slow server's rows become visible, and survive a kill, after at most a minute.
_SECONDS: Final = 60.0
_SEEN: Final = ["template_name", "choice"]


@dataclass
class _Shard:
    """The knowledge of one shard, in record times.

    Attributes:
        lo: where it begins.
        final: of the pages handed to the committer.
        sure: of the pages from confirmed servers; None before the first.
        low: after which it is complete; None before a page says so.
        begins: where the servers' history begins, if it begins in the shard.
        stale: whether nothing more of it can become final.
    """

    lo: int
    final: int
    sure: int | None = None
    low: int | None = None
    begins: Begin | None = None
    stale: bool = False

    def forget(self, beyond: int = NOTHING) -> None:
        """Keep the unstored part beyond a record time from becoming final."""
        self.stale = True
        self.final = max(NOTHING if self.sure is None else self.sure, min(self.final, beyond))


@dataclass
class Finality:
    """Decides which fetched rows are final.

    Attributes:
        agreement: asks servers again which network they belong to.
    """

    agreement: Agreement
    _shards: dict[int, _Shard] = field(default_factory=dict)
    _openings: list[tuple[int, Opening]] = field(default_factory=list)  # of uncommitted pages, by shard
    _senders: dict[str, bool] = field(default_factory=dict)  # of uncommitted pages, and whether they were broken then
    _stored: dict[int, list[tuple[int, str]]] = field(default_factory=dict)  # by migration, in order of time
    _shown: set[str] = field(default_factory=set)  # updates that pages have shown where rows are stored

    def __post_init__(self) -> None:
        self.history = self.agreement.history

    def expect(self, intervals: Iterable[Interval]) -> None:
        """Look up the rows that are stored already where intervals are about to be read."""
        self._stored = {}
        for interval in intersection(intervals, self.history.coverage.common):
            rows = ((micros, update_id) for update_id, micros in self.history.stored(interval).items())
            self._stored.setdefault(interval.migration_id, []).extend(sorted(rows))

    def judged(self, fetched: Fetched) -> Fetched | None:
        """A fetched page with what is final of its shard; None if it changes nothing in the store.

        Raises:
            StoreError: a server lacks a stored update in the part that it has shown completely.
        """
        if fetched.server:
            # As of the first page: a break since then makes all later ones doubtful.
            self._senders.setdefault(fetched.server, fetched.broken)
        if fetched.opening is not None:
            self._openings.append((fetched.key, fetched.opening))
        self._note_shown(fetched)
        shard = self._shards.setdefault(fetched.key, _Shard(fetched.read.lo, fetched.read.lo))
        before = shard.final
        changes = fetched.has_rows or fetched.span.lo < fetched.span.hi or fetched.settled > before or fetched.exhausted
        if not changes:
            return None
        # A server that has since shown less makes nothing final, nor the rest of the shard, which would join it.
        if not fetched.broken and not self.agreement.proofs.proves_ahead(fetched.server):
            shard.stale = True
        if not shard.stale:
            shard.final = max(before, fetched.settled)
        # A look at the beginning of the sync may have come before the proof of this.
        migration_id = fetched.read.migration_id
        missing = self._lacking(Interval(migration_id, before, shard.final))
        if missing and not fetched.server:
            # No page shows it, only a proof from elsewhere: not final until a server is asked for these.
            shard.final, missing = before, {}
        self.agreement.refuse(fetched.server, migration_id, self.agreement.due(fetched.server, migration_id, missing))
        return replace(fetched, settled=shard.final)

    def _note_shown(self, fetched: Fetched) -> None:
        """Remember what a page shows where rows are stored: a later page may be what makes it final."""
        batch = fetched.batches.get(self.history.of.index)
        if batch is not None and self._within(fetched.span):
            self._shown.update(batch["update_id"].to_pylist())

    def _lacking(self, interval: Interval) -> dict[str, int]:
        """The rows stored in an interval that becomes final, and that no page has shown."""
        # An item that a page shows but that cannot be decoded is not missing there.
        rows, rejected = self._within(interval), self.agreement.rejected
        return {one: micros for micros, one in rows if one not in self._shown and one not in rejected}

    def _within(self, interval: Interval) -> list[tuple[int, str]]:
        """The rows stored in an interval, in order of time."""
        rows = self._stored.get(interval.migration_id, [])
        first, last = (bisect_right(rows, micros, key=lambda row: row[0]) for micros in interval[1:])
        return rows[first:last]

    def confirm(self, pages: list[Fetched]) -> list[Fetched]:
        """The pages to commit, after their senders have shown again which network they belong to.

        A URL may switch to another network between requests. Pages of a server that cannot be asked, or has since shown
        less, are committed, but not final: the next sync compares them and reads them again.

        Raises:
            StoreError: a server now belongs to another network; none of these pages may be committed.
        """
        # Asked in a fixed order, so that a simulation of the same seed sends the same requests.
        senders, self._senders = sorted(self._senders.items()), {}
        asked = {server for server, _ in senders if self.agreement.confirm(server)}
        sure = [one in asked and (broken or self.agreement.proofs.proves_ahead(one)) for one, broken in senders]
        if not all(sure):
            for page in pages:
                self._shards[page.key].forget()
        for key, opening in self._openings:
            # Objects, which are no sender, begin where they did.
            self._open(self._shards[key], opening, asked=opening.server in asked or opening.server not in dict(senders))
        self._openings = []
        pages = [self._from_low(page) for page in pages]
        for page in pages:
            self._shards[page.key].sure = page.settled
        # Nothing is known of a part that no server has any more; it holds no rows.
        return [page for page in pages if page.read.lo < page.read.hi or self._ends(page)]

    def _ends(self, page: Fetched) -> bool:
        """Whether a page shows that nothing follows where its shard begins, of which nothing was pruned."""
        return page.exhausted and page.read.lo == self._shards[page.key].lo

    def _open(self, shard: _Shard, opening: Opening, *, asked: bool) -> None:
        """Decide from where on a page that overlaps none before it in its shard is complete.

        A server that could not be asked since has made nothing final; its earlier beginning is good enough then, unless
        the page shows that it has moved on.
        """
        _, migration_id, lo, _ = opening
        low, proof = self._complete_from(opening, asked=asked)
        if shard.sure is not None or lo > shard.lo:  # inside of its shard, or its start is stored
            # A page at the start of the shard shows only that the part left out is gone.
            if low > max(lo, lo if shard.low is None else shard.low):
                shard.forget(beyond=lo)
            return
        if shard.low is not None and low < shard.low:
            # Another server begins the shard earlier: one that had pruned that part has proven nothing there.
            shard.forget(beyond=low)
        shard.low = low
        shard.begins = Begin(migration_id, low, proof) if lo <= BEGINNING and (low > lo or proof) else None

    def _complete_from(self, opening: Opening, *, asked: bool) -> tuple[int, int]:
        """After which record time a page has everything, and the proof of a beginning there, as in `Begin`.

        Args:
            opening: the page.
            asked: whether its server has been asked since where it begins.
        """
        server, migration_id, lo, first = opening
        beginnings = self.agreement.beginnings
        begin = beginnings.known.get(server)
        whole = begin is not None and begin.proven is True and begin.first.migration_id == migration_id
        shows_begin = begin is not None and first == begin.first.micros
        if begin is not None and begin.has(migration_id, lo + 1) and (shows_begin or not whole or lo > BEGINNING):
            return lo, 2 * int(whole)
        if begin is None and lo > BEGINNING and server not in beginnings.emptied:
            return lo, 0
        shown = [] if first is None else [first]
        if begin is not None and begin.first.migration_id == migration_id and asked:
            shown.append(begin.first.micros)
        at = min(shown, default=CLOSED + 1)  # nothing is known of a part that no server has any more
        proven = beginnings.proof_of(Cursor(migration_id, at))
        genesis = proven is True and first == at and lo <= BEGINNING  # it may have been pruned since
        return (lo, 2) if genesis else (max(lo, at - 1), int(proven is False))

    def _from_low(self, page: Fetched) -> Fetched:
        """A page with the part of its shard before which nothing was pruned while it was read."""
        shard = self._shards[page.key]
        lo = page.read.lo if shard.low is None else max(shard.low, page.read.lo)
        settled = min(shard.final, page.settled)
        return replace(page, read=page.read._replace(lo=lo), settled=max(settled, lo), begins=shard.begins)


@dataclass
class CommitSize:
    """The number of bytes of rows per commit: fixed by the caller, or growing with every full commit.

    An early first commit means that a kill loses little; a long backfill makes few files. If rows arrive slowly,
    commits happen every minute and stay small.

    Attributes:
        fixed: the caller's size.
    """

    fixed: int | None = None
    _now: int = FIRST

    @property
    def bytes(self) -> int:
        """The bytes that trigger the next commit."""
        return self._now if self.fixed is None else self.fixed

    def grow(self) -> None:
        """Allow more for the next commit: this one was full."""
        self._now = min(self._now + STEP, LARGEST)


@dataclass
class Committer:
    """Commits in order of arrival, once there are enough rows or after a minute; used by one thread.

    Attributes:
        finality: decides what is final of the pages, and checks them before they are committed.
        scheduler: runs the commits.
        size: how many bytes in memory trigger a commit.
        clock: seconds.
        rows: rows committed, by table.
        seen: the templates of the committed events, each with a choice, or None for creates.
    """

    finality: Finality
    scheduler: Scheduler
    size: CommitSize = field(default_factory=CommitSize)
    clock: Callable[[], float] = time.monotonic
    rows: Counter[str] = field(default_factory=Counter)
    seen: set[tuple[str | None, str | None]] = field(default_factory=set)
    _pages: list[Fetched] = field(default_factory=list)
    _bytes: int = 0
    _since: float | None = None
    _last: Future[None] | None = None  # the last commit, which may be under way

    def add(self, page: Fetched) -> None:
        """Add a page if it changes anything, and commit the collected ones if there are enough.

        Raises:
            StoreError: an earlier commit failed, or a server lacks a stored update that it must show.
        """
        judged = self.finality.judged(page)
        if judged is None:
            return
        self._pages.append(judged)
        self._bytes += page.bytes
        if self._since is None:
            self._since = self.clock()
        if self._bytes >= self.size.bytes:
            self.size.grow()
            self._hand_over()
        elif self.clock() - self._since >= _SECONDS:
            self._hand_over()
        elif self._bytes > FIRST:
            # Two large commits at once would take a gigabyte, so collecting during a commit stops at this size.
            self._wait()

    def finish(self) -> None:
        """Commit the rest and wait for it.

        Raises:
            StoreError: a commit failed.
        """
        if self._pages:
            self._hand_over()
        self._wait()

    def _hand_over(self) -> None:
        pages, self._pages, self._bytes, self._since = self._pages, [], 0, None
        # Confirmed before the commit begins: pages of another network must not reach the log.
        pages = self.finality.confirm(pages)
        # One at a time: of 16 at once, 51 of 320 failed on conflicts, and the coverage of one that follows a failed one
        # would be that of rows that are not stored.
        self._wait()
        self._last = self.scheduler.commit(partial(self._commit, pages))

    def _wait(self) -> None:
        """Wait for the last commit.

        Raises:
            StoreError: it failed.
        """
        if self._last is not None:
            result(self._last)

    def _commit(self, pages: list[Fetched]) -> None:
        self.rows.update(self.finality.history.commit(pages))
        events = [page.batches[EVENTS.name].select(_SEEN) for page in pages if EVENTS.name in page.batches]
        if events:
            # In this thread: handing so little to Arrow's own takes longer.
            named = pa.Table.from_batches(events).group_by(_SEEN, use_threads=False).aggregate([])
            self.seen.update(zip(*(column.to_pylist() for column in named.columns), strict=True))
