"""The changes of a batch of commands, which apply to the world only if the whole batch succeeds; batches use it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import World


@dataclass(slots=True)
class PendingChanges:
    """Contracts that a batch creates and archives, in order.

    Attributes:
        created: new contracts by id, including those that the batch archives again.
        ended: ids of archived contracts.
    """

    created: dict[str, Contract] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    _steps: list[tuple[bool, Contract]] = field(default_factory=list)

    def create(self, contract: Contract) -> None:
        """Add a new contract."""
        # The simulated activities leave it alone, so that it is still there for the next command.
        contract.commanded = True
        self.created[contract.contract_id] = contract
        self._steps.append((True, contract))

    def archive(self, contract: Contract) -> None:
        """Archive a contract of the world or of this batch."""
        self.ended.add(contract.contract_id)
        self._steps.append((False, contract))

    def apply(self, world: World, at: Cursor) -> None:
        """Apply the changes to the world at that migration id and record time."""
        for creates, contract in self._steps:
            if creates:
                world.create(contract, at)
            else:
                world.archive(contract, at)
