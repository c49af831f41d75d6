"""When things happen on a simulated ledger: its beginning, its rounds' length, its fees' end, and people's hours."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.timestamps import DAY, HOUR

BEGIN: Final = timestamps.parse("2025-03-03T09:00:00Z")

#: The number of updates per mining round; about a third of these are the members' own work on the round.
UPDATES_PER_ROUND: Final = 48
# Up to a number of days, the rounds per day; a network has 144.
_ROUNDS: Final = ((3, 144), (10, 24))
_FEWEST: Final = 4
# In hundredths, since several synchronizers can share a record time.
_UPDATES_PER_STEP: Final = 112

#: Of a coupon of the second version, as on networks.
_LONGEST_LIFE: Final = 36 * HOUR

# A Monday at midnight, so that a week of the simulated ledger is a week of the calendar.
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
        end: when the history that is made at the start ends.
        rewards: which version app rewards have: "markers", "traffic", or "switch": by vote from one to the other.
        dry_runs: from when on dry runs are put to the vote, where rewards are switched.
        traffic_rewards: from when on the second version is put to the vote.
        coupon_life: how long coupons of the second version can be claimed.
    """

    begin: int
    mean_gap: int
    tick: int
    fees_end: int
    step: int
    seasonal: bool
    end: int
    rewards: str
    dry_runs: int
    traffic_rewards: int
    coupon_life: int

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


def updates_of_days(days: int, rounds_per_day: int | None = None) -> int:
    """The number of updates of a history of a number of days."""
    return days * (rounds_per_day or _rounds_of(days)) * UPDATES_PER_ROUND


def calendar_of(
    updates: int, *, days: int | None = None, rounds_per_day: int | None = None, reward_version: str = "markers"
) -> Calendar:
    """The times of a ledger with a number of updates at the start, spread over `days` if given."""
    tick = DAY // (rounds_per_day or _rounds_of(days or 0))
    begin = BEGIN if days is None else _MONDAY
    span = max(1, updates * tick // UPDATES_PER_ROUND if days is None else days * DAY)
    return Calendar(
        begin=begin,
        mean_gap=max(1, span * _UPDATES_PER_STEP // (100 * max(updates, 1))),
        tick=tick,
        # The fees of a round last until it closes, so a short history would see nothing else.
        fees_end=begin + (span // 3 if span >= 6 * tick else 0),
        step=max(span // 2, 1),
        seasonal=days is not None,
        end=begin + span,
        rewards=reward_version,
        dry_runs=begin + span // 5,
        traffic_rewards=begin + 2 * span // 5,
        coupon_life=min(_LONGEST_LIFE, max(3 * tick, span // 8)),
    )


def _rounds_of(days: int) -> int:
    """The default number of mining rounds per day: a network's 144, and fewer in a history of more than three days."""
    return next((rounds for most, rounds in _ROUNDS if days <= most), _FEWEST)
