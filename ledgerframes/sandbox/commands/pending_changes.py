"""What a batch of commands changes before it counts: contracts come and go here first; batches apply it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import World


@dataclass(slots=True)
class Draft:
    """Contracts that a batch creates and ends, in order.

    Attributes:
        created: new contracts by id, those that ended again too.
        ended: ids of contracts that ended.
    """

    created: dict[str, Contract] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    _steps: list[tuple[bool, Contract]] = field(default_factory=list)

    def create(self, contract: Contract) -> None:
        """Take in a new contract."""
        contract.commanded = True
        self.created[contract.contract_id] = contract
        self._steps.append((True, contract))

    def archive(self, contract: Contract) -> None:
        """End a contract, of the world or of this batch."""
        self.ended.add(contract.contract_id)
        self._steps.append((False, contract))

    def apply(self, world: World, at: Cursor) -> None:
        """Let it count from that migration id and record time on."""
        for creates, contract in self._steps:
            if creates:
                world.create(contract, at)
            else:
                world.archive(contract, at)
