"""Answers made to use up memory or time are given up early, to the byte; damaged gzip is refused by either library."""

from __future__ import annotations

import functools
import gzip
import random
import sys
import time
import tracemalloc
import zlib

import pyarrow as pa
import pytest
from hostile_server import Reply

from ledgerframes.decoding.lenient import beginning
from ledgerframes.errors import NoAnswerError, StatusError
from ledgerframes.transport import Endpoint, http
from ledgerframes.transport.classify import PREVIEW, page_words, preview
from ledgerframes.transport.http import MOST_VALUES, collect
from ledgerframes.transport.no_answer import UnusableAnswer
from ledgerframes.transport.public_addresses import why_refused
from ledgerframes.transport.request import Received
from ledgerframes.transport.transport import SHORTEST, SHORTEST_PART, Mask

READ = Endpoint(interface="scan", method="GET", path="/v0/thing")
LIMIT = 2_000_000
CHUNKED = b"HTTP/1.1 %d OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def raw(head: bytes, endless: bytes, **more: object) -> Reply:
    return Reply(raw=head, endless=endless, **more)  # type: ignore[arg-type]


def encoded(name: str, body: bytes) -> Reply:
    return Reply(body=body, headers=(("Content-Encoding", name),))


@functools.cache
def zeros() -> bytes:
    """A gzip bomb; made in a test, since every process of a run would wait for a constant."""
    return gzip.compress(b"\0" * 30_000_000, 9)


EMPTY_MEMBER = gzip.compress(b"")
TOO_LARGE = {
    "a gzip bomb": lambda: encoded("gzip", zeros()),
    "a gzip bomb of many members": lambda: encoded("gzip", gzip.compress(b"\0" * 1_000_000) * 100),
    "members of nothing without end": lambda: raw(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", EMPTY_MEMBER * 3_000
    ),
    "chunks without end": lambda: raw(CHUNKED % 200, b"400\r\n" + b"x" * 1024 + b"\r\n"),
    "a body until it closes": lambda: raw(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000),
    "a length beyond Python's numbers": lambda: Reply(
        raw=b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 19 + b"\r\n\r\n", endless=b"x" * 10_000
    ),
}
UNASKED = {
    "deflate": lambda: encoded("deflate", zlib.compress(b"\0" * 30_000_000, 9)),
    "br": lambda: encoded("br", pa.compress(b"\0" * 30_000_000, codec="brotli", asbytes=True)),
    "zstd": lambda: encoded("zstd", pa.compress(b"\0" * 30_000_000, codec="zstd", asbytes=True)),
    "identity and gzip": lambda: encoded("identity, gzip", zeros()),
    "a name that nobody knows": lambda: encoded("x" * 60_000, zeros()),
}
ENDLESS = {
    "header lines": raw(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 1_000 + b"\r\n"),
    "one header line": raw(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 10_000),
    "a status line": raw(b"HTTP/1.1 200 ", b"x" * 10_000),
    "a chunk's size": raw(CHUNKED % 200, b"0" * 10_000),
    "trailers": raw(CHUNKED % 200 + b"0\r\n", b"X-More: " + b"x" * 1_000 + b"\r\n"),
    "interim answers": raw(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50),
}


@pytest.fixture
def sized(transport):
    """Send once; the most memory that took, in bytes, and the seconds."""

    def run(
        url: str, error: type[Exception], match: str, *, limit: int = LIMIT, deadline: float = 300.0, attempts: int = 1
    ):
        sender = transport(scan_url=url, max_answer_bytes=limit, attempts=attempts, deadline=deadline)
        tracemalloc.start()
        began = time.monotonic()
        try:
            with pytest.raises(error, match=match):
                sender.send(READ.request(), read=bytes)
            return tracemalloc.get_traced_memory()[1], time.monotonic() - began
        finally:
            tracemalloc.stop()

    return run


@pytest.mark.parametrize("reply", TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_grows_beyond_the_limit_is_given_up_in_a_few_times_its_memory_and_not_asked_again(reply, serve, sized):
    server, limit = serve(reply()), 1_000_000
    peak, _ = sized(server.url, NoAnswerError, f"larger than max_answer_bytes={limit}", limit=limit, attempts=8)
    assert peak < 4 * limit
    assert len(server.heard) == 1


def test_small_chunks_and_a_bomb_in_an_error_take_no_more_memory(serve, sized):
    reply = raw(CHUNKED % 200, b"2\r\nxx\r\n" * 2_000)
    peak, _ = sized(serve(reply).url, NoAnswerError, "larger than", limit=50_000)
    assert peak < 500_000
    reply = Reply(status=500, body=zeros(), headers=(("Content-Encoding", "gzip"),))
    peak, _ = sized(serve(reply).url, StatusError, "answered 500")
    assert peak < LIMIT


@pytest.mark.parametrize("reply", UNASKED.values(), ids=UNASKED)
def test_a_compression_that_nothing_here_reads_is_said_at_once(reply, serve, sized):
    bomb = reply()
    server = serve(bomb)
    said = f"a compression that was not requested and cannot be read here: '{bomb.headers[0][1][:40]}"
    peak, seconds = sized(server.url, NoAnswerError, said, attempts=8)
    assert peak < LIMIT
    assert seconds < 1
    assert len(server.heard) == 1


@pytest.mark.parametrize("reply", ENDLESS.values(), ids=ENDLESS)
def test_a_head_without_end_ends_with_an_error(reply, serve, sized):
    peak, seconds = sized(serve(reply).url, NoAnswerError, "got no answer", deadline=0.3)
    assert peak < 2 * LIMIT
    assert seconds < 15  # it would go on for ever


def test_an_answer_of_nothing_but_values_is_refused_before_it_is_read(serve, transport):
    server = serve(encoded("gzip", gzip.compress(b"[" + b"0," * (MOST_VALUES + 1) + b"0]", 1)))
    with pytest.raises(NoAnswerError, match="more than 20,000,000 values"):
        transport(scan_url=server.url).send(READ.request(), read=lambda _body: pytest.fail("it was read"))
    assert len(server.heard) == 1


PLAIN = random.Random(7).randbytes(5_000)
PACKED = gzip.compress(PLAIN)
DAMAGED = {
    **{f"{missing} bytes missing": PACKED[:-missing] for missing in (1, 4, 8, 9, 4_000)},
    "another check sum": PACKED[:-8] + b"?" + PACKED[-7:],
    "another length": PACKED[:-1] + b"?",
    "another byte within": PACKED[:2_000] + bytes([PACKED[2_000] ^ 1]) + PACKED[2_001:],
    "a second member cut": PACKED + PACKED[:40],
    "more behind it": PACKED + b"more",
    "no gzip": PLAIN,
}


@pytest.fixture(params=["zlib", "isal.isal_zlib"])
def read(request, monkeypatch):
    """Reads a body by one of the libraries."""
    library = pytest.importorskip(request.param)
    monkeypatch.setattr(http, "unzipping", lambda: library)
    return lambda *pieces, limit=10**9: http.collect(pieces, encoding="gzip", limit=limit)


@pytest.mark.parametrize("body", DAMAGED.values(), ids=DAMAGED)
def test_both_libraries_refuse_what_is_damaged(body, read):
    with pytest.raises(UnusableAnswer, match=r"is not gzip|is truncated"):
        read(body[:100], body[100:])


def test_both_libraries_read_members_in_pieces_and_give_up_a_bomb(read):
    assert read(*(bytes([byte]) for byte in PACKED * 2)) == PLAIN * 2
    with pytest.raises(UnusableAnswer, match="larger than"):
        read(gzip.compress(b"\0" * 10_000_000, 9), limit=2_000_000)


def test_isal_is_taken_if_it_is_there_and_zlib_if_not(monkeypatch):
    isal_zlib = pytest.importorskip("isal.isal_zlib")
    try:
        http.unzipping.cache_clear()
        assert http.unzipping() is isal_zlib

        http.unzipping.cache_clear()
        monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
        assert http.unzipping() is zlib
    finally:
        http.unzipping.cache_clear()


@pytest.mark.parametrize("pieces", [[b"x" * 10], [b"x" * 4, b"x" * 6]], ids=["at once", "in pieces"])
def test_a_body_of_just_the_limit_is_read(pieces):
    assert collect(iter(pieces), encoding="", limit=10, announced="10") == b"x" * 10
    for body, announced in (([*pieces, b"x"], ""), (pieces, "11")):
        with pytest.raises(UnusableAnswer, match="larger than"):
            collect(iter(body), encoding="", limit=10, announced=announced)


def test_text_is_cut_where_it_is_longer_than_what_is_shown():
    cut = {}
    for more in (0, 1):
        body = b"x" * (PREVIEW + more)
        shown = (
            preview(Received(200, {}, body), str),
            page_words(Received(200, {}, body), str),
            beginning(body, PREVIEW),
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
