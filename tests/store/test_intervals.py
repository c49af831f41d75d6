"""Intervals of coverage: what a window wants and is not covered, against sets of single microseconds."""

import random

import pytest

from ledgerframes.paging.cursor import Cursor, Window
from ledgerframes.store.coverage import Interval, beyond, intersection, merged, missing_windows, share_of
from ledgerframes.timestamps import EARLIEST

#: A small ledger: migrations of a few microseconds, of which a store knows some in the middle.
TIMES, KNOWN, ALL = range(1, 13), (1, 2, 4), range(6)


def places(intervals):
    """The cursors in some half-open intervals."""
    return {(one.migration_id, micros) for one in intervals for micros in TIMES if one.lo < micros <= one.hi}


def wanted_by(window):
    """The cursors in a window, each looked at by itself."""
    start, end = window.start or Cursor(0, EARLIEST), window.end or Cursor(len(ALL), EARLIEST)
    since, until = window.since or 0, window.until or len(TIMES) + 1
    return {
        (one, micros) for one in ALL for micros in TIMES if start <= (one, micros) < end and since <= micros < until
    }


def drawn(rng):
    ends = (sorted(rng.sample(range(13), 2)) for _ in range(rng.randrange(4)))
    return [Interval(rng.choice(KNOWN), lo, hi) for lo, hi in ends]


@pytest.mark.parametrize("seed", range(4))
def test_intervals_and_windows_are_sets_of_microseconds(seed):
    rng = random.Random(seed)
    for _ in range(400):
        one, other = drawn(rng), drawn(rng)
        ends = [Cursor(rng.choice(ALL), rng.choice(TIMES)) if rng.random() < 0.6 else None for _ in range(2)]
        window = Window(*ends, *(rng.choice(TIMES) if rng.random() < 0.4 else None for _ in range(2)))
        lacking = [wanted_by(part) for part in missing_windows(window, one)]

        assert set().union(*lacking) == wanted_by(window) - places(one), (window, one)
        assert sum(map(len, lacking)) == len(set().union(*lacking)), (window, one)
        assert places(merged(one)) == places(one)
        assert places(intersection(one, other)) == places(one) & places(other), (one, other)
        assert places(beyond(one, other)) == places(one) - places(other), (one, other)
        assert all(part.lo < part.hi for part in (*intersection(one, other), *beyond(one, other)))


def test_a_share_is_of_the_time_that_is_wanted():
    wanted, read = [Interval(0, 0, 8), Interval(1, 4, 8)], [Interval(0, 0, 6)]
    assert [share_of(wanted, read, 0, 8), share_of(wanted, wanted, 0, 8), share_of([], read, 0, 8)] == [0.5, 1.0, None]
