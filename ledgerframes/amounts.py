"""Amounts in memory: exact, as the nearest doubles, or as text; `frames` and exports use it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

#: Doubles hold every whole number up to here.
_UNITS: Final = pa.scalar(Decimal(2**53), pa.decimal128(38, 0))
#: … and every power of ten up to this one.
_POWERS: Final = 22
_ZERO: Final = Decimal(0)
#: Texts in pandas; what is missing is NaN.
TEXT: Final = pd.StringDtype(na_value=float("nan"))


def in_pandas(column: pa.ChunkedArray, decimals: str) -> pd.Series:
    """Amounts as a column of pandas: `"arrow"`, `"float"`, `"string"` or `"exact"`."""
    if decimals == "arrow":
        return pd.Series(pd.arrays.ArrowExtensionArray(column))
    if decimals == "float":
        return pd.Series(nearest_double(column).to_numpy())
    if decimals == "string":
        texts = [None if amount is None else format(amount, "f") for amount in column.to_pylist()]
        return pd.Series(texts, dtype=TEXT)
    return pd.Series(exact(column), dtype=object)


def exact(column: pa.ChunkedArray) -> list[Decimal | None]:
    """Amounts as `Decimal`; a zero is `Decimal(0)`, because one with ten places prints as `0E-10`."""
    return [amount or (None if amount is None else _ZERO) for amount in column.to_pylist()]


def nearest_double(column: pa.Array | pa.ChunkedArray) -> Any:
    """Amounts as the nearest doubles; Arrow's own cast is off by one step for one in five."""
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array(map(_doubles, column.chunks), pa.float64())
    return _doubles(column)


def _doubles(amounts: pa.Array) -> pa.Array:
    """Whole numbers of units that a double can hold, divided; all others by way of text, ten times slower."""
    kind = amounts.type
    if not pa.types.is_decimal128(kind) or not 0 <= kind.scale <= _POWERS:
        return amounts.cast(pa.string()).cast(pa.float64())
    units = pa.Array.from_buffers(pa.decimal128(38, 0), len(amounts), amounts.buffers(), offset=amounts.offset)
    large = pc.greater(pc.abs(units), _UNITS)
    doubles = units.cast(pa.int64(), safe=False).cast(pa.float64(), safe=False)
    quotients = pc.divide(doubles, 10.0**kind.scale)
    if not pc.any(large).as_py():
        return quotients
    return pc.replace_with_mask(quotients, large, amounts.filter(large).cast(pa.string()).cast(pa.float64()))
