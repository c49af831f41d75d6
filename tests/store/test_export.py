"""A store's tables as files for other programs: the same rows, only what is covered."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf


@pytest.fixture(scope="module")
def filled(net, tmp_path_factory):
    store = lf.open_store(tmp_path_factory.mktemp("exported") / "lake")
    store.sync(net)
    store.sync(net, tables=["instruments"])
    return store


def test_every_stored_table_is_written_once(filled, tmp_path, history):
    report = filled.export(tmp_path / "out")
    assert {one.name: one.rows for one in report.tables} == {
        "updates": 2000, "events": len(history.events), "reassignments": len(history.reassignments), "instruments": 1,
    }  # fmt: skip
    events = pq.read_table(tmp_path / "out" / "events.parquet")
    assert sorted(events["event_id"].to_pylist()) == sorted(history.events.event_id)


@pytest.mark.parametrize("options", [{"layout": "hive"}, {"profile": "bi"}, {"format": "csv"}], ids=str)
def test_a_range_is_written_in_every_form(filled, net, tmp_path, options):
    report = filled.export(
        tmp_path / "out", tables=["updates"], start=(1, "0001-01-01"), end=(2, "0001-01-01"), **options
    )
    assert report.tables[0].rows == len(lf.load_updates(net, start=(1, "0001-01-01"), end=(2, "0001-01-01")))


def test_migrations_and_months_come_in_order(filled, tmp_path):
    filled.export(tmp_path / "out", tables=["events"])
    assert pd.read_parquet(tmp_path / "out" / "events.parquet").migration_id.is_monotonic_increasing


def test_what_is_not_covered_or_not_there_is_an_error(filled, tmp_path):
    with pytest.raises(lf.errors.PartialResultError):
        filled.export(tmp_path / "out", end="2099-01-01")
    with pytest.raises(lf.errors.InputError, match="did you mean"):
        filled.export(tmp_path / "out", tables=["event"])
    assert not (tmp_path / "out").exists()


def test_a_lake_of_an_empty_ledger_has_nothing_to_export_and_says_so(tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=0) as net:
        store.sync(net, progress=False)
    with pytest.raises(lf.errors.StoreError, match=r"there is no table to export; sync it first"):
        store.export(tmp_path / "out")


def test_a_table_without_rows_is_written_with_its_columns(filled, tmp_path):
    filled.export(tmp_path / "out", tables=["reassignments"], end=(0, "0001-01-02"))
    found = pq.read_table(tmp_path / "out" / "reassignments.parquet")
    assert found.num_rows == 0
    assert "unassign_id" in found.column_names


def test_a_table_that_is_not_exported_is_refused_by_name(tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=20) as net:
        store.sync(net, progress=False)

    with pytest.raises(lf.errors.InputError, match="tables: 'syncs' is not exported; the store has updates"):
        store.export(tmp_path / "out", tables=["syncs"])
