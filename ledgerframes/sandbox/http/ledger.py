"""The participant's view of a world: transactions, reassignments and trees in the ledger interface's own form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from ledgerframes.sandbox.commands.event_filters import (
    Seen,
    Selection,
    Subject,
    everything,
    interface_views,
    interfaces_of,
)
from ledgerframes.sandbox.http.routes import ServerRequest
from ledgerframes.sandbox.world.contracts import Origin, blob
from ledgerframes.sandbox.world.views import Item, ScanEvent, ScanLeg, read_item
from ledgerframes.sandbox.world.world import Update


@dataclass(slots=True)
class Node:
    """One event in its place.

    Attributes:
        node_id: its number in preorder.
        last: the number of the last event below it; its own if there is none.
        stakeholders: signatories and observers of its contract.
        witnesses: who sees it: those it concerns, and those whom an event above it concerns.
        acs_delta: it changes the active contracts after the transaction: no contract that comes and goes within it.
    """

    node_id: int
    event: ScanEvent
    stakeholders: tuple[str, ...]
    witnesses: tuple[str, ...]
    last: int = 0
    acs_delta: bool = False


def nodes_of(transaction: Item, origins: Mapping[str, Origin]) -> list[Node]:
    """The creations and exercises of a transaction in preorder; events that no root reaches are left out.

    Args:
        transaction: as scan has it.
        origins: signatories and observers of every contract that it may act on.
    """
    walked = list(_walk(transaction, origins))
    _close(walked)
    events = [node.event for node, _ in walked]
    created = {event.contract_id for event in events if event.event_type == "created_event"}
    consumed = {event.contract_id for event in events if event.consuming}
    for node, _ in walked:
        other = consumed if node.event.event_type == "created_event" else created
        changes = node.event.event_type == "created_event" or node.event.consuming
        # Contracts that a transaction both creates and consumes leave the active contracts unchanged.
        node.acs_delta = changes and node.event.contract_id not in other
    return [node for node, _ in walked if node.event.event_type in ("created_event", "exercised_event")]


def _walk(transaction: Item, origins: Mapping[str, Origin]) -> Iterator[tuple[Node, int]]:
    """Every event that a root reaches, with the number of the one above it, or -1."""
    # A stack instead of recursion, because trees can be deeper than Python's limit.
    waiting: list[tuple[str, int, tuple[str, ...]]] = [
        (event_id, -1, ()) for event_id in reversed(transaction.root_event_ids)
    ]
    number = 0
    while waiting:
        event_id, parent, above = waiting.pop()
        event = transaction.events_by_id[event_id]
        stakeholders, informed = _concerned(event, origins.get(event.contract_id))
        node = Node(number, event, stakeholders, tuple(dict.fromkeys((*above, *informed))), number)
        yield node, parent
        waiting.extend((child, number, node.witnesses) for child in reversed(event.child_event_ids))
        number += 1


def _concerned(event: ScanEvent, origin: Origin | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stakeholders of an event's contract, and the parties concerned by the event itself."""
    if event.event_type == "created_event":
        stakeholders = tuple(dict.fromkeys((*event.signatories, *event.observers)))
        return stakeholders, stakeholders
    signatories, observers = (origin.signatories, origin.observers) if origin else (tuple(event.acting_parties), ())
    stakeholders = tuple(dict.fromkeys((*signatories, *observers)))
    # An exercise that ends a contract concerns its observers too.
    return stakeholders, (*(stakeholders if event.consuming else signatories), *event.acting_parties)


def _close(walked: list[tuple[Node, int]]) -> None:
    """Set the number of the last event below every event."""
    for node, parent in reversed(walked):
        if parent >= 0:
            above = walked[parent][0]
            above.last = max(above.last, node.last)


class Ledger:
    """One participant's ledger over a world; its offsets number the updates as they were recorded.

    Args:
        request: whom to answer: newer releases have more members.
    """

    def __init__(self, request: ServerRequest) -> None:
        self.world = request.world
        self.newest = request.server.newest

    def transaction(self, update_id: str, selection: Selection, *, effects: bool) -> dict[str, Any] | None:
        """A transaction with the events that are selected (contract: Resources, Ledger transaction).

        Args:
            update_id: its id.
            selection: who asks, and for which events.
            effects: return creations and exercises as they happened, not creations and archivals in sum.

        Returns:
            None if there is no such transaction, or the requesting parties see no part of it.
        """
        update = self.world.update(update_id)
        read = None if update is None else read_item(update.rendered)
        if update is None or read is None or read.event is not None:
            return None
        nodes = nodes_of(read, self.world.contracts.origins)
        # For callers who see no part of it, a transaction is not found.
        if selection.anyone is None and not any(selection.parties(node.witnesses) for node in nodes):
            return None
        offset = self.world.offset(update_id)
        shown = (_shown(node, selection, offset=offset, effects=effects) for node in nodes)
        return {
            **self._frame(update, read.record_time, selection),
            "workflowId": read.workflow_id,
            "effectiveAt": read.effective_at,
            "events": [event for event in shown if event is not None],
            "externalTransactionHash": update.external_hash,
            **({"transactionHash": transaction_hash(update)} if self.newest else {}),
        }

    def reassignment(self, update_id: str, selection: Selection) -> dict[str, Any] | None:
        """One leg of a reassignment (contract: Resources, Reassignment); None as with `transaction`."""
        update = self.world.update(update_id)
        item = None if update is None else read_item(update.rendered)
        if update is None or item is None or item.event is None:
            return None
        leg, offset = item.event, self.world.offset(update_id)
        event = _assigned(leg, selection, offset) if leg.created_event else self.unassigned(leg, selection, offset)
        if event is None:
            return None
        return {**self._frame(update, item.record_time, selection), "events": [event]}

    def composite(self, update_ids: list[str], selection: Selection | None) -> dict[str, Any]:
        """Legs that one submission recorded, in the frame of the first; without a selection, without events."""
        shown = [] if selection is None else [self.reassignment(update_id, selection) for update_id in update_ids]
        update = self.world.update(update_ids[0])
        assert update is not None
        frame = self._frame(update, read_item(update.rendered).record_time, everything((), anyone=True))
        return {**frame, "events": [event for update in shown if update is not None for event in update["events"]]}

    def tree(self, update_id: str, selection: Selection) -> dict[str, Any]:
        """A transaction's tree, limited to the selection (contract: Resources, Transaction tree)."""
        update = self.world.update(update_id)
        assert update is not None
        read, offset = read_item(update.rendered), self.world.offset(update_id)
        nodes, roots, events, beyond = nodes_of(read, self.world.contracts.origins), [], {}, 0
        for node in nodes:
            shown = _shown(node, selection, offset=offset, effects=True)
            if shown is None:
                continue
            ((kind, event),) = shown.items()
            events[str(node.node_id)] = {kind.replace("Event", "TreeEvent"): {"value": event}}
            if node.node_id >= beyond:
                roots.append(node.node_id)
                beyond = node.last + 1
        frame = self._frame(update, read.record_time, selection)
        del frame["paidTrafficCost"]
        about = {"workflowId": read.workflow_id, "effectiveAt": read.effective_at}
        return {**frame, **about, "eventsById": events, "rootNodeIds": roots}

    def _frame(self, update: Update, record_time: str, selection: Selection) -> dict[str, Any]:
        """The members of every update; its trace ids derive from its own, its command is its submitters' to see."""
        submission = self.world.submitted.get(update.update_id)
        mine = submission is not None and bool(selection.parties(submission.change_id.submitters))
        trace = blake2b(update.update_id.encode(), digest_size=24).hexdigest()
        return {
            "updateId": update.update_id,
            "commandId": submission.change_id.command_id if submission and mine else "",
            "workflowId": submission.workflow_id if submission else "",
            "offset": self.world.offset(update.update_id),
            "synchronizerId": update.synchronizer_id,
            # `tracestate` is null, as on real servers.
            "traceContext": {"traceparent": f"00-{trace[:32]}-{trace[32:]}-01", "tracestate": None},
            "recordTime": record_time,
            "paidTrafficCost": len(update.rendered),
        }

    def unassigned(self, leg: ScanLeg, selection: Selection, offset: int) -> dict[str, Any] | None:
        """The event of an unassignment, if it is seen."""
        origin = self.world.contracts.origins.get(leg.contract_id)
        stakeholders = (*origin.signatories, *origin.observers) if origin else (leg.submitter,)
        template_id, package_name = (origin.template_id, origin.template.package_name) if origin else ("", "")
        seen = selection.seen(Subject(template_id, package_name, interfaces_of(template_id)), stakeholders)
        if seen is None:
            return None
        value = {
            **move(leg),
            "contractId": leg.contract_id,
            "templateId": template_id,
            "packageName": package_name,
            "assignmentExclusivity": None,
            "witnessParties": seen.parties,
            "offset": offset,
            "nodeId": 0,
        }
        # Real participants send this event under `value`, and an assignment flat.
        return {"JsUnassignedEvent": {"value": value}}


def transaction_hash(update: Update) -> str:
    """The hash of a transaction: the one that was signed outside, if it was, or else one that is made from its id."""
    return update.external_hash or blake2b(update.update_id.encode(), digest_size=32).hexdigest()


def _shown(node: Node, selection: Selection, *, offset: int, effects: bool) -> dict[str, Any] | None:
    """An event as it is seen, if it is."""
    event = node.event
    subject = subject_of(event, through=event.interface_id if effects else None)
    seen = selection.seen(subject, node.witnesses if effects else node.stakeholders)
    if seen is None or not (effects or node.acs_delta):
        return None
    if event.event_type == "created_event":
        return {"CreatedEvent": created(node, seen, offset)}
    if effects:
        return {"ExercisedEvent": _exercised(node, seen, offset)}
    return {"ArchivedEvent": _ended(node, seen, offset)}


def _ended(node: Node, seen: Seen, offset: int) -> dict[str, Any]:
    """An archival; with `_exercised`, the additional members of an exercise."""
    return {
        "offset": offset,
        "nodeId": node.node_id,
        "contractId": node.event.contract_id,
        "templateId": node.event.template_id,
        "packageName": node.event.package_name,
        "witnessParties": seen.parties,
        "implementedInterfaces": [],
    }


def _exercised(node: Node, seen: Seen, offset: int) -> dict[str, Any]:
    return {
        **_ended(node, seen, offset),
        "interfaceId": node.event.interface_id,
        "choice": node.event.choice,
        "choiceArgument": node.event.choice_argument,
        "actingParties": node.event.acting_parties,
        "consuming": node.event.consuming,
        "lastDescendantNodeId": node.last,
        "exerciseResult": node.event.exercise_result,
        "acsDelta": node.acs_delta,
    }


def created(node: Node, seen: Seen, offset: int) -> dict[str, Any]:
    """A creation."""
    event = node.event
    return {
        "offset": offset,
        "nodeId": node.node_id,
        "contractId": event.contract_id,
        "templateId": event.template_id,
        # No template of Splice has keys.
        "contractKey": None,
        "contractKeyHash": "",
        "createArgument": event.create_arguments,
        "createdEventBlob": blob(event.contract_id) if seen.with_blob else "",
        "interfaceViews": interface_views(seen.views, event.template_id.partition(":")[2], event.create_arguments),
        "witnessParties": seen.parties,
        "signatories": event.signatories,
        "observers": event.observers,
        "createdAt": event.created_at,
        "packageName": event.package_name,
        "representativePackageId": event.template_id.partition(":")[0],
        "acsDelta": node.acs_delta,
    }


def _assigned(leg: ScanLeg, selection: Selection, offset: int) -> dict[str, Any] | None:
    node = arrival(leg)
    seen = selection.seen(subject_of(node.event), node.stakeholders)
    if seen is None:
        return None
    return {"JsAssignmentEvent": {**move(leg), "createdEvent": created(node, seen, offset)}}


def subject_of(event: ScanEvent, *, through: str | None = None) -> Subject:
    """An event as filters look at it."""
    return Subject(event.template_id, event.package_name, interfaces_of(event.template_id, through))


def arrival(leg: ScanLeg) -> Node:
    """The creation that an assignment carries."""
    event = leg.created_event
    assert event is not None
    stakeholders = tuple(dict.fromkeys((*event.signatories, *event.observers)))
    return Node(0, event, stakeholders, stakeholders, acs_delta=True)


def move(leg: ScanLeg) -> dict[str, Any]:
    """The members that both legs of a reassignment share."""
    return {
        "source": leg.source_synchronizer,
        "target": leg.target_synchronizer,
        "reassignmentId": leg.unassign_id,
        "submitter": leg.submitter,
        "reassignmentCounter": leg.reassignment_counter,
    }
