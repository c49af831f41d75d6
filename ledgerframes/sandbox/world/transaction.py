"""One transaction being written: activities create and exercise in preorder, the generator renders the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from ledgerframes.sandbox.generator.simulation import Simulation
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract, Effects, Template, created_event

Event = dict[str, Any]

_LEAF_LIMIT: Final = 10
_encode: Final = msgspec.json.Encoder().encode


class Transaction:
    """A transaction tree in the making; calls come in preorder, so the event numbers do too.

    Args:
        sim: the ledger it acts on.
        update_id: its id, the first half of its event ids.
        synchronizer_id: where it is sequenced; new contracts are assigned there.
        effective: its ledger effective time in microseconds.
        effects: where contracts come and go; without it in the world, at once.
    """

    def __init__(
        self, sim: Simulation, *, update_id: str, synchronizer_id: str, effective: int, effects: Effects | None = None
    ) -> None:
        self.sim = sim
        self._effects = effects or sim
        self.update_id = update_id
        self.synchronizer_id = synchronizer_id
        self.effective = effective
        self.created_at = timestamps.trimmed(effective)
        self.workflow_id = ""
        self._roots: list[str] = []
        self._events: list[tuple[str, Event]] = []

    def create(
        self,
        template: Template,
        payload: dict[str, Any],
        *,
        signatories: tuple[str, ...],
        observers: tuple[str, ...] = (),
        owner: str = "",
        under: Event | None = None,
        template_id: str = "",
        contract_id: str = "",
    ) -> Contract:
        """Create a contract, as a root or under an exercise.

        Without a template id it is of its package's newest version; without an id it gets a random one.
        """
        contract = Contract(
            contract_id or self.sim.contract_id(),
            template,
            template_id or self.sim.packages.template_id(template),
            payload,
            self.created_at,
            signatories,
            observers,
            owner,
            self.sim.row(),
            self.synchronizer_id,
        )
        self._effects.create(contract)
        event_id = self._number(under)
        self._events.append((event_id, created_event(contract, event_id)))
        return contract

    def exercise(
        self,
        contract: Contract,
        choice: str,
        argument: Any,
        *,
        acting: Sequence[str],
        consuming: bool = False,
        interface_id: str | None = None,
        under: Event | None = None,
    ) -> Event:
        """Exercise a choice; the caller sets `exercise_result` where it is not the empty record."""
        if consuming:
            self._effects.archive(contract)
        event_id = self._number(under)
        event: Event = {
            "event_type": "exercised_event",
            "event_id": event_id,
            "contract_id": contract.contract_id,
            "template_id": contract.template_id,
            "package_name": contract.template.package_name,
            "choice": choice,
            "choice_argument": argument,
            "child_event_ids": [],
            "exercise_result": {},
            "consuming": consuming,
            "acting_parties": acting,
            "interface_id": interface_id,
        }
        self._events.append((event_id, event))
        return event

    def archive(self, contract: Contract, *, under: Event | None = None) -> None:
        """End a contract by its signatories' Archive choice."""
        self.exercise(contract, "Archive", {}, acting=contract.signatories, consuming=True, under=under)

    def render(self, *, migration_id: int, record_time: int, external_hash: str | None) -> bytes:
        """Write the item of a page of `POST /v2/updates`: the map sorted by event id as text."""
        # Up to ten events, numbers and text have the same order.
        if len(self._events) > _LEAF_LIMIT:
            self._events.sort(key=_event_id)
        item = {
            "update_id": self.update_id,
            "migration_id": migration_id,
            "workflow_id": self.workflow_id,
            "record_time": timestamps.exact(record_time),
            "synchronizer_id": self.synchronizer_id,
            "effective_at": timestamps.exact(self.effective),
            "root_event_ids": self._roots,
            "events_by_id": dict(self._events),
        }
        if external_hash is not None:
            item["external_transaction_hash"] = external_hash
        return _encode(item)

    def _number(self, under: Event | None) -> str:
        event_id = f"{self.update_id}:{len(self._events)}"
        (self._roots if under is None else under["child_event_ids"]).append(event_id)
        return event_id


def _event_id(numbered: tuple[str, Event]) -> str:
    return numbered[0]
