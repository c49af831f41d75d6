"""The costs of a transfer by a round's configuration; transfers, claims and payments call it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ledgerframes.sandbox.world.amounts import divided, times, units
from ledgerframes.sandbox.world.contracts import Contract


@dataclass(frozen=True, slots=True)
class Fees:
    """The fees of one open round in ten-billionths of a coin.

    Attributes:
        price: of a coin in USD.
        create: for each coin that is made.
        holding: for each round that a coin is held.
        lock_holder: for each holder of a lock.
        steps: from which amount on which share of a transfer is due.
    """

    price: int
    create: int
    holding: int
    lock_holder: int
    steps: tuple[tuple[int, int], ...]

    @property
    def charged(self) -> bool:
        """Whether transfers cost anything; if not, their inputs pay no holding fees either."""
        return self.create > 0

    def of_transfer(self, amount: int) -> int:
        """The stepped fee of sending an amount to somebody else."""
        total = 0
        for (since, rate), (until, _) in zip(self.steps, (*self.steps[1:], (amount, 0)), strict=True):
            total += times(max(0, min(amount, until) - since), rate)
        return total

    def of_output(self, amount: int, *, to_self: bool, holders: int = 0) -> int:
        """The cost of creating one output."""
        return self.create + (0 if to_self else self.of_transfer(amount)) + holders * self.lock_holder

    def of_holding(self, amount: int, rounds: int, rate: int) -> int:
        """The holding fee of a coin used as input, for the rounds that it was held."""
        return min(amount, rounds * rate) if self.charged else 0


# Of the few rounds that are open, whose payloads never change.
@lru_cache(16)
def fees_of(open_round: Contract) -> Fees:
    """The fees of an open round, from USD to coin at its price."""
    payload: dict[str, Any] = open_round.payload
    price, config = units(payload["amuletPrice"]), payload["transferConfigUsd"]
    stepped = config["transferFee"]
    steps = [(0, units(stepped["initialRate"]))]
    steps += [(divided(units(step["_1"]), price), units(step["_2"])) for step in stepped["steps"]]
    return Fees(
        price=price,
        create=divided(units(config["createFee"]["fee"]), price),
        holding=divided(units(config["holdingFee"]["rate"]), price),
        lock_holder=divided(units(config["lockHolderFee"]["fee"]), price),
        steps=tuple(steps),
    )
