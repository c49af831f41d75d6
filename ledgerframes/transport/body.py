"""An answer's body from its chunks: decompressed, in memory within a limit or into a sink; called once per attempt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ledgerframes.transport.codings import decoder_of
from ledgerframes.transport.outcome import Sink

SLACK: Final = 2**20
_LONGEST_LENGTH: Final = 18  # digits: no disk is larger


class TooLargeError(Exception):
    """A body is above the limit; it was not read to its end."""


def collect(chunks: Iterable[bytes], *, encoding: str, limit: int) -> bytes:
    """Read a body.

    Args:
        chunks: the body as it arrives.
        encoding: the Content-Encoding; only gzip is ever asked for, deflate, br and zstd are read where they come.
        limit: bytes after decompression; a compressed body is stopped as soon as it has grown beyond.

    Raises:
        TooLargeError: the limit was reached.
        DamagedError: the compression is broken or cut off; an `UnknownCodingError` where nothing here reads it.
    """
    # Decoded in small steps: a chunk may grow to whatever its sender likes.
    decode = decoder_of(encoding)
    body = bytearray()  # a list of small chunks would take many times the memory
    arriving = _counted(chunks, limit + SLACK)
    for piece in arriving if decode is None else decode(arriving):
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


def pour(chunks: Iterable[bytes], sink: Sink, *, encoding: str, announced: str) -> None:
    """Give a body to a sink, piece by piece.

    Args:
        chunks: the body as it arrives.
        sink: takes it.
        encoding: the Content-Encoding.
        announced: the Content-Length, where there is one.

    Raises:
        DamagedError: the compression is broken or cut off; an `UnknownCodingError` where nothing here reads it.
    """
    decode = decoder_of(encoding)
    known = decode is None and announced.isdecimal() and len(announced) <= _LONGEST_LENGTH
    sink.begin(int(announced) if known else None)
    for piece in chunks if decode is None else decode(chunks):
        sink.write(piece)
