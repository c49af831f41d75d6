"""Breaks JSON texts, byte by byte and member by member, by a seeded random; `tests.fuzz.answers` calls it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

#: Bytes that parsers stumble over.
SCRAPS = (
    *(b"NaN", b"Infinity", b"-Infinity", b"-0", b"1e400", b"1E+999999999999999999999", b"0x10", b"01", b"+1", b"1."),
    *(b"9" * 19, b"9" * 400, b"9" * 5000, b"-" + b"9" * 40, b"0." + b"1" * 400, b"9223372036854775808", b"1e5"),
    *(rb'"\ud800"', rb'"\udc00\ud800"', rb'"\u0000"', rb'"\q"', rb'"\u00"', b'"\x00"', b'"\n"', b'"\x7f\x1b[31m"'),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xef\xbb\xbf", b"\xfe\xff", b"\x00"),
    b"\xe2\x80\xae",
    *(b"null", b"true", b"{}", b"[]", b'""', b",", b":", b"{", b"}", b"[", b"]", b'"', b"\\", b"//", b"/**/"),
    *(b'"absent":["/x"],', b'"extra":null,', b'"":1,', b'"event_type":"created_event",', b'"update_id":"u",'),
)  # fmt: skip

#: What a server, a gateway or a bug may put in a value's place, as JSON text.
VALUES = (
    *("null", "true", "false", "0", "-1", "1.5", "1e400", "-0", "-0.0", "1E-30", "1e999999999999999999999"),
    *(str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1)),
    *(str(2**64), "9" * 100, "9" * 5000, "0." + "3" * 300),
    *('""', '"0"', '"1"', '"-1"', '"1e5"', '"NaN"', '"Infinity"', '"sNaN"', '"1_000"', '"0E-10"', '"-1.43E-8"'),
    '"1E9999"',
    *('"\\u0000"', '"\\ud83d\\ude00"', '"../.."', '"\u202e"', '"٣"', '"9223372036854775808"'),
    *(f'"{"9" * 39}"', f'"{"9" * 5000}"'),
    *('"2026-01-30T08:39:28.485596Z"', '"2026-01-30T08:39:28.1234567Z"', '"0001-01-01T00:00:00Z"'),
    *('"9999-12-31T23:59:59.999999Z"', '"9999-12-31T23:59:59-01:00"', '"0000-01-01T00:00:00.000000Z"'),
    *('"2026-02-30T00:00:00.000000Z"', '"2026-01-30T23:59:60.000000Z"', '"2026-01-30T08:39:28.485596+99:99"'),
    *('"created_event"', '"exercised_event"', '"archived_event"', "[]", "[null]", "[[]]", '[""]', "{}", '{"":null}'),
    *('"\\u00e9\\n\\"\\\\"', '"\\ud800"', '"\\q"', '"a\tb"', '"\x7f"', '"é\u2028"', '"a:b:c"', '"a:"', '":"'),
    *('{"a":{"a":1}}', '{"value":{}}', '{"value":null}', '{"number":"1"}', '{"/a~b":[1]}', '{"absent":["/update_id"]}'),
)  # fmt: skip

NAMES = (
    *("", "x", "absent", "/x", "~", "a/b", "a~b/c", "value", "event", "extra", "event_type", "\u202e", "payload"),
    *("\x7f", "é", 'q"uote', "back\\slash", "new\nline", "transactions"),
)


class Text(str):
    """A number or word as it is spelled in the JSON."""

    __slots__ = ()


class Members(list[tuple[str, Any]]):
    """An object whose names may repeat."""


def parse(body: bytes) -> Any:
    """JSON with numbers as spelled and objects as lists of pairs."""
    return json.loads(body, parse_float=Text, parse_int=Text, parse_constant=Text, object_pairs_hook=Members)


def write(value: Any) -> str:
    """The text of what `parse` gave."""
    if isinstance(value, Text):
        return value
    if isinstance(value, Members):
        return "{" + ",".join(f"{json.dumps(name)}:{write(one)}" for name, one in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value)


def mutate(body: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """One to four changes, of members first and of bytes afterwards, or of one sort alone."""
    sort = rng.random()
    if sort < 0.65:
        body = change_members(body, rng)
    if sort > 0.55:
        for _ in range(rng.choice((1, 1, 2, 4))):
            body = rng.choice(BYTES)(body, rng, others)
    return body


def change_members(
    body: bytes,
    rng: random.Random,
    *,
    places: Callable[[Any], Iterator[list[Any]]] | None = None,
    changes: Sequence[Change] = (),
) -> bytes:
    """The same JSON with one to three values or names changed, in some places and some ways, or in any."""
    try:
        tree = parse(body)
    except (ValueError, RecursionError):
        return body
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = list((places or containers)(tree))
        if found:
            rng.choice(changes or MEMBERS)(rng.choice(found), rng, tree)
    try:
        return write(tree).encode("utf-8", "surrogatepass")
    except RecursionError:
        return body


def containers(value: Any) -> Iterator[list[Any]]:
    """Every object and list in a value that holds something."""
    if isinstance(value, list) and value:
        yield value
        for one in value:
            yield from containers(one[1] if isinstance(value, Members) else one)


def replace(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """Another value in a place."""
    put(place, rng.randrange(len(place)), Text(rng.choice(VALUES)))


def leave_out(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """A member or element less."""
    del place[rng.randrange(len(place))]


def repeat(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """A member or element once more, in another place; a name then stands twice."""
    place.insert(rng.randrange(len(place) + 1), rng.choice(place))


def rename(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """Another name, or one that is there already."""
    if isinstance(place, Members):
        at = rng.randrange(len(place))
        place[at] = (rng.choice((*NAMES, *(name for name, _ in place))), place[at][1])


def add(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """A member or element more."""
    value = Text(rng.choice(VALUES))
    place.insert(rng.randrange(len(place) + 1), (rng.choice(NAMES), value) if isinstance(place, Members) else value)


def swap(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """Two values of one object or list change places, or all are shuffled."""
    if isinstance(place, Members):
        first, second = rng.randrange(len(place)), rng.randrange(len(place))
        one, other = place[first], place[second]
        place[first], place[second] = (one[0], other[1]), (other[0], one[1])
    else:
        rng.shuffle(place)


def graft(place: list[Any], rng: random.Random, tree: Any) -> None:
    """A piece of the whole in the place of a value."""
    with suppress(RecursionError):
        piece = write(rng.choice(list(containers(tree))))
        put(place, rng.randrange(len(place)), Text(piece))


def deepen(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """A value so deep that a recursive reader gives up."""
    depth = rng.choice((20, 200, 900, 1100, 5000, 50_000))
    opening, closing = rng.choice((("[", "]"), ('{"a":', "}")))
    put(place, rng.randrange(len(place)), Text(opening * depth + "1" + closing * depth))


def multiply(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """Ten thousand members or elements more."""
    count = rng.choice((10, 1_000, 10_000))
    value = Text(rng.choice(VALUES[:11]))
    place.extend((f"m{number}", value) if isinstance(place, Members) else value for number in range(count))


def put(place: list[Any], at: int, value: Any) -> None:
    """Replace a value, whatever holds it."""
    place[at] = (place[at][0], value) if isinstance(place, Members) else value


def flip(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """One bit of one byte."""
    at = rng.randrange(len(body) + 1)
    return body[:at] + bytes(byte ^ 1 << rng.randrange(8) for byte in body[at : at + 1]) + body[at + 1 :]


def cut(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """A piece less."""
    at, length = rng.randrange(len(body) + 1), rng.choice((1, 1, 2, 10, 100))
    return body[:at] + body[at + length :]


def double(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """A piece twice."""
    at, length = rng.randrange(len(body) + 1), rng.choice((1, 2, 20, 200))
    return body[: at + length] + body[at:]


def splice(body: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """The beginning of one and the end of another."""
    other = rng.choice(others)
    return body[: rng.randrange(len(body) + 1)] + other[rng.randrange(len(other) + 1) :]


def truncate(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """Only a beginning."""
    return body[: rng.randrange(len(body) + 1)]


def insert(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """Something that parsers stumble over, in between or over what was there."""
    at, scrap = rng.randrange(len(body) + 1), rng.choice(SCRAPS)
    return body[:at] + scrap + body[at + rng.choice((0, 0, 1, len(scrap))) :]


def wrap(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """A mark, white space or something else around the whole."""
    before, after = rng.choice(
        ((b"\xef\xbb\xbf", b""), (b" \n", b"\t"), (b"[" * 2000, b"]" * 2000), (b"", b"{}"), (b")]}',\n", b""))
    )
    return before + body + after


Change = Callable[[list[Any], random.Random, Any], None]
Bytewise = Callable[[bytes, random.Random, Sequence[bytes]], bytes]
MEMBERS: tuple[Change, ...] = (
    *(replace, replace, replace, replace, leave_out, leave_out, repeat, rename, add, add, swap),
    *(graft, deepen, multiply),
)
BYTES: tuple[Bytewise, ...] = (flip, flip, cut, double, splice, truncate, insert, insert, insert, wrap)
