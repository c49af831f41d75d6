"""Legs of reassignments: their history item, and which are in flight; the generator and the commands call it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NamedTuple

import msgspec

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract, created_event

OFFSET: Final = "000000000000000001"

_encode: Final = msgspec.json.Encoder().encode


class Leg(NamedTuple):
    """One leg of a reassignment, as the history will record it."""

    contract: Contract
    source: str
    target: str
    unassign_id: str
    counter: int
    submitter: str
    assigning: bool = False

    @property
    def synchronizer_id(self) -> str:
        """Where this leg is sequenced."""
        return self.target if self.assigning else self.source


def departure(contract: Contract, source: str, target: str, *, submitter: str, rng: Random) -> Leg:
    """The leg that takes a contract off its synchronizer, under a new id."""
    unassign_id, counter = f"00{rng.getrandbits(64):016x}", contract.counter + 1
    return Leg(contract, source, target, unassign_id, counter, submitter)


@dataclass(slots=True)
class ReassignmentState:
    """Which reassignments are in flight, by their unassign id.

    Attributes:
        open: the unassignments whose assignment has not been recorded yet.
        assigned: the ids whose assignment has been recorded.
        early_arrivals: the contracts whose assignment was recorded before its unassignment, until that follows.
    """

    open: dict[str, Leg] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    early_arrivals: set[str] = field(default_factory=set)

    def unassigned(self, leg: Leg) -> None:
        """Note that a contract has left its source."""
        self.open[leg.unassign_id] = leg

    def arrived(self, leg: Leg) -> None:
        """Note that a contract has come to its target."""
        self.open.pop(leg.unassign_id, None)
        self.assigned.add(leg.unassign_id)


def render_leg(leg: Leg, *, update_id: str, migration_id: int, record_time: int) -> bytes:
    """Write a reassignment item of a page of `POST /v2/updates`."""
    created = {"created_event": created_event(leg.contract, f"{update_id}:0")} if leg.assigning else {}
    event: dict[str, Any] = {
        "submitter": leg.submitter,
        "source_synchronizer": leg.source,
        "target_synchronizer": leg.target,
        "migration_id": migration_id,
        "unassign_id": leg.unassign_id,
        **created,
        "reassignment_counter": leg.counter,
    }
    if not leg.assigning:
        event["contract_id"] = leg.contract.contract_id
    item = {"update_id": update_id, "offset": OFFSET, "record_time": timestamps.exact(record_time), "event": event}
    return _encode(item)
