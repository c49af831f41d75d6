"""Splits a page into its items by their brackets, if one of them is not valid JSON; used to create rejects.

A JSON reader refuses a whole page for one lone surrogate, one NaN or one value that is nested too deeply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

#: By the member that holds a page's items, its decoder, which leaves them as they are.
_pages: Final[dict[str, Any]] = {
    member: msgspec.json.Decoder(msgspec.defstruct("Page", [("items", list[msgspec.Raw])], rename={"items": member}))
    for member in ("transactions", "events")
}
_raw: Final = msgspec.json.Decoder(msgspec.Raw)
_TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NAME: Final = re.compile(_TEXT, re.DOTALL)
# Everything between two significant characters, in one match; commas are significant at the outer level only.
_BESIDE: Final = re.compile(rb'(?:[^"\[\]{},]++|%b)*+' % _TEXT, re.DOTALL)
_INSIDE: Final = re.compile(rb'(?:[^"\[\]{}]++|%b)*+' % _TEXT, re.DOTALL)
_PARTNERS: Final = {b"]": b"[", b"}": b"{"}
_BLANK: Final = b" \t\n\r"
# A broken item can still be placed if these three members are whole, so that its page need not be refused.
_PLACE: Final[tuple[bytes, ...]] = (b'"update_id"', b'"record_time"', b'"migration_id"')

#: The errors of a JSON parser for text that is not JSON, or is nested too deeply.
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class NotWholeError(Exception):
    """The brackets and quotes of a text do not match: it is incomplete or damaged."""


def raws_of(body: bytes, member: str = "transactions") -> list[bytes]:
    """The items of a page as they were sent, whether they can be parsed or not.

    Args:
        body: the page.
        member: the member that holds them: `transactions` or `events`.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError, RecursionError: it is not a page, or not a complete one.
    """
    try:
        return [bytes(raw) for raw in _pages[member].decode(body).items]
    except msgspec.ValidationError:
        raise
    except UNREADABLE:
        try:
            members = members_of(body)
            items = list(_pieces(members.pop(b'"%b"' % member.encode()), b"[]"))
        except (NotWholeError, KeyError):
            items, members = [], {}
        if not items or any(reason_of(b"{%b:%b}" % member) is not None for member in members.items()):
            raise
        return items


def reason_of(raw: bytes) -> Exception | None:
    """The reason why an item cannot be parsed as JSON; None if it can."""
    try:
        _raw.decode(raw)
    except UNREADABLE as error:
        return error
    return None


def place_of(raw: bytes) -> bytes:
    """An item reduced to the members that form its cursor.

    Raises:
        NotWholeError: it is not an object.
    """
    members = members_of(raw)
    selected = {name: members[name] for name in _PLACE if name in members}
    if members.get(b'"event"', b"")[:1] == b"{":
        event = members_of(members[b'"event"'])
        selected[b'"event"'] = b"{%b}" % b",".join(b"%b:%b" % member for member in event.items() if member[0] in _PLACE)
    return b"{%b}" % b",".join(b"%b:%b" % member for member in selected.items())


def place_of_event(raw: bytes) -> bytes:
    """An item of the event history reduced to the members that form its cursor.

    Raises:
        NotWholeError: it is not an object, or one of its two parts is neither an object nor null.
    """
    parts = members_of(raw)
    selected = {name: parts[name] for name in (b'"update"', b'"verdict"') if parts.get(name, b"null") != b"null"}
    return b"{%b}" % b",".join(b"%b:%b" % (name, place_of(part)) for name, part in selected.items())


def members_of(text: bytes) -> dict[bytes, bytes]:
    """The members of a JSON object by their names, names and values as written in the text.

    Raises:
        NotWholeError: it is not a complete object, or has a member twice.
    """
    members: dict[bytes, bytes] = {}
    for piece in _pieces(text.strip(_BLANK), b"{}"):
        name = _NAME.match(piece)
        rest = piece[name.end() :].lstrip(_BLANK) if name is not None else b""
        if name is None or not rest.startswith(b":") or name[0] in members:
            raise NotWholeError
        members[name[0]] = rest[1:].strip(_BLANK)
    return members


def _pieces(text: bytes, brackets: bytes) -> Iterator[bytes]:
    """The text between the outer brackets, split at the commas of that level.

    Raises:
        NotWholeError: a bracket or a quote is not closed, or there is text outside of the brackets.
    """
    if text[:1] != brackets[:1]:
        raise NotWholeError
    within, start, values, pieces = bytearray(text[:1]), 1, 0, []
    at = start
    while within:
        at = (_INSIDE if len(within) > 1 else _BESIDE).match(text, at).end()  # type: ignore[union-attr]
        sign = text[at : at + 1]
        if sign in _PARTNERS.values():
            within += sign
            values += len(within) == 2
        elif sign in _PARTNERS and within.endswith(_PARTNERS[sign]):
            del within[-1:]
        elif sign != b",":  # the end, or a quote or a bracket without its partner
            raise NotWholeError
        if not within or (sign == b"," and len(within) == 1):
            if values > 1:  # two values without a comma between them
                raise NotWholeError
            pieces.append(text[start:at].strip(_BLANK))
            start, values = at + 1, 0
        at += 1
    if start != len(text) or (b"" in pieces and pieces != [b""]):
        raise NotWholeError
    yield from pieces if pieces != [b""] else ()
