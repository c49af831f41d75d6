"""Parties' holdings at a snapshot, with notional holding fees; the validator's summaries come from here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from ledgerframes.sandbox.world.amounts import UNITS, decimal
from ledgerframes.sandbox.world.coin_history import Coin


@dataclass(frozen=True, slots=True)
class Summary:
    """One party's holdings and their fees, in ten-billionths of a coin (contract: Resources, HoldingsSummary)."""

    party: str
    unlocked: int = 0
    locked: int = 0
    fees_unlocked: int = 0
    fees_locked: int = 0

    def without_fees(self) -> dict[str, str]:
        """The members of the newer answer."""
        return {
            "party_id": self.party,
            "total_unlocked_coin": decimal(self.unlocked),
            "total_locked_coin": decimal(self.locked),
            "total_coin_holdings": decimal(self.unlocked + self.locked),
        }

    def with_fees(self) -> dict[str, str]:
        """The members of the older answer."""
        return {
            **self.without_fees(),
            "accumulated_holding_fees_unlocked": decimal(self.fees_unlocked),
            "accumulated_holding_fees_locked": decimal(self.fees_locked),
            "accumulated_holding_fees_total": decimal(self.fees_unlocked + self.fees_locked),
            "total_available_coin": decimal(self.unlocked - self.fees_unlocked),
        }


def summarize(party: str, coins: Iterable[Coin], *, as_of_round: int) -> Summary:
    """Add up one party's coins and their fees as of a round."""
    amounts, fees = [0, 0], [0, 0]
    for coin in coins:
        amounts[coin.locked] += coin.units
        fees[coin.locked] += fee(coin.units, as_of_round - coin.round_number, coin.rate)
    return Summary(party, amounts[False], amounts[True], fees[False], fees[True])


def fee(units: int, rounds: int, rate: str) -> int:
    """One coin's notional fee in ten-billionths: at most its amount, below zero for rounds before its creation.

    Args:
        units: its initial amount in ten-billionths.
        rounds: the number of rounds that it has been held.
        rate: fee a round as decimal text; the product is rounded half even to ten places.
    """
    # Fractions are exact, and Python rounds them half to even as the servers do.
    return min(units, round(rounds * Fraction(rate) * UNITS))
