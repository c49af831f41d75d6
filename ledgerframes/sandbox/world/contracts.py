"""The current contracts of a simulated ledger, where they are, and the legs of their reassignments.

Activities and commands change it, routes read it.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from ledgerframes.sandbox.world import timestamps

#: Members of a payload that name parties; or the parties by the payload.
Parties = tuple[str, ...] | Callable[[dict[str, Any]], Iterable[str]]


# One object per template, so that they are distinguished without reading their names.
@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """The template of a contract.

    Attributes:
        entity: `Module:Entity`.
        package_name: the package it comes from; an upgrade changes the package's hash, not this name.
        of_round: its contracts are coupons that a round issues coin for.
        signatories: the members of a payload that name who signs, or who does by the payload.
        observers: the same for who sees it besides.
        owner: the member that names the party that can use it; empty where any activity may pick it.
    """

    entity: str
    package_name: str
    of_round: bool = False
    signatories: Parties = ("dso",)
    observers: Parties = ()
    owner: str = ""


class Contract(msgspec.Struct, eq=False):
    """One contract that has not ended.

    Attributes:
        template_id: the package hash of its creation, and `Module:Entity`.
        created_at: its creation's ledger effective time, as it is sent.
        owner: the party that can use it, or empty where any activity may pick it.
        row: the number under which the server stored it; not quite in the order of creation.
        synchronizer_id: where it is assigned; None while it is in flight.
        counter: its reassignment counter, 0 at creation.
        commanded: a command made it; the ledger's own activities leave it alone.
    """

    contract_id: str
    template: Template
    template_id: str
    payload: dict[str, Any]
    created_at: str
    signatories: tuple[str, ...]
    observers: tuple[str, ...]
    owner: str
    row: int
    synchronizer_id: str | None
    counter: int = 0
    commanded: bool = False


class Effects(Protocol):
    """Where the contracts of a transaction come and go."""

    def create(self, contract: Contract) -> None:
        """Take in a new contract."""

    def archive(self, contract: Contract) -> None:
        """End a contract."""


class Origin(msgspec.Struct, frozen=True, gc=False):
    """The permanent data of a contract, kept after its end."""

    template: Template
    template_id: str
    signatories: tuple[str, ...]
    observers: tuple[str, ...]


@dataclass(slots=True)
class Contracts:
    """Every contract that has not ended: by id, by template, coupons by their round, and those free to be used.

    Attributes:
        active: all of them, those in flight too.
        origins: of every contract there has been, by its id.
        open: the unassignments whose assignment has not been recorded yet, by their unassign id.
        assigned: the unassign ids whose assignment has been recorded.
        early_arrivals: the contracts whose assignment was recorded before its unassignment, until that follows.
    """

    active: dict[str, Contract] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    open: dict[str, Leg] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    early_arrivals: set[str] = field(default_factory=set)
    _groups: defaultdict[Template | int, dict[str, Contract]] = field(default_factory=lambda: defaultdict(dict))
    _free: defaultdict[tuple[Template, str | None, str], dict[str, Contract]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def create(self, contract: Contract) -> None:
        """Add a new contract, free to be used."""
        self.active[contract.contract_id] = contract
        origin = Origin(contract.template, contract.template_id, contract.signatories, contract.observers)
        self.origins[contract.contract_id] = origin
        self._groups[contract.template][contract.contract_id] = contract
        if contract.template.of_round:
            self._groups[round_of(contract)][contract.contract_id] = contract
        self.release(contract)

    def archive(self, contract: Contract) -> None:
        """End a contract."""
        del self.active[contract.contract_id]
        del self._groups[contract.template][contract.contract_id]
        if contract.template.of_round:
            del self._groups[round_of(contract)][contract.contract_id]
        self.hold(contract)

    def free(self, template: Template, synchronizer_id: str, owner: str = "") -> dict[str, Contract]:
        """The usable contracts of a template on a synchronizer, by id, the longest there first."""
        return self._free.get((template, synchronizer_id, owner), _NONE)

    def of(self, template: Template) -> list[Contract]:
        """The contracts of a template that have not ended, the oldest first."""
        return list(self._groups.get(template, _NONE).values())

    def coupons(self, number: int) -> Collection[Contract]:
        """A round's coupons wherever they are, those in flight too, the oldest first."""
        return self._groups.get(number, _NONE).values()

    def free_coupons(self, number: int, synchronizer_id: str) -> Iterator[Contract]:
        """A round's coupons that are on a synchronizer and that no command made, the oldest first."""
        for coupon in self.coupons(number):
            if coupon.synchronizer_id == synchronizer_id and not coupon.commanded:
                yield coupon

    def hold(self, contract: Contract) -> None:
        """Keep a contract from being used until it is released."""
        self._free[contract.template, contract.synchronizer_id, contract.owner].pop(contract.contract_id, None)

    def release(self, contract: Contract) -> None:
        """Let the ledger's activities use a contract where it is assigned, unless it belongs to a command."""
        if not contract.commanded:
            pool = self._free[contract.template, contract.synchronizer_id, contract.owner]
            pool[contract.contract_id] = contract

    def depart(self, leg: Leg) -> None:
        """Take a contract off its synchronizer; it is in flight, under the next counter."""
        self.hold(leg.contract)
        leg.contract.synchronizer_id = None
        leg.contract.counter += 1
        self.open[leg.unassign_id] = leg

    def arrive(self, leg: Leg) -> None:
        """Put a contract on its target, without letting it be used yet."""
        self.hold(leg.contract)
        leg.contract.synchronizer_id = leg.target
        self.open.pop(leg.unassign_id, None)
        self.assigned.add(leg.unassign_id)


_NONE: Final[dict[str, Contract]] = {}


def parties_of(named: Parties, payload: dict[str, Any]) -> tuple[str, ...]:
    """The parties that a payload's members name, each once; or else what the template makes of it."""
    if callable(named):
        return tuple(named(payload))
    if not named:
        return ()
    # Most name one, who needs no comparison.
    return (payload[named[0]],) if len(named) == 1 else tuple(dict.fromkeys([payload[name] for name in named]))


def round_of(contract: Contract) -> int:
    """The round that a coupon, a round or a coin's payload names."""
    return int(contract.payload["round"]["number"])


def created_event(contract: Contract, event_id: str) -> dict[str, Any]:
    """A contract's CreatedEvent, as a tree and an assignment carry it."""
    return {
        "event_type": "created_event",
        "event_id": event_id,
        "contract_id": contract.contract_id,
        "template_id": contract.template_id,
        "package_name": contract.template.package_name,
        "create_arguments": contract.payload,
        "created_at": contract.created_at,
        "signatories": contract.signatories,
        "observers": contract.observers,
    }


def blob(contract_id: str) -> str:
    """A contract's opaque blob; it is derived from the id, since nobody can look into it."""
    # Long on purpose: on a real network blobs are more than half of the bytes of a license.
    return base64.b64encode(b"\n\x03" + contract_id.encode() * 6).decode()


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
