"""Amounts of the ledger: integers of the tenth decimal place, their text, and arithmetic rounded half to even."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final

# Amounts have ten decimal places and are kept as integers of the last one, so a sum is never rounded.
SCALE: Final = 10
UNITS: Final = 10**SCALE
ZERO: Final = "0E-10"

# Servers write values smaller than 0.000001 with an exponent.
_SMALLEST_PLAIN: Final = 10**4


# Rates, weights and the amounts of open rounds come again and again.
@lru_cache(4_096)
def units(text: str) -> int:
    """The ten-billionths of a decimal text, with an exponent or without."""
    whole, point, fraction = text.partition(".")
    if point and len(fraction) == SCALE and fraction.isdigit():
        return int(whole + fraction)
    return int(Decimal(text).scaleb(SCALE))


def decimal(amount: int) -> str:
    """Ten-billionths as decimal text with ten places."""
    whole, rest = divmod(abs(amount), UNITS)
    return f"{'-' if amount < 0 else ''}{whole}.{rest:010}"


def spelled(amount: int) -> str:
    """Ten-billionths as servers write results: ten places, and an exponent if the amount is very small."""
    return decimal(amount) if abs(amount) >= _SMALLEST_PLAIN else str(Decimal(amount).scaleb(-SCALE))


def shown(amount: int) -> str:
    """Ten-billionths as the ledger's own programs write them into metadata: without zeros at the end."""
    whole, _, fraction = decimal(amount).partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"


def times(first: int, second: int) -> int:
    """The product of two amounts, rounded half to even."""
    return quotient(first * second, UNITS)


def divided(first: int, second: int) -> int:
    """The quotient of two amounts, rounded half to even."""
    return quotient(first * UNITS, second)


def quotient(dividend: int, divisor: int) -> int:
    """A whole number closest to a fraction, the even one of two; the divisor is above zero."""
    whole, rest = divmod(dividend, divisor)
    return whole + (2 * rest > divisor or (2 * rest == divisor and whole % 2 == 1))
