"""`Interval` and its arithmetic: what a store covers and what a window lacks; the whole store uses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.paging.cursor import Cursor, Window, before
from ledgerframes.timestamps import EARLIEST, LATEST, format_timestamp, month_of

#: The `lo` of an interval that reaches back to where its migration begins.
BEGINNING: Final = EARLIEST - 1
#: The `hi` of an interval that nothing can follow in its migration.
CLOSED: Final = LATEST

_TIME: Final = pa.timestamp("us", "UTC")


class Interval(NamedTuple):
    """The record times of one migration in (lo, hi], in integer microseconds."""

    migration_id: int
    lo: int
    hi: int

    def __str__(self) -> str:
        low = "from its start" if self.lo <= BEGINNING else f"after {format_timestamp(self.lo)}"
        high = "its end" if self.hi >= CLOSED else format_timestamp(self.hi)
        return f"migration {self.migration_id} {low} up to {high}"

    @property
    def after(self) -> Cursor | None:
        """The cursor to request it after; None for ledger begin."""
        return before(Cursor(self.migration_id, self.lo + 1))


def lies_in(cursor: Cursor, intervals: Iterable[Interval]) -> bool:
    """Whether a cursor lies in any of the intervals."""
    migration_id, micros = cursor
    return any(interval.migration_id == migration_id and interval.lo < micros <= interval.hi for interval in intervals)


def merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The same intervals in order, with those that touch or overlap joined and empty ones left out."""
    joined: list[Interval] = []
    for interval in sorted(interval for interval in intervals if interval.lo < interval.hi):
        last = joined[-1] if joined else None
        if last is not None and last.migration_id == interval.migration_id and interval.lo <= last.hi:
            joined[-1] = last._replace(hi=max(last.hi, interval.hi))
        else:
            joined.append(interval)
    return tuple(joined)


def intersection(first: Iterable[Interval], second: Iterable[Interval]) -> tuple[Interval, ...]:
    """The intervals that lie in both."""
    left, right = merged(first), merged(second)
    shared: list[Interval] = []
    i = j = 0
    while i < len(left) and j < len(right):
        one, other = left[i], right[j]
        if one.migration_id == other.migration_id and max(one.lo, other.lo) < min(one.hi, other.hi):
            shared.append(Interval(one.migration_id, max(one.lo, other.lo), min(one.hi, other.hi)))
        if (one.migration_id, one.hi) < (other.migration_id, other.hi):
            i += 1
        else:
            j += 1
    return tuple(shared)


def missing(wanted: Interval, covered: Iterable[Interval]) -> tuple[Interval, ...]:
    """The parts of a wanted interval that are not covered, in order."""
    lacking, lo = [], wanted.lo
    for interval in intersection([wanted], covered):
        lacking.append(wanted._replace(lo=lo, hi=interval.lo))
        lo = interval.hi
    lacking.append(wanted._replace(lo=lo))
    return merged(lacking)


def beyond(covered: Iterable[Interval], common: Iterable[Interval]) -> tuple[Interval, ...]:
    """The parts covered beyond the common intervals: what one table got before a crash and the others did not."""
    shared = merged(common)
    return merged(rest for interval in merged(covered) for rest in missing(interval, shared))


def share_of(wanted: Iterable[Interval], read: Iterable[Interval], first: int, last: int) -> float | None:
    """The fraction of some intervals that was read, measured in time between two instants; None if it is undefined."""

    def within(intervals: Iterable[Interval]) -> int:
        return sum(max(min(one.hi, last) - max(one.lo, first), 0) for one in intervals)

    whole = within(wanted)
    return min(within(read) / whole, 1.0) if whole else None


def wanted_in(window: Window, migration_id: int) -> Interval | None:
    """The part of one migration that a window wants; an open side reaches to the migration's beginning or end."""
    lo, hi = BEGINNING, CLOSED
    if window.start is not None:
        if migration_id < window.start.migration_id:
            return None
        if migration_id == window.start.migration_id:
            lo = window.start.micros - 1
    if window.since is not None:
        lo = max(lo, window.since - 1)
    if window.end is not None:
        if migration_id > window.end.migration_id:
            return None
        if migration_id == window.end.migration_id:
            hi = min(hi, window.end.micros - 1)
    if window.until is not None:
        hi = min(hi, window.until - 1)
    return Interval(migration_id, lo, hi) if lo < hi else None


def window_of(interval: Interval) -> Window:
    """The window that contains the cursors of an interval."""
    start = Cursor(interval.migration_id, interval.lo + 1)
    if interval.hi < LATEST:
        return Window(start, Cursor(interval.migration_id, interval.hi + 1))
    following = interval.migration_id + 1
    return Window(start, Cursor(following, EARLIEST) if following < 2**63 else None)


def missing_windows(window: Window, covered: Sequence[Interval]) -> list[Window]:
    """The parts of a window that are not covered, including migrations that the store does not know."""
    if not covered:
        return [window]
    ids = sorted({interval.migration_id for interval in covered})
    windows: list[Window] = []
    low = Cursor(min(ids[0], 0), EARLIEST)
    for migration_id in ids:
        windows += _between(window, low, Cursor(migration_id, EARLIEST))
        if (wanted := wanted_in(window, migration_id)) is not None:
            windows += map(window_of, missing(wanted, covered))
        low = Cursor(migration_id + 1, EARLIEST)
    return [*windows, *_between(window, low, None)]


def _between(window: Window, low: Cursor, high: Cursor | None) -> list[Window]:
    """The part of a window between two cursors, if there is one."""
    start = low if window.start is None else max(window.start, low)
    end = min((one for one in (window.end, high) if one is not None), default=None)
    return [] if end is not None and start >= end else [Window(start, end, window.since, window.until)]


def rows_of(intervals: Sequence[Interval]) -> pc.Expression:
    """The rows that lie in the intervals, as a filter that skips partitions and files outside of them."""
    if not intervals:
        return pc.scalar(False)  # noqa: FBT003 - a value, not a switch
    return reduce(or_, [_rows(interval) for interval in intervals])


def _rows(interval: Interval) -> pc.Expression:
    migration_id, lo, hi = interval
    rows = pc.field("migration_id") == migration_id
    if lo >= EARLIEST:
        # The month is a partition column, so it rules out whole folders before any file's statistics are looked at.
        rows &= (pc.field("record_month") >= month_of(lo)) & (pc.field("record_time") > pa.scalar(lo, _TIME))
    if hi < LATEST:
        rows &= (pc.field("record_month") <= month_of(hi)) & (pc.field("record_time") <= pa.scalar(hi, _TIME))
    return rows
