"""The appearance of a workbook's cells: number formats by column, and widths by their contents; `workbook` calls it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Final

import pyarrow as pa

TIME: Final = "yyyy-mm-dd hh:mm:ss.000"
DAY: Final = "yyyy-mm-dd"
AMOUNT: Final = "#,##0.00########"  # up to the ten digits that an amount has
COUNT: Final = "#,##0"
WHOLE: Final = "0"  # Excel's own format shows 12 digits and more as 1.23E+11
#: Units of whole numbers that name or place something, so that 12345 is not to read 12,345.
_ORDINAL: Final = frozenset({"", "rounds", "levels", "digits"})

_FILTER_BUTTON: Final = 3  # characters that it hides of a column's name
_NARROWEST: Final = 8
_WIDEST: Final = 60  # of a screen; ids and JSON are longer


def number_format(field: pa.Field, *, amount: bool) -> str | None:
    """Excel's format for the cells of a column; None for text, truth values and numbers of any size."""
    kind = field.type
    if pa.types.is_timestamp(kind):
        return TIME
    if pa.types.is_date(kind):
        return DAY
    if pa.types.is_integer(kind):
        unit = (field.metadata or {}).get(b"unit", b"").decode()
        return WHOLE if unit in _ORDINAL else COUNT
    return AMOUNT if amount else None


def width(name: str, cells: list[Any]) -> int:
    """Characters that a column needs for its name, with the button of the filter, and for some of its cells."""
    longest = max((_length(cell) for cell in cells), default=0)
    return min(max(len(name) + _FILTER_BUTTON, longest + 1, _NARROWEST), _WIDEST)


def _length(cell: Any) -> int:
    if cell is None:
        return 0
    if isinstance(cell, str):
        return max(map(len, cell[: 2 * _WIDEST].splitlines()), default=0)
    if isinstance(cell, datetime):
        return len(TIME)
    if isinstance(cell, date):
        return len(DAY)
    if isinstance(cell, float):
        return len(f"{cell:,.10f}".rstrip("0"))
    return len(f"{cell:,}")
