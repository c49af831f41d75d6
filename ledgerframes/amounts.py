"""Amounts in memory: exact, as the nearest doubles, or as text; `frames` and exports use it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import pandas as pd
import pyarrow as pa

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
    """Amounts as the nearest doubles, by way of text; Arrow's own cast is off by one step for one in five."""
    return column.cast(pa.string()).cast(pa.float64())
