"""`Shard`: a part of the history that one worker reads; `Fetcher` cuts and reads it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ledgerframes.interfaces.history import PageRows
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.modes import Outcome, Reading
from ledgerframes.paging.proofs import NOTHING
from ledgerframes.store.coverage import Interval, window_of
from ledgerframes.store.history_tables import Fetched, Opening
from ledgerframes.timestamps import EARLIEST

# The density is an estimate, and a page that is a little too small costs another request.
_AT_LEAST: Final = 20


@dataclass
class Shard:
    """One interval for one worker to read; the part not requested yet may be cut off for another.

    Attributes:
        key: identifies the shard within its sync.
        interval: the interval to read.
        reader: decides what to request next.
        top: no item is known to lie after this record time.
        uncut: whether its size has not been probed yet.
        read_to: everything up to this record time has been read.
        settled: up to this record time it is final, without a gap from the start of the interval.
        rows: the number of items read so far.
        first: record time of the first of them.
        newest: the last cursor shown by a page.
        backlog: whether more than the next page is expected.
        went_back: the target of the last rewind.
        opened: the request cursor of the last page that overlaps none before it.
        proven: up to this record time the last page was complete.
    """

    key: int
    interval: Interval
    reader: HistoryReader
    top: int
    uncut: bool = False
    read_to: int = field(init=False)
    settled: int = field(init=False)
    rows: int = 0
    first: int | None = None
    newest: Cursor | None = None
    backlog: bool = False
    went_back: int | None = None
    opened: tuple[Cursor | None] | None = None
    proven: int = NOTHING

    def __post_init__(self) -> None:
        self.read_to = self.settled = self.interval.lo

    @property
    def cursor(self) -> Cursor:
        """The cursor up to which everything has been read."""
        return Cursor(self.interval.migration_id, max(self.read_to, EARLIEST))

    @property
    def progress(self) -> Fetched:
        """The progress of the shard, without a page."""
        nothing = self.interval._replace(lo=self.read_to, hi=self.read_to)
        return Fetched(self.key, self.interval._replace(hi=self.read_to), self.settled, nothing)

    def opening(self, page: PageRows, server: str) -> Opening:
        """The opening at a page, as its server sent it."""
        migration_id = self.interval.migration_id
        own = [cursor.micros for cursor in page.page.page_index.cursors if cursor.migration_id == migration_id]
        return Opening(server, migration_id, self._start(page), min(own, default=None))

    def note(self, page: PageRows) -> None:
        """Estimate from a page how many items are left."""
        cursors = page.page.page_index.cursors
        if page.rows and self.first is None:
            self.first = cursors[page.rows[0]].micros
        self.rows += len(page.rows)
        # A probe of one item is always full and shows nothing.
        full = len(cursors) >= page.query.page_size > 1
        # A page that continues where a short one ended: the server caps its pages, or is catching up.
        continues = self.newest is not None and bool(cursors) and cursors[-1] > self.newest
        self.backlog = full or continues
        self.newest = max(cursors[-1], self.newest or cursors[-1]) if cursors else self.newest

    def cover(self, page: PageRows, final: int, closing: int | None) -> Interval:
        """Record which interval a page covers, and up to where that is final.

        Args:
            page: the page.
            final: up to this record time its server is known to have shown everything before it sent the page.
            closing: the last possible record time of the migration, if a later one has been seen.

        Returns:
            The interval that the page covers; empty (`lo` = `hi`) if it brought no progress.
        """
        lo = self._start(page)
        hi = max(lo, self._end(page))
        limit = self.interval.hi if closing is None else min(self.interval.hi, closing)
        if page.outcome in {Outcome.PAST, Outcome.END}:  # the server has nothing more inside the interval
            hi = max(hi, min(limit, final))
        # Only if it joins on: a final page after one that is not final settles nothing.
        if lo <= self.settled:
            self.settled = max(self.settled, min(hi, final))
        self.read_to = max(self.read_to, hi)
        if closing is not None and self.settled >= closing:  # nothing can follow in this migration
            self.read_to = self.settled = max(self.interval.hi, self.read_to)
        return self.interval._replace(lo=lo, hi=hi)

    def _start(self, page: PageRows) -> int:
        after = page.query.after
        return (
            after.micros if after is not None and after.migration_id == self.interval.migration_id else self.interval.lo
        )

    def _end(self, page: PageRows) -> int:
        cursors = page.page.page_index.cursors
        end = Cursor(self.interval.migration_id, self.interval.hi)
        # The interval ends inside the page, which may continue with a later migration.
        beyond = any(cursor > end and cursor.migration_id == end.migration_id for cursor in cursors)
        if page.outcome is Outcome.PAST and beyond:
            return self.interval.hi
        return cursors[page.rows[-1]].micros if page.rows else self.interval.lo

    def rewind(self, final: int) -> None:
        """Go back to where the pages read are final, if the rest can become final now.

        Args:
            final: up to this record time the next page will be final.
        """
        # One page then settles what was read before its proof; otherwise the next sync would read it again. Only
        # once to the same place: the pages may come from another server, of which less is proven.
        useful = self.settled < self.read_to <= final and self.settled != self.went_back
        if useful and isinstance(self.reader.mode, Reading):
            start = window_of(self.interval._replace(lo=self.settled)).start
            after = None if start is None else before(start)
            if after is not None and after != self.reader.after:
                self.went_back = self.settled
                self.reader.rewind(after)

    def rest(self) -> float:
        """An estimate of how many items are left, from the density of those read."""
        end = min(self.interval.hi, self.top)
        done = 0 if self.first is None else self.read_to - self.first
        return self.rows / done * max(end - self.read_to, 0) if done > 0 else 0.0

    def trim_page(self) -> None:
        """Request little more than what is left, so that the last page has few items of the next shard."""
        if self.first is not None and self.interval.hi <= self.top:
            self.reader.page_size = min(self.reader.page_size, int(self.rest() * 1.1) + _AT_LEAST)

    def shorten(self, hi: int) -> Interval:
        """Read no further than `hi`; returns the interval that is left over."""
        rest = self.interval._replace(lo=hi)
        self.interval = self.interval._replace(hi=hi)
        # The cut lies beyond everything the owner has requested, so no request under way overlaps the part cut off.
        self.reader.window = replace(self.reader.window, end=Cursor(self.interval.migration_id, hi + 1))
        return rest
