"""The contracts that were active at a time, by replay of the history; the scan's snapshot routes use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from ledgerframes.sandbox.world.amounts import units
from ledgerframes.sandbox.world.items import ScanEvent, read_item
from ledgerframes.sandbox.world.templates import COIN, LOCKED_COIN
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import World

_MEMBERS: Final = (
    "contract_id", "template_id", "package_name", "create_arguments", "created_at", "signatories", "observers",
)  # fmt: skip
_COINS: Final = frozenset(f"{template.package_name}:{template.entity}" for template in (COIN, LOCKED_COIN))


class Coin(NamedTuple):
    """The terms of a coin contract, locked or not.

    Attributes:
        units: its initial amount in ten-billionths.
        round_number: the round of its creation.
        rate: holding fee a round, as decimal text.
    """

    owner: str
    units: int
    round_number: int
    rate: str
    locked: bool


@dataclass(frozen=True, slots=True)
class Active:
    """A contract that was active.

    Attributes:
        row: the number of its creation among all creations, from 1.
        event: its creation's members, arguments as they were sent.
        event_id: of its creation.
        update_id: of the update that created it.
        migration_id: of that update.
    """

    row: int
    event: ScanEvent
    event_id: str
    update_id: str
    migration_id: int

    @property
    def template(self) -> str:
        """`package-name:Module:Entity`."""
        return f"{self.event.package_name}:{self.event.template_id.partition(':')[2]}"

    def coin(self) -> Coin | None:
        """Its terms as a coin; None if it is none."""
        if self.template not in _COINS:
            return None
        arguments = msgspec.json.decode(self.event.create_arguments)
        payload = arguments.get("amulet", arguments)
        terms = payload["amount"]
        amount, number = units(terms["initialAmount"]), int(terms["createdAt"]["number"])
        return Coin(payload["owner"], amount, number, terms["ratePerRound"]["rate"], "amulet" in arguments)

    def record(self, migration_id: int) -> dict[str, Any]:
        """It as scan sends it, with its update's id if it was created in that migration, the snapshot's."""
        known = {"created_in_update_id": self.update_id} if self.migration_id == migration_id else {}
        return {**self._members(), **known}

    def record_v0(self) -> dict[str, Any]:
        """It as scan sent it under /v0: with an event id, prefixed with #, instead of the update id."""
        return {"event_type": "created_event", "event_id": f"#{self.event_id}", **self._members()}

    def _members(self) -> dict[str, Any]:
        return {name: getattr(self.event, name) for name in _MEMBERS}

    @property
    def stakeholders(self) -> frozenset[str]:
        """The parties that sign or observe it."""
        return frozenset((*self.event.signatories, *self.event.observers))


def active_at(world: World, at: Cursor) -> list[Active]:
    """The contracts that transactions had created and not consumed up to and including `at`, in the order of creation.

    A contract that only an assignment shows is left out, as real servers do, and so is one that the scan's party is no
    stakeholder of.
    """
    party = world.scan_party
    active: dict[str, Active] = {}
    row = 0
    for update in world.updates[: world.position(at)]:
        item = read_item(update.rendered)
        for event_id, event in item.events_by_id.items():
            if event.event_type == "created_event":
                row += 1
                if not party or party in (*event.signatories, *event.observers):
                    active[event.contract_id] = Active(row, event, event_id, item.update_id, item.migration_id)
        for event in item.events_by_id.values():
            if event.event_type == "exercised_event" and event.consuming:
                active.pop(event.contract_id, None)
    return list(active.values())
