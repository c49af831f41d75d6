"""A stretch of the history that one worker reads, and where to cut a long one; `fetching` hands them round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from ledgerframes.interfaces.history import PageRows
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.modes import Outcome, Reading
from ledgerframes.store.coverage import Interval, window_of
from ledgerframes.timestamps import EARLIEST, LATEST

_ROUNDS: Final = 4
_CLOSE_ENOUGH: Final = 8
_FACTOR: Final = 16
_AT_ONCE: Final = 6  # more probes make the cut no better and keep the workers from reading
_STEPS: Final = 12  # from a page to everything between the years 1 and 9999
_PAGES_WORTH_SHARING: Final = 2
_AT_LEAST: Final = 20

#: Gives the record time of the first item of a migration after an instant, or None.
Probe = Callable[[int, int], int | None]
#: Makes calls at once; their results in order.
Each = Callable[[Sequence[Callable[[], int | None]]], list[int | None]]


@dataclass
class Shard:
    """One interval to read, by one worker; what it has not asked for yet may be cut off for another.

    Attributes:
        key: tells the stretches of one sync apart.
        gap: what to read.
        reader: how far it is read.
        top: no item is known to lie after this.
        uncut: whether nobody has looked yet how much there is.
        at: everything up to this record time has been read.
        settled: up to here it is final, without a break from where the gap begins.
        rows: items read so far.
        first: record time of the first of them.
        newest: the last place that a page has shown.
        backlog: whether more than the next page is expected.
    """

    key: int
    gap: Interval
    reader: HistoryReader
    top: int
    uncut: bool = False
    at: int = field(init=False)
    settled: int = field(init=False)
    rows: int = 0
    first: int | None = None
    newest: Cursor | None = None
    backlog: bool = False

    def __post_init__(self) -> None:
        self.at = self.settled = self.gap.lo

    @property
    def place(self) -> Cursor:
        """The place up to which everything has been read."""
        return Cursor(self.gap.migration_id, max(self.at, EARLIEST))

    def note(self, page: PageRows) -> None:
        """Take in what a page says of how much there is."""
        cursors = page.page.glimpse.cursors
        if page.rows and self.first is None:
            self.first = cursors[page.rows[0]].micros
        self.rows += len(page.rows)
        full = len(cursors) >= page.asked.page_size > 1
        # A page that goes on where a short one ended: the server caps its pages, or is catching up.
        went_on = self.newest is not None and bool(cursors) and cursors[-1] > self.newest
        self.backlog = full or went_on
        self.newest = max(cursors[-1], self.newest or cursors[-1]) if cursors else self.newest

    def cover(self, page: PageRows, final: int, closing: int | None) -> Interval:
        """Note what a page covers, and up to where that is final.

        Args:
            page: the page.
            final: up to this record time its server is known to have shown everything before it gave the page.
            closing: the last record time that the migration can have, if a later one has been seen.

        Returns:
            What the page covers; nothing (`lo` = `at`) if it brought the read no further.
        """
        lo = self._start(page)
        at = max(lo, self._end(page))
        limit = self.gap.at if closing is None else min(self.gap.at, closing)
        if page.outcome in {Outcome.PAST, Outcome.END}:  # the server has nothing more inside the gap
            at = max(at, min(limit, final))
        if lo <= self.settled:
            self.settled = max(self.settled, min(at, final))
        self.at = max(self.at, at)
        if closing is not None and self.settled >= closing:  # nothing can follow in this migration
            self.at = self.settled = max(self.gap.at, self.at)
        return self.gap._replace(lo=lo, at=at)

    def _start(self, page: PageRows) -> int:
        after = page.asked.after
        return after.micros if after is not None and after.migration_id == self.gap.migration_id else self.gap.lo

    def _end(self, page: PageRows) -> int:
        cursors = page.page.glimpse.cursors
        if page.outcome is Outcome.PAST and cursors[-1].migration_id == self.gap.migration_id:
            return self.gap.at  # it lies inside the page
        return cursors[page.rows[-1]].micros if page.rows else self.gap.lo

    def rewind(self, final: int) -> None:
        """Go back to where what was read is final, if what follows can be made so now.

        Args:
            final: up to this record time the next page will be final.
        """
        if self.settled < self.at <= final and isinstance(self.reader.mode, Reading):
            start = window_of(self.gap._replace(lo=self.settled)).start
            place = None if start is None else before(start)
            if place is not None and place != self.reader.after:
                self.reader.rewind(place)

    def rest(self) -> float:
        """How many items are left, about, by the density of those read."""
        end = min(self.gap.at, self.top)
        done = 0 if self.first is None else self.at - self.first
        return self.rows / done * max(end - self.at, 0) if done > 0 else 0.0

    def trim_page(self) -> None:
        """Ask for no more than about what is left, so that the last page does not bring the next stretch's items."""
        if self.first is not None and self.gap.at <= self.top:
            self.reader.page_size = min(self.reader.page_size, int(self.rest() * 1.1) + _AT_LEAST)

    def shorten(self, at: int) -> Interval:
        """Read no further than `at`; give what is left over."""
        left = self.gap._replace(lo=at)
        self.gap = self.gap._replace(at=at)
        self.reader.window = replace(self.reader.window, end=Cursor(self.gap.migration_id, at + 1))
        return left


def halfway(stretch: Shard, seen: int, page_size: int) -> int | None:
    """Where to cut the rest of a stretch in two, or None if it is not worth it, or nobody knows where its items end.

    Args:
        stretch: what is being read.
        seen: the last record time its worker was shown; a cut lies beyond.
        page_size: items a request asks for.
    """
    end = min(stretch.gap.at, stretch.top)
    if end >= LATEST or end - seen < 2 or stretch.rest() < _PAGES_WORTH_SHARING * page_size:
        return None
    return (seen + end) // 2


def find_top(gap: Interval, probe: Probe, *, workers: int, each: Each, scale: int) -> int:
    """About where a migration's items end inside a gap, by two or three rounds of probes, as many at once as can be.

    The end may lie an hour or a thousand years away: the first rounds look at distances that grow by a factor, until
    nothing lies beyond one, the next ones at even distances between the last place that has something beyond it and
    the first that has not.

    Args:
        gap: its `lo` is an instant that has an item.
        probe: asks for one item.
        workers: how many probes at once, as far as more are of use.
        each: makes calls at once.
        scale: microseconds that a page spans, about.
    """
    low, high = gap.lo, gap.at
    few = min(workers, _AT_ONCE)
    outward = [low + max(scale, 1) * _FACTOR**step for step in range(_STEPS)]

    def look(points: list[int]) -> None:
        nonlocal low, high
        points = [point for point in points if low < point < high]
        places = each([partial(probe, gap.migration_id, point) for point in points])
        for point, place in zip(points, places, strict=True):
            if place is None or place > gap.at:
                high = min(high, point)
            else:
                low = max(low, place)

    for first in range(0, _STEPS, few):
        look(outward[first : first + few])
        if high < gap.at:
            break
    for _ in range(_ROUNDS - 1 if few > 2 else _ROUNDS):  # two probes at once cut less
        if high - low <= max((low - gap.lo) // _CLOSE_ENOUGH, few):
            break
        look([low + (high - low) * step // (few + 1) for step in range(1, few + 1)])
    return high


def even_cuts(lo: int, top: int, pieces: int) -> list[int]:
    """Record times that part (lo, top] in as many even pieces."""
    return sorted({lo + (top - lo) * step // pieces for step in range(1, pieces)} - {lo, top})
