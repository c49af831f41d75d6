"""Arrow columns as text, exactly: times, amounts and lists; the shapes and the CSV writer call it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type contains text, in any of Arrow's layouts, including dictionaries."""
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_texts(kind: pa.DataType) -> bool:
    """Whether a column of this type contains lists of text, in any of Arrow's layouts."""
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_list_view, pa.types.is_large_list_view)
    return any(is_it(kind) for is_it in lists) and is_text(kind.value_type)


def plain_text(column: pa.Array) -> pa.Array:
    """A column that `is_text` in the layout that every reader knows."""
    if pa.types.is_dictionary(column.type):  # a dictionary of string views has no kernel of its own
        column = pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string()))
    return column if column.type == pa.string() else column.cast(pa.string())


def time_text(column: pa.Array) -> pa.Array:
    """Times as ISO-8601 with all the digits of their unit; with Z if the type has a zone, which is UTC."""
    naive = column.cast(pa.timestamp(column.type.unit))
    text = pc.replace_substring(naive.cast(pa.string()), " ", "T", max_replacements=1)
    return pc.binary_join_element_wise(text, "Z", "") if column.type.tz else text


def amount_text(column: pa.Array) -> pa.Array:
    """Amounts as plain decimals with all the digits of their type, never with an exponent."""
    text = column.cast(pa.string())
    if not pc.any(pc.match_substring(text, "E")).as_py():
        return text
    return pa.array([None if amount is None else format(amount, "f") for amount in column.to_pylist()], pa.string())


def list_text(column: pa.Array) -> pa.Array:
    """Lists of text as JSON."""
    cells = [None if cell is None else json.dumps(cell, ensure_ascii=False) for cell in column.to_pylist()]
    return pa.array(cells, pa.string())


def record_text(column: pa.Array) -> pa.Array:
    """Records, and lists of anything, as JSON without the members that are null."""
    cells = [None if cell is None else json.dumps(_members(cell), ensure_ascii=False) for cell in column.to_pylist()]
    return pa.array(cells, pa.string())


def _members(cell: Any) -> Any:
    if isinstance(cell, dict):
        return {name: _members(value) for name, value in cell.items() if value is not None}
    if isinstance(cell, list | tuple):
        return [_members(value) for value in cell]
    return format(cell, "f") if isinstance(cell, Decimal) else cell
