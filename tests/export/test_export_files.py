"""Parquet in folders and row groups of a sensible size; CSV that is exact, and harmless in a spreadsheet."""

import csv
import io
import re
from importlib import import_module

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

import ledgerframes as lf
from ledgerframes.export.files import GROUP_ROWS, CsvFile
from ledgerframes.tables.catalogue import CATALOGUE
from tests.export.rows import AMOUNTS, HOSTILE, csv_lines, sample


@pytest.mark.parametrize("profile", [None, "bi"])
def test_hive_folders_hold_every_row_once_for_duckdb_polars_and_pyarrow(tmp_path, profile):
    rows = {name: sample(CATALOGUE[name]) for name in ("events", "licenses")}

    report = lf.export(rows, tmp_path, layout="hive", profile=profile)

    months = sorted(path.name for path in (tmp_path / "events" / "migration_id=1").iterdir())
    assert months == ["record_month=2025-03", "record_month=2025-04"]
    columns = ["migration_id", "record_month", "update_id", "event_id", "node_index"]
    wanted = sorted(tuple(row.values()) for row in rows["events"].select(columns).to_pylist())
    with duckdb.connect() as db:
        glob = f"read_parquet('{tmp_path}/events/**/*.parquet', hive_partitioning=true)"
        assert sorted(db.sql(f"select {', '.join(columns)} from {glob}").fetchall()) == wanted
    assert sorted(pl.read_parquet(tmp_path / "events", hive_partitioning=True).select(columns).rows()) == wanted
    assert pq.read_table(tmp_path / "licenses").num_rows == rows["licenses"].num_rows == report.tables[1].rows


def test_partitions_that_are_returned_to_go_on_in_another_file(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("ledgerframes.export.files"), "OPEN_FILES", 1)
    batch = sample(CATALOGUE["updates"], 12).combine_chunks().to_batches()[0]

    report = lf.export({"updates": [batch, batch]}, tmp_path, layout="hive")

    assert max(path.rsplit("/", 1)[1] for path in report.files) == "part-1.parquet"
    assert pl.read_parquet(tmp_path / "updates").height == 24 == report.rows


def test_small_batches_become_sensible_row_groups(tmp_path):
    batch = pa.record_batch({"n": pa.array(range(1000), pa.int64())})

    lf.export({"t": (batch for _ in range(300))}, tmp_path)

    metadata = pq.read_metadata(tmp_path / "t.parquet")
    groups = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert sum(groups) == 300_000
    assert max(groups) <= GROUP_ROWS
    assert len(groups) <= 5


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
