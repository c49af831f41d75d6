"""Any item as a line of an object: numbers as written, doubled members, lone surrogates; rigs and tests call it."""

from __future__ import annotations

import json
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


class _Members(list[tuple[str, Any]]):
    """The members of an object, also those that are there twice."""


def sorted_members(item: bytes) -> bytes:
    """An item as the writer of objects writes it: without spaces, the members of every object sorted by name."""
    value = json.loads(item, parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=_Members)
    text = _written(value)
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can write
        return encode_surrogates(text)


def encode_surrogates(text: str) -> bytes:
    """Text with lone surrogates as escapes."""
    return "".join(sign if not "\ud800" <= sign <= "\udfff" else f"\\u{ord(sign):04x}" for sign in text).encode()


def _written(value: Any) -> str:
    if isinstance(value, _Members):
        members = sorted(value, key=lambda member: member[0])
        return "{" + ",".join(f"{_quoted(name)}:{_written(member)}" for name, member in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    return json.dumps(value)


def _quoted(text: str) -> str:
    # Unchanged, except for what JSON has to escape; the writer does not keep escapes of other characters either.
    return encode_basestring(text) if text.isprintable() else encode_basestring_ascii(text)
