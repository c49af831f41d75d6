"""Puts an answer's body together from its chunks: decompressed, whole, and never above a limit; called per attempt."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Final

GZIP: Final = zlib.MAX_WBITS | 16
PIECE: Final = 2**18
SLACK: Final = 2**20


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
    body = bytearray()  # a list of pieces would take many times the room where they are small
    arriving = _counted(chunks, limit + SLACK)
    for piece in arriving if plain else _unzipped(arriving):
        body += piece
        if len(body) > limit:
            raise TooLargeError
    return bytes(body)


def _counted(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """The chunks as they arrive; compression may add a little to bytes that it cannot shrink, but not more."""
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise TooLargeError
        yield chunk


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
