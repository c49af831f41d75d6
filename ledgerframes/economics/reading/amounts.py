"""Exact amounts: products rounded as the ledger rounds them, and lists of decimals as Arrow columns."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final

import numpy as np
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
#: A product of these two has as many digits as Arrow's decimals can have.
_FACTORS: Final = (pa.decimal256(38, 10), pa.decimal256(37, 10))


def rounded(value: Decimal) -> Decimal:
    """A value rounded half even to 10 places, as the ledger rounds."""
    return value.quantize(_PLACES, context=EXACT)


def product(left: Decimal | None, right: Decimal | None) -> Decimal | None:
    """The product of two amounts as the ledger rounds it; null if one of them is."""
    return None if left is None or right is None else rounded(EXACT.multiply(left, right))


def products(left: Any, right: Any) -> Any:
    """The products of two columns of amounts as the ledger rounds them; null where one of them is.

    A product that has more digits than an amount can have is null, too.
    """
    try:
        wide_left, wide_right = (column.cast(kind) for column, kind in zip((left, right), _FACTORS, strict=True))
    except pa.ArrowInvalid:  # a second factor of 28 digits before the point
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        multiplied = (product(*pair) for pair in pairs)
        return amounts(value if value is None or fits(value) else None for value in multiplied)
    return narrow(wide(pc.round(pc.multiply(wide_left, wide_right), ndigits=10, round_mode="half_to_even")))


def list_sums(column: pa.ChunkedArray) -> Any:
    """The sum of each list of amounts, wide; 0 of an empty list, null of a missing one."""
    lists = column.combine_chunks()
    flat = pa.table({"row": pc.list_parent_indices(lists), "value": pc.list_flatten(lists)})
    sums = summed(flat, "row", ["value"])
    places = pc.index_in(pa.array(np.arange(len(lists))), sums["row"])
    zeros = pc.fill_null(sums["value"].take(places), pa.scalar(0, pa.int64()).cast(_WIDE))
    return pc.if_else(pc.is_valid(lists), zeros, pa.scalar(None, _WIDE))


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


def total(column: Any) -> Any:
    """The sum of a column of amounts; 0 of none, null if one is null."""
    sum_of_column = pc.sum(wide(column), skip_nulls=False, min_count=0)
    return narrow(pa.array([sum_of_column.as_py()], _WIDE))[0].as_py()
