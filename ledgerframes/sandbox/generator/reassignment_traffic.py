"""The reassignments that the generator makes up, and the legs that are still to come; `generate` calls it."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from ledgerframes.sandbox.world.contracts import Contract, Leg, departure
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import COIN, IOU
from ledgerframes.sandbox.world.timestamps import LAST, SECOND

#: The mean time of a second leg, in microseconds, and that of those that stay in flight for a while.
_LEG: Final = 3 * SECOND
_FORGOTTEN: Final = 45 * 60 * SECOND
_SLOW: Final = 5
#: Mostly coin is reassigned, since a scan shows the reassignments of no private workflow.
_COINS: Final = 0.9


@dataclass(slots=True)
class ReassignmentTraffic:
    """Which contracts are reassigned, and which legs are still to come.

    Attributes:
        pending: the legs to come, as a heap of (time, tie breaker, leg).
        started: the number of reassignments begun, which decides the kind of the next one.
    """

    sim: Simulation
    pending: list[tuple[int, int, Leg]] = field(default_factory=list)
    started: int = 0
    _arrived: dict[str, dict[str, Contract]] = field(default_factory=dict)

    @property
    def next_time(self) -> int:
        """When the next leg is due."""
        return self.pending[0][0] if self.pending else LAST

    def due(self, now: int) -> Leg | None:
        """Take the next leg due by a time, if there is one; contracts that a command has assigned are dropped."""
        while self.pending and self.pending[0][0] <= now:
            leg = heapq.heappop(self.pending)[2]
            if not (leg.assigning and leg.unassign_id in self.sim.world.contracts.assigned):
                return leg
        return None

    def start(self, synchronizer_id: str, *, alone: bool, crossing: bool = False) -> Leg | None:
        """Begin a reassignment with a leg on that synchronizer; the other leg follows later, or never.

        Args:
            synchronizer_id: where the leg to record now is sequenced.
            alone: no other update has this record time, so a contract of another synchronizer may be used.
            crossing: the other leg follows in the next migration.

        Returns:
            The leg to record now; None where no contract can be reassigned.
        """
        # Rare cases come at fixed turns, so that even small ledgers have each of them.
        sort = self.started % 16
        later = LAST if crossing else self._second_leg(sort)
        # An assignment usually follows its unassignment, but not always; some never have one.
        if alone and not crossing and sort in {3, 9}:
            return self._assign_first(synchronizer_id, later, paired=sort == 3)
        others = [synchronizer for synchronizer in self.sim.world.synchronizers if synchronizer != synchronizer_id]
        # Repairs on real networks show source and target alike.
        repaired = not others or sort == 7
        contract = self._choose(synchronizer_id)
        if contract is None:
            return None
        leg = self._leg(contract, synchronizer_id, synchronizer_id if repaired else self.sim.rng.choice(others))
        self.sim.world.contracts.depart(leg)
        # Some reassignments stay in flight.
        if sort != 11 or crossing:
            self._later(later, leg._replace(assigning=True))
        return leg

    def resume(self) -> None:
        """Let the legs follow now that wait for the next migration."""
        waiting = [leg for due, _, leg in self.pending if due == LAST]
        self.pending = [entry for entry in self.pending if entry[0] != LAST]
        heapq.heapify(self.pending)
        for leg in waiting:
            self._later(self.sim.now + self.sim.rng.randrange(1, 10 * SECOND), leg)

    def complete(self, leg: Leg) -> None:
        """Put the contract on the target of its last leg, free to be used there."""
        contracts = self.sim.world.contracts
        contracts.arrive(leg)
        contracts.release(leg.contract)
        contracts.early_arrivals.discard(leg.contract.contract_id)
        self._arrived.setdefault(leg.target, {})[leg.contract.contract_id] = leg.contract

    def _assign_first(self, target: str, later: int, *, paired: bool) -> Leg | None:
        """Record the assignment before its unassignment, or without any."""
        others = [synchronizer for synchronizer in self.sim.world.synchronizers if synchronizer != target]
        source = self.sim.rng.choice(others) if others else target
        contract = self._choose(source)
        if contract is None:
            return None
        leg = self._leg(contract, source, target)
        contracts = self.sim.world.contracts
        contracts.depart(leg)
        contracts.arrive(leg)
        if paired:
            contracts.early_arrivals.add(contract.contract_id)
            self._later(later, leg)
        else:
            self.complete(leg)
        return leg._replace(assigning=True)

    def _leg(self, contract: Contract, source: str, target: str) -> Leg:
        self.started += 1
        return departure(contract, source, target, submitter=contract.payload["owner"], rng=self.sim.rng)

    def _second_leg(self, sort: int) -> int:
        """When the other leg follows: in seconds, as on networks; now and then somebody has to look into it first."""
        return self.sim.now + (_FORGOTTEN if sort == _SLOW else SECOND // 5 + int(self.sim.rng.expovariate(1 / _LEG)))

    def _later(self, time: int, leg: Leg) -> None:
        heapq.heappush(self.pending, (time, self.started, leg))

    def _choose(self, synchronizer_id: str) -> Contract | None:
        """A contract on that synchronizer, preferably one that was reassigned before."""
        arrived = self._arrived.get(synchronizer_id, {})
        contracts, rng = self.sim.world.contracts, self.sim.rng
        while arrived and rng.random() < 0.6:
            contract = arrived.pop(next(iter(arrived)))
            if contract.contract_id in contracts.free(contract.template, synchronizer_id, contract.owner):
                return contract
        if rng.random() < _COINS:
            people = self.sim.parties.people
            for owner in rng.sample(people, len(people)):
                if coins := contracts.free(COIN, synchronizer_id, owner):
                    return next(iter(coins.values()))
        return next(islice(contracts.free(IOU, synchronizer_id).values(), rng.randrange(6), None), None)
