"""Splits a page into its items by their brackets, where one of them cannot be read as JSON; the careful way only.

A JSON reader refuses a page as a whole for one lone surrogate, one NaN or one value that is nested too deeply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from ledgerframes.decoding.structs import RawPage

_raw_page: Final = msgspec.json.Decoder(RawPage)
_raw: Final = msgspec.json.Decoder(msgspec.Raw)
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:"]', re.DOTALL)
_PARTNERS: Final = {b"]": b"[", b"}": b"{"}
_BLANK: Final = b" \t\n\r"
_PLACE: Final[tuple[bytes, ...]] = (b'"update_id"', b'"record_time"', b'"migration_id"')

#: What a JSON reader raises for text that is not JSON, or more than it can take.
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class NotWholeError(Exception):
    """The brackets and quotes of a text do not match: a part of it is missing or damaged."""


def raws_of(body: bytes) -> list[bytes]:
    """The items of a page as they were sent, whether they can be read or not.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError, RecursionError: it is no page, or not a whole one.
    """
    try:
        return [bytes(raw) for raw in _raw_page.decode(body).transactions]
    except msgspec.ValidationError:
        raise
    except UNREADABLE:
        try:
            members = members_of(body)
            items = list(_pieces(members.pop(b'"transactions"'), b"[]"))
        except (NotWholeError, KeyError):
            items, members = [], {}
        if not items or any(reason_of(b"{%b:%b}" % one) is not None for one in members.items()):
            raise
        return items


def reason_of(raw: bytes) -> Exception | None:
    """Why an item cannot be read as JSON, if it cannot."""
    try:
        _raw.decode(raw)
    except UNREADABLE as error:
        return error
    return None


def place_of(raw: bytes) -> bytes:
    """An item with no more than the members that say its place in the history.

    Raises:
        NotWholeError: it is no object.
    """
    members = members_of(raw)
    kept = {name: members[name] for name in _PLACE if name in members}
    if members.get(b'"event"', b"")[:1] == b"{":
        event = members_of(members[b'"event"'])
        kept[b'"event"'] = b"{%b}" % b",".join(b"%b:%b" % one for one in event.items() if one[0] in _PLACE)
    return b"{%b}" % b",".join(b"%b:%b" % one for one in kept.items())


def members_of(text: bytes) -> dict[bytes, bytes]:
    """The members of a JSON object by their names, names and values as they stand in the text.

    Raises:
        NotWholeError: it is no whole object, or has a member twice.
    """
    found: dict[bytes, bytes] = {}
    for piece in _pieces(text.strip(_BLANK), b"{}"):
        name = _TOKEN.match(piece)
        rest = piece[name.end() :].lstrip(_BLANK) if name is not None else b""
        if name is None or not rest.startswith(b":") or name[0] in found:
            raise NotWholeError
        found[name[0]] = rest[1:].strip(_BLANK)
    return found


def _pieces(text: bytes, brackets: bytes) -> Iterator[bytes]:
    """What stands between the outer brackets of a text, cut at the commas of that level.

    Raises:
        NotWholeError: a bracket or a quote has no partner, or something stands outside of the brackets.
    """
    if text[:1] != brackets[:1]:
        raise NotWholeError
    start, values, pieces = 1, 0, []
    for sign, depth, begins, ends in _signs(text):
        values += sign in _PARTNERS.values() and depth == 2
        if depth == 0 or (sign == b"," and depth == 1):
            if values > 1:  # two values without a comma between them
                raise NotWholeError
            pieces.append(text[start:begins].strip(_BLANK))
            start, values = ends, 0
        if depth == 0:
            break
    if start != len(text) or (b"" in pieces and pieces != [b""]):
        raise NotWholeError
    yield from pieces if pieces != [b""] else ()


def _signs(text: bytes) -> Iterator[tuple[bytes, int, int, int]]:
    """The brackets, commas and texts, with the depth after each and where it begins and ends.

    Raises:
        NotWholeError: a bracket closes another one, or something is still open at the end.
    """
    within = bytearray()
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in _PARTNERS.values():
            within += sign
        elif sign in _PARTNERS:
            if not within.endswith(_PARTNERS[sign]):
                raise NotWholeError
            del within[-1:]
        elif sign == b'"':  # it begins a text that does not end
            raise NotWholeError
        yield sign, len(within), token.start(), token.end()
    if within:
        raise NotWholeError
