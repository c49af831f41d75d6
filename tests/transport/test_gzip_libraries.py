"""isal and zlib give the same bytes and refuse the same damaged bodies; isal is taken if it is installed."""

from __future__ import annotations

import gzip
import random
import sys
import zlib
from itertools import pairwise

import pytest
from hostile_server import Reply

from ledgerframes.errors import NoAnswerError
from ledgerframes.transport import Endpoint, http

isal_zlib = pytest.importorskip("isal.isal_zlib")
READ = Endpoint(interface="scan", method="GET", path="/v0/thing")
PACK = {
    "gzip": gzip.compress,
    "two members": lambda plain, level: gzip.compress(plain, level) + gzip.compress(plain[:50]),
}


@pytest.fixture
def by(monkeypatch):
    """Read a body by one of the libraries; None if it is refused. Which fault it names may differ."""

    def read(library: object, pieces: list[bytes]) -> bytes | None:
        monkeypatch.setattr(http, "unzipping", lambda: library)
        try:
            return http.collect(pieces, encoding="gzip", limit=10**9)
        except http.DamagedError:
            return None

    return read


def damaged(packed: bytes, rng: random.Random) -> bytes:
    """The bytes as they are, cut, with flipped bits anywhere or in the check sum, or with more after them."""
    some, kind = bytearray(packed), rng.randrange(5)
    if kind == 1:
        del some[rng.randrange(len(some)) :]
    elif kind == 2:
        some[rng.randrange(len(some))] ^= 1 << rng.randrange(8)
    elif kind == 3:
        some[-rng.randrange(1, 9)] ^= 1 << rng.randrange(8)
    elif kind == 4:
        some += rng.randbytes(rng.randrange(1, 20))
    return bytes(some)


@pytest.mark.parametrize("packing", PACK)
def test_both_libraries_read_and_refuse_alike(packing, by):
    rng, outcomes = random.Random(packing), set()
    for _ in range(100):
        plain = b"".join(b'{"k%d":%d}' % (rng.randrange(9), rng.randrange(10**9)) for _ in range(rng.randrange(900)))
        packed = damaged(PACK[packing](plain, rng.randrange(10)), rng)
        cuts = [0, *sorted(rng.randrange(len(packed) + 1) for _ in range(rng.randrange(4))), len(packed)]
        pieces = [packed[start:end] for start, end in pairwise(cuts)]

        theirs = by(zlib, pieces)

        assert by(isal_zlib, pieces) == theirs
        outcomes.add(theirs is None)
    assert outcomes == {True, False}


def test_isal_is_taken_if_it_is_there_and_zlib_if_not(monkeypatch):
    try:
        http.unzipping.cache_clear()
        assert http.unzipping() is isal_zlib

        http.unzipping.cache_clear()
        monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
        assert http.unzipping() is zlib
    finally:
        http.unzipping.cache_clear()


def test_a_bomb_is_given_up_by_zlib_too_before_it_is_unpacked(serve, transport, monkeypatch):
    monkeypatch.setattr(http, "unzipping", lambda: zlib)
    bomb = Reply(body=gzip.compress(b"\0" * 10_000_000, 9), headers=(("Content-Encoding", "gzip"),))
    sender = transport(scan_url=serve(bomb).url, max_answer_bytes=2_000_000, attempts=1)

    with pytest.raises(NoAnswerError, match="larger than max_answer_bytes"):
        sender.send(READ.request(), read=len)
