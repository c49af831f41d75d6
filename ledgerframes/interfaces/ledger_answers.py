"""Answers of the ledger interface: a transaction, a transaction tree, a reassignment, and their events.

Events come flat or under `value`; both are read alike. Members that a release does not send are None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from ledgerframes.interfaces.answers import Update, exact, members_of

T = TypeVar("T")


class TraceContext(Struct, frozen=True):
    """A link from the update to the trace of its submission."""

    traceparent: str | None = None
    tracestate: str | None = None


class LedgerEvent(Struct, frozen=True, kw_only=True, rename="camel"):
    """An event; which members are there depends on `kind` (contract: Resources, Ledger transaction; Events).

    Attributes:
        kind: the event's one key, such as `CreatedEvent` or `ExercisedTreeEvent`.
        node_id: the event's number in its transaction.
        last_descendant_node_id: an exercise's subtree goes up to here.
        created_event: of an assignment, the contract as it was created.
        other: all members of an event of a kind unknown here.
    """

    kind: str = ""
    offset: int | None = None
    node_id: int | None = None
    contract_id: str | None = None
    template_id: str | None = None
    package_name: str | None = None
    representative_package_id: str | None = None
    interface_id: str | None = None
    contract_key: Any = None
    contract_key_hash: str | None = None
    create_argument: Any = None
    created_event_blob: str | None = None
    created_at: str | None = None
    interface_views: list[Any] | None = None
    implemented_interfaces: list[str] | None = None
    witness_parties: list[str] | None = None
    signatories: list[str] | None = None
    observers: list[str] | None = None
    acting_parties: list[str] | None = None
    choice: str | None = None
    choice_argument: Any = None
    exercise_result: Any = None
    consuming: bool | None = None
    last_descendant_node_id: int | None = None
    acs_delta: bool | None = None
    source: str | None = None
    target: str | None = None
    reassignment_id: str | None = None
    unassign_id: str | None = None
    submitter: str | None = None
    reassignment_counter: int | None = None
    assignment_exclusivity: str | None = None
    created_event: LedgerEvent | None = None
    other: Any = None


class LedgerTransaction(Struct, frozen=True, kw_only=True, rename="camel"):
    """A transaction as the participant shows it (contract: Resources, Ledger transaction).

    Attributes:
        offset: the participant's own; not comparable between participants.
        transaction_hash: what `update_by_hash` takes; Canton states it since 3.6.
        paid_traffic_cost: in bytes of the synchronizer's traffic.
    """

    update_id: str
    command_id: str | None = None
    workflow_id: str | None = None
    effective_at: str | None = None
    record_time: str | None = None
    offset: int | None = None
    synchronizer_id: str | None = None
    trace_context: TraceContext | None = None
    transaction_hash: str | None = None
    external_transaction_hash: str | None = None
    paid_traffic_cost: int | None = None
    events: list[LedgerEvent] = []


class TransactionTree(Struct, frozen=True, kw_only=True, rename="camel"):
    """A transaction with its events as a tree (contract: Resources, Transaction tree).

    Attributes:
        events_by_id: by node id as text.
        root_node_ids: where the tree begins; None on releases that do not state it.
    """

    update_id: str
    command_id: str | None = None
    workflow_id: str | None = None
    effective_at: str | None = None
    record_time: str | None = None
    offset: int | None = None
    synchronizer_id: str | None = None
    trace_context: TraceContext | None = None
    events_by_id: dict[str, LedgerEvent] = {}
    root_node_ids: list[int] | None = None


class Reassignment(Struct, frozen=True, kw_only=True, rename="camel"):
    """A reassignment as the participant shows it (contract: Resources, Reassignment)."""

    update_id: str
    command_id: str | None = None
    workflow_id: str | None = None
    record_time: str | None = None
    offset: int | None = None
    synchronizer_id: str | None = None
    trace_context: TraceContext | None = None
    paid_traffic_cost: int | None = None
    events: list[LedgerEvent] = []


_KINDS: Final = frozenset(
    {
        "CreatedEvent", "ArchivedEvent", "ExercisedEvent", "CreatedTreeEvent", "ExercisedTreeEvent",
        "JsAssignmentEvent", "JsUnassignedEvent",
    }
)  # fmt: skip

_NULL: Final = b"null"
_any: Final = msgspec.json.Decoder(float_hook=exact)


def read_transaction(body: bytes) -> Update[LedgerTransaction]:
    """Read the answer of transaction-by-id, or of update-by-id, which replaces it."""
    members = members_of(body)
    if "update" in members:
        # The successor of transaction-by-id wraps the transaction once more.
        update = members_of(_member(members, "update"))
        return _answer(bare(_member(update, "Transaction")), LedgerTransaction)
    return _answer(_member(members, "transaction"), LedgerTransaction)


def read_update(body: bytes) -> Update[LedgerTransaction | Reassignment]:
    """Read the answer of update-by-id, or of transaction-by-id, which replaces it."""
    members = members_of(body)
    update = {} if "transaction" in members else members_of(_member(members, "update"))
    if "Reassignment" in update:
        return _answer(bare(bytes(update["Reassignment"])), Reassignment)
    return read_transaction(body)


def creation_members(created: bytes | Raw) -> dict[str, Raw]:
    """The members of a contract's creation, which some releases write under its kind."""
    members = members_of(created)
    return members_of(next(iter(members.values()))) if len(members) == 1 else members


def reads_update(kind: type[T], name: str) -> Callable[[bytes], Update[T]]:
    """A reader of answers that have an update in a member."""
    return lambda body: _answer(_member(members_of(body), name), kind)


def _member(members: dict[str, Raw], name: str) -> bytes:
    if bytes(members.get(name, _NULL)) == _NULL:
        raise msgspec.ValidationError(f"the answer has no {name!r} but {str(sorted(members))[:80]}")
    return bytes(members[name])


def bare(raw: bytes) -> bytes:
    """An update's JSON without the `value` that it may lie under."""
    wrapped = members_of(raw)
    return _member(wrapped, "value") if "value" in wrapped else raw


def _answer(raw: bytes, kind: type[T]) -> Update[T]:
    members = _any.decode(raw)
    for name in ("events", "eventsById") if isinstance(members, dict) else ():
        events = members.pop(name, None) or None
        if isinstance(events, list):
            members[name] = [_flat(event) for event in events]
        elif isinstance(events, dict):
            members[name] = {node: _flat(event) for node, event in events.items()}
        elif events is not None:
            members[name] = events  # of another kind, which is refused
    return Update(raw, msgspec.convert(members, kind))


def _flat(event: Any) -> dict[str, Any]:
    """One event as a flat object with its kind among the members."""
    # The ledger names the kind of an event by the only key of the object around it.
    if not isinstance(event, dict) or len(event) != 1:
        raise msgspec.ValidationError(f"an event is an object with one key, not {str(event)[:80]}")
    kind, body = next(iter(event.items()))
    # A kind that this version does not know is kept as sent, so that a newer release can be read.
    if kind not in _KINDS or not isinstance(body, dict):
        return {"kind": kind, "other": body["value"] if isinstance(body, dict) and body.keys() == {"value"} else body}
    # Unassignments and tree events come under `value`, the other kinds flat.
    wrapped = body.get("value")
    members = wrapped if isinstance(wrapped, dict) else body
    created = members.get("createdEvent")
    if isinstance(created, dict):  # a creation, which some releases write under its kind
        members = {**members, "createdEvent": _flat(created if len(created) == 1 else {"CreatedEvent": created})}
    return {**members, "kind": kind}
