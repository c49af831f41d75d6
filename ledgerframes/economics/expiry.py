"""The round from which the holding fee of a coin is the coin itself, so that it can be expired."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_PLACES: Final = pa.scalar(Decimal(10) ** 10, pa.decimal256(11, 0))
_OF_UNITS: Final = pa.decimal256(38, 10)
_LATEST: Final = 2**63 - 1


def expiry_of(coins: pa.Table) -> Any:
    """The first round in which each coin can be expired; null if its rate is 0 or the round has no 64 bits.

    Args:
        coins: with created_round, amount and rate_per_round.
    """
    try:
        return _at_once(coins)
    except pa.ArrowInvalid:  # a number beyond 64 bits, which few coins have
        columns = (coins[name].to_pylist() for name in ("created_round", "amount", "rate_per_round"))
        return pa.array([_alone(*cells) for cells in zip(*columns, strict=True)], pa.int64())


def _at_once(coins: pa.Table) -> Any:
    amounts, rates = (_units(coins[name]) for name in ("amount", "rate_per_round"))
    growing = rates > 0
    whole, rest = np.divmod(amounts, np.where(growing, rates, 1))
    rounds = pa.array(np.where(growing, whole + (rest > 0), 0))
    return pc.if_else(pa.array(growing), pc.add_checked(coins["created_round"], rounds), pa.scalar(None, pa.int64()))


def _units(amounts: pa.ChunkedArray) -> Any:
    """Amounts as whole numbers of their last place."""
    return pc.multiply(amounts.cast(_OF_UNITS), _PLACES).cast(pa.int64()).to_numpy()


def _alone(created: int, amount: Decimal, rate: Decimal) -> int | None:
    if rate <= 0:
        return None
    number = created + int((amount / rate).to_integral_value(ROUND_CEILING))
    return number if -_LATEST <= number <= _LATEST else None
