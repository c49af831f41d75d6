"""Decompresses a body in small steps, so that a decompression bomb never fills the memory; called by `body`."""

from __future__ import annotations

import functools
import importlib
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

PIECE: Final = 2**18
#: What a Content-Encoding says where there is nothing to take off.
PLAIN: Final = frozenset({"", "identity"})
GZIP: Final = zlib.MAX_WBITS | 16
_ZLIB_HEAD: Final = 0x08  # the low half of the first byte of a zlib stream; servers also send deflate without it
_ARROW: Final[Mapping[str, str]] = {"br": "brotli", "zstd": "zstd"}

Pieces = Callable[[Iterable[bytes]], Iterator[bytes]]


class DamagedError(Exception):
    """A body cannot be decompressed, or stops short of its end."""


class UnknownCodingError(DamagedError):
    """A body is compressed in a way that nothing here can read; asking again gives the same."""


def decoder_of(encoding: str) -> Pieces | None:
    """What takes a Content-Encoding off; None where there is nothing to take off.

    Args:
        encoding: the header, in lower case.

    Raises:
        UnknownCodingError: nothing here reads it.
    """
    if encoding in PLAIN:
        return None
    if encoding in ("gzip", "x-gzip"):
        return lambda chunks: _unzipped(chunks, encoding)
    if encoding == "deflate":
        return _inflated
    codec = _ARROW.get(encoding)
    if codec is not None and _has(codec):
        return lambda chunks: _by_arrow(chunks, encoding, codec)
    raise UnknownCodingError(
        f"the body is compressed as {encoding[:40]!r}, which was not asked for and cannot be read here"
    )


def _has(codec: str) -> bool:
    import pyarrow as pa

    return bool(pa.Codec.is_available(codec))


@functools.cache
def unzipping() -> Any:
    """What takes gzip and deflate off: `isal_zlib`, which takes half the time, where isal is installed; else `zlib`."""
    try:
        return importlib.import_module("isal.isal_zlib")
    except ImportError:
        return zlib


def _unzipped(chunks: Iterable[bytes], encoding: str, bits: int = GZIP) -> Iterator[bytes]:
    """Gzip and zlib; members may follow each other."""
    library = unzipping()
    unzip = library.decompressobj(bits)
    # Whether anything came: an empty body is not a damaged one, even where a header announces gzip.
    began = False
    for chunk in chunks:
        rest = chunk
        while rest:
            if unzip.eof:
                unzip = library.decompressobj(bits)
            began = True
            try:
                # At most so much per step: a bomb is stopped by the limit before it is unpacked.
                yield unzip.decompress(rest, PIECE)
            except library.error as error:
                raise DamagedError(f"the body is not {encoding.removeprefix('x-')}: {error}") from None
            rest = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
    if began:
        yield unzip.flush()
    if began and not unzip.eof:
        raise DamagedError("the compressed body stops short of its end")


def _inflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """deflate, with or without the head of zlib (RFC 9110 asks for it, many servers leave it out)."""
    arriving = iter(chunks)
    first = next((chunk for chunk in arriving if chunk), b"")
    bits = zlib.MAX_WBITS if first[:1] and first[0] & 0x0F == _ZLIB_HEAD else -zlib.MAX_WBITS
    yield from _unzipped(_before(first, arriving), "deflate", bits)


def _before(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _by_arrow(chunks: Iterable[bytes], encoding: str, codec: str) -> Iterator[bytes]:
    """Brotli and zstd by the codecs that come with pyarrow; frames may follow each other."""
    import pyarrow as pa

    arriving = _Arriving(chunks)
    stream = pa.CompressedInputStream(pa.PythonFile(arriving, mode="r"), codec)
    while True:
        try:
            piece = stream.read(PIECE)
        except OSError as error:
            if arriving.failed is not None:
                # Arrow reports what the network raised as an error of its own, without the type.
                raise arriving.failed from None
            short = "truncated" in str(error).lower()
            why = "the compressed body stops short of its end" if short else f"the body is not {encoding}: {error}"
            raise DamagedError(why) from None
        if not piece:
            return
        yield piece


class _Arriving(io.RawIOBase):
    """Chunks as a file to be read; what reading them raises is kept, for Arrow may show it as an error of its own."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        super().__init__()
        self._chunks = iter(chunks)
        self._rest = b""
        self.failed: Exception | None = None

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, `size` at most; empty at the end."""
        try:
            while not self._rest:
                self._rest = next(self._chunks)
        except StopIteration:
            return b""
        except Exception as error:
            self.failed = error
            raise
        size = len(self._rest) if size < 0 else size
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece
