"""Exported CSV: exact for whoever reads it with care, harmless for whoever opens it in a spreadsheet."""

import csv
import io
import json
import re
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

import ledgerframes as lf
from ledgerframes.export.files import CsvFile
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.timestamps import EARLIEST, LATEST, format_timestamp
from tests.export.rows import AMOUNTS, HOSTILE, TIMES, sample

every_table = pytest.mark.parametrize(
    "table", [CATALOGUE[name] for name in ("updates", "events", "instruments", "users")], ids=lambda one: one.name
)


def value(cell, kind):
    """What a reader who knows the column's type makes of a cell; null and empty text look alike to the csv module."""
    if cell == "":
        return None
    if pa.types.is_string(kind):
        return lf.export.restore_text(cell)
    if pa.types.is_list(kind):
        return json.loads(cell)
    if pa.types.is_decimal(kind):
        return Decimal(cell)
    if pa.types.is_integer(kind):
        return int(cell)
    return cell


def plain(cell, kind):
    if pa.types.is_timestamp(kind):
        return None if cell is None else format_timestamp(cell)
    if pa.types.is_boolean(kind):
        return None if cell is None else str(cell).lower()
    return cell or None if pa.types.is_string(kind) else cell


@every_table
def test_the_csv_module_reads_every_value_back(table, tmp_path):
    rows = sample(table)

    lf.export({table.name: rows}, tmp_path, format="csv", personal=True)

    with (tmp_path / f"{table.name}.csv").open(encoding="utf-8", newline="") as opened:
        names, *lines = csv.reader(opened)
    assert tuple(names) == table.names
    assert len(lines) == rows.num_rows
    for place, field in enumerate(rows.schema):
        column = rows.column(field.name)
        if pa.types.is_timestamp(field.type):
            column = column.cast(pa.int64())
        wanted = [plain(cell, field.type) for cell in column.to_pylist()]
        assert [value(line[place], field.type) for line in lines] == wanted, field.name


CHARACTERS = st.characters(codec="utf-8")  # Arrow's text has no lone surrogates


@given(st.lists(st.tuples(st.text(CHARACTERS) | st.none(), st.sampled_from(HOSTILE)), min_size=1))
def test_any_text_comes_back_after_undoing_and_null_stays_apart_from_empty(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    schema = pa.schema([("a", pa.string()), ("b", pa.string())])
    texts = [list(side) for side in zip(*pairs, strict=True)]

    sink = CsvFile(path, schema, foreign={"a", "b"})
    sink.add(pa.record_batch([pa.array(side, pa.string()) for side in texts], schema=schema))
    sink.close()

    for side, read in zip(texts, zip(*cells(path.read_bytes().decode()), strict=True), strict=True):
        assert [None if cell is None else lf.export.restore_text(cell) for cell in read[1:]] == side
    lines = csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))
    assert [[lf.export.restore_text(cell) for cell in line] for line in lines][1:] == [
        [cell or "" for cell in pair] for pair in zip(*texts, strict=True)
    ]


def cells(text):
    """The lines of RFC 4180, telling a cell of nothing (None) from empty text in quotes."""
    line = []
    for quoted, bare, end in re.findall(r'(?:("(?:[^"]|"")*")|([^",\r\n]*))(,|\r\n)', text):
        line.append(quoted[1:-1].replace('""', '"') if quoted else bare or None)
        if end != ",":
            yield line
            line = []


@given(st.integers(EARLIEST, LATEST), st.sampled_from(["us", "ms"]))
def test_times_are_iso_with_z_and_milliseconds_are_floored(tmp_path_factory, micros, times):
    folder = tmp_path_factory.mktemp("csv")

    lf.export({"t": pa.table({"at": pa.array([micros], pa.timestamp("us", "UTC"))})}, folder,
                     format="csv", times=times)  # fmt: skip

    wanted = format_timestamp(micros) if times == "us" else f"{format_timestamp(micros)[:-4]}Z"
    assert (folder / "t.csv").read_text() == f"at\n{wanted}\n"


def test_duckdb_and_arrow_read_the_same_amounts(tmp_path):
    lf.export({"t": pa.table({"amount": pa.array(AMOUNTS, pa.decimal128(38, 10))})}, tmp_path, format="csv")
    assert "E" not in (tmp_path / "t.csv").read_text()

    options = arrow_csv.ConvertOptions(column_types={"amount": pa.decimal128(38, 10)})
    assert arrow_csv.read_csv(tmp_path / "t.csv", convert_options=options).column(0).to_pylist() == list(AMOUNTS)
    with duckdb.connect() as db:
        source = f"read_csv('{tmp_path}/t.csv', columns={{'amount': 'DECIMAL(38,10)'}}, header=true)"
        assert [row[0] for row in db.sql(f"select amount from {source}").fetchall()] == list(AMOUNTS)


DISGUISED = ("\ufeff=1", "\u200b=1", "\u202e=1", "\x00=1", "\u3000\uff1d1", "\uff0b1", "\ufe66x", "\u22121")


def test_no_text_begins_as_a_formula_does_however_disguised(tmp_path):
    texts = [*(text for text in HOSTILE if re.match(r"^\s*[=+\-@\t\r\n]", text)), *DISGUISED]

    lf.export({"t": pa.table({"a": [*texts, "plain"]})}, tmp_path, format="csv")

    lines = ["\"'" + text.replace('"', '""') + '"\r\n' for text in texts]
    assert (tmp_path / "t.csv").read_bytes().decode() == "".join(["a\r\n", *lines, '"plain"\r\n'])


@pytest.mark.parametrize("profile", [None, "bi"])
def test_negative_numbers_stay_numbers(tmp_path, profile):
    rows = pa.table({"n": [-1], "amount": pa.array([Decimal("-1.5")], pa.decimal128(38, 10)), "text": ["-1.5"]})

    lf.export({"t": rows}, tmp_path, format="csv", profile=profile)

    amount = '-1.5,"-1.5000000000"' if profile else "-1.5000000000"
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == f'-1,{amount},"\'-1.5"'


def test_the_bi_profile_has_times_without_zone(tmp_path):
    rows = pa.table({"at": pa.array(TIMES[-2:], pa.timestamp("us", "UTC"))})

    lf.export({"t": rows}, tmp_path, format="csv", profile="bi")

    assert (tmp_path / "t.csv").read_text().splitlines()[1] == "2025-03-03T09:10:00.123456"


def test_an_empty_table_is_its_line_of_names(tmp_path):
    lf.export({"users": list}, tmp_path, format="csv")

    assert (tmp_path / "users.csv").read_bytes() == ",".join(CATALOGUE["users"].names).encode() + b"\r\n"
