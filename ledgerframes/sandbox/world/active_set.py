"""The contracts that were active at a time, by replay of the history; the scan's snapshot routes use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import World


class _Event(Struct):
    event_type: str
    contract_id: str | None = None
    consuming: bool | None = None


class _Created(Struct):
    contract_id: str
    template_id: str
    package_name: str
    create_arguments: Raw
    created_at: str
    signatories: list[str]
    observers: list[str]


class _Item(Struct):
    update_id: str
    migration_id: int = 0
    root_event_ids: list[str] = []
    events_by_id: dict[str, Raw] = {}


_item: Final = msgspec.json.Decoder(_Item).decode
_event: Final = msgspec.json.Decoder(_Event).decode
_created: Final = msgspec.json.Decoder(_Created).decode


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
    event: _Created
    event_id: str
    update_id: str
    migration_id: int

    @property
    def template(self) -> str:
        """`package-name:Module:Entity`."""
        return f"{self.event.package_name}:{self.event.template_id.partition(':')[2]}"

    def record(self, migration_id: int) -> dict[str, Any]:
        """It as scan sends it, with its update's id if it was created in that migration, the snapshot's."""
        known = {"created_in_update_id": self.update_id} if self.migration_id == migration_id else {}
        return {**msgspec.structs.asdict(self.event), **known}

    def record_v0(self) -> dict[str, Any]:
        """It as scan sent it under /v0: with an event id, prefixed with #, instead of the update id."""
        return {"event_type": "created_event", "event_id": f"#{self.event_id}", **msgspec.structs.asdict(self.event)}

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
        item = _item(update.rendered)
        for event_id, raw in item.events_by_id.items():
            event = _event(raw)
            if event.event_type == "created_event":
                row += 1
                created = _created(raw)
                if party and party not in (*created.signatories, *created.observers):
                    continue
                active[created.contract_id] = Active(row, created, event_id, item.update_id, item.migration_id)
        for raw in item.events_by_id.values():
            event = _event(raw)
            if event.event_type == "exercised_event" and event.consuming:
                active.pop(event.contract_id or "", None)
    return list(active.values())
