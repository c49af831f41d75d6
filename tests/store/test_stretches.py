"""Where a long stretch ends, found by a few looks: never before its last item, and soon close to it."""

from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.store.coverage import Interval
from ledgerframes.store.sync.shards import find_top
from ledgerframes.timestamps import LATEST

PAGE = 1_000_000  # microseconds that a page spans


def one_by_one(calls):
    return [call() for call in calls]


@given(
    pages=st.floats(1, 1e9),
    workers=st.integers(1, 32),
    room=st.one_of(st.just(None), st.floats(0, 1)),
)
def test_the_end_is_found_close_and_never_too_early(pages, workers, room):
    last = int(pages * PAGE)
    gap = Interval(3, 0, LATEST if room is None else last + 1 + int(room * last))
    asked = []

    def probe(migration_id, micros):
        asked.append(migration_id)
        return None if micros >= last else min(micros + PAGE, last)

    top = find_top(gap, probe, workers=workers, each=one_by_one, scale=PAGE)

    assert last <= top <= gap.hi
    assert top == gap.hi or workers == 1 or top - last <= last // 2 + 2 * PAGE
    assert set(asked) == {3}
    assert len(asked) <= 12 + 3 * 6


def test_a_near_end_takes_few_looks():
    asked = []

    def probe(_, micros):
        asked.append(micros)
        return None if micros >= 7 * PAGE else 7 * PAGE

    find_top(Interval(0, 0, LATEST), probe, workers=16, each=one_by_one, scale=PAGE)

    assert len(asked) <= 3 * 6
