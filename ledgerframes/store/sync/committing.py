"""`Committer` collects decoded pages and commits rows and coverage together, in a thread; `HistorySync` calls it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pyarrow as pa

from ledgerframes.store.history_tables import Fetched, HistoryTables
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
        history: the tables.
        scheduler: runs the commits.
        size: how many bytes in memory trigger a commit.
        clock: seconds.
        confirm: checks pages before they are committed; returns them with their final part.
        rows: rows committed, by table.
        seen: the templates of the committed events, each with a choice, or None for creates.
    """

    history: HistoryTables
    scheduler: Scheduler
    size: CommitSize = field(default_factory=CommitSize)
    clock: Callable[[], float] = time.monotonic
    confirm: Callable[[list[Fetched]], list[Fetched]] = list
    rows: Counter[str] = field(default_factory=Counter)
    seen: set[tuple[str | None, str | None]] = field(default_factory=set)
    _pages: list[Fetched] = field(default_factory=list)
    _bytes: int = 0
    _since: float | None = None
    _last: Future[None] | None = None  # the last commit, which may be under way

    def add(self, page: Fetched) -> None:
        """Add a page, and commit the collected ones if there are enough.

        Raises:
            StoreError: an earlier commit failed.
        """
        self._pages.append(page)
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
        pages = self.confirm(pages)
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
        self.rows.update(self.history.commit(pages))
        events = [page.batches[EVENTS.name].select(_SEEN) for page in pages if EVENTS.name in page.batches]
        if events:
            # In this thread: handing so little to Arrow's own takes longer.
            named = pa.Table.from_batches(events).group_by(_SEEN, use_threads=False).aggregate([])
            self.seen.update(zip(*(column.to_pylist() for column in named.columns), strict=True))
