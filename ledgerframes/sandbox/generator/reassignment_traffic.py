"""Contracts that the generator sends from one synchronizer to another, and the halves that are still to come."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import islice

from ledgerframes.sandbox.generator.simulation import Stage
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.reassignment_legs import Leg, ReassignmentBook
from ledgerframes.sandbox.world.templates import COIN, IOU


@dataclass(slots=True)
class Journeys:
    """Who travels, and which halves are still to come.

    Attributes:
        pending: the halves to come, as a heap of (step, tie breaker, half).
        started: how many journeys have begun; it decides of which sort the next one is.
    """

    stage: Stage
    pending: list[tuple[int, int, Leg]] = field(default_factory=list)
    started: int = 0
    _arrived: dict[str, dict[str, Contract]] = field(default_factory=dict)

    @property
    def book(self) -> ReassignmentBook:
        """Which reassignments are under way."""
        return self.stage.world.reassignments

    def due(self, step: int) -> Leg | None:
        """Take the next half whose time has come, if there is one; what a command has assigned needs no more."""
        while self.pending and self.pending[0][0] <= step:
            half = heapq.heappop(self.pending)[2]
            if not (half.assigning and half.unassign_id in self.book.assigned):
                return half
        return None

    def start(self, synchronizer_id: str, *, step: int, alone: bool, delay: int | None = None) -> Leg | None:
        """Begin a journey with a half on that synchronizer; the other half follows later, if ever.

        Args:
            synchronizer_id: where the half to record now is sequenced.
            step: the present step of the generator, from which the other half is timed.
            alone: no other update has this record time, so a contract from elsewhere may be touched.
            delay: after how many steps the other half follows; None leaves it to chance.

        Returns:
            The half to record now; None where no contract can travel.
        """
        sort, later = self.started % 16, step + (delay or 1 + int(self.stage.rng.expovariate(0.06)))
        if alone and delay is None and sort in {3, 9}:
            return self._assign_first(synchronizer_id, later, paired=sort == 3)
        others = [one for one in self.stage.world.synchronizers if one != synchronizer_id]
        repaired = not others or sort == 7
        contract = self._traveller(synchronizer_id)
        if contract is None:
            return None
        half = self._half(contract, synchronizer_id, synchronizer_id if repaired else self.stage.rng.choice(others))
        self.stage.world.contracts.unassign(contract)
        self.book.unassigned(half)
        if sort != 11 or delay is not None:
            self._later(later, half._replace(assigning=True))
        return half

    def complete(self, half: Leg) -> None:
        """Bring the contract to where its last half says, free to be used there."""
        contracts = self.stage.world.contracts
        contracts.assign(half.contract, half.target)
        contracts.release(half.contract)
        self.book.arrived(half)
        self.book.half_told.discard(half.contract.contract_id)
        self._arrived.setdefault(half.target, {})[half.contract.contract_id] = half.contract

    def _assign_first(self, target: str, later: int, *, paired: bool) -> Leg | None:
        """Record the assignment before its unassignment, or without any."""
        others = [one for one in self.stage.world.synchronizers if one != target]
        source = self.stage.rng.choice(others) if others else target
        contract = self._traveller(source)
        if contract is None:
            return None
        half = self._half(contract, source, target)
        contracts = self.stage.world.contracts
        contracts.unassign(contract)
        contracts.assign(contract, target)
        self.book.arrived(half)
        if paired:
            self.book.half_told.add(contract.contract_id)
            self._later(later, half)
        else:
            self.complete(half)
        return half._replace(assigning=True)

    def _half(self, contract: Contract, source: str, target: str) -> Leg:
        self.started += 1
        unassign_id = f"00{self.stage.rng.getrandbits(64):016x}"
        submitter = contract.payload["owner"]
        return Leg(
            assigning=False,
            contract=contract,
            source=source,
            target=target,
            unassign_id=unassign_id,
            counter=contract.counter + 1,
            submitter=submitter,
        )

    def _later(self, step: int, half: Leg) -> None:
        heapq.heappush(self.pending, (step, self.started, half))

    def _traveller(self, synchronizer_id: str) -> Contract | None:
        """A contract on that synchronizer: by preference one that has travelled before."""
        arrived = self._arrived.get(synchronizer_id, {})
        contracts, rng = self.stage.world.contracts, self.stage.rng
        while arrived and rng.random() < 0.6:
            contract = arrived.pop(next(iter(arrived)))
            if contract.contract_id in contracts.free(contract.template, synchronizer_id, contract.owner):
                return contract
        if rng.random() < 0.15:
            coins = contracts.free(COIN, synchronizer_id, self.stage.cast.person(rng))
            if coins:
                return next(iter(coins.values()))
        return next(islice(contracts.free(IOU, synchronizer_id).values(), rng.randrange(6), None), None)
