"""Arrow tables as what the caller wants to work with: pandas, Arrow or polars; and pandas frames back to Arrow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import choice
from ledgerframes.errors import InputError
from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, TEXTS, TIME, Kind
from ledgerframes.tables.table import Column, Table

As = Literal["pandas", "arrow", "polars"]
Decimals = Literal["object", "arrow", "float", "string"]


def check_shape(as_: str, decimals: str) -> None:
    """Refuse an unknown `as_` or `decimals` before anything is loaded.

    Raises:
        InputError: the value is none of the known ones.
    """
    choice(as_, "as_", get_args(As))
    choice(decimals, "decimals", get_args(Decimals))
    if as_ == "polars":
        _polars()


def shape(
    data: pa.Table,
    table: Table,
    *,
    as_: As = "pandas",
    decimals: Decimals = "object",
    attrs: dict[str, Any] | None = None,
) -> Any:
    """Give Arrow data the caller's form.

    Args:
        data: columns of the table, in any choice and order.
        table: its declaration.
        as_: the form.
        decimals: how a pandas frame holds amounts: exact `Decimal` objects, Arrow decimals, floats (inexact), or text.
        attrs: provenance; goes to `df.attrs`, to Arrow's schema metadata, and has no place in polars.
    """
    if as_ == "arrow":
        return data
    if as_ == "polars":
        return _polars().from_arrow(data)
    columns = {}
    kinds = {column.name: column for column in table.columns}
    for name in data.column_names:
        columns[name] = _series(data.column(name), kinds[name], decimals)
    frame = pd.DataFrame(columns, index=pd.RangeIndex(data.num_rows))
    frame.attrs.update(attrs or {})
    return frame


def described(data: pa.Table, attrs: dict[str, Any]) -> pa.Table:
    """Arrow data with its provenance in the schema's metadata, beside the columns' meanings."""
    return data.replace_schema_metadata({**(data.schema.metadata or {}), "ledgerframes": json.dumps(attrs)})


def to_arrow(frame: Any, table: Table, needed: Sequence[str]) -> pa.Table:
    """Turn a loaded frame of any form back into Arrow.

    Raises:
        InputError: a needed column is missing.
    """
    names = list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(f"table {table.name!r} is here without its column(s) {', '.join(missing)}; load it with them")
    if isinstance(frame, pa.Table):
        return frame.select(needed)
    if not isinstance(frame, pd.DataFrame):
        return frame.to_arrow().select(needed).cast(pa.schema([table.schema.field(name) for name in needed]))
    kinds = {column.name: column.kind.arrow for column in table.columns}
    return pa.table({name: pa.array(frame[name], kinds[name], from_pandas=True) for name in needed})


def _series(column: pa.ChunkedArray, declared: Column, decimals: Decimals) -> Any:
    kind = declared.kind
    if kind is TEXTS:
        return pd.Series(_tuples(column), dtype=object)
    if kind is AMOUNT:
        return _amounts(column, decimals)
    if kind is TIME:
        return pd.Series(column.cast(pa.int64()).fill_null(_NAT).to_numpy().view("M8[us]")).dt.tz_localize("UTC")
    return column.to_pandas(types_mapper={kind.arrow: _dtype(kind, nullable=declared.nullable)}.get)


_NAT = -(2**63)
_ZERO = Decimal(0)


def _dtype(kind: Kind, *, nullable: bool) -> Any:
    if kind is INT64:
        return pd.Int64Dtype() if nullable else None
    if kind is BOOL:
        return pd.BooleanDtype() if nullable else None
    return pd.StringDtype(na_value=float("nan"))


def _tuples(column: pa.ChunkedArray) -> list[tuple[str, ...] | None]:
    """List cells as tuples: an array cannot be grouped by."""
    cells: list[tuple[str, ...] | None] = []
    for chunk in column.chunks:
        values = _shared(chunk.flatten())
        start = 0
        for length in pc.list_value_length(chunk).to_pylist():
            if length is None:
                cells.append(None)
            else:
                cells.append(tuple(values[start : start + length]))
                start += length
    return cells


def _shared(texts: pa.Array) -> list[str]:
    """Texts as Python objects, equal ones made once."""
    coded = texts.dictionary_encode()
    if 2 * len(coded.dictionary) > len(texts):
        return list(texts.to_pylist())
    distinct = np.array(coded.dictionary.to_pylist(), dtype=object)
    return list(distinct[coded.indices.to_numpy()])


def _amounts(column: pa.ChunkedArray, decimals: Decimals) -> Any:
    if decimals == "arrow":
        return pd.Series(pd.arrays.ArrowExtensionArray(column))
    if decimals == "float":
        return pd.Series(column.cast(pa.float64()).to_numpy())
    if decimals == "string":
        texts = [None if amount is None else format(amount, "f") for amount in column.to_pylist()]
        return pd.Series(texts, dtype=_dtype(AMOUNT, nullable=True))
    return pd.Series(exact(column), dtype=object)


def exact(column: pa.ChunkedArray) -> list[Decimal | None]:
    """Amounts as `Decimal`; a zero is `Decimal(0)`, because one with ten places prints as `0E-10`."""
    return [amount or (None if amount is None else _ZERO) for amount in column.to_pylist()]


def _polars() -> Any:
    try:
        import polars as pl
    except ImportError as error:
        raise InputError("as_='polars' needs polars; install it with: pip install 'ledgerframes[polars]'") from error
    return pl
