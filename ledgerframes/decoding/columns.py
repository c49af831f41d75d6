"""Builds Arrow columns from Python values and raw JSON, and checks finished tables; `history` and `records` call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from ledgerframes.errors import DecodeError
from ledgerframes.tables.kinds import JSON, TIME
from ledgerframes.tables.table import Column, Table
from ledgerframes.timestamps import EARLIEST

#: Canonical spelling of a time with up to six digits: no trailing zeros in the fraction.
TRIMMED = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,5}[1-9])?Z$"
#: Canonical spelling of a record time: six digits.
SIX_DIGITS = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"


class Irregular(Exception):  # noqa: N818 - it never leaves the package: it means: decode leniently
    """A value is not in its canonical form; the lenient decoder interprets it."""


def column(declared: Column, values: Sequence[Any]) -> pa.Array:
    """A column of the declared kind from members as the canonical form has them; JSON is raw, and null where empty."""
    if declared.kind is TIME:
        # Servers trim this time, and pad record time and effective time to six digits.
        return canonical_times(values, TRIMMED if declared.name == "created_at" else SIX_DIGITS)
    return raw_json(values) if declared.kind is JSON else pa.array(values, declared.kind.arrow)


def text(values: Sequence[str | None]) -> pa.Array:
    """A text column."""
    return pa.array(values, pa.string())


def raw_json(values: Sequence[Raw | bytes]) -> pa.Array:
    """A JSON column from undecoded values, joined once; empty values are null, bytes that are not UTF-8 are refused."""
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    # Arrow's text columns have offsets of 32 bits.
    if ends[-1] >= 2**31:
        raise Irregular
    valid = None if lengths.all() else pa.array(lengths > 0).buffers()[1]
    buffers = [valid, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(values))]
    # Built as binary and cast, because only the cast checks that the bytes are UTF-8.
    return pa.Array.from_buffers(pa.binary(), len(values), buffers).cast(pa.string())


def canonical_times(values: Sequence[str | None], spelling: str) -> pa.Array:
    """A time column from text in one canonical spelling; any other spelling raises `Irregular`."""
    # As a dictionary, so that every distinct text is checked and parsed once.
    coded = pa.array(values, pa.dictionary(pa.int32(), pa.string()))
    if not pc.all(pc.match_substring_regex(coded.dictionary, spelling), min_count=0).as_py():
        raise Irregular
    times = coded.dictionary.cast(pa.timestamp("us", "UTC"))
    earliest = pc.min(times.cast(pa.int64())).as_py()
    if earliest is not None and earliest < EARLIEST:  # Arrow would accept the year 0
        raise Irregular
    return times.take(coded.indices)


def templates(template_ids: Sequence[str | None]) -> tuple[pa.Array, pa.Array]:
    """The columns of template ids and of their names: `Module:Entity`, without the package's hash or name."""
    # A page has few templates and many events.
    coded = pa.array(template_ids, pa.dictionary(pa.int32(), pa.string()))
    names = [name.partition(":")[2] or name for name in coded.dictionary.to_pylist()]
    return coded.cast(pa.string()), pa.array(names, pa.string()).take(coded.indices)


def batch(table: Table, columns: Mapping[str, pa.Array], endpoint: str) -> pa.RecordBatch:
    """Assemble a table's columns and check them against its declaration.

    Raises:
        DecodeError: a required column contains a null; pyarrow itself does not check.
    """
    for column in table.columns:
        if not column.nullable and columns[column.name].null_count:
            row = columns[column.name].is_null().index(True).as_py()
            raise DecodeError(
                f"{endpoint}: table {table.name!r}, row {row}: column {column.name!r} is null, but the contract"
                " requires it",
                endpoint=endpoint, table=table.name, column=column.name, item=str(row),
            )  # fmt: skip
    return pa.RecordBatch.from_arrays([columns[name] for name in table.names], schema=table.schema)
