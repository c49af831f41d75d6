"""The participant's view of a world: transactions and reassignments in the ledger interface's own form."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from ledgerframes.sandbox.answering import blob
from ledgerframes.sandbox.event_filters import Seen, Selection, Subject, interfaces_of
from ledgerframes.sandbox.ledger_trees import Node, ScanEvent, nodes_of, read_transaction
from ledgerframes.sandbox.world import Update, World


class _Half(Struct):
    submitter: str
    source_synchronizer: str
    target_synchronizer: str
    unassign_id: str
    reassignment_counter: int
    contract_id: str = ""
    created_event: ScanEvent | None = None


class _Item(Struct):
    """A history item as far as it tells which kind it is."""

    record_time: str
    event: Raw = Raw()


_read_item: Final = msgspec.json.Decoder(_Item).decode
_read_half: Final = msgspec.json.Decoder(_Half).decode


@dataclass(frozen=True, slots=True)
class Ledger:
    """One participant's ledger over a world; its offsets number the updates as they were recorded."""

    world: World

    def transaction(self, update_id: str, selection: Selection, *, effects: bool) -> dict[str, Any] | None:
        """A transaction with the events that are selected (contract: Resources, Ledger transaction).

        Args:
            update_id: its id.
            selection: who asks, and for which events.
            effects: give creations and exercises as they happened, not creations and archivals in sum.

        Returns:
            None if there is no such transaction, or those who ask see nothing of it.
        """
        update = self.world.update(update_id)
        if update is None or bytes(_read_item(update.rendered).event):
            return None
        read = read_transaction(update.rendered)
        nodes = nodes_of(read, self.world.contracts.origins)
        if selection.anyone is None and not any(selection.parties(node.witnesses) for node in nodes):
            return None
        offset = self.world.offset(update_id)
        shown = (_shown(node, selection, offset=offset, effects=effects) for node in nodes)
        return {
            **self._frame(update, read.record_time),
            "workflowId": read.workflow_id,
            "effectiveAt": read.effective_at,
            "events": [event for event in shown if event is not None],
            "externalTransactionHash": update.external_hash,
        }

    def reassignment(self, update_id: str, selection: Selection) -> dict[str, Any] | None:
        """One half of a reassignment (contract: Resources, Reassignment); None as with `transaction`."""
        update = self.world.update(update_id)
        item = None if update is None else _read_item(update.rendered)
        if update is None or item is None or not bytes(item.event):
            return None
        half, offset = _read_half(item.event), self.world.offset(update_id)
        event = _assigned(half, selection, offset) if half.created_event else self._unassigned(half, selection, offset)
        if event is None:
            return None
        return {**self._frame(update, item.record_time), "workflowId": "", "events": [event]}

    def _frame(self, update: Update, record_time: str) -> dict[str, Any]:
        """What every update has; the ids of its trace are made from its own."""
        trace = blake2b(update.update_id.encode(), digest_size=24).hexdigest()
        return {
            "updateId": update.update_id,
            "commandId": "",
            "offset": self.world.offset(update.update_id),
            "synchronizerId": update.synchronizer_id,
            "traceContext": {"traceparent": f"00-{trace[:32]}-{trace[32:]}-01", "tracestate": None},
            "recordTime": record_time,
            "paidTrafficCost": len(update.rendered),
        }

    def _unassigned(self, half: _Half, selection: Selection, offset: int) -> dict[str, Any] | None:
        origin = self.world.contracts.origins.get(half.contract_id)
        stakeholders = (*origin.signatories, *origin.observers) if origin else (half.submitter,)
        template_id, package_name = (origin.template_id, origin.template.package_name) if origin else ("", "")
        seen = selection.look(Subject(template_id, package_name, interfaces_of(template_id)), stakeholders)
        if seen is None:
            return None
        value = {
            **_move(half),
            "contractId": half.contract_id,
            "templateId": template_id,
            "packageName": package_name,
            "assignmentExclusivity": None,
            "witnessParties": seen.parties,
            "offset": offset,
            "nodeId": 0,
        }
        return {"JsUnassignedEvent": {"value": value}}


def _shown(node: Node, selection: Selection, *, offset: int, effects: bool) -> dict[str, Any] | None:
    """An event as it is seen, if it is."""
    event = node.event
    through = event.interface_id if effects else None
    subject = Subject(event.template_id, event.package_name, interfaces_of(event.template_id, through))
    seen = selection.look(subject, node.witnesses if effects else node.stakeholders)
    if seen is None or not (effects or node.acs_delta):
        return None
    if event.event_type == "created_event":
        return {"CreatedEvent": _created(node, seen, offset)}
    if effects:
        return {"ExercisedEvent": _exercised(node, seen, offset)}
    return {"ArchivedEvent": _ended(node, seen, offset)}


def _ended(node: Node, seen: Seen, offset: int) -> dict[str, Any]:
    """An archival; with `_exercised`, what an exercise tells besides."""
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


def _created(node: Node, seen: Seen, offset: int) -> dict[str, Any]:
    event = node.event
    return {
        "offset": offset,
        "nodeId": node.node_id,
        "contractId": event.contract_id,
        "templateId": event.template_id,
        "contractKey": None,
        "contractKeyHash": "",
        "createArgument": event.create_arguments,
        "createdEventBlob": blob(event.contract_id) if seen.with_blob else "",
        "interfaceViews": [],
        "witnessParties": seen.parties,
        "signatories": event.signatories,
        "observers": event.observers,
        "createdAt": event.created_at,
        "packageName": event.package_name,
        "representativePackageId": event.template_id.partition(":")[0],
        "acsDelta": node.acs_delta,
    }


def _assigned(half: _Half, selection: Selection, offset: int) -> dict[str, Any] | None:
    assert half.created_event is not None
    event = half.created_event
    stakeholders = tuple(dict.fromkeys((*event.signatories, *event.observers)))
    seen = selection.look(
        Subject(event.template_id, event.package_name, interfaces_of(event.template_id)), stakeholders
    )
    if seen is None:
        return None
    node = Node(0, event, stakeholders, stakeholders, acs_delta=True)
    return {"JsAssignmentEvent": {**_move(half), "createdEvent": _created(node, seen, offset)}}


def _move(half: _Half) -> dict[str, Any]:
    return {
        "source": half.source_synchronizer,
        "target": half.target_synchronizer,
        "reassignmentId": half.unassign_id,
        "submitter": half.submitter,
        "reassignmentCounter": half.reassignment_counter,
    }
