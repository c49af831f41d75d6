"""An answer's body from its pieces: gzip taken off in small steps, in memory within a limit or into a sink."""

from __future__ import annotations

import functools
import importlib
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ledgerframes.transport.outcome import LONGEST_LENGTH, Sink

#: Compression may add a little to bytes that it cannot shrink, but not more.
SLACK: Final = 2**20
PIECE: Final = 2**18
GZIP: Final = zlib.MAX_WBITS | 16


class TooLargeError(Exception):
    """A body is above the limit; it was not read to its end."""


class DamagedError(Exception):
    """A body cannot be decompressed, or stops short of its end."""


class UnknownCodingError(DamagedError):
    """A body is compressed in a way that was not asked for; asking again gives the same."""


def collect(pieces: Iterable[bytes], *, encoding: str, limit: int) -> bytes:
    """Read a body.

    Args:
        pieces: the body as it arrives.
        encoding: the Content-Encoding, in lower case; only gzip is ever asked for.
        limit: bytes after decompression; a compressed body is stopped as soon as it has grown beyond.

    Raises:
        TooLargeError: the limit was reached.
        DamagedError: the compression is broken or cut off; an `UnknownCodingError` where it is another one.
    """
    arriving = _unpacked(_counted(pieces, limit + SLACK), encoding)
    whole = next(arriving, b"")
    more = next(arriving, None) if len(whole) <= limit else None
    if more is not None:
        body = bytearray(whole)  # a list of small pieces would take many times the memory
        while more is not None:
            body += more
            if len(body) > limit:
                raise TooLargeError
            more = next(arriving, None)
        whole = bytes(body)
    if len(whole) > limit:
        raise TooLargeError
    return whole


def pour(pieces: Iterable[bytes], sink: Sink, *, encoding: str, announced: str) -> None:
    """Give a body to a sink, piece by piece.

    Args:
        pieces: the body as it arrives.
        sink: takes it.
        encoding: the Content-Encoding, in lower case.
        announced: the Content-Length, where there is one.

    Raises:
        DamagedError: as `collect`.
    """
    arriving = _unpacked(pieces, encoding)
    known = encoding not in _GZIP and announced.isdecimal() and len(announced) < LONGEST_LENGTH
    sink.begin(int(announced) if known else None)
    for piece in arriving:
        sink.write(piece)


_PLAIN: Final = frozenset({"", "identity"})
_GZIP: Final = frozenset({"gzip", "x-gzip"})


def _unpacked(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    if encoding in _PLAIN:
        return iter(pieces)
    if encoding in _GZIP:
        return _unzipped(pieces)
    raise UnknownCodingError(
        f"the body is compressed as {encoding[:40]!r}, which was not asked for and cannot be read here"
    )


def _counted(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise TooLargeError
        yield piece


@functools.cache
def unzipping() -> Any:
    """What takes gzip off: `isal_zlib`, which takes half the time, where isal is installed; else `zlib`."""
    try:
        return importlib.import_module("isal.isal_zlib")
    except ImportError:
        return zlib


def _unzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Gzip; members may follow each other."""
    library = unzipping()
    unzip = library.decompressobj(GZIP)
    # Whether anything came: an empty body is not a damaged one, even where a header announces gzip.
    began = False
    # What is left of a piece is copied at each step, so a piece is a small one.
    small = (piece[start : start + PIECE] for piece in pieces for start in range(0, len(piece), PIECE))
    for piece in small:
        rest = piece
        while rest:
            if unzip.eof:
                unzip = library.decompressobj(GZIP)
            began = True
            try:
                # At most so much per step: a bomb is stopped by the limit before it is unpacked.
                yield unzip.decompress(rest, PIECE)
            except library.error as error:
                raise DamagedError(f"the body is not gzip: {error}") from None
            rest = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
    if began:
        yield unzip.flush()
    if began and not unzip.eof:
        raise DamagedError("the compressed body stops short of its end")
