"""Exported CSV: exact for whoever reads it with care, harmless for whoever opens it in a spreadsheet."""

import csv
import io
import re

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

import ledgerframes as lf
from ledgerframes.export.files import CsvFile
from tests.export.rows import AMOUNTS, HOSTILE, csv_lines

CHARACTERS = st.characters(codec="utf-8")  # Arrow's text has no lone surrogates


@given(st.lists(st.tuples(st.text(CHARACTERS) | st.none(), st.sampled_from(HOSTILE)), min_size=1))
def test_any_text_comes_back_after_undoing_and_null_stays_apart_from_empty(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    schema = pa.schema([("a", pa.string()), ("b", pa.string())])
    texts = [list(side) for side in zip(*pairs, strict=True)]

    sink = CsvFile(path, schema, foreign={"a", "b"})
    sink.add(pa.record_batch([pa.array(side, pa.string()) for side in texts], schema=schema))
    sink.close()

    _, *lines = csv_lines(path.read_bytes().decode())
    assert [tuple(cell and lf.export.restore_text(cell) for cell in line) for line in lines] == pairs
    _, *lines = csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))
    assert [[lf.export.restore_text(cell) for cell in line] for line in lines] == [
        [cell or "" for cell in pair] for pair in pairs
    ]


def test_duckdb_and_arrow_read_the_same_amounts(tmp_path):
    rows = pa.table({"amount": pa.array(AMOUNTS, pa.decimal128(38, 10))})
    lf.export({"t": rows}, tmp_path, format="csv", profile="bi")
    assert '\n-1.5,"-1.5000000000"\n' in (tmp_path / "t.csv").read_text()  # neither is taken for a formula
    lf.export({"t": rows}, tmp_path, format="csv", overwrite=True)
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
