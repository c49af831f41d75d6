"""The state that every activity of the simulated ledger reads and changes, and one transaction being written.

Generator and commands use both: they create and exercise in preorder, and the transaction renders the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import msgspec

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.calendar import Calendar
from ledgerframes.sandbox.world.contracts import Contract, Effects, Template, created_event, parties_of
from ledgerframes.sandbox.world.parties import LedgerParties
from ledgerframes.sandbox.world.templates import COIN_RULES, DSO_RULES, Packages
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import Update, World

FIRST_ROW: Final = 170_000_000


@dataclass(slots=True)
class Simulation:
    """The simulated ledger as its activities use it.

    Attributes:
        now: the clock, in microseconds.
        calendar: when rounds, fees and people's hours begin and end.
        migration_id: the migration being written.
        round_opened: when the newest round opened, in microseconds.
        collecting: the super validators that have not yet collected their coupons of the round that opened last.
        stored: the number of contracts created.
        founding: whether the first wallets are still to come, in an update of their own.
        votes: the number of requests for a vote so far.
        vote_due: when the next thing about votes is due, in microseconds.
        allowances: the amounts that providers may mint, by the contract that asks for it or processes it.
        main: the synchronizer that has the coin's rules.
    """

    rng: Random
    world: World
    parties: LedgerParties
    packages: Packages
    now: int
    calendar: Calendar
    migration_id: int = 0
    round_opened: int = 0
    collecting: list[str] = field(default_factory=list)
    stored: int = 0
    founding: bool = False
    votes: int = 0
    vote_due: int = 0
    allowances: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    main: str = field(init=False)

    def __post_init__(self) -> None:
        self.main = self.world.synchronizers[0]

    @property
    def coin_rules(self) -> Contract:
        """The coin's rules."""
        return self.world.rules[COIN_RULES.entity]

    @property
    def dso_rules(self) -> Contract:
        """The rules of the organization that runs the ledger."""
        return self.world.rules[DSO_RULES.entity]

    @property
    def rounds(self) -> list[Contract]:
        """The open mining rounds, the earliest first."""
        return self.world.rounds

    def elsewhere(self, parties: Iterable[str]) -> list[str]:
        """Those of the parties that do not submit here: the organization that runs the ledger and its members."""
        return [party for party in parties if party == self.parties.dso or party in self.parties.sponsors]

    def contract_id(self) -> str:
        """A new contract id."""
        digits = self.rng.getrandbits(512).to_bytes(64).hex()
        return f"00{digits[:64]}ca101220{digits[64:]}"

    def row(self) -> int:
        """The number under which a new contract is stored: batches of 32 arrive out of order."""
        self.stored += 1
        return FIRST_ROW + 3 * (self.stored ^ 96)

    def open_round(self) -> Contract:
        """An open round that transfers can use, mostly the earliest."""
        # The last one opens when the earliest closes.
        return self.rounds[0] if self.rng.random() < 0.7 else self.rounds[1]

    def one(self, template: Template, owner: str = "") -> Contract | None:
        """The oldest contract of a template on the main synchronizer, if there is one."""
        for contract in self.world.contracts.free(template, self.main, owner).values():
            return contract
        return None

    def the(self, template: Template, owner: str = "") -> Contract:
        """The oldest contract of a template on the main synchronizer, which must exist."""
        found = self.one(template, owner)
        assert found is not None
        return found


Event = dict[str, Any]

_LEAF_LIMIT: Final = 10
_EMPTY: Final[dict[str, Any]] = {}
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
        self._effects = effects or sim.world
        self.update_id = update_id
        self.synchronizer_id = synchronizer_id
        self.effective = effective
        self._effective_at = timestamps.exact(effective)
        self.created_at = timestamps.trim(self._effective_at)
        self.workflow_id = ""
        self._roots: list[str] = []
        self._events: dict[str, Event] = {}
        # The events that the scan's party does not see; nothing is recorded if the scan shows everything.
        self._party = sim.world.scan_party
        self._hidden: set[str] = set()

    def create(
        self,
        template: Template,
        payload: dict[str, Any],
        *,
        observers: tuple[str, ...] | None = None,
        owner: str | None = None,
        under: Event | None = None,
        template_id: str = "",
        contract_id: str = "",
    ) -> Contract:
        """Create a contract, as a root or under an exercise.

        Its template says who signs, observes and owns it, unless it is said here. Without a template id it belongs to
        its package's newest version; without an id it gets a random one. A payload without the organization that signs
        it begins with that.
        """
        if "dso" not in payload and not callable(template.signatories) and "dso" in template.signatories:
            payload = {"dso": self.sim.parties.dso, **payload}
        signatories = parties_of(template.signatories, payload)
        if observers is None:
            observers = parties_of(template.observers, payload)
        if owner is None:
            owner = payload[template.owner] if template.owner else ""
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
        event_id = self._number(under, shown=self._party in signatories or self._party in observers)
        self._events[event_id] = created_event(contract, event_id)
        return contract

    def rule(
        self, template: Template, payload: dict[str, Any], *, under: Event | None = None, contract_id: str = ""
    ) -> Contract:
        """Create a contract that exists only once, or its successor."""
        made = self.sim.world.rules[template.entity] = self.create(
            template, payload, under=under, contract_id=contract_id
        )
        return made

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
        result: Any = _EMPTY,
    ) -> Event:
        """Exercise a choice; where its consequences are the result, the caller sets `exercise_result` after them."""
        if consuming:
            self._effects.archive(contract)
        party = self._party
        shown = party in contract.signatories or party in acting or (consuming and party in contract.observers)
        event_id = self._number(under, shown=shown)
        event: Event = {
            "event_type": "exercised_event",
            "event_id": event_id,
            "contract_id": contract.contract_id,
            "template_id": contract.template_id,
            "package_name": contract.template.package_name,
            "choice": choice,
            "choice_argument": argument,
            "child_event_ids": [],
            "exercise_result": result,
            "consuming": consuming,
            "acting_parties": acting,
            "interface_id": interface_id,
        }
        self._events[event_id] = event
        return event

    def archive(self, *contracts: Contract, under: Event | None = None) -> None:
        """End contracts by their signatories' Archive choice."""
        for contract in contracts:
            self.exercise(contract, "Archive", {}, acting=contract.signatories, consuming=True, under=under)

    def update(self, *, migration_id: int, record_time: int, external_hash: str | None) -> Update:
        """The update that the history gets."""
        place = (migration_id, record_time)
        scanned = None
        if self._hidden:
            events, roots = self._projected()
            scanned = self._render(events, roots, place, external_hash) if events else b""
        rendered = self._render(self._events, self._roots, place, external_hash)
        return Update(*place, self.update_id, self.synchronizer_id, external_hash, rendered, scanned)

    def _projected(self) -> tuple[dict[str, Event], list[str]]:
        """The events that the scan's party sees, renumbered in preorder, and which of them are roots."""
        seen = [event for event_id, event in self._events.items() if event_id not in self._hidden]
        numbers = {event["event_id"]: f"{self.update_id}:{number}" for number, event in enumerate(seen)}
        inner = {child for event in seen for child in event.get("child_event_ids", ())}
        events = {numbers[event["event_id"]]: _renumbered(event, numbers) for event in seen}
        return events, [number for event_id, number in numbers.items() if event_id not in inner]

    def _render(self, events: dict[str, Event], roots: list[str], place: Cursor, external_hash: str | None) -> bytes:
        """Write the item of a page of `POST /v2/updates`: the map sorted by event id as text."""
        migration_id, record_time = place
        # Up to ten events, numbers and text have the same order.
        if len(events) > _LEAF_LIMIT:
            events = dict(sorted(events.items()))
        item = {
            "update_id": self.update_id,
            "migration_id": migration_id,
            "workflow_id": self.workflow_id,
            "record_time": timestamps.exact(record_time),
            "synchronizer_id": self.synchronizer_id,
            "effective_at": self._effective_at,
            "root_event_ids": roots,
            "events_by_id": events,
        }
        if external_hash is not None:
            item["external_transaction_hash"] = external_hash
        return _encode(item)

    def _number(self, under: Event | None, *, shown: bool) -> str:
        event_id = f"{self.update_id}:{len(self._events)}"
        # Whoever sees an exercise also sees its consequences.
        if self._party and not shown and (under is None or under["event_id"] in self._hidden):
            self._hidden.add(event_id)
        (self._roots if under is None else under["child_event_ids"]).append(event_id)
        return event_id


def _renumbered(event: Event, numbers: dict[str, str]) -> Event:
    renumbered = {**event, "event_id": numbers[event["event_id"]]}
    if "child_event_ids" in event:
        renumbered["child_event_ids"] = [numbers[child] for child in event["child_event_ids"]]
    return renumbered
