"""Positions in a history: `Cursor`, `PageIndex` (those of a page), `Window` (the wanted part); all readers use them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final, NamedTuple

from ledgerframes.arguments import duration, pair
from ledgerframes.errors import InputError
from ledgerframes.timestamps import EARLIEST, EPOCH, LATEST, MICROSECOND, format_timestamp, to_micros

When = str | date | datetime
#: A bare time applies to every migration; a pair (migration id, time) is one cursor; "begin" is the first update.
Bound = When | tuple[int, When]
#: A duration: `"1h"`, `"90s"`, `"1 day"`, a timedelta, or a number of seconds.
Duration = str | timedelta | float

# The contract's migration ids are signed 64-bit integers.
_LOWEST: Final = -(2**63)


# Integers, because times do not sort as text: `…00.137Z` sorts before `…00Z`.
class Cursor(NamedTuple):
    """A position in the history: migration id, then record time in microseconds; compared as integers."""

    migration_id: int
    micros: int

    def __str__(self) -> str:
        return f"(migration {self.migration_id}, {format_timestamp(self.micros)})"


@dataclass(frozen=True)
class PageIndex:
    """The cursors and update ids of a page's items, in the server's order.

    Attributes:
        cursors: of every item.
        update_ids: of every item.
        rowless: the ids of items without a row in the table by whose ids a store compares: reassignments, if it has
            verdicts.
    """

    cursors: list[Cursor]
    update_ids: list[str]
    rowless: frozenset[str] = frozenset()


def before(cursor: Cursor) -> Cursor | None:
    """The cursor directly before another one; None means the beginning of the ledger."""
    if cursor.micros > EARLIEST:
        return Cursor(cursor.migration_id, cursor.micros - 1)
    # Servers return items strictly after a cursor, and any higher migration id counts as later.
    return Cursor(cursor.migration_id - 1, LATEST) if cursor.migration_id > _LOWEST else None


def shown(cursor: Cursor | None) -> str:
    """A cursor in words."""
    return "ledger begin" if cursor is None else str(cursor)


_BEGIN: Final = Cursor(_LOWEST, EARLIEST)


@dataclass(frozen=True)
class Window:
    """The wanted part: from `start` (or `since` in every migration), inclusive, to `end` (or `until`), exclusive."""

    start: Cursor | None = None
    end: Cursor | None = None
    since: int | None = None
    until: int | None = None

    def nearest(self, cursor: Cursor) -> Cursor | None:
        """The first cursor inside the window at or after `cursor`, or None past its end."""
        if self.start is not None and cursor < self.start:
            cursor = self.start
        # Before `since` is checked: past `until` the next migration begins, and there `since` applies again.
        if self.until is not None and cursor.micros >= self.until:
            cursor = Cursor(cursor.migration_id + 1, EARLIEST)
        if self.since is not None and cursor.micros < self.since:
            cursor = Cursor(cursor.migration_id, self.since)
        return None if self.end is not None and cursor >= self.end else cursor

    def ends_before(self, cursor: Cursor) -> bool:
        """Whether an item at a cursor shows that the history continues past the window's end."""
        if self.end is not None and cursor >= self.end:
            return True
        return self.until is not None and cursor.micros >= self.until

    def share_before(self, cursor: Cursor, *, now: int) -> float | None:
        """The share of the window's time before a cursor, from 0 to 1; None if its start is unknown.

        Args:
            cursor: the last place read.
            now: microseconds at which a window without an end counts as ended.
        """
        low = self.since if self.start is None else self.start.micros
        high = self.until if self.end is None else self.end.micros
        several = self.start is not None and self.end is not None and self.start.migration_id != self.end.migration_id
        if low is None or low <= EARLIEST or several:
            return None
        span = min(now if high is None else high, now) - low
        return min(max((cursor.micros - low) / span, 0.0), 1.0) if span > 0 else None

    @property
    def has_end(self) -> bool:
        """Whether it has an end."""
        return self.end is not None or self.until is not None

    @property
    def whole(self) -> bool:
        """Whether it is the whole history."""
        return self.start is None and self.end is None and self.since is None and self.until is None

    @property
    def names_start(self) -> bool:
        """Whether it has an explicit start, `"begin"` included; otherwise it begins with the first available item."""
        return self.start is not None or self.since is not None

    def wants_before(self, cursor: Cursor) -> bool:
        """Whether it reaches back before a cursor: if the first item shown is there, some may be missing."""
        if self.start is not None:
            return self.start < cursor or self.start == _BEGIN
        return self.since is None or self.since < cursor.micros

    def begins_after(self, newest: Cursor) -> bool:
        """Whether it begins later than right after the newest item there is."""
        following = Cursor(newest.migration_id, newest.micros + 1)
        return (self.since or 0) > following.micros or (self.start or following) > following

    def in_words(self, low: str = "", high: str = "") -> str:
        """The window in words; `low` and `high` replace its own bounds if they are known better."""
        own = {
            name: place if isinstance(place, str) else f"{place[1]} of migration {place[0]}"
            for name, place in self.bounds().items()
        }
        return f"{low or own.get('start', 'the first update there is')} to {own.get('end') or high or 'the newest'}"

    def bounds(self) -> dict[str, Any]:
        """Its explicit bounds, for provenance: each a time, or a list of a migration id and a time."""
        bounds: dict[str, Any] = {}
        for name, cursor, micros in (("start", self.start, self.since), ("end", self.end, self.until)):
            if micros is not None:
                bounds[name] = format_timestamp(micros)
            elif cursor is not None and cursor != _BEGIN:
                bounds[name] = [cursor.migration_id, format_timestamp(cursor.micros)]
        return bounds

    def __str__(self) -> str:
        return self.in_words("ledger begin" if self.start == _BEGIN else "")


def wanted_window(
    start: Bound | None = None, end: Bound | None = None, last: Duration | None = None, *, now: int = 0
) -> Window:
    """Read a caller's `start` and `end`, or `last`: a duration back from the end of the data.

    Args:
        start: inclusive; `"begin"` is ledger begin.
        end: exclusive.
        last: instead of `start`.
        now: microseconds that `last` counts from: the newest record time, never this machine's clock.

    Raises:
        InputError: a bound is neither a time nor a pair, `last` is not a duration, or they contradict each other.
    """
    if last is not None and start is not None:
        raise InputError(f"last={last!r} and start={start!r} both say where to begin; give one of them")
    since = None if last is None else max(now - duration(last, "last", bare=False), EARLIEST)
    from_begin = isinstance(start, str) and start == "begin"
    low = since if last is not None else _BEGIN if from_begin else bound(start, "start", up=True)
    high = bound(end, "end", up=True)
    if low is not None and high is not None and type(low) is type(high) and low >= high:  # type: ignore[operator]
        if since is None:
            raise InputError(f"end={end!r} is not after start={start!r}; a range includes start and excludes end")
        begins = EPOCH + since * MICROSECOND
        raise InputError(f"last={last!r} begins at {begins:%Y-%m-%dT%H:%M:%SZ}; end={end!r} is not after that")
    return Window(
        start=low if isinstance(low, Cursor) else None,
        end=high if isinstance(high, Cursor) else None,
        since=low if isinstance(low, int) else None,
        until=high if isinstance(high, int) else None,
    )


def bound(value: Any, name: str, *, up: bool = False) -> Cursor | int | None:
    """Read one bound: a cursor, the microseconds of a bare time, or None.

    Args:
        value: the bound.
        name: the argument's name, for the message.
        up: whether what is at the time lies behind the bound; see `to_micros`.

    Raises:
        InputError: it is neither a time nor a pair (migration id, time).
    """
    if value is None:
        return None
    if isinstance(value, Cursor):
        return value
    if isinstance(value, tuple | list):
        migration_id, when = pair(value, name)
        return Cursor(migration_id, to_micros(when, name, up=up))
    return to_micros(value, name, up=up)


def last_before(end: Bound | None) -> Cursor | int | None:
    """The last place of a range that ends there, or its microseconds in every migration; None if it is open."""
    place = bound(end, "end", up=True)
    if isinstance(place, Cursor):
        return Cursor(place.migration_id, place.micros - 1)
    return None if place is None else place - 1
