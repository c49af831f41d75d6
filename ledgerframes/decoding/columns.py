"""Arrow columns from Python values and raw JSON, and the check that a finished table keeps its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from ledgerframes.errors import DecodeError
from ledgerframes.instants import EARLIEST
from ledgerframes.tables.table import Table

#: Canonical spelling of a time with up to six digits: no trailing zeros in the fraction.
TRIMMED = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,5}[1-9])?Z$"
#: Canonical spelling of a record time: six digits.
SIX_DIGITS = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"


class Irregular(Exception):  # noqa: N818 - it never leaves the package: it says "take the careful way"
    """Something is not in its canonical form; the careful way decides what it means."""


def text(values: Sequence[str | None]) -> pa.Array:
    """A text column."""
    return pa.array(values, pa.string())


@dataclass(frozen=True)
class Rows:
    """Which rows of a column a list of values fills; the other rows are null."""

    places: np.ndarray[Any, Any]
    count: int

    def offsets(self, lengths: Sequence[int]) -> tuple[np.ndarray[Any, Any], pa.Array]:
        """Where each row's part begins, and which rows are null, when the values lie end to end."""
        full = np.zeros(self.count + 1, np.int64)
        full[self.places + 1] = lengths
        empty = np.ones(self.count, bool)
        empty[self.places] = False
        return np.cumsum(full), pa.array(empty)


def every_row(count: int) -> Rows:
    """All rows of a column."""
    return Rows(np.arange(count), count)


def raw_json(values: Sequence[Raw], rows: Rows) -> pa.Array:
    """A JSON column from undecoded values, joined once; bytes that are not UTF-8 are refused."""
    offsets, empty = rows.offsets(list(map(len, values)))
    if offsets[-1] >= 2**31:
        raise Irregular
    joined = pa.py_buffer(b"".join(values))
    valid = None if len(values) == rows.count else pc.invert(empty).buffers()[1]
    ends = pa.py_buffer(offsets.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), rows.count, [valid, ends, joined]).cast(pa.string())


def texts(values: Sequence[Sequence[str]], rows: Rows) -> pa.Array:
    """A column of lists of text."""
    offsets, empty = rows.offsets(list(map(len, values)))
    flat = pa.array(list(chain.from_iterable(values)), pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), flat, mask=empty)


def canonical_times(values: Sequence[str], spelling: str) -> pa.Array:
    """A time column from text in one canonical spelling; any other is `Irregular`."""
    column = pa.array(values, pa.string())
    if not pc.all(pc.match_substring_regex(column, spelling), min_count=0).as_py():
        raise Irregular
    times = column.cast(pa.timestamp("us", "UTC"))
    earliest = pc.min(times.cast(pa.int64())).as_py()
    if earliest is not None and earliest < EARLIEST:  # Arrow would take the year 0
        raise Irregular
    return times


def nulls(count: int, kind: pa.DataType) -> pa.Array:
    """A column of nulls."""
    return pa.nulls(count, kind)


def scatter(parts: Iterable[tuple[np.ndarray[Any, Any], pa.Array]], count: int, kind: pa.DataType) -> pa.Array:
    """Put each part's values at its places in a column of `count`; the other places are null."""
    filled = [(places, column) for places, column in parts if len(places)]
    if not filled:
        return pa.nulls(count, kind)
    if len(filled) == 1 and len(filled[0][0]) == count:
        return filled[0][1]
    order = np.zeros(count, np.int64)
    empty = np.ones(count, bool)
    start = 0
    for places, column in filled:
        order[places] = np.arange(start, start + len(column))
        empty[places] = False
        start += len(column)
    joined = filled[0][1] if len(filled) == 1 else pa.concat_arrays([column for _, column in filled])
    return joined.take(pa.array(order, mask=empty))


def template_names(template_ids: pa.Array) -> pa.Array:
    """`Module:Entity` of each template id: what follows the package hash or name before the first colon."""
    coded = template_ids.dictionary_encode()
    names = [one.partition(":")[2] or one for one in coded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(coded.indices, pa.array(names, pa.string())).cast(pa.string())


def batch(table: Table, columns: Mapping[str, pa.Array], endpoint: str) -> pa.RecordBatch:
    """Assemble a table's columns and check them against its declaration.

    Raises:
        DecodeError: a required column holds a null; pyarrow itself does not look.
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
