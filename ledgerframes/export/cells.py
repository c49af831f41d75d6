"""A workbook's cells: the values that they can hold, their formats and widths; `workbook` calls it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from html import escape
from math import isfinite
from typing import Any, Final

import pyarrow as pa

from ledgerframes.export.formulas import dangerous
from ledgerframes.export.texts import time_text

CELL_UNITS: Final = 32_767  # Excel's limit, counted in UTF-16
_DIGITS: Final = 10**15  # Excel keeps 15 significant digits
_FIRST_DAY: Final = datetime(1900, 3, 1)  # noqa: DTZ001 - a workbook's times have no zone; Excel's days before are off
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


@dataclass(frozen=True)
class Cells:
    """A column's cells for some rows.

    Attributes:
        values: text, numbers, booleans, times without zone, days, None.
        risky: places of texts that would run as formulas if they were typed in.
    """

    values: list[Any]
    risky: frozenset[int] = frozenset()


def cells_of(column: pa.Array, *, foreign: bool) -> Cells:
    """Turn a flat column into cells.

    Whole numbers of 16 digits and more, numbers that are not finite, and times before March 1900 become text.
    """
    kind = column.type
    if foreign:
        risky = dangerous(column).to_pylist()
        return Cells(column.to_pylist(), frozenset(place for place, is_so in enumerate(risky) if is_so))
    if pa.types.is_timestamp(kind):
        texts = time_text(column).to_pylist()
        moments = column.cast(pa.timestamp("us")).to_pylist()
        return Cells([_moment(moment, text) for moment, text in zip(moments, texts, strict=True)])
    if pa.types.is_date(kind):
        return Cells([_day(day) for day in column.cast(pa.date32()).to_pylist()])
    if pa.types.is_integer(kind):
        return Cells([_whole(number) for number in column.to_pylist()])
    if pa.types.is_floating(kind):
        return Cells([_number(number) for number in column.to_pylist()])
    if pa.types.is_boolean(kind):
        return Cells(column.to_pylist())
    return Cells(column.cast(pa.string()).to_pylist())


def _moment(moment: datetime | None, text: str | None) -> datetime | str | None:
    if moment is None or moment < _FIRST_DAY:
        return text
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _day(day: date | None) -> date | str | None:
    return day if day is None or day >= _FIRST_DAY.date() else day.isoformat()


def _whole(number: int | None) -> int | str | None:
    return number if number is None or abs(number) < _DIGITS else str(number)


def _number(number: float | None) -> float | str | None:
    return number if number is None or isfinite(number) else str(number)


def fit(text: str) -> tuple[str, bool]:
    """The text to pass to xlsxwriter, and whether it had to be shortened.

    A shortened text ends in a mark with its length. xlsxwriter would write text between `<r>` and `</r>`
    as it is, as markup of its own; that text is handed over as such markup.
    """
    if len(text) > CELL_UNITS // 2 and (units := _units(text)) > CELL_UNITS:
        return _shortened(text, units), True
    if text.startswith("<r>") and text.endswith("</r>"):
        markup = f'<r><t xml:space="preserve">{escape(text, quote=False)}</t></r>'
        return (markup, False) if _units(markup) <= CELL_UNITS else (_shortened(text, _units(text)), True)
    return text, False


def _shortened(text: str, units: int) -> str:
    mark = f" […cut here by the export: {units:,} characters; Parquet and CSV have them all]"
    head = text.encode("utf-16-le")[: 2 * (CELL_UNITS - len(mark))]
    return head.decode("utf-16-le", errors="ignore") + mark


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


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
