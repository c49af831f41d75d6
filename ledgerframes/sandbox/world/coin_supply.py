"""How much coin there is now, and which coins fees are about to use up; what is held is read off snapshots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ledgerframes.sandbox.world.amounts import units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN, LOCKED_COIN

# A coin that holding fees use up within this many rounds counts as dust.
_SOON: Final = 24


@dataclass(slots=True)
class CoinSupply:
    """The coins there are, locked ones and those in flight included; transactions write it.

    Attributes:
        units: the current value of all coins, in ten-billionths.
        dust: the small coins by contract id, each with the round from which on it can be expired.
        living: the value of each coin by its contract id.
    """

    units: int = 0
    dust: dict[str, int] = field(default_factory=dict)
    living: dict[str, int] = field(default_factory=dict)

    def create(self, contract: Contract) -> None:
        """Enter a new contract, if it is coin."""
        if contract.template not in (COIN, LOCKED_COIN):
            return
        payload = contract.payload["amulet"] if contract.template is LOCKED_COIN else contract.payload
        terms = payload["amount"]
        worth = self.living[contract.contract_id] = units(terms["initialAmount"])
        self.units += worth
        lasts = -(-worth // units(terms["ratePerRound"]["rate"]))
        if lasts <= _SOON:
            self.dust[contract.contract_id] = int(terms["createdAt"]["number"]) + lasts

    def end(self, contract_id: str) -> None:
        """Note the end of a coin by its contract's id; another contract's is ignored."""
        self.units -= self.living.pop(contract_id, 0)
        self.dust.pop(contract_id, None)
