"""The state that every activity of the simulated ledger reads and changes; generator and commands use it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from ledgerframes.sandbox.world.calendar import Calendar
from ledgerframes.sandbox.world.contracts import Contract, Template
from ledgerframes.sandbox.world.parties import LedgerParties
from ledgerframes.sandbox.world.templates import COIN_RULES, DSO_RULES, Packages
from ledgerframes.sandbox.world.world import World

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

    @property
    def rules(self) -> dict[str, Contract]:
        """The contracts that exist only once, by template entity."""
        return self.world.rules

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

    @property
    def main(self) -> str:
        """The synchronizer that has the coin's rules."""
        return self.world.synchronizers[0]

    def elsewhere(self, parties: Iterable[str]) -> list[str]:
        """Those of the parties that do not submit here: the organization that runs the ledger and its members."""
        return [party for party in parties if party == self.parties.dso or party in self.parties.sponsors]

    def contract_id(self) -> str:
        """A new contract id."""
        bits = self.rng.getrandbits(512)
        return f"00{bits >> 256:064x}ca101220{bits & (1 << 256) - 1:064x}"

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
        return next(iter(self.world.contracts.free(template, self.main, owner).values()), None)

    def the(self, template: Template, owner: str = "") -> Contract:
        """The oldest contract of a template on the main synchronizer, which must exist."""
        found = self.one(template, owner)
        assert found is not None
        return found
