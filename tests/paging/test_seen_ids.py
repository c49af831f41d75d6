"""An update id that a server shows at two cursors is refused, in pages of any size and after any number of updates."""

from __future__ import annotations

import random

import pytest

from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.seen_ids import SeenIds


def numbered(numbers):
    return [f"u{number}" for number in numbers], [Cursor(0, number) for number in numbers]


@pytest.mark.parametrize("size", [1, 50, 1_000, 20_000])
def test_an_id_is_found_again_however_far_back(size):
    seen, count = SeenIds(), 20_000
    for start in range(0, count, size):
        seen.check(*numbered(range(start, start + size)))
    rng = random.Random(size)
    for number in [0, count - 1, *(rng.randrange(count) for _ in range(50))]:
        with pytest.raises(PagingError, match=f"update u{number} is shown at"):
            seen.check([f"new{number}", f"u{number}"], [Cursor(1, number), Cursor(1, number)])


@pytest.mark.parametrize("size", [1, 50, 1_000, 20_000])
def test_an_update_may_be_read_again_at_its_cursor(size):
    seen = SeenIds()
    for start in range(0, 20_000, size):
        numbers = range(max(0, start - 3), start + size)
        seen.check(*numbered(numbers))
    seen.check(*numbered([0, 19_999, 10_000]))
    seen.check(*numbered(range(20_000)))


def test_an_id_twice_in_one_page_is_refused():
    with pytest.raises(PagingError, match="update u1 is shown at"):
        SeenIds().check(*numbered([0, 1, 2, 1]))


def test_a_refused_page_is_not_added():
    seen = SeenIds()
    with pytest.raises(PagingError):
        seen.check(*numbered([5, 5]))
    seen.check(["u5"], [Cursor(1, 5)])
