"""Exact amounts: products rounded as the ledger rounds them, and lists of decimals as Arrow columns."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.tables.kinds import AMOUNT

#: Wide enough for the product of any two amounts.
EXACT: Final = Context(prec=120, rounding=ROUND_HALF_EVEN)
_PLACES: Final = Decimal(1).scaleb(-10)
#: The digits that decimal128(38, 10) has before the point.
_LIMIT: Final = Decimal(10) ** 28
#: Sums are made in this type: no sum of amounts overflows it.
_WIDE: Final = pa.decimal256(70, 10)


def rounded(value: Decimal) -> Decimal:
    """A value rounded half even to 10 places, as the ledger rounds."""
    return value.quantize(_PLACES, context=EXACT)


def product(left: Decimal | None, right: Decimal | None) -> Decimal | None:
    """The product of two amounts as the ledger rounds it; null if one of them is."""
    return None if left is None or right is None else rounded(EXACT.multiply(left, right))


def fits(value: Decimal) -> bool:
    """Whether an amount column can hold a value exactly."""
    # A value that ten places do not change has no more than ten.
    return value.is_finite() and -_LIMIT < value < _LIMIT and value == value.quantize(_PLACES, context=EXACT)


def is_amount(value: Decimal | None) -> bool:
    """Whether a value that was read is an amount or missing."""
    return value is None or fits(value)


def amounts(values: Iterable[Decimal | None]) -> pa.Array:
    """Amounts as an Arrow column; each has to pass `is_amount`."""
    listed = list(values)
    try:
        return pa.array(listed, AMOUNT.arrow)
    except pa.ArrowInvalid:  # more than ten places, the last of them zeros
        return pa.array([None if value is None else rounded(value) for value in listed], AMOUNT.arrow)


def wide(column: Any) -> Any:
    """Amounts in a type whose sums do not overflow."""
    return column.cast(_WIDE)


def narrow(column: Any) -> Any:
    """Sums as amounts; null where one has more digits than an amount can have."""
    try:
        return column.cast(AMOUNT.arrow)
    except pa.ArrowInvalid:
        limit = pa.scalar(_LIMIT, _WIDE)
        inside = pc.and_(pc.less(column, limit), pc.greater(column, pc.negate(limit)))
        return pc.if_else(inside, column, pa.scalar(None, column.type)).cast(AMOUNT.arrow)


def summed(rows: pa.Table, by: str, names: Iterable[str]) -> pa.Table:
    """The sums of amount columns by a column; a sum is null if one of its amounts is null."""
    listed = list(names)
    columns = {by: rows[by]} | {name: wide(rows[name]) for name in listed}
    options = pc.ScalarAggregateOptions(skip_nulls=False, min_count=0)
    sums = pa.table(columns).group_by(by).aggregate([(name, "sum", options) for name in listed])
    return pa.table({by: sums[by]} | {name: wide(sums[f"{name}_sum"]) for name in listed})
