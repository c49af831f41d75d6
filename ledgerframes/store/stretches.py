"""A stretch of the history that one worker reads, and where to cut a long one; `fetching` hands them round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ledgerframes.decoding.peek import Cursor
from ledgerframes.instants import EARLIEST, LATEST
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.window import Window
from ledgerframes.store.intervals import Interval

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
class Stretch:
    """One interval to read, by one worker; what it has not asked for yet may be cut off for another.

    Attributes:
        key: tells the stretches of one sync apart.
        gap: what to read.
        reader: how far it is read.
        top: no item is known to lie after this.
        uncut: whether nobody has looked yet how much there is.
        rows: items read so far.
        first: record time of the first of them.
    """

    key: int
    gap: Interval
    reader: HistoryReader
    top: int
    uncut: bool = False
    rows: int = 0
    first: int | None = None

    @property
    def reached(self) -> int:
        """Everything up to this record time has been read."""
        last = self.reader.last
        return self.gap.lo if last is None else last.micros

    def rest(self) -> float:
        """How many items are left, about, by the density of those read."""
        end = min(self.gap.at, self.top)
        done = 0 if self.first is None else self.reached - self.first
        return self.rows / done * max(end - self.reached, 0) if done > 0 else 0.0

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


def window_of(gap: Interval, *, again: bool = False) -> Window:
    """The places of an interval; `again` includes the instant before it, to look whether it has got more."""
    start = Cursor(gap.migration_id, gap.lo if again else gap.lo + 1)
    if gap.at < LATEST:
        return Window(start, Cursor(gap.migration_id, gap.at + 1))
    following = gap.migration_id + 1
    return Window(start, Cursor(following, EARLIEST) if following < 2**63 else None)


def halfway(stretch: Stretch, seen: int, page_size: int) -> int | None:
    """Where to cut the rest of a stretch in two, or None if it is not worth it.

    Args:
        stretch: what is being read.
        seen: the last record time its worker was shown; a cut lies beyond.
        page_size: items a request asks for.
    """
    end = min(stretch.gap.at, stretch.top)
    if end - seen < 2 or stretch.rest() < _PAGES_WORTH_SHARING * page_size:
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
    for _ in range(_ROUNDS - 1):
        if high - low <= max((low - gap.lo) // _CLOSE_ENOUGH, few):
            break
        look([low + (high - low) * step // (few + 1) for step in range(1, few + 1)])
    return high


def even_cuts(lo: int, top: int, pieces: int) -> list[int]:
    """Record times that part (lo, top] in as many even pieces."""
    return sorted({lo + (top - lo) * step // pieces for step in range(1, pieces)} - {lo, top})
