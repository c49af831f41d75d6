"""Exported workbooks, read back with another library: every value, nothing run or silently lost, and how they look."""

import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.export.shape import shape_of
from ledgerframes.export.workbook import CELL_UNITS, Sheets, Workbook
from ledgerframes.tables.catalogue import CATALOGUE
from tests.export.rows import HOSTILE, sample


def opened(path):
    return openpyxl.load_workbook(path, rich_text=False)


def test_nothing_in_the_file_is_a_formula_or_a_link_even_if_somebody_edits_it(tmp_path):
    lf.export({"t": pa.table({"a": ["=1+1", "plain", *HOSTILE]})}, tmp_path, format="xlsx")

    with zipfile.ZipFile(tmp_path / "ledgerframes.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        assert [name for name in book.namelist() if "rels" in name and "sheet" in name] == []
    assert "<f>" not in sheet
    assert "<hyperlink" not in sheet
    cells = [opened(tmp_path / "ledgerframes.xlsx")["t"].cell(row, 1) for row in (2, 3)]
    assert [(cell.quotePrefix, cell.data_type) for cell in cells] == [(True, "s"), (False, "s")]


@pytest.mark.parametrize(
    "long",
    ["x" * (CELL_UNITS + 1), "\U0001f600" * 20_000, f"<r>{'&' * 10_000}</r>", f"<r>{'x' * CELL_UNITS}</r>"],
    ids=["letters", "surrogate pairs", "markup that grows", "markup"],
)
def test_a_text_too_long_for_a_cell_is_marked_and_counted(tmp_path, long, caplog):
    fits = "é" * CELL_UNITS
    report = lf.export({"t": pa.table({"a": [long, fits]})}, tmp_path, format="xlsx")

    sheet = opened(tmp_path / "ledgerframes.xlsx")["t"]
    cell = sheet.cell(2, 1).value
    assert sheet.cell(3, 1).value == fits
    kept, mark = cell.split(" […")
    assert long.startswith(kept)
    assert len(cell.encode("utf-16-le")) // 2 <= CELL_UNITS
    assert f"{len(long.encode('utf-16-le')) // 2:,} characters" in mark
    assert report.tables[0].cut == 1
    assert "1 cells are longer" in caplog.text


def test_times_finer_than_excels_are_exact_in_their_text(tmp_path):
    nanoseconds = pa.array([1_772_366_400_123_456_789], pa.timestamp("ns", "UTC"))

    lf.export({"t": pa.table({"at": nanoseconds})}, tmp_path / "t.xlsx")

    (row,) = opened(tmp_path / "t.xlsx")["t"].iter_rows(min_row=2, values_only=True)
    assert row[0].isoformat() == "2026-03-01T12:00:00.123000"
    assert row[1] == "2026-03-01T12:00:00.123456789Z"


def test_a_table_longer_than_a_sheet_goes_on_in_the_next(tmp_path):
    batch = pa.record_batch({"n": pa.array(range(10), pa.int64()), "text": ["a long text in a cell"] * 10})
    book = Workbook(tmp_path / "b.xlsx", scratch=tmp_path, sheet_rows=5)

    sheets = Sheets(book, "events", shape_of("events", batch.schema, flat=True))
    sheets.add(batch)
    sheets.close()
    book.close()

    read = opened(tmp_path / "b.xlsx")
    assert read.sheetnames == ["events", "events (2)", "events (3)"]
    lines = [[row[0] for row in sheet.iter_rows(values_only=True)] for sheet in read]
    assert lines == [["n", 0, 1, 2, 3], ["n", 4, 5, 6, 7], ["n", 8, 9]]
    assert sheets.rows == 10
    assert [sheet.auto_filter.ref for sheet in read] == ["A1:B5", "A1:B5", "A1:B3"]
    assert all(sheet.column_dimensions["B"].width > 20 for sheet in read)


def test_the_last_sheet_says_where_it_is_from_and_what_columns_mean(tmp_path):
    tables = {name: sample(CATALOGUE[name], 3) for name in ("updates", "instruments")}

    lf.export(tables, tmp_path, format="xlsx", provenance={"source": "https://scan"})

    book = opened(tmp_path / "ledgerframes.xlsx")
    assert book.sheetnames == ["updates", "instruments", "about"]
    lines = list(book["about"].iter_rows(values_only=True))
    assert lines[1][1:3] == ("ledgerframes", f'{{"version": "{lf.__version__}", "source": "https://scan"}}')
    assert ("instruments", "symbol", "Symbol, not necessarily unique.", "") in lines


AMOUNT = pa.decimal128(38, 10)
COLUMNS = {
    pa.field("round", pa.int64(), metadata={"unit": "rounds"}): [12345, 12346],
    pa.field("bytes", pa.int64(), metadata={"unit": "bytes"}): [1_250_000, 2],
    pa.field("offset", pa.int64()): [123_456_789_012, 7],
    pa.field("long", pa.int64()): [10**15 - 1, -(10**15)],
    pa.field("amount", AMOUNT, metadata={"unit": "coin"}): [Decimal("1234.5"), Decimal("0.0000000001")],
    pa.field("share", pa.float64()): [0.25, None],
    pa.field("at", pa.timestamp("us", "UTC")): [datetime(2026, 3, 1, 12, tzinfo=UTC), None],
    pa.field("day", pa.date32()): [date(2026, 3, 1), date(1899, 1, 1)],
    pa.field("party_id", pa.string()): ["alice::1220" + "ab" * 32, "bob"],
    pa.field("payload", pa.string()): ["x" * 5000, "y\n" * 500],
    pa.field("yes", pa.bool_()): [True, False],
}
ROWS = pa.table([pa.array(cells, field.type) for field, cells in COLUMNS.items()], schema=pa.schema(list(COLUMNS)))


@pytest.fixture
def book(tmp_path):
    lf.export({"t": ROWS, "none": ROWS.slice(0, 0)}, tmp_path / "book.xlsx", format="xlsx")
    return openpyxl.load_workbook(tmp_path / "book.xlsx")


def column(sheet, name):
    place = [cell.value for cell in sheet[1]].index(name) + 1
    return [sheet.cell(row, place) for row in range(2, sheet.max_row + 1)]


def test_every_sheet_has_filters_over_its_rows_and_names_that_stay(book):
    assert {sheet.title: (sheet.auto_filter.ref, sheet.freeze_panes) for sheet in book} == {
        "t": ("A1:M3", "A2"),
        "none": ("A1:M1", "A2"),
        "about": (f"A1:D{book['about'].max_row}", "A2"),
    }
    assert all(cell.font.bold for sheet in book for cell in sheet[1])


def test_numbers_and_times_have_the_format_of_what_they_count_and_a_sum_takes_every_row(book):
    assert {cell.value: cell.offset(1).number_format for cell in book["t"][1] if "text" not in cell.value} == {
        **dict.fromkeys(("round", "offset", "long"), "0"), "bytes": "#,##0", "amount": "#,##0.00########",
        "at": "yyyy-mm-dd hh:mm:ss.000", "day": "yyyy-mm-dd",
        **dict.fromkeys(("share", "amount_exact", "party_id", "payload", "yes"), "General"),
    }  # fmt: skip
    for name in ("round", "bytes", "offset", "amount"):
        cells = column(book["t"], name)
        assert [cell.data_type for cell in cells] == ["n", "n"]
        assert sum(cell.value for cell in cells) == pytest.approx(float(sum(ROWS[name].to_pylist())), rel=1e-15)
    # Days that Excel does not know and numbers of more than fifteen digits are text.
    first, second = column(book["t"], "day")
    assert (first.value.date(), first.is_date) == (date(2026, 3, 1), True)
    assert second.value == "1899-01-01"
    assert [cell.value for cell in column(book["t"], "long")] == [10**15 - 1, "-1000000000000000"]


def test_columns_are_as_wide_as_what_they_hold_up_to_a_screen(book):
    sheet = book["t"]
    widths = {cell.value: sheet.column_dimensions[cell.column_letter].width for cell in sheet[1]}

    assert widths["at"] >= len("2026-03-01 12:00:00.000")
    assert len("123456789012") <= widths["offset"] <= 20
    assert widths["amount_exact"] >= len("amount_exact") + 3
    assert widths["round"] >= len("round") + 3
    assert widths["payload"] <= 61
    assert widths["party_id"] <= 61
    assert max(widths.values()) > 55


def test_a_table_without_columns_is_an_empty_sheet(tmp_path):
    lf.export({"t": pa.table({})}, tmp_path / "book.xlsx", format="xlsx")

    assert openpyxl.load_workbook(tmp_path / "book.xlsx")["t"].max_row == 1
