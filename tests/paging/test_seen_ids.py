"""An update id that a server shows at two cursors is refused, in pages of any size and after any number of updates."""

import random

import pytest

from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.seen_ids import SeenIds

COUNT = 20_000


def numbered(numbers):
    return [f"u{number}" for number in numbers], [Cursor(0, number) for number in numbers]


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("size", [50, 20_000, 1, 1_000])
def test_an_id_is_found_again_however_far_back_and_may_be_read_again_at_its_cursor(size):
    seen, rng = SeenIds(), random.Random(size)
    for start in range(0, COUNT, size):
        seen.check(*numbered(range(max(0, start - 3), start + size)))
    for number in [0, COUNT - 1, *(rng.randrange(COUNT) for _ in range(50))]:
        with pytest.raises(PagingError, match=f"update u{number} is shown at"):
            seen.check([f"new{number}", f"u{number}"], [Cursor(1, number), Cursor(1, number)])
    seen.check(*numbered([0, COUNT - 1, 10_000]))
    seen.check(*numbered(range(COUNT)))


def test_an_id_twice_in_one_page_is_refused_and_the_page_not_added():
    seen = SeenIds()
    with pytest.raises(PagingError, match="update u5 is shown at"):
        seen.check(*numbered([4, 5, 5]))
    seen.check(["u4", "u5"], [Cursor(1, 4), Cursor(1, 5)])
