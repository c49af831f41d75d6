"""Where a long stretch ends, found by a few looks: never before its last item; and until when a migration may grow."""

from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import OVERLAP, Proofs
from ledgerframes.store.coverage import Interval
from ledgerframes.store.sync.probing import Prober
from ledgerframes.timestamps import LATEST

PAGE = 1_000_000  # microseconds that a page spans


def looked_for(gap, last):
    """Where a stretch seems to end whose last item is at a time, and where its items were asked for."""
    asked = []

    def time_after(migration_id, micros):
        asked.append((migration_id, micros))
        return None if micros >= last else min(micros + PAGE, last)

    prober = Prober(None, Proofs(0), now=0, newest=0)
    prober.time_after = time_after
    return prober.end_of(gap, PAGE), asked


@given(pages=st.floats(1, 1e9), room=st.one_of(st.just(None), st.floats(0, 1)))
def test_the_end_is_found_close_and_never_too_early(pages, room):
    last = int(pages * PAGE)
    gap = Interval(3, 0, LATEST if room is None else last + 1 + int(room * last))
    top, asked = looked_for(gap, last)
    assert last <= top <= gap.hi
    assert top - last <= last // 8 + PAGE
    assert {migration_id for migration_id, _ in asked} <= {3}
    assert len(asked) <= 12 + 3 * 6


def test_a_near_end_takes_few_looks():
    _, asked = looked_for(Interval(0, 0, LATEST), 7 * PAGE)
    assert len(asked) <= 3 * 6


def test_each_migration_that_is_skipped_may_overlap():
    assert [Proofs(0).closes(old, Cursor(3, 0)) for old in (2, 1, 0)] == [OVERLAP, 2 * OVERLAP, 3 * OVERLAP]
