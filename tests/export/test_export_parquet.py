"""Exported Parquet in folders by migration and month, and in row groups of a sensible size."""

from importlib import import_module

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.export.files import GROUP_ROWS
from ledgerframes.tables.catalogue import CATALOGUE
from tests.export.rows import sample


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
