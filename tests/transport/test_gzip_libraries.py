"""isal and zlib give the same bytes and refuse the same damaged bodies; isal is taken if it is installed."""

from __future__ import annotations

import gzip
import random
import sys
import zlib

import pytest

from ledgerframes.transport import http

isal_zlib = pytest.importorskip("isal.isal_zlib")
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


@pytest.fixture(params=[zlib, isal_zlib], ids=["zlib", "isal"])
def read(request, monkeypatch):
    """Reads a body by one of the libraries."""
    monkeypatch.setattr(http, "unzipping", lambda: request.param)
    return lambda *pieces, limit=10**9: http.collect(pieces, encoding="gzip", limit=limit)


@pytest.mark.parametrize("body", DAMAGED.values(), ids=DAMAGED)
def test_both_libraries_refuse_what_is_damaged(body, read):
    with pytest.raises(http.DamagedError):
        read(body[:100], body[100:])


def test_both_libraries_read_members_in_pieces_and_give_up_a_bomb(read):
    assert read(*(bytes([byte]) for byte in PACKED * 2)) == PLAIN * 2
    with pytest.raises(http.TooLargeError):
        read(gzip.compress(b"\0" * 10_000_000, 9), limit=2_000_000)


def test_isal_is_taken_if_it_is_there_and_zlib_if_not(monkeypatch):
    try:
        http.unzipping.cache_clear()
        assert http.unzipping() is isal_zlib

        http.unzipping.cache_clear()
        monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
        assert http.unzipping() is zlib
    finally:
        http.unzipping.cache_clear()
