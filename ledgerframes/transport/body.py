"""Puts an answer's body together from its chunks: decompressed, whole, and never above a limit; called per attempt."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

GZIP: Final = zlib.MAX_WBITS | 16
PIECE: Final = 2**18


class TooLargeError(Exception):
    """A body is above the limit; it was not read to its end."""


class DamagedError(Exception):
    """A body cannot be decompressed, or stops short of its end."""


def collect(chunks: Iterable[bytes], *, encoding: str, limit: int) -> bytes:
    """Read a body.

    Args:
        chunks: the body as it arrives.
        encoding: the Content-Encoding; only gzip is ever asked for.
        limit: bytes after decompression; a compressed body is stopped as soon as it has grown beyond.

    Raises:
        TooLargeError: the limit was reached.
        DamagedError: the compression is unknown, broken or cut off.
    """
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise DamagedError(f"the body is compressed as {encoding[:40]!r}, which was not asked for")
    plain = encoding in ("", "identity")
    pieces, size = [], 0
    for piece in chunks if plain else _unzipped(chunks):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise TooLargeError
    return b"".join(pieces)


def _unzipped(chunks: Iterable[bytes]) -> Iterable[bytes]:
    """Decompress in small pieces, so that a bomb never stands in memory as a whole; members may follow each other."""
    unzip = zlib.decompressobj(GZIP)
    began = False
    for chunk in chunks:
        rest = chunk
        while rest:
            if unzip.eof:
                unzip = zlib.decompressobj(GZIP)
            began = True
            try:
                yield unzip.decompress(rest, PIECE)
            except zlib.error as error:
                raise DamagedError(f"the body is not gzip: {error}") from None
            rest = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
    if began:
        yield unzip.flush()
    if began and not unzip.eof:
        raise DamagedError("the compressed body stops short of its end")
