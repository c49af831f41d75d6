"""Covered stretches of a history as intervals of record time, and the arithmetic on them; every module here uses it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ledgerframes.instants import EARLIEST, LATEST, format_instant
from ledgerframes.paging.cursor import Cursor

#: The `lo` of an interval that reaches back to where its migration begins.
BEGINNING: Final = EARLIEST - 1
#: The `at` of an interval that nothing can follow in its migration.
CLOSED: Final = LATEST


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
    """Whether a place lies in any of some stretches."""
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
    """The stretches that lie in both."""
    others = merged(second)
    return merged(
        Interval(one.migration_id, max(one.lo, other.lo), min(one.at, other.at))
        for one in merged(first)
        for other in others
        if one.migration_id == other.migration_id
    )


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
