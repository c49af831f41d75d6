"""`Interval` and its arithmetic, `Coverage`: what a store covers and what a window lacks; the whole store uses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from ledgerframes.paging.cursor import Cursor, Window, before
from ledgerframes.timestamps import EARLIEST, LATEST, format_timestamp, month_of

if TYPE_CHECKING:
    from ledgerframes.store.history_tables import Fetched

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
    def first(self) -> Cursor:
        """The first place in it."""
        return Cursor(self.migration_id, self.lo + 1)

    @property
    def last(self) -> Cursor:
        """The last place in it."""
        return Cursor(self.migration_id, self.hi)

    @property
    def after(self) -> Cursor | None:
        """The cursor to request it after; None for ledger begin."""
        return before(self.first)


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
    if interval.hi < LATEST:
        return Window(interval.first, Cursor(interval.migration_id, interval.hi + 1))
    following = interval.migration_id + 1
    return Window(interval.first, Cursor(following, EARLIEST) if following < 2**63 else None)


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


class Begin(NamedTuple):
    """The earliest item that servers had: an interval reaches back to ledger begin only if that is proven.

    Attributes:
        migration_id: of the interval that begins there, like `lo`.
        lo: everything after it was available.
        proof: 2 if the ledger begins there, 1 if older items existed once, 0 if neither is known.
    """

    migration_id: int
    lo: int
    proof: int

    @property
    def proven(self) -> bool | None:
        """Whether the ledger begins there; None if unknown."""
        return None if not self.proof else self.proof > 1

    @property
    def late(self) -> Cursor | None:
        """The first item that servers had, if older ones are known to have existed."""
        return Cursor(self.migration_id, self.lo + 1) if self.proven is False else None


class Coverage(msgspec.Struct, frozen=True):
    """The coverage of one history of a lake.

    Attributes:
        common: the intervals whose rows are stored, in order; adjacent ones are joined.
        settled: those in which rows are final.
        ended: the migrations that were read until a server had nothing more, for now.
        followed: those that were read until it showed another one instead, each with that one.
        begins: where servers had nothing older; the one at the start of the coverage counts.
        known: the migrations that servers have shown, stored or not.
        changes: how often final rows were added or removed.
    """

    common: tuple[Interval, ...] = ()
    settled: tuple[Interval, ...] = ()
    ended: frozenset[int] = frozenset()
    followed: tuple[tuple[int, int], ...] = ()
    begins: tuple[Begin, ...] = ()
    known: frozenset[int] = frozenset()
    changes: int = 0

    @property
    def migrations(self) -> tuple[int, ...]:
        """The migrations of which something is stored."""
        return tuple(dict.fromkeys(interval.migration_id for interval in self.common))

    @property
    def begin(self) -> Begin | None:
        """Where the coverage begins, if it begins there because servers had nothing older."""
        first = [interval[:2] for interval in self.common[:1]]
        return next((begin for begin in reversed(self.begins) if begin[:2] in first), None)

    @property
    def start(self) -> Cursor | None:
        """The first place covered, if a sync was told to start there; None where the servers' history begins."""
        return self.common[0].first if self.common and self.begin is None else None

    def within(self, window: Window) -> tuple[Interval, ...]:
        """The covered parts of a window."""
        wanted = (wanted_in(window, migration_id) for migration_id in self.migrations)
        return intersection(self.common, filter(None, wanted))

    def starts_at_a_time(self, migration_id: int) -> bool:
        """Whether a later migration is covered from the same time on as the first one."""
        lo = next((one.lo for one in self.common if one.migration_id == migration_id), None)
        return self.start is not None and lo == self.start.micros - 1 > BEGINNING

    def joins(self, earlier: int, later: int) -> bool:
        """Whether nothing that was not read can lie between two covered migrations, one next to the other."""
        lo = next((one.lo for one in self.common if one.migration_id == later), None)
        return (earlier, later) in self.followed and (lo == BEGINNING or self.starts_at_a_time(later))

    def advanced(self, pages: Iterable[Fetched]) -> Coverage:
        """The coverage after more was read; neither coverage nor settled parts ever shrink."""
        pages = list(pages)
        common = merged([*self.common, *(one.read for one in pages)])
        unchanged = self._as_far(common)
        last = {one.read.migration_id: one.following for one in pages if one.exhausted}
        followed = {one: following.migration_id for one, following in last.items() if following is not None}
        kept = {one: later for one, later in self.followed if one in unchanged}
        after = replace(
            self,
            common=common,
            settled=merged([*self.settled, *(one.read._replace(hi=one.settled) for one in pages)]),
            ended=self.ended & unchanged | last.keys(),
            followed=tuple(sorted((kept | followed).items())),
            begins=tuple(sorted({*self.begins, *(one.begins for one in pages if one.begins is not None)})),
        )
        begin = after.begin
        return replace(after, begins=(self.begins or after.begins) if begin is None else (begin,))

    def without(self, intervals: Iterable[Interval]) -> Coverage:
        """The coverage after some intervals were removed."""
        gone = merged(intervals)
        common = beyond(self.common, gone)
        unchanged = self._as_far(common)
        return replace(
            self,
            common=common,
            settled=beyond(self.settled, gone),
            ended=self.ended & unchanged,
            followed=tuple(pair for pair in self.followed if pair[0] in unchanged),
            changes=self.changes + bool(intersection(gone, self.settled)),
        )

    def _as_far(self, common: Iterable[Interval]) -> frozenset[int]:
        """The migrations that other intervals cover exactly as far as this coverage does."""
        ends, before = ({one.migration_id: one.hi for one in parts} for parts in (common, self.common))
        return frozenset(one for one, hi in before.items() if ends.get(one) == hi)


def holes_of(coverage: Coverage, window: Window) -> tuple[Interval, ...]:
    """The parts of a window that the store lacks; an open side of a window asks for nothing beyond the stored range.

    Nor does a migration that was read up to the next one have a gap after its end, if that is covered from its start:
    otherwise something between them was never asked for, or had been pruned before it was read.
    """
    holes: list[Interval] = []
    covered, begin, ids = coverage.common, coverage.begin, coverage.migrations
    joined = {one for one, later in pairwise(ids) if coverage.joins(one, later)}
    for one, later in pairwise(ids):
        if one not in joined and later > one + 1 and wanted_in(window, one + 1) is not None:
            holes.append(Interval(one + 1, BEGINNING, CLOSED))
    start = coverage.start
    if start is not None and window.start is not None and window.start < (start.migration_id, EARLIEST):
        holes.append(Interval(max(window.start.migration_id, 0), BEGINNING, CLOSED))
    named_late = window.names_start and begin is not None and begin.late is not None
    if named_late and begin is not None and window.start is not None and window.start < (begin.migration_id, EARLIEST):
        holes.append(Interval(begin.migration_id, BEGINNING, begin.lo))
    for migration_id in ids:
        requested = wanted_in(window, migration_id)
        if requested is None:
            continue
        inside = [interval for interval in covered if interval.migration_id == migration_id]
        unknown = begin is not None and begin.proven is None
        first = migration_id == ids[0] or coverage.starts_at_a_time(migration_id)
        open_start = first and (unknown or (requested.lo == BEGINNING and not window.names_start))
        lo = max(requested.lo, inside[0].lo) if open_start else requested.lo
        hi = requested.hi
        # As far as the later ones were read: a sync had an end, and a window without one asks for no more than that.
        stored = max(one.hi for one in covered if one.migration_id >= migration_id)
        as_far = not window.has_end and inside[-1].hi == stored
        if migration_id in joined or as_far if migration_id < ids[-1] else hi == CLOSED:
            hi = max(min(hi, inside[-1].hi), lo)  # the store ends here, and need not reach further
        if lo < hi:
            holes += missing(Interval(migration_id, lo, hi), covered)
    if not ids and (window.start or window.end or window.since is not None or window.until is not None):
        holes.append(Interval(0, BEGINNING, CLOSED))
    for cursor in (window.start, window.end):
        if ids and cursor is not None and cursor.migration_id > ids[-1]:
            holes.append(Interval(cursor.migration_id, BEGINNING, CLOSED))
    return merged(holes)


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
