"""Arrow columns as text, exactly, and text that a spreadsheet would run as a formula, found and defused."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import refuse
from ledgerframes.decoding.personal import is_text

# Spreadsheets skip blanks and invisible characters before a formula, and some read fullwidth and small signs as plain
# ones: U+FF0B and U+FE62 are +, U+FF0D and U+FE63 -, U+FF1D and U+FE66 =, U+FF20 and U+FE6B @, U+2212 a minus.
_WIDE: Final = r"\x{FF0B}\x{FF0D}\x{FF1D}\x{FF20}\x{FE62}\x{FE63}\x{FE66}\x{FE6B}\x{2212}"
_DANGEROUS: Final = rf"^(?:[\t\r\n]|[\s\p{{Z}}\p{{C}}]*[=+\-@{_WIDE}])"
_MARKED: Final = rf"^'|{_DANGEROUS}"


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


def json_text(column: pa.Array) -> pa.Array:
    """Records and lists as JSON, without the members that are null."""
    cells = [None if cell is None else json.dumps(_members(cell), ensure_ascii=False) for cell in column.to_pylist()]
    return pa.array(cells, pa.string())


def _members(cell: Any) -> Any:
    if isinstance(cell, dict):
        return {name: _members(value) for name, value in cell.items() if value is not None}
    if isinstance(cell, list | tuple):
        return [_members(value) for value in cell]
    return format(cell, "f") if isinstance(cell, Decimal) else cell


def dangerous(column: pa.Array) -> pa.Array:
    """Which cells of a text column a spreadsheet might run as a formula; null if the cell is null."""
    return pc.match_substring_regex(column, pattern=_DANGEROUS)


def defuse(column: pa.Array) -> pa.Array:
    """Put an apostrophe before every cell that might be run, and before every cell that begins with one.

    So a leading apostrophe always is ours, and `restore_text` takes it away again.
    """
    marked = pc.match_substring_regex(column, pattern=_MARKED)
    if not pc.any(marked).as_py():
        return column
    return pc.if_else(marked, pc.binary_join_element_wise("'", column, ""), column)


def restore_text(cell: str) -> str:
    """Return the text of an exported CSV's text cell as it was before its export.

    Args:
        cell: the cell's text.

    Returns:
        The text without the mark that keeps spreadsheets from reading it as a formula.

    Raises:
        InputError: the cell is not text.

    Example:
        >>> restore_text("'=1+1")
        '=1+1'
    """
    if not isinstance(cell, str):
        refuse("cell", cell, "give a cell's text")
    return cell.removeprefix("'")
