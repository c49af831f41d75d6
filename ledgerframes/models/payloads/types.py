"""Finds the type of a column of JSON values from all of them, and converts them; never rounded, never lost."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.tables.kinds import AMOUNT, TIME

# 18 digits always fit 64 bits.
_WHOLE: Final = r"^(0|-?[1-9]\d{0,17})$"
_NUMBER: Final = r"^-?(0|[1-9]\d{0,27})(\.\d{1,10})?$"  # a code such as 007 is not a number
_SCIENTIFIC: Final = r"^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$"
_TIME: Final = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$"
_FEW: Final = 100
_strings: Final = msgspec.json.Decoder(list[str])


def typed(cells: pa.ChunkedArray, *, infer: bool = True) -> pa.ChunkedArray:
    """Convert JSON values to the narrowest type that represents all of them exactly.

    Text of decimals with a point becomes decimal128(38, 10), text of whole numbers int64, ISO-8601 text in UTC of up
    to six digits a timestamp, other text stays text; so do unquoted numbers and booleans. Lists, objects and
    mixtures stay JSON text.

    Args:
        cells: JSON values; null and `null` are missing.
        infer: False leaves text unchanged.
    """
    nothing = pc.equal(cells, "null")
    if pc.any(nothing).as_py():
        cells = pc.if_else(nothing, pa.scalar(None, pa.string()), cells)
    there = cells.drop_null()
    if not len(there):
        return cells
    quoted = pc.starts_with(there, '"')
    if pc.all(quoted).as_py():
        text = _unquoted(cells)
        return _narrowed(text) if infer else text
    # Texts among numbers: one type would change one of them.
    if pc.any(quoted).as_py():
        return cells
    if pc.all(pc.is_in(there, pa.array(["true", "false"]))).as_py():
        return cells.cast(pa.bool_())
    return _narrowed(cells, numbers_only=True)


def _unquoted(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    # Examines the bytes, as Arrow's search takes several times as long; matches beyond the cells do no harm.
    if not any(ord("\\") in np.frombuffer(part.buffers()[2] or b"", np.uint8) for part in cells.chunks):
        return pc.binary_slice(cells.cast(pa.binary()), 1, -1).cast(pa.string())
    there = cells.drop_null()
    values = _strings.decode("[" + ",".join(there.to_pylist()) + "]")
    positions = pc.subtract(pc.cumulative_sum(pc.is_valid(cells).cast(pa.int64())), 1)
    chosen = pc.if_else(pc.is_valid(cells), positions, pa.scalar(None, pa.int64()))
    return pa.chunked_array([pa.array(values, pa.string()).take(chosen.combine_chunks())])


def _narrowed(text: pa.ChunkedArray, *, numbers_only: bool = False) -> pa.ChunkedArray:
    if _all(text, _WHOLE):
        return text.cast(pa.int64())
    if _all(text, _NUMBER):
        return text.cast(AMOUNT.arrow)
    # Last, since Arrow cannot cast exponents to decimals and each value goes through Python.
    if _all(text, _SCIENTIFIC):
        return _exact(text)
    if not numbers_only and _all(text, _TIME):
        try:
            return text.cast(TIME.arrow)
        except pa.ArrowInvalid:  # the 31st of a month that has none
            return text
    return text


def _exact(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals in any spelling, if none of them has too many digits."""
    from decimal import Decimal, InvalidOperation

    try:
        values = [None if text_value is None else Decimal(text_value) for text_value in text.to_pylist()]
        return pa.chunked_array([pa.array(values, AMOUNT.arrow)])
    except (pa.ArrowInvalid, InvalidOperation):
        return text


def _all(text: pa.ChunkedArray, pattern: str) -> bool:
    parts = (text.slice(0, _FEW), text)  # most columns are recognised by their first values
    return all(pc.all(pc.match_substring_regex(part, pattern), min_count=0).as_py() for part in parts)
