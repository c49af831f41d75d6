"""When things happen on a made-up ledger: its beginning, its rounds' length, its fees' end, and people's hours."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.configuration import DAY, HOUR, YEAR

BEGIN: Final = timestamps.parse("2025-03-03T09:00:00Z")
MEAN_GAP: Final = 2 * timestamps.SECOND

# Shorter than the ten minutes of a real round, so that small ledgers have several.
TICK: Final = 150 * timestamps.SECOND

UPDATES_PER_DAY: Final = 160
_UPDATES_PER_ROUND: Final = 80
#: Where rounds come at a given rate: about a third of these are the members' own work on the round.
UPDATES_PER_TIMED_ROUND: Final = 48
# In hundredths, since several synchronizers can share a record time.
_UPDATES_PER_STEP: Final = 112
_TICKS: Final = tuple(minutes * 60 * timestamps.SECOND for minutes in (10, 30, 60, 180, 360, 720, 1_440))

#: Of a coupon of the second version, as on networks.
_LONGEST_LIFE: Final = 36 * HOUR

# A Monday at midnight, so that a week of the made-up ledger is a week of the calendar.
_MONDAY: Final = timestamps.parse("2025-03-03T00:00:00Z")
_HOURS: Final = (2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 9, 11, 13, 14, 12, 9, 7, 6, 5, 4, 3, 2)
_WEEK: Final = tuple(day * hour for day in (10, 11, 11, 12, 10, 4, 3) for hour in _HOURS)
_PASSED: Final = (0, *accumulate(_WEEK))
_WHOLE: Final = _PASSED[-1]


@dataclass(frozen=True, slots=True)
class Calendar:
    """The times of one ledger, in microseconds.

    Attributes:
        begin: when its history begins.
        mean_gap: between two record times, on average.
        tick: how long a round is the newest.
        fees_end: from when on new rounds charge nothing for transfers.
        step: how long after the first round less is issued.
        seasonal: whether people keep hours of the day and days of the week.
        rewards: which version app rewards have: "markers", "traffic", or "switch": by vote from one to the other.
        dry_runs: from when on dry runs are put to the vote, where rewards are switched.
        traffic_rewards: from when on the second version is put to the vote.
        coupon_life: how long coupons of the second version can be claimed.
        end: when the history that is made at the start ends, where rounds are timed; else 0.
    """

    begin: int = BEGIN
    mean_gap: int = MEAN_GAP
    tick: int = TICK
    fees_end: int = BEGIN
    step: int = YEAR // 2
    seasonal: bool = False
    end: int = 0
    rewards: str = "markers"
    dry_runs: int = 0
    traffic_rewards: int = 0
    coupon_life: int = 0

    @property
    def timed(self) -> bool:
        """Whether rounds come at a given rate, and what is due comes at its time instead of with the next update."""
        return self.end > 0

    def after(self, now: int, gap: int) -> int:
        """The instant that many microseconds of ordinary activity after another."""
        if not self.seasonal:
            return now + gap
        week, passed = divmod(now - _MONDAY, 7 * DAY)
        hour, rest = divmod(passed, HOUR)
        done = _PASSED[hour] * HOUR + _WEEK[hour] * rest
        weeks, done = divmod(done + gap * _WHOLE // len(_WEEK), _WHOLE * HOUR)
        hour = bisect_right(_PASSED, done // HOUR) - 1
        rest = (done - _PASSED[hour] * HOUR) // _WEEK[hour]
        # At least a microsecond later, whatever is rounded.
        return max(now + 1, _MONDAY + (week + weeks) * 7 * DAY + hour * HOUR + rest)


def calendar_of(
    updates: int, *, days: int | None = None, rounds_per_day: int | None = None, reward_version: str = "markers"
) -> Calendar:
    """The times of a ledger with so many updates at the start, spread over so many days if given."""
    calendar = _of_length(updates, days=days, rounds_per_day=rounds_per_day)
    if reward_version == "markers":
        return calendar
    untimed = updates * MEAN_GAP if days is None else days * DAY
    span = calendar.end - calendar.begin if calendar.timed else untimed
    return replace(
        calendar,
        rewards=reward_version,
        dry_runs=calendar.begin + span // 5,
        traffic_rewards=calendar.begin + 2 * span // 5,
        coupon_life=min(_LONGEST_LIFE, max(3 * calendar.tick, span // 8)),
    )


def _of_length(updates: int, *, days: int | None, rounds_per_day: int | None) -> Calendar:
    if rounds_per_day is not None:
        return _timed(updates, tick=DAY // rounds_per_day, days=days)
    if days is None:
        fees_end = BEGIN + updates * MEAN_GAP // 3
        # The fees of a round last until it closes, so a short history would see nothing else.
        return Calendar(fees_end=fees_end if fees_end - BEGIN >= 2 * TICK else BEGIN)
    gap = days * DAY * _UPDATES_PER_STEP // (100 * max(updates, 1))
    tick = next((tick for tick in _TICKS if tick >= _UPDATES_PER_ROUND * gap), _TICKS[-1])
    return Calendar(_MONDAY, gap, tick, _MONDAY + days * DAY // 3, days * DAY // 2, seasonal=True)


def updates_per_day(rounds_per_day: int | None) -> int:
    """How many updates a day of a history has that is asked for by days."""
    return UPDATES_PER_DAY if rounds_per_day is None else max(UPDATES_PER_DAY, rounds_per_day * UPDATES_PER_TIMED_ROUND)


def _timed(updates: int, *, tick: int, days: int | None) -> Calendar:
    """The times of a ledger whose rounds come at a given rate."""
    span = updates * tick // UPDATES_PER_TIMED_ROUND if days is None else days * DAY
    begin = BEGIN if days is None else _MONDAY
    gap = max(1, span * _UPDATES_PER_STEP // (100 * max(updates, 1)))
    fees_end = begin + (span // 3 if span >= 6 * tick else 0)
    return Calendar(begin, gap, tick, fees_end, max(span // 2, 1), seasonal=days is not None, end=begin + max(span, 1))
