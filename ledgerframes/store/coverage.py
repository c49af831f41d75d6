"""What a store covers, as intervals of record time, and what a window wants of it; the whole store uses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.window import Window
from ledgerframes.timestamps import EARLIEST, LATEST, format_instant, month_of

#: The `lo` of an interval that reaches back to where its migration begins.
BEGINNING: Final = EARLIEST - 1
#: The `at` of an interval that nothing can follow in its migration.
CLOSED: Final = LATEST

_TIME: Final = pa.timestamp("us", "UTC")


class Interval(NamedTuple):
    """The record times of one migration after `lo` up to and with `at`, in integer microseconds."""

    migration_id: int
    lo: int
    at: int

    def __str__(self) -> str:
        low = "its beginning" if self.lo <= BEGINNING else format_instant(self.lo)
        high = "its end" if self.at >= CLOSED else format_instant(self.at)
        return f"migration {self.migration_id} after {low} up to {high}"


def lies_in(place: Cursor, intervals: Iterable[Interval]) -> bool:
    """Whether a place lies in any of some intervals."""
    return any(one.migration_id == place.migration_id and one.lo < place.micros <= one.at for one in intervals)


def merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The same stretches in order, with those that touch or overlap joined and empty ones left out."""
    joined: list[Interval] = []
    for one in sorted(interval for interval in intervals if interval.lo < interval.at):
        last = joined[-1] if joined else None
        if last is not None and last.migration_id == one.migration_id and one.lo <= last.at:
            joined[-1] = last._replace(at=max(last.at, one.at))
        else:
            joined.append(one)
    return tuple(joined)


def intersection(first: Iterable[Interval], second: Iterable[Interval]) -> tuple[Interval, ...]:
    """The intervals that lie in both."""
    left, right = merged(first), merged(second)
    shared: list[Interval] = []
    i = j = 0
    while i < len(left) and j < len(right):
        one, other = left[i], right[j]
        if one.migration_id == other.migration_id and max(one.lo, other.lo) < min(one.at, other.at):
            shared.append(Interval(one.migration_id, max(one.lo, other.lo), min(one.at, other.at)))
        if (one.migration_id, one.at) < (other.migration_id, other.at):
            i += 1
        else:
            j += 1
    return tuple(shared)


def missing(wanted: Interval, covered: Iterable[Interval]) -> tuple[Interval, ...]:
    """What of a wanted stretch is not covered, in order."""
    gaps, lo = [], wanted.lo
    for one in intersection([wanted], covered):
        gaps.append(wanted._replace(lo=lo, at=one.lo))
        lo = one.at
    gaps.append(wanted._replace(lo=lo))
    return merged(gaps)


def beyond(covered: Iterable[Interval], common: Iterable[Interval]) -> tuple[Interval, ...]:
    """What is covered, but not in common: what a table got before a crash and the others did not."""
    shared = merged(common)
    return merged(gap for one in merged(covered) for gap in missing(one, shared))


def wanted_in(window: Window, migration_id: int) -> Interval | None:
    """The part of one migration that a window wants; an open side reaches to where the migration begins or ends."""
    lo, at = BEGINNING, CLOSED
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
            at = min(at, window.end.micros - 1)
    if window.until is not None:
        at = min(at, window.until - 1)
    return Interval(migration_id, lo, at) if lo < at else None


def gaps(wanted: Iterable[Interval], covered: Sequence[Interval]) -> tuple[Interval, ...]:
    """What is wanted and not covered."""
    return tuple(gap for one in wanted for gap in missing(one, covered))


def window_of(gap: Interval) -> Window:
    """The places of an interval."""
    start = Cursor(gap.migration_id, gap.lo + 1)
    if gap.at < LATEST:
        return Window(start, Cursor(gap.migration_id, gap.at + 1))
    following = gap.migration_id + 1
    return Window(start, Cursor(following, EARLIEST) if following < 2**63 else None)


def missing_windows(window: Window, covered: Sequence[Interval]) -> list[Window]:
    """What of a window is not covered, the migrations that the store does not know included."""
    if not covered:
        return [window]
    ids = sorted({one.migration_id for one in covered})
    known = (one for migration_id in ids if (one := wanted_in(window, migration_id)) is not None)
    found = [window_of(gap) for gap in gaps(known, covered)]
    if window.end is None or window.end.migration_id > ids[-1]:
        found.append(Window(Cursor(ids[-1] + 1, EARLIEST), window.end, window.since, window.until))
    return found


def rows_of(intervals: Sequence[Interval]) -> pc.Expression:
    """The rows that lie in some stretches, said so that partitions and files outside need not be read."""
    if not intervals:
        return pc.scalar(False)  # noqa: FBT003 - a value, not a switch
    return reduce(or_, [_rows(one) for one in intervals])


def _rows(one: Interval) -> pc.Expression:
    rows = pc.field("migration_id") == one.migration_id
    if one.lo >= EARLIEST:
        rows &= (pc.field("record_month") >= month_of(one.lo)) & (pc.field("record_time") > pa.scalar(one.lo, _TIME))
    if one.at < LATEST:
        rows &= (pc.field("record_month") <= month_of(one.at)) & (pc.field("record_time") <= pa.scalar(one.at, _TIME))
    return rows
