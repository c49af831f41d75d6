"""Reads an object line by line in bounded memory: consecutive zstd frames, one JSON item per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from ledgerframes.errors import DecodeError

_PIECE: Final = 2**22
#: The longest line; equals the default limit of a server's answer.
LONGEST: Final = 256 * 2**20
#: Objects have an item on every line.
_EMPTY: Final = 1_000_000


def read_lines(stream: Any, name: str, *, lines: int, most: int, longest: int = LONGEST) -> Iterator[list[bytes]]:
    """The items of an object, some lines at a time.

    Args:
        stream: the compressed bytes, a file of pyarrow.
        name: the object's name, for messages.
        lines: the maximum number of lines per batch,
        most: and the maximum number of bytes, but at least one line.
        longest: refuse a longer line.

    Raises:
        DecodeError: the object is damaged, cut off, or has a line that is too long.
    """
    batch: list[bytes] = []
    size = 0
    for line in _lines(stream, name, longest):
        if batch and (len(batch) >= lines or size + len(line) > most):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    if batch:
        yield batch


def _lines(stream: Any, name: str, longest: int) -> Iterator[bytes]:
    """Yield the lines that are not empty."""
    rest, empty = bytearray(), 0
    for piece in _pieces(stream, name):
        first, *others = piece.split(b"\n")
        rest += first
        if len(rest) > longest:
            raise _damaged(name, f"it has a line of more than {longest:,} bytes")
        if not others:
            continue
        if rest:
            yield bytes(rest)
        *whole, last = others
        full = list(filter(None, whole))
        empty += len(whole) - len(full)
        if empty > _EMPTY:  # a file of 100 kB can unpack to billions of them
            raise _damaged(name, f"it has more than {_EMPTY:,} empty lines")
        yield from full
        rest = bytearray(last)
    if rest:
        # The writers end every line, so this one was cut off.
        raise _damaged(name, "its last line has no end")


def _pieces(stream: Any, name: str) -> Iterator[bytes]:
    try:
        with pa.CompressedInputStream(stream, "zstd") as unpacked:
            while piece := unpacked.read(_PIECE):
                yield piece
            if stream.tell() == 0:
                # Without updates, an object is a frame without content; a failed copy leaves no byte at all.
                raise _damaged(name, "the file is empty")
    except (OSError, pa.ArrowException) as error:
        raise _damaged(name, str(error)) from error


def _damaged(name: str, why: str) -> DecodeError:
    return DecodeError(
        f"the object {name} cannot be read: {why}. What to do: get it again, or read the history by source='pages'",
        endpoint=name, item=name,
    )  # fmt: skip
