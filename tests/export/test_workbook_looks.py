"""What somebody sees who opens a workbook: filters, names that stay, formats, widths, columns that can be summed."""

from datetime import UTC, date, datetime
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pytest

import ledgerframes as lf

AMOUNT = pa.decimal128(38, 10)
ROWS = pa.table(
    {
        "round": pa.array([12345, 12346], pa.int64()),
        "bytes": pa.array([1_250_000, 2], pa.int64()),
        "offset": pa.array([123_456_789_012, 7], pa.int64()),
        "amount": pa.array([Decimal("1234.5"), Decimal("0.0000000001")], AMOUNT),
        "share": [0.25, None],
        "at": pa.array([datetime(2026, 3, 1, 12, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
        "day": pa.array([date(2026, 3, 1), date(1899, 1, 1)], pa.date32()),
        "party_id": ["alice::1220" + "ab" * 32, "bob"],
        "payload": ["x" * 5000, "y\n" * 500],
        "yes": [True, False],
    },
    schema=pa.schema(
        [
            pa.field("round", pa.int64(), metadata={"unit": "rounds"}),
            pa.field("bytes", pa.int64(), metadata={"unit": "bytes"}),
            pa.field("offset", pa.int64()),
            pa.field("amount", AMOUNT, metadata={"unit": "coin"}),
            pa.field("share", pa.float64()),
            pa.field("at", pa.timestamp("us", "UTC")),
            pa.field("day", pa.date32()),
            pa.field("party_id", pa.string()),
            pa.field("payload", pa.string()),
            pa.field("yes", pa.bool_()),
        ]
    ),
)


@pytest.fixture
def book(tmp_path):
    lf.export({"t": ROWS, "none": ROWS.slice(0, 0)}, tmp_path / "book.xlsx", format="xlsx")
    return openpyxl.load_workbook(tmp_path / "book.xlsx")


def column(sheet, name):
    place = [cell.value for cell in sheet[1]].index(name) + 1
    return [sheet.cell(row, place) for row in range(2, sheet.max_row + 1)]


def test_every_sheet_has_filters_over_its_rows_and_names_that_stay(book):
    assert {sheet.title: (sheet.auto_filter.ref, sheet.freeze_panes) for sheet in book} == {
        "t": ("A1:L3", "A2"),
        "none": ("A1:L1", "A2"),
        "about": (f"A1:D{book['about'].max_row}", "A2"),
    }
    assert all(cell.font.bold for sheet in book for cell in sheet[1])


@pytest.mark.parametrize(
    ("name", "pattern"),
    {
        "round": "0",
        "bytes": "#,##0",
        "offset": "0",
        "amount": "#,##0.00########",
        "share": "General",
        "at": "yyyy-mm-dd hh:mm:ss.000",
        "day": "yyyy-mm-dd",
    }.items(),
)
def test_numbers_and_times_have_the_format_of_what_they_count(book, name, pattern):
    assert column(book["t"], name)[0].number_format == pattern


@pytest.mark.parametrize("name", ["round", "bytes", "offset", "amount"])
def test_a_sum_over_a_column_takes_every_row(book, name):
    cells = column(book["t"], name)

    assert [cell.data_type for cell in cells] == ["n", "n"]
    assert sum(cell.value for cell in cells) == pytest.approx(float(sum(ROWS[name].to_pylist())), rel=1e-15)


def test_days_are_days_and_those_that_excel_does_not_know_are_text(book):
    first, second = column(book["t"], "day")

    assert (first.value.date(), first.is_date) == (date(2026, 3, 1), True)
    assert second.value == "1899-01-01"


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


def test_each_sheet_of_a_long_table_has_its_filter_and_widths(tmp_path):
    from ledgerframes.export.shape import shape_of
    from ledgerframes.export.workbook import Sheets, Workbook

    batch = pa.record_batch({"name": pa.array(["a long text in a cell"] * 10)})
    book = Workbook(tmp_path / "b.xlsx", scratch=tmp_path, sheet_rows=5)
    sheets = Sheets(book, "events", shape_of("events", batch.schema, flat=True))
    sheets.add(batch)
    sheets.close()
    book.close()

    read = openpyxl.load_workbook(tmp_path / "b.xlsx")
    assert [sheet.auto_filter.ref for sheet in read] == ["A1:A5", "A1:A5", "A1:A3"]
    assert all(sheet.column_dimensions["A"].width > 20 for sheet in read)


def test_a_table_without_columns_is_an_empty_sheet(tmp_path):
    lf.export({"t": pa.table({})}, tmp_path / "book.xlsx", format="xlsx")

    assert openpyxl.load_workbook(tmp_path / "book.xlsx")["t"].max_row == 1
