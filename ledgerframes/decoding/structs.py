"""Typed Structs for scan's update items in the contract's canonical form; they refuse any other form.

Members that fit these Structs become columns unchanged; the others are converted by `lenient`, which keeps the
difference. Payloads stay raw bytes. Class variables list what a kind of event lacks, so that a column can be read from
all events alike. `members_of` lists the members by which `lenient` reads an item and `rebuild` writes it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from ledgerframes.timestamps import format_timestamp, format_trimmed

#: Stands for a JSON member that an event lacks; no JSON value is that short.
NO_JSON: Final = b""

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class CreatedEvent(Struct, forbid_unknown_fields=True, tag_field="event_type", tag="created_event", gc=False):
    """A created event of a transaction tree (contract: Scan update history items)."""

    event_id: str
    contract_id: str
    template_id: str
    package_name: str
    payload: Raw = field(name="create_arguments")
    created_at: str
    signatories: list[str]
    observers: list[str]

    event_type: ClassVar[str] = "created_event"
    choice: ClassVar[None] = None
    child_event_ids: ClassVar[None] = None
    exercise_result: ClassVar[bytes] = NO_JSON
    consuming: ClassVar[None] = None
    acting_parties: ClassVar[None] = None
    interface_id: ClassVar[None] = None


class ExercisedEvent(Struct, forbid_unknown_fields=True, tag_field="event_type", tag="exercised_event", gc=False):
    """An exercised event of a transaction tree; `consuming` ends the contract."""

    event_id: str
    contract_id: str
    template_id: str
    package_name: str
    choice: str
    payload: Raw = field(name="choice_argument")
    child_event_ids: list[str]
    exercise_result: Raw
    consuming: bool
    acting_parties: list[str]
    interface_id: str | None

    event_type: ClassVar[str] = "exercised_event"
    created_at: ClassVar[None] = None
    signatories: ClassVar[None] = None
    observers: ClassVar[None] = None


# Releases may add kinds of events, and a page with one must not stop a sync.
class OtherEvent(Struct, kw_only=True, gc=False):
    """An event of a kind that this version does not know; `extra` has all its members."""

    event_type: str
    event_id: str
    contract_id: str | None = None
    template_id: str | None = None
    package_name: str | None = None
    choice: str | None = None
    child_event_ids: list[str] | None = None
    consuming: bool | None = None
    acting_parties: list[str] | None = None
    interface_id: str | None = None

    payload: ClassVar[bytes] = NO_JSON
    exercise_result: ClassVar[bytes] = NO_JSON
    created_at: ClassVar[None] = None
    signatories: ClassVar[None] = None
    observers: ClassVar[None] = None


Event = CreatedEvent | ExercisedEvent | OtherEvent


class AssignedContract(Struct, forbid_unknown_fields=True, gc=False):
    """The created event inside an assignment; its event id differs between servers."""

    event_type: Literal["created_event"]
    event_id: str
    contract_id: str
    template_id: str
    package_name: str
    payload: Raw = field(name="create_arguments")
    created_at: str
    signatories: list[str]
    observers: list[str]


class ReassignmentEvent(Struct, forbid_unknown_fields=True, gc=False):
    """An assignment if it has `created_event`, an unassignment if it has `contract_id`."""

    submitter: str
    source_synchronizer: str
    target_synchronizer: str
    migration_id: Int64
    reassignment_counter: Int64
    unassign_id: str | UnsetType = UNSET
    contract_id: str | UnsetType = UNSET
    created_event: AssignedContract | UnsetType = UNSET


class Transaction(Struct, forbid_unknown_fields=True, gc=False):
    """A transaction, with the columns of `updates`."""

    update_id: str
    migration_id: Int64
    workflow_id: str
    record_time: str
    synchronizer_id: str
    effective_at: str
    root_event_ids: list[str]
    events_by_id: dict[str, CreatedEvent | ExercisedEvent]
    offset: str | UnsetType = UNSET
    external_transaction_hash: str | UnsetType = UNSET


class Reassignment(Struct, forbid_unknown_fields=True, gc=False):
    """One leg of a reassignment, with the columns of `updates` and `reassignments`."""

    update_id: str
    record_time: str
    event: ReassignmentEvent
    offset: str | UnsetType = UNSET


class Item(Struct, forbid_unknown_fields=True, gc=False):
    """A transaction or a reassignment; only a reassignment has `event`."""

    update_id: str
    record_time: str
    migration_id: Int64 | UnsetType = UNSET
    workflow_id: str | UnsetType = UNSET
    synchronizer_id: str | UnsetType = UNSET
    effective_at: str | UnsetType = UNSET
    root_event_ids: list[str] | UnsetType = UNSET
    events_by_id: dict[str, CreatedEvent | ExercisedEvent] | UnsetType = UNSET
    offset: str | UnsetType = UNSET
    external_transaction_hash: str | UnsetType = UNSET
    event: ReassignmentEvent | UnsetType = UNSET


class Page(Struct):
    """The answer of POST /v2/updates."""

    transactions: list[Item]


# Real servers pad these two to six digits and trim `created_at`; another spelling is kept in `extra`.
_SPELLINGS: Final = {"record_time": format_timestamp, "effective_at": format_timestamp, "created_at": format_trimmed}


@dataclass(frozen=True)
class Member:
    """A declared member of a Struct: how to read and write it, and what may be missing."""

    name: str
    wire: str
    required: bool
    nullable: bool
    decode: Callable[[Raw], Any] | None  # None: kept raw
    spell: Callable[[int], str] | None  # for a time, its canonical spelling


@cache
def members_of(struct: type[Struct]) -> tuple[Member, ...]:
    """The members of a Struct, in the order of its declaration."""
    return tuple(
        Member(
            info.name,
            info.encode_name,
            info.required,
            NoneType in get_args(info.type),
            None if info.type is Raw else msgspec.json.Decoder(info.type).decode,
            _SPELLINGS.get(info.encode_name),
        )
        for info in msgspec.structs.fields(struct)
    )
