"""The values that a workbook's cells can hold, and conversions for all others; the workbook's writer calls it."""

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
        return _cut(text, units), True
    if text.startswith("<r>") and text.endswith("</r>"):
        markup = f'<r><t xml:space="preserve">{escape(text, quote=False)}</t></r>'
        return (markup, False) if _units(markup) <= CELL_UNITS else (_cut(text, _units(text)), True)
    return text, False


def _cut(text: str, units: int) -> str:
    mark = f" […cut here by the export: {units:,} characters; Parquet and CSV have them all]"
    kept = text.encode("utf-16-le")[: 2 * (CELL_UNITS - len(mark))]
    return kept.decode("utf-16-le", errors="ignore") + mark


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
