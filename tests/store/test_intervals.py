"""Intervals of coverage: what a window wants and is not covered, against sets of single microseconds."""

import random

import pytest

import ledgerframes as lf
from ledgerframes.paging.cursor import Cursor, Window
from ledgerframes.store.coverage import Interval, beyond, intersection, merged, missing_windows, share_of
from ledgerframes.timestamps import EARLIEST

#: A small ledger: migrations of a few microseconds, of which a store knows some in the middle.
TIMES, KNOWN, ALL = range(1, 13), (1, 2, 4), range(6)


def places(intervals):
    """The cursors in some half-open intervals."""
    return {(one.migration_id, micros) for one in intervals for micros in TIMES if one.lo < micros <= one.hi}


def asked_for(window):
    """The cursors in a window, each asked about by itself."""
    start, end = window.start or Cursor(0, EARLIEST), window.end or Cursor(len(ALL), EARLIEST)
    return {
        (migration_id, micros)
        for migration_id in ALL
        for micros in TIMES
        if start <= (migration_id, micros) < end
        and (window.since is None or micros >= window.since)
        and (window.until is None or micros < window.until)
    }


def drawn(rng, most=4):
    ends = (sorted(rng.sample(range(13), 2)) for _ in range(rng.randrange(most)))
    return [Interval(rng.choice(KNOWN), lo, hi) for lo, hi in ends]


def window_drawn(rng):
    pairs = [Cursor(rng.choice(ALL), rng.choice(TIMES)) if rng.random() < 0.6 else None for _ in range(2)]
    times = [rng.choice(TIMES) if rng.random() < 0.4 else None for _ in range(2)]
    return Window(*pairs, *times)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_missing_and_what_is_covered_are_what_a_window_wants(seed):
    rng = random.Random(seed)
    for _ in range(400):
        window, covered = window_drawn(rng), drawn(rng)

        lacking = [asked_for(part) for part in missing_windows(window, covered)]

        assert set().union(*lacking) == asked_for(window) - places(covered), (window, covered)
        assert sum(map(len, lacking)) == len(set().union(*lacking)), (window, covered)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_are_sets_of_microseconds(seed):
    rng = random.Random(seed)
    for _ in range(400):
        one, other = drawn(rng), drawn(rng)

        assert places(merged(one)) == places(one)
        assert places(intersection(one, other)) == places(one) & places(other), (one, other)
        assert places(beyond(one, other)) == places(one) - places(other), (one, other)
        assert all(part.lo < part.hi for part in (*intersection(one, other), *beyond(one, other)))


def test_a_share_is_of_the_time_that_is_wanted():
    wanted, read = [Interval(0, 0, 8), Interval(1, 4, 8)], [Interval(0, 0, 6)]

    assert share_of(wanted, read, 0, 8) == 0.5
    assert share_of(wanted, wanted, 0, 8) == 1.0
    assert share_of([], read, 0, 8) is None


def test_a_plan_counts_the_migrations_before_a_lake_and_no_more_than_is_wanted(tmp_path):
    with lf.sandbox(updates=120) as net:
        times = lf.load_updates(net).groupby("migration_id").record_time
        late, early = lf.open_store(tmp_path / "late"), lf.open_store(tmp_path / "early")
        late.sync(net, start=(1, times.min()[1]), progress=False)
        early.sync(net, end=(1, times.min()[1]), progress=False)

        assert late.plan(net).rows == 40
        assert early.plan(net, start=(2, times.min()[2])).rows == 40
