"""`sealed`, `unsealed`: a small JSON file with a checksum, such as `lake.json` and the coverage documents."""

from __future__ import annotations

import zlib
from typing import TypeVar

import msgspec

_T = TypeVar("_T", bound=msgspec.Struct)


class _Sealed(msgspec.Struct):
    """A file with a checksum: a flipped digit must not pass for a valid state."""

    content: msgspec.Raw
    crc32: int


def sealed(content: msgspec.Struct) -> bytes:
    """Encode a file."""
    raw = msgspec.json.encode(content, order="sorted")
    return b'{"content":%b,"crc32":%d}\n' % (raw, zlib.crc32(raw))


def unsealed(file: bytes, kind: type[_T]) -> _T | None:
    """Decode the bytes of a file; None if they are damaged."""
    try:
        stored = msgspec.json.decode(file, type=_Sealed)
        content = msgspec.json.decode(stored.content, type=kind)
    except ValueError:
        return None
    return content if zlib.crc32(stored.content) == stored.crc32 else None
