"""Text that a spreadsheet would run as a formula, found and defused; the CSV and workbook writers call it."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import refuse

# Spreadsheets skip blanks and invisible characters before a formula, and some read fullwidth and small signs as plain
# ones: U+FF0B and U+FE62 are +, U+FF0D and U+FE63 -, U+FF1D and U+FE66 =, U+FF20 and U+FE6B @, U+2212 a minus.
_WIDE: Final = r"\x{FF0B}\x{FF0D}\x{FF1D}\x{FF20}\x{FE62}\x{FE63}\x{FE66}\x{FE6B}\x{2212}"
_DANGEROUS: Final = rf"^(?:[\t\r\n]|[\s\p{{Z}}\p{{C}}]*[=+\-@{_WIDE}])"
_MARKED: Final = rf"^'|{_DANGEROUS}"


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
