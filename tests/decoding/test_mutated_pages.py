"""Broken pages raise DecodeError or come out right; nothing else, and never a wrong frame."""

import json
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ledgerframes.errors import DecodeError
from tests.decoding.items import assignment, page_of, page_of_texts, rebuilt, to_json, transaction, unassignment

pytestmark = pytest.mark.usefixtures("decoder")

ITEMS = [transaction(), unassignment(), assignment()]
BODY = page_of(*ITEMS)
TEXTS = [to_json(item) for item in ITEMS]

#: What a server, a gateway or a bug may put in a value's place.
VALUES = st.sampled_from(
    [
        *(None, True, False, 0, -1, 3, 2**63, -(2**63) - 1, Decimal("1.5"), Decimal("1E+400")),
        *("", "u", "u:0", "u:2", "\u0000", "created_event", "exercised_event"),
        *("2026-01-30T08:39:28.485596Z", "2026-01-30T08:39:28.1234567Z", "2026-02-30T00:00:00.000000Z"),
        *("0000-01-01T00:00:00Z", "2026-01-30T23:59:60Z", "2026-01-30T24:00:00Z"),
        *([], ["u:0"], ["u:1", "u:1"], [None], {}, {"event_type": "x"}, {"a": [{}]}),
    ]
)


def places(value, path=()):
    """Every place in a JSON value, outermost first."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from places(child, (*path, step))


PLACES = [path for path in places(ITEMS) if path]


def mutated(parent, path, action, value):
    """A copy that differs at the path; whatever lies beside the path is shared with the original."""
    step, *rest = path
    parent = parent.copy()
    if rest:
        parent[step] = mutated(parent[step], rest, action, value)
    elif action == "replace" or isinstance(parent, list):
        parent[step] = value
    elif action == "leave out":
        del parent[step]
    elif action == "rename":
        parent[f"{step}x"] = parent.pop(step)
    else:
        parent["surprise"] = value
    return parent


MEMBERS = given(
    path=st.sampled_from(PLACES),
    action=st.sampled_from(["replace", "leave out", "rename", "add"]),
    value=VALUES,
)
BYTES = given(at=st.integers(0, len(BODY) - 1), length=st.integers(0, 3), put=st.binary(max_size=3))
SOME = settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.long
@SOME
@MEMBERS
def test_a_changed_member_is_refused_or_kept_exactly(path, action, value):
    check_member(path, action, value)


@pytest.mark.long
@SOME
@BYTES
@example(at=BODY.index(b"alice"), length=1, put=b"\\q")
@example(at=BODY.index(b"alice"), length=1, put=b"\xff")
def test_changed_bytes_are_refused_or_kept_exactly(at, length, put):
    check(BODY[:at] + put + BODY[at + length :])


def check_member(path, action, value):
    items = mutated(ITEMS, path, action, value)
    texts = [text if new is old else to_json(new) for new, old, text in zip(items, ITEMS, TEXTS, strict=True)]
    check(page_of_texts(texts))


def check(body):
    try:
        got = rebuilt(body)
    except DecodeError:
        return
    assert got == json.loads(body, parse_float=Decimal)["transactions"]
