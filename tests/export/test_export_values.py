"""Every value of hostile rows comes back from every form: exact, at the edges of its range, by programs of others."""

import json
import re
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

import duckdb
import openpyxl
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.amounts import nearest_double
from ledgerframes.export.shape import EXACT, TIME_TEXT
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.timestamps import format_timestamp
from tests.export.rows import TIMES, csv_lines, sample

every_table = pytest.mark.parametrize("table", CATALOGUE.values(), ids=CATALOGUE.keys())
some_tables = pytest.mark.parametrize(
    "table", [CATALOGUE[name] for name in ("updates", "events", "instruments", "users")], ids=lambda one: one.name
)


@every_table
def test_plain_parquet_is_the_same_table_with_every_text_for_duckdb_and_polars_too(table, tmp_path):
    rows = sample(table)

    report = lf.export({table.name: rows}, tmp_path, provenance={"source": "https://scan"}, personal=True)

    read = pq.read_table(tmp_path / f"{table.name}.parquet")
    assert read.equals(rows)
    assert [field.metadata for field in read.schema] == [field.metadata for field in table.schema]
    assert json.loads(read.schema.metadata[b"ledgerframes"]) == {"version": lf.__version__, "source": "https://scan"}
    (path,) = report.tables[0].files
    assert (report.rows, path) == (rows.num_rows, str(tmp_path / f"{table.name}.parquet"))
    with duckdb.connect() as db:
        db.execute("SET TimeZone='UTC'")
        for found in (db.sql(f"from '{path}'").to_arrow_table(), pl.read_parquet(path).to_arrow()):
            assert found.cast(rows.schema).to_pylist() == rows.to_pylist()


def from_bi(path):
    read = pq.read_table(path)
    assert {str(field.type) for field in read.schema} <= {"string", "int64", "bool", "timestamp[us]", "double"}
    return {name: told(read[name]) for name in read.column_names}


def from_csv(path):
    names, *lines = csv_lines(path.read_bytes().decode())
    columns = zip(names, zip(*lines, strict=True), strict=True)
    return {name: [cell and lf.export.restore_text(cell) for cell in cells] for name, cells in columns}


def from_workbook(path):
    """A workbook's cells as Excel shows them: openpyxl leaves its escapes of characters that XML cannot hold."""
    names, *lines = openpyxl.load_workbook(path)[path.stem].iter_rows(values_only=True)
    columns = zip(names, zip(*lines, strict=True), strict=True)
    unescaped = partial(re.compile("_x([0-9A-F]{4})_").sub, lambda match: chr(int(match[1], 16)))
    return {name: [unescaped(cell) if isinstance(cell, str) else cell for cell in cells] for name, cells in columns}


def told(column):
    """The values of a column, times as their text."""
    if pa.types.is_timestamp(column.type):
        return [None if micros is None else format_timestamp(micros) for micros in column.cast(pa.int64()).to_pylist()]
    return column.to_pylist()


def value(cell, kind):
    """What a reader who knows the column's type makes of a cell."""
    if cell is None or pa.types.is_string(kind) or pa.types.is_timestamp(kind):
        return cell
    if pa.types.is_boolean(kind):
        return cell in {True, "true"}
    made = {pa.types.is_decimal: Decimal, pa.types.is_integer: int, pa.types.is_list: json.loads}
    return next(make(cell) for is_it, make in made.items() if is_it(kind))


FORMS = {
    "bi": (from_bi, "parquet", {"profile": "bi"}), "csv": (from_csv, "csv", {}), "xlsx": (from_workbook, "xlsx", {}),
}  # fmt: skip


@some_tables
@pytest.mark.parametrize("form", FORMS)
def test_every_value_is_read_back_exactly_from_a_flat_form(form, table, tmp_path):
    (read, ending, options), rows = FORMS[form], sample(table)

    lf.export({table.name: rows}, tmp_path / f"{table.name}.{ending}", personal=True, **options)

    cells = read(tmp_path / f"{table.name}.{ending}")
    for field in rows.schema:
        name, wanted = field.name, rows[field.name]
        exact = next(own for own in (name + EXACT, name + TIME_TEXT, name) if own in cells)
        assert [value(cell, field.type) for cell in cells[exact]] == told(wanted), name
        if exact == name + EXACT:
            digits = 15 if form == "xlsx" else 17  # of a double; a workbook's file has one less
            rounded = [[cell if cell is None else f"{float(cell):.{digits}g}" for cell in own]
                       for own in (cells[name], wanted.to_pylist())]  # fmt: skip
            assert rounded[0] == rounded[1]
        if exact == name + TIME_TEXT:
            assert [near(*pair) for pair in zip(cells[name], wanted.to_pylist(), strict=True)].count(False) == 0


def near(cell, moment):
    """Whether a cell is the millisecond of a moment; before 1900 it is text."""
    if isinstance(cell, datetime):
        return abs(cell - moment.replace(tzinfo=None)) <= timedelta(milliseconds=2)
    return (moment is None or moment.year <= 1900) and isinstance(cell, str | None)


@pytest.mark.parametrize("options", [{}, {"layout": "hive"}, {"format": "csv"}, {"format": "xlsx"}], ids=str)
def test_an_empty_table_keeps_its_columns(tmp_path, options):
    lf.export({"licenses": lambda: iter(())}, tmp_path, personal=True, **options)

    path = next(path for path in tmp_path.rglob("*") if path.is_file())
    if path.suffix == ".parquet":
        names, count = pq.read_schema(path).names, pq.read_metadata(path).num_rows
    elif path.suffix == ".csv":
        names, count = path.read_text().splitlines()[0].split(","), len(path.read_text().splitlines()) - 1
    else:
        sheet = openpyxl.load_workbook(path)["licenses"]
        names, count = [cell.value for cell in sheet[1]], sheet.max_row - 1
        names = [name for name in names if not name.endswith(TIME_TEXT)]
    assert (tuple(names), count) == (CATALOGUE["licenses"].names, 0)


EDGE = 2**53  # of the whole numbers that a double can hold
UNITS = st.integers(-(10**38) + 1, 10**38 - 1) | st.integers(EDGE - 9, EDGE + 9) | st.integers(-EDGE - 9, 9 - EDGE)


@given(st.lists(st.none() | UNITS.map(lambda units: Decimal(f"{units}E-10")), min_size=1), st.integers(0, 3))
def test_a_double_is_the_nearest_to_its_amount(amounts, first):
    column = pa.array(amounts, pa.decimal128(38, 10))[first:]
    nearest = [None if amount is None else float(amount) for amount in amounts[first:]]

    assert nearest_double(column).to_pylist() == nearest
    assert nearest_double(pa.chunked_array([column, column])).to_pylist() == nearest + nearest


@pytest.mark.parametrize(
    "kind", [pa.decimal256(50, 10), pa.decimal128(38, 30), pa.decimal128(38, -2), pa.decimal64(18, 3)], ids=str
)
def test_amounts_of_other_types_become_the_nearest_doubles_too(kind):
    amounts = [Decimal(units).scaleb(-kind.scale) for units in (7, -(10**14) - 1)] + [None]

    assert nearest_double(pa.array(amounts, kind)).to_pylist() == [float(amounts[0]), float(amounts[1]), None]


@pytest.mark.parametrize("profile", ["exact", "bi"])
def test_milliseconds_are_rounded_toward_the_past_and_bi_has_times_without_zone(tmp_path, profile):
    moments = pa.table({"at": pa.array(TIMES, pa.timestamp("us", "UTC"))})
    for name in ("t.parquet", "t.csv"):
        lf.export({"t": moments}, tmp_path / name, profile=profile, times="ms")

    read = pq.read_table(tmp_path / "t.parquet")["at"]
    assert read.type == pa.timestamp("ms", None if profile == "bi" else "UTC")
    wanted = [micros // 1000 for micros in moments["at"].cast(pa.int64()).to_pylist()]
    assert read.cast(pa.int64()).to_pylist() == wanted
    texts = [f"{format_timestamp(millis * 1000)[:-4]}{'' if profile == 'bi' else 'Z'}" for millis in wanted]
    assert (tmp_path / "t.csv").read_text().splitlines()[1:] == texts


@pytest.mark.parametrize("profile", [None, "bi"])
@pytest.mark.parametrize("unit", ["us", "ns", "s"])
def test_durations_are_seconds_since_parquet_has_no_type_for_them(tmp_path, profile, unit):
    spans = pa.array([timedelta(seconds=2), None, timedelta(seconds=-1)], pa.duration(unit))

    lf.export({"flows": pa.table({"in_flight": spans})}, tmp_path, profile=profile)

    found = pq.read_table(tmp_path / "flows.parquet")
    assert found.to_pydict() == {"in_flight_seconds": [2.0, None, -1.0]}
    assert b"seconds" in found.schema.field(0).metadata[b"description"]


def test_frames_of_pandas_and_polars_are_sources(tmp_path):
    frame = pl.DataFrame({"t": ["=1", None], "n": [1, 2], "c": pl.Series(["x", "y"], dtype=pl.Categorical)})

    lf.export({"a": frame, "b": frame.to_pandas()}, tmp_path)

    for name in "ab":
        read = pq.read_table(tmp_path / f"{name}.parquet")
        assert read.to_pylist() == [{"t": "=1", "n": 1, "c": "x"}, {"t": None, "n": 2, "c": "y"}]
        assert read.schema.field("t").type == read.schema.field("c").type == pa.string()
