"""What is as large as allowed passes whole, a byte more does not."""

import pytest

from ledgerframes.decoding.lenient import shorten
from ledgerframes.transport.classify import PREVIEW, page_words, preview
from ledgerframes.transport.http import TooLargeError, collect
from ledgerframes.transport.masking import SHORTEST, SHORTEST_PART, Mask
from ledgerframes.transport.public_addresses import why_refused
from ledgerframes.transport.request import Received


@pytest.mark.parametrize("pieces", [[b"x" * 10], [b"x" * 4, b"x" * 6]], ids=["at once", "in pieces"])
def test_a_body_of_just_the_limit_is_read(pieces):
    assert collect(iter(pieces), encoding="", limit=10, announced="10") == b"x" * 10
    for body, announced in (([*pieces, b"x"], ""), (pieces, "11")):
        with pytest.raises(TooLargeError):
            collect(iter(body), encoding="", limit=10, announced=announced)


def test_text_is_cut_where_it_is_longer_than_what_is_shown():
    cut = {}
    for more in (0, 1):
        body = b"x" * (PREVIEW + more)
        shown = (
            preview(Received(200, {}, body), str),
            page_words(Received(200, {}, body), str),
            shorten(body, PREVIEW),
        )
        cut[more] = ["…" in words for words in shown]
        assert all("x" * PREVIEW in words for words in shown)
        assert not any("x" * (PREVIEW + 1) in words for words in shown)
    assert cut == {0: [False] * 3, 1: [True] * 3}


def test_a_url_of_just_the_longest_is_fetched():
    base = "https://scan.example/"
    urls = [base + "x" * (8_000 + more - len(base)) for more in (0, 1)]
    assert [why_refused(url, ("https://scan.example",)) is None for url in urls] == [True, False]


@pytest.mark.parametrize(("token", "shown"), [("a" * SHORTEST, "***"), ("a" * (SHORTEST - 1), "aaa")])
def test_the_shortest_token_and_the_shortest_part_are_masked(token, shown):
    mask = Mask()
    mask.learn(token)
    assert mask.text(token) == shown
    mask.learn(f"{'b' * SHORTEST_PART}.{'c' * (SHORTEST_PART - 1)}.")
    assert mask.text(f"{'b' * SHORTEST_PART} {'c' * (SHORTEST_PART - 1)}") == f"*** {'c' * (SHORTEST_PART - 1)}"
