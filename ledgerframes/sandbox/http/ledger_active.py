"""The contracts that were active at an offset as a participant shows them, by replay; its page route calls this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ledgerframes.sandbox.commands.event_filters import Selection
from ledgerframes.sandbox.http.ledger import Ledger, Node, arrival, created, move, nodes_of, subject_of
from ledgerframes.sandbox.world.items import ScanLeg, read_item


@dataclass(slots=True)
class _Active:
    """A contract on a synchronizer, with the offset of the update that brought it there."""

    node: Node
    offset: int
    synchronizer_id: str
    workflow_id: str
    counter: int = 0


@dataclass(slots=True)
class _Replay:
    """Contracts that are active, that have left but not arrived, and that arrived before they were seen leaving."""

    active: dict[str, _Active] = field(default_factory=dict)
    left: dict[str, tuple[_Active, ScanLeg, int]] = field(default_factory=dict)
    early: dict[str, tuple[_Active, ScanLeg]] = field(default_factory=dict)

    def end(self, contract_id: str) -> None:
        """A consuming exercise."""
        self.active.pop(contract_id, None)
        for unassign_id in [key for key, (one, _) in self.early.items() if one.node.event.contract_id == contract_id]:
            del self.early[unassign_id]

    def leave(self, leg: ScanLeg, offset: int) -> None:
        """An unassignment."""
        if leg.unassign_id in self.early:
            arrived, _ = self.early.pop(leg.unassign_id)
            self.active[leg.contract_id] = arrived
        elif leg.contract_id in self.active:
            self.left[leg.unassign_id] = (self.active.pop(leg.contract_id), leg, offset)

    def arrive(self, leg: ScanLeg, offset: int) -> None:
        """An assignment."""
        node = arrival(leg)
        arrived = _Active(node, offset, leg.target_synchronizer, "", leg.reassignment_counter)
        if self.left.pop(leg.unassign_id, None) is None:
            self.early[leg.unassign_id] = (arrived, leg)
        else:
            self.active[node.event.contract_id] = arrived


def active_entries(ledger: Ledger, selection: Selection, at: int) -> list[dict[str, Any]]:
    """The selected entries of `POST /v2/state/active-contracts-page` at an offset."""
    return [
        {"workflowId": one.workflow_id, "contractEntry": {kind: content}}
        for one, kind, content in _entries(_replay(ledger, at), ledger, selection)
    ]


def _entries(replay: _Replay, ledger: Ledger, selection: Selection) -> Iterator[tuple[_Active, str, dict[str, Any]]]:
    for one in replay.active.values():
        event = _created(one, selection)
        if event is not None:
            place = {"synchronizerId": one.synchronizer_id, "reassignmentCounter": one.counter}
            yield one, "JsActiveContract", {"createdEvent": event, **place}
    for one, leg, offset in replay.left.values():
        event, left = _created(one, selection), ledger.unassigned(leg, selection, offset)
        if event is not None and left is not None:
            members = {"createdEvent": event, "unassignedEvent": left["JsUnassignedEvent"]["value"]}
            yield one, "JsIncompleteUnassigned", members
    for one, leg in replay.early.values():
        event = _created(one, selection)
        if event is not None:
            yield one, "JsIncompleteAssigned", {"assignedEvent": {**move(leg), "createdEvent": event}}


def _replay(ledger: Ledger, at: int) -> _Replay:
    replay, world = _Replay(), ledger.world
    for offset, update_id in enumerate(world.recorded(0, at), 1):
        update = world.update(update_id)
        assert update is not None
        item = read_item(update.rendered)
        if item.event is not None:
            (replay.arrive if item.event.created_event else replay.leave)(item.event, offset)
            continue
        for node in nodes_of(item, world.contracts.origins):
            if node.event.event_type == "created_event":
                replay.active[node.event.contract_id] = _Active(node, offset, update.synchronizer_id, item.workflow_id)
            elif node.event.consuming:
                replay.end(node.event.contract_id)
    return replay


def _created(one: _Active, selection: Selection) -> dict[str, Any] | None:
    """The creation of a contract, if it is seen."""
    seen = selection.seen(subject_of(one.node.event), one.node.stakeholders)
    return None if seen is None else created(one.node, seen, one.offset)
