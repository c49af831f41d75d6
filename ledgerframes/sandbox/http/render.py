"""Other forms of an update than the page's: the v1 look-up's, and type-carrying values; the scan routes call it."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, Final

import msgspec

# A constant on real servers as well.
OFFSET: Final = b'"000000000000000001"'

_VALUES: Final = frozenset({"create_arguments", "choice_argument", "exercise_result"})
_PARTY: Final = re.compile(r"[A-Za-z0-9:\-_ ]+::1220[0-9a-f]{64}")
_CONTRACT_ID: Final = re.compile(r"00[0-9a-f]{64}ca101220[0-9a-f]{64}")
_NUMERIC: Final = re.compile(r"-?\d{1,28}\.\d{10}", re.ASCII)

_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode: Final = msgspec.json.Encoder().encode


def with_offset(item: bytes) -> bytes:
    """The v1 form of a page's item: a transaction gets the constant offset, its events stand in another order.

    The contract leaves the order of `events_by_id` open there, so it is not the sorted one.
    """
    members = _members(item)
    if "events_by_id" not in members:
        return item
    events = _members(members["events_by_id"])
    # The order of the v1 map is not defined, so it is not the page's order here.
    members["events_by_id"] = msgspec.Raw(_encode(dict(reversed(events.items()))))
    return _encode({"offset": msgspec.Raw(OFFSET), **members})


def type_carrying(item: bytes) -> bytes:
    """The `protobuf_json` form of an item: every value of a payload states its type.

    Everything outside the payloads stays as it is, byte for byte within each member.
    """
    members = _members(item)
    if "events_by_id" in members:
        events = _members(members["events_by_id"])
        members["events_by_id"] = msgspec.Raw(_encode({key: _event(raw) for key, raw in events.items()}))
    elif "event" in members:
        event = _members(members["event"])
        if "created_event" in event:
            event["created_event"] = _event(event["created_event"])
        members["event"] = msgspec.Raw(_encode(event))
    return _encode(members)


def typed(value: Any) -> dict[str, Any]:
    """A value with its type: records, lists, texts, parties, contract ids, numerics, booleans."""
    if isinstance(value, dict):
        return {"record": {"fields": [{"label": label, "value": typed(member)} for label, member in value.items()]}}
    if isinstance(value, list):
        return {"list": {"elements": [typed(element) for element in value]}}
    if isinstance(value, str):
        return {_kind(value): value}
    if value is None:
        return {"optional": {}}
    if isinstance(value, bool):
        return {"bool": value}
    return {"int64" if isinstance(value, int) else "number": str(value)}


def _event(raw: msgspec.Raw) -> msgspec.Raw:
    members = _members(raw)
    for name in _VALUES & members.keys():
        value = json.loads(bytes(members[name]), parse_float=Decimal)
        members[name] = msgspec.Raw(json.dumps(typed(value), separators=(",", ":")).encode())
    return msgspec.Raw(_encode(members))


def _kind(text: str) -> str:
    for pattern, kind in ((_PARTY, "party"), (_CONTRACT_ID, "contractId"), (_NUMERIC, "numeric")):
        if pattern.fullmatch(text):
            return kind
    return "text"
