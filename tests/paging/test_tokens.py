"""Following opaque page tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.errors import PagingError
from ledgerframes.paging.tokens import follow_tokens


@given(pages=st.lists(st.lists(st.integers(), max_size=4), min_size=1, max_size=9), last=st.sampled_from([None, ""]))
def test_every_page_is_read_whatever_its_length_and_every_item_comes_once(pages, last):
    asked = []

    def fetch(token):
        asked.append(token)
        return 0 if token is None else int(token)

    def split(page):
        return pages[page], str(page + 1) if page + 1 < len(pages) else last

    assert list(follow_tokens(fetch, split, "GET /x")) == list(dict.fromkeys(item for page in pages for item in page))
    assert len(asked) == len(pages)


def test_a_repeated_token_is_refused():
    with pytest.raises(PagingError, match="a page token again"):
        list(follow_tokens(lambda token: token, lambda _page: ([1], "a"), "GET /x"))


def test_empty_pages_without_end_are_refused_and_a_full_one_between_them_starts_anew():
    pages = iter([*([[]] * 79), [1], *([[]] * 5_000)])
    tokens = iter(range(10_000))
    found = follow_tokens(lambda _token: next(pages), lambda page: (page, next(tokens)), "GET /x")
    assert next(found) == 1
    with pytest.raises(PagingError, match="81 pages in a row show nothing new"):
        next(found)
