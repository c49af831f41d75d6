"""Decodes any legal item to canonical form, and keeps every difference as JSON pointer and raw value.

`history` calls it for the items that the strict `structs` refuse. A broken item becomes a DecodeError that names
table, column and item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct

from ledgerframes.decoding.structs import (
    AssignedContract,
    CreatedEvent,
    Event,
    ExercisedEvent,
    Item,
    Member,
    OtherEvent,
    Reassignment,
    ReassignmentEvent,
    Transaction,
    members_of,
)
from ledgerframes.errors import DecodeError
from ledgerframes.timestamps import parse_timestamp

_NULL: Final = b"null"
_members: Final = msgspec.json.Decoder(dict[str, Raw])
_KNOWN_EVENTS: Final[dict[str, type[Struct]]] = {
    "created_event": CreatedEvent,
    "exercised_event": ExercisedEvent,
}


@dataclass
class Differences:
    """The content of one row's `extra`: values by JSON pointer, and members that were not sent."""

    values: dict[str, Raw] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)

    def text(self) -> str | None:
        """The JSON of the `extra` column, or None if the item was canonical."""
        members = [msgspec.json.encode(pointer) + b":" + bytes(value) for pointer, value in self.values.items()]
        if self.absent:
            members.append(b'"absent":' + msgspec.json.encode(self.absent))
        return (b"{" + b",".join(members) + b"}").decode() if members else None


@dataclass(frozen=True)
class Origin:
    """The location of a member in an answer, for messages."""

    endpoint: str
    item: str
    table: str

    def error(self, column: str, why: str) -> DecodeError:
        """A DecodeError for a member of this item."""
        return DecodeError(
            f"{self.endpoint}: {self.item}: table {self.table!r}, column {column!r}: {why}",
            endpoint=self.endpoint, table=self.table, column=column, item=self.item,
        )  # fmt: skip


def canonical_item(raw: Raw | bytes, endpoint: str, position: int) -> tuple[Item, Differences, list[Differences]]:
    """Decode one item of a page to canonical form.

    Returns:
        The item, its own differences, and those of each event in the order of `events_by_id` (for a reassignment: of
        its one `event`).

    Raises:
        DecodeError: a required member is missing or null, a value has the wrong type, or a time is not valid.
    """
    origin = Origin(endpoint, f"item {position}", "updates")
    members = object_of(raw, origin, "item")
    update_id = _text(members.get("update_id"))
    if update_id == "":
        raise origin.error("update_id", "the text is empty")
    if update_id is not None:
        origin = Origin(endpoint, f"item {position} (update {update_id})", "updates")
    # A null here is a member that a server sent although the item is a transaction.
    if "event" in members and bytes(members["event"]) != _NULL:
        return _reassignment(members, origin)
    return _transaction(members, origin)


def _transaction(members: dict[str, Raw], origin: Origin) -> tuple[Item, Differences, list[Differences]]:
    own = Differences()
    raw_events = members.pop("events_by_id", None)
    if raw_events is None:
        raise origin.error("events_by_id", "the required member is missing (no event either: is it an update?)")
    values = _read(Transaction, members, origin, own, "", {"events_by_id"})
    events: dict[str, Event] = {}
    of_events = []
    for event_id, raw in object_of(raw_events, origin, "events_by_id").items():
        event, differences = _event(event_id, raw, origin)
        events[event_id] = event
        of_events.append(differences)
    return Item(**values, events_by_id=events), own, of_events  # type: ignore[arg-type]  # other kinds only here


def _event(event_id: str, raw: Raw, origin: Origin) -> tuple[Event, Differences]:
    origin = Origin(origin.endpoint, f"{origin.item}, event {event_id}", "events")
    members = object_of(raw, origin, "event")
    differences = Differences()
    event_type = _text(members.get("event_type"))
    if event_type is None:
        raise origin.error("event_type", "the required member is missing or not a text")
    struct = _KNOWN_EVENTS.get(event_type)
    if struct is None:
        return _other(event_id, event_type, members, differences)
    del members["event_type"]
    own_id = members.pop("event_id", None)
    if own_id is None:
        differences.absent.append("/event_id")
    elif _text(own_id) != event_id:
        differences.values["/event_id"] = own_id
    values = _read(struct, members, origin, differences, "", {"event_id"})
    return struct(event_id=event_id, **values), differences  # type: ignore[return-value]


def _other(
    event_id: str, event_type: str, members: dict[str, Raw], differences: Differences
) -> tuple[Event, Differences]:
    """Decode an event of an unknown kind: fill the columns that fit, and keep every member."""
    differences.values.update((pointer_to("", name), raw) for name, raw in members.items())
    values: dict[str, Any] = {}
    for member in members_of(OtherEvent):
        if member.decode and member.wire in members and member.name not in {"event_id", "event_type"}:
            try:
                values[member.name] = member.decode(members[member.wire])
            except msgspec.DecodeError:
                continue  # kept in extra
    return OtherEvent(event_type=event_type, event_id=event_id, **values), differences


def _reassignment(members: dict[str, Raw], origin: Origin) -> tuple[Item, Differences, list[Differences]]:
    own, of_event = Differences(), Differences()
    inner = object_of(members.pop("event"), origin, "event")
    values = _read(Reassignment, members, origin, own, "", {"event"})
    below = Origin(origin.endpoint, origin.item, "reassignments")
    created = inner.pop("created_event", None)
    if created is not None and bytes(created) == _NULL:
        of_event.values["/created_event"] = created
        created = None
    fields = _read(ReassignmentEvent, inner, below, of_event, "", {"created_event"})
    if created is not None:
        # An event with both members is an assignment; the second id has no column.
        if isinstance(contract_id := fields.pop("contract_id", UNSET), str):
            of_event.values["/contract_id"] = Raw(msgspec.json.encode(contract_id))
        contract = object_of(created, below, "created_event")
        fields["created_event"] = _contract(contract, below, of_event)
    elif "contract_id" not in fields:
        raise below.error("contract_id", "the event has neither created_event nor contract_id")
    return Item(**values, event=ReassignmentEvent(**fields)), own, [of_event]


def _contract(members: dict[str, Raw], origin: Origin, differences: Differences) -> AssignedContract:
    event_type = members.pop("event_type", None)
    if event_type is None:
        differences.absent.append("/created_event/event_type")
    elif _text(event_type) != "created_event":
        differences.values["/created_event/event_type"] = event_type
    values = _read(AssignedContract, members, origin, differences, "/created_event", {"event_type"})
    return AssignedContract(event_type="created_event", **values)


def _read(
    struct: type[Struct],
    members: dict[str, Raw],
    origin: Origin,
    differences: Differences,
    prefix: str,
    done: set[str],
) -> dict[str, Any]:
    """Read the members that a Struct declares, and record all others."""
    values: dict[str, Any] = {}
    for member in members_of(struct):
        if member.name in done:
            continue
        raw = members.pop(member.wire, None)
        if raw is None:
            if member.required and not member.nullable:
                raise origin.error(member.wire, "the required member is missing")
            if member.required:
                values[member.name] = None
                differences.absent.append(pointer_to(prefix, member.wire))
        elif member.decode is None:
            values[member.name] = raw
        elif not member.nullable and bytes(raw) == _NULL:
            if member.required:
                raise origin.error(member.wire, "null where the contract requires a value")
            differences.values[pointer_to(prefix, member.wire)] = raw
        else:
            values[member.name] = _value(member, member.decode, raw, origin, differences, prefix)
    differences.values.update((pointer_to(prefix, name), raw) for name, raw in members.items())
    return values


def _value(
    member: Member, decode: Callable[[Raw], Any], raw: Raw, origin: Origin, differences: Differences, prefix: str
) -> Any:
    try:
        value = decode(raw)
    except msgspec.DecodeError as error:
        raise origin.error(member.wire, f"{error}; got {shorten(raw)}") from error
    if member.spell is None:
        return value
    try:
        spelled = member.spell(parse_timestamp(value)[0])
    except ValueError as error:
        raise origin.error(member.wire, str(error)) from error
    if spelled != value:
        differences.values[pointer_to(prefix, member.wire)] = raw
    return spelled


def object_of(raw: Raw | bytes, origin: Origin, what: str) -> dict[str, Raw]:
    """The members of a JSON object.

    Raises:
        DecodeError: it is none, or not UTF-8.
    """
    try:
        str(raw, "utf-8")  # msgspec does not look inside the texts that it keeps raw
        return _members.decode(raw)
    except UnicodeDecodeError as error:
        raise origin.error(what, f"not UTF-8: {error}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise origin.error(what, f"expected a JSON object ({error}), got {shorten(raw)}") from error


def _text(raw: Raw | None) -> str | None:
    try:
        return None if raw is None else msgspec.json.decode(raw, type=str)
    except msgspec.DecodeError:
        return None


def pointer_to(prefix: str, name: str) -> str:
    """The JSON pointer of a member below another pointer."""
    return f"{prefix}/{name.replace('~', '~0').replace('/', '~1')}"


def shorten(raw: Raw | bytes) -> str:
    """The beginning of a raw value, for messages; of an object or a list its size, as it may hold personal data."""
    text = bytes(raw)
    kind = {b"{": "an object", b"[": "a list"}.get(text[:1])
    return beginning(text) if kind is None else f"{kind} of {len(text)} bytes"


def beginning(text: bytes, most: int = 80) -> str:
    """The beginning of a text, for messages."""
    shown = text[: most + 1].decode("utf-8", "replace")
    return shown if len(shown) <= most else shown[:most] + "…"
