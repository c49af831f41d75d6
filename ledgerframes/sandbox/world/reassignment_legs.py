"""Halves of reassignments: their history item, and the book of what is under way; generator and commands use it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract, created_event

OFFSET: Final = "000000000000000001"

_encode: Final = msgspec.json.Encoder().encode


class Leg(NamedTuple):
    """One half of a reassignment, as it will stand in the history."""

    assigning: bool
    contract: Contract
    source: str
    target: str
    unassign_id: str
    counter: int
    submitter: str

    @property
    def synchronizer_id(self) -> str:
        """Where this half is sequenced."""
        return self.target if self.assigning else self.source


@dataclass(slots=True)
class ReassignmentBook:
    """Which reassignments are under way, by their unassign id.

    Attributes:
        open: the unassignments whose assignment has not been recorded yet.
        assigned: the ids whose assignment has been recorded.
        half_told: the contracts whose assignment was recorded before its unassignment, until that follows.
    """

    open: dict[str, Leg] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    half_told: set[str] = field(default_factory=set)

    def unassigned(self, half: Leg) -> None:
        """Note that a contract has left its source."""
        self.open[half.unassign_id] = half

    def arrived(self, half: Leg) -> None:
        """Note that a contract has come to its target."""
        self.open.pop(half.unassign_id, None)
        self.assigned.add(half.unassign_id)


def render_half(half: Leg, *, update_id: str, migration_id: int, record_time: int) -> bytes:
    """Write a reassignment item of a page of `POST /v2/updates`."""
    created = {"created_event": created_event(half.contract, f"{update_id}:0")} if half.assigning else {}
    event: dict[str, Any] = {
        "submitter": half.submitter,
        "source_synchronizer": half.source,
        "target_synchronizer": half.target,
        "migration_id": migration_id,
        "unassign_id": half.unassign_id,
        **created,
        "reassignment_counter": half.counter,
    }
    if not half.assigning:
        event["contract_id"] = half.contract.contract_id
    item = {"update_id": update_id, "offset": OFFSET, "record_time": timestamps.exact(record_time), "event": event}
    return _encode(item)
