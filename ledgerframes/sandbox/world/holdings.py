"""Parties' holdings at a snapshot, with notional holding fees; the validator's summaries come from here."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ledgerframes.sandbox.world.amounts import UNITS, decimal
from ledgerframes.sandbox.world.coin_history import Coin


def summary(party: str, coins: Iterable[Coin], *, as_of_round: int | None) -> dict[str, str]:
    """One party's holdings (contract: Resources, HoldingsSummary); with their fees as of a round, if one is given."""
    amounts, fees = [0, 0], [0, 0]
    for coin in coins:
        amounts[coin.locked] += coin.units
        fees[coin.locked] += fee(coin.units, (as_of_round or 0) - coin.round_number, coin.rate)
    members = {
        "party_id": party,
        "total_unlocked_coin": decimal(amounts[False]),
        "total_locked_coin": decimal(amounts[True]),
        "total_coin_holdings": decimal(sum(amounts)),
    }
    if as_of_round is None:
        return members
    return {
        **members,
        "accumulated_holding_fees_unlocked": decimal(fees[False]),
        "accumulated_holding_fees_locked": decimal(fees[True]),
        "accumulated_holding_fees_total": decimal(sum(fees)),
        "total_available_coin": decimal(amounts[False] - fees[False]),
    }


def fee(units: int, rounds: int, rate: str) -> int:
    """One coin's notional fee in ten-billionths: at most its amount, below zero for rounds before its creation.

    Args:
        units: its initial amount in ten-billionths.
        rounds: the number of rounds that it has been held.
        rate: fee a round as decimal text; the product is rounded half even to ten places.
    """
    # Fractions are exact, and Python rounds them half to even as the servers do.
    return min(units, round(rounds * Fraction(rate) * UNITS))
