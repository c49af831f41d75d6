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


def test_every_stored_table_is_written_once_in_the_order_of_time(filled, tmp_path, history):
    report = filled.export(tmp_path / "out")
    assert {one.name: one.rows for one in report.tables} == {
        "updates": 2000, "events": len(history.events), "reassignments": len(history.reassignments), "instruments": 1,
    }  # fmt: skip
    events = pd.read_parquet(tmp_path / "out" / "events.parquet")
    assert sorted(events.event_id) == sorted(history.events.event_id)
    assert events.migration_id.is_monotonic_increasing
    filled.export(tmp_path / "none", tables=["reassignments"], end=(0, "0001-01-02"))
    empty = pq.read_table(tmp_path / "none" / "reassignments.parquet")
    assert (empty.num_rows, "unassign_id" in empty.column_names) == (0, True)


def test_what_is_not_covered_or_not_there_is_an_error(filled, tmp_path):
    with pytest.raises(lf.errors.PartialResultError):
        filled.export(tmp_path / "out", end="2099-01-01")
    for wrong, said in (("event", "did you mean"), ("syncs", "tables: 'syncs' is not exported; the store has updates")):
        with pytest.raises(lf.errors.InputError, match=said):
            filled.export(tmp_path / "out", tables=[wrong])
    assert not (tmp_path / "out").exists()
