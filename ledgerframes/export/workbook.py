"""A workbook with a sheet per table, written row by row in constant memory; `exporting` calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.export.shape import Output, Shape
from ledgerframes.export.texts import dangerous, plain_text, time_text

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

SHEET_ROWS: Final = 1_048_576  # Excel's limit, the line of names included
_CHUNK: Final = 2048
_ABOUT: Final = ("table", "column", "meaning", "unit")
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


class Workbook:
    """One workbook being written; sheets come one after another, and `about` is the last."""

    def __init__(self, path: Path, *, scratch: Path, sheet_rows: int = SHEET_ROWS) -> None:
        """Begin a workbook.

        Args:
            path: where.
            scratch: folder for the sheets until they are packed.
            sheet_rows: the number of rows after which the next sheet starts.

        Raises:
            ConfigurationError: xlsxwriter is not installed.
        """
        try:
            import xlsxwriter
        except ImportError as error:
            raise ConfigurationError('workbooks need xlsxwriter; run: pip install "ledgerframes[xlsx]"') from error
        plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
        self._book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": str(scratch)} | plain)
        self._bold = self._book.add_format({"bold": True})
        self.quoted = self._book.add_format({"quote_prefix": True})
        #: Of numbers and times, by their patterns.
        self.formats = {
            pattern: self._book.add_format({"num_format": pattern}) for pattern in (TIME, DAY, AMOUNT, COUNT, WHOLE)
        }
        self.sheet_rows = sheet_rows

    def close(self) -> None:
        """Pack the sheets into the workbook.

        Raises:
            InputError: it would be larger than 4 GB.
            OSError: the disk refuses.
        """
        from xlsxwriter.exceptions import FileCreateError, FileSizeError

        try:
            self._book.close()
        except FileSizeError as error:
            raise InputError("the workbook would be larger than 4 GB; export as Parquet or CSV") from error
        except FileCreateError as error:
            raise OSError(*error.args[0].args) from error

    def give_up(self) -> None:
        """Close the sheets without completing them."""
        for sheet in self._book.worksheets():
            with suppress(OSError):
                sheet.row_data_fh.close()

    def begin(self, title: str, names: Sequence[str]) -> Worksheet:
        """Begin a sheet with its line of names, which stays in sight."""
        sheet = self._book.add_worksheet(title)
        sheet.freeze_panes(1, 0)
        for place, name in enumerate(names):
            sheet.write_string(0, place, name, self._bold)
        return sheet

    def write(self, sheet: Worksheet, row: int, place: int, value: Any, style: Format | None) -> bool:
        """Write a cell, and return whether its text had to be cut."""
        if isinstance(value, str):
            text, cut = fit(value)
            sheet.write_string(row, place, text, style)
            return cut
        if value is not None:
            sheet.write(row, place, value, style)
        return False

    def about(self, origin: Mapping[str, str], shapes: Mapping[str, Shape]) -> None:
        """Write the last sheet: the origin of the data, and the meaning of each column."""
        lines: list[tuple[str, ...]] = [("", key, value, "") for key, value in origin.items()]
        for table, shape in shapes.items():
            for field in shape.schema:
                own = {key: text.decode() for key, text in (field.metadata or {}).items()}
                lines.append((table, field.name, own.get(b"description", ""), own.get(b"unit", "")))
        texts = [pa.array(cells, pa.string()) for cells in zip(*lines, strict=True)]
        rows = pa.record_batch(texts, names=list(_ABOUT))
        sheets = Sheets(self, "about", Shape(tuple(Output(field, field.name, plain_text) for field in rows.schema)))
        sheets.add(rows)
        sheets.close()


class Sheets:
    """One table being written, over as many sheets as it needs: `events`, `events (2)` and so on."""

    def __init__(self, book: Workbook, name: str, shape: Shape) -> None:
        """Begin with the first sheet.

        Args:
            book: the workbook.
            name: the table, and the sheet.
            shape: its columns.
        """
        self._book = book
        self._name = name
        self._columns = [(output, book.formats.get(number_format(output))) for output in shape.outputs]
        self._names = shape.schema.names
        self._widths = [width(name, []) for name in self._names]
        self._begun = 0
        self.rows = 0
        self.cut = 0
        self._turn()

    def add(self, batch: pa.RecordBatch) -> None:
        """Write rows, on the next sheet where this one is full."""
        for start in range(0, batch.num_rows, _CHUNK):
            chunk = batch.slice(start, _CHUNK)
            columns = [cells_of(column) for column in chunk.columns]
            if self.rows == start == 0:
                self._widths = list(map(width, self._names, columns))
            styles = [self._styles(*pair) for pair in zip(self._columns, chunk.columns, strict=True)]
            for number in range(chunk.num_rows):
                if self._row >= self._book.sheet_rows:
                    self._turn()
                for place, (cells, style) in enumerate(zip(columns, styles, strict=True)):
                    self.cut += self._book.write(self._sheet, self._row, place, cells[number], style[number])
                self._row += 1
        self.rows += batch.num_rows

    def _styles(self, of: tuple[Output, Format | None], column: pa.Array) -> list[Format | None]:
        """The style of each cell: that of its column; text that would run as a formula if typed in is quoted."""
        output, style = of
        if not output.foreign:
            return [style] * len(column)
        return [self._book.quoted if is_so else None for is_so in dangerous(column).to_pylist()]

    def close(self) -> None:
        """Give the table's last sheet filters and widths; the workbook is closed after its last table."""
        for place, characters in enumerate(self._widths):
            self._sheet.set_column(place, place, characters)
        if self._widths:
            self._sheet.autofilter(0, 0, self._row - 1, len(self._widths) - 1)

    def give_up(self) -> None:
        """Nothing: the workbook lets go of every sheet."""

    def _turn(self) -> None:
        if self._begun:
            self.close()
        self._begun += 1
        title = self._name if self._begun == 1 else f"{self._name} ({self._begun})"
        self._sheet = self._book.begin(title, self._names)
        self._row = 1


def cells_of(column: pa.Array) -> list[Any]:
    """Turn a flat column into cells: text, numbers, truth values, times without zone, days, None.

    Whole numbers of 16 digits and more, numbers that are not finite, and times before March 1900 become text.
    """
    kind = column.type
    if pa.types.is_timestamp(kind):
        texts = time_text(column).to_pylist()
        moments = column.cast(pa.timestamp("us"), safe=False).to_pylist()  # the text has the nanoseconds
        return list(map(_moment, moments, texts))
    if pa.types.is_date(kind):
        return list(map(_day, column.cast(pa.date32()).to_pylist()))
    if pa.types.is_integer(kind):
        return list(map(_whole, column.to_pylist()))
    if pa.types.is_floating(kind):
        return list(map(_number, column.to_pylist()))
    return list(column.to_pylist() if pa.types.is_boolean(kind) else column.cast(pa.string()).to_pylist())


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


def number_format(output: Output) -> str:
    """Excel's format for the cells of a column; empty for text, truth values and numbers of any size."""
    kind = output.field.type
    if pa.types.is_timestamp(kind):
        return TIME
    if pa.types.is_date(kind):
        return DAY
    if pa.types.is_integer(kind):
        unit = (output.field.metadata or {}).get(b"unit", b"").decode()
        return WHOLE if unit in _ORDINAL else COUNT
    return AMOUNT if output.amount else ""


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
