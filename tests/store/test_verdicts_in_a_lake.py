"""Verdicts in a store: by the code of the history, with coverage of their own, and never in its way."""

import json

import deltalake
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world.verdicts import events_of
from ledgerframes.store.lake import Lake
from ledgerframes.store.table_sets import VERDICTS
from tests.rigs.servers import replica, simulated
from tests.store.conftest import adopt

TABLES = ("verdicts", "views", "app_activity")


def truth(net):
    """What the sandbox's world has, without any server: requests, and how many views and records they have."""
    items = [json.loads(event.body) for update in net.sandbox.world.ledger_updates for event in events_of(update)]
    own = [item for item in items if item["verdict"]]
    return (
        sorted(item["verdict"]["update_id"] for item in own),
        sum(len(item["verdict"]["transaction_views"]["views"]) for item in own),
        sum(len((item["app_activity_records"] or {"records": []})["records"]) for item in own),
    )


def stored(store):
    verdicts, views, activity = (store.load(name) for name in TABLES)
    assert set(views.update_id) | set(activity.update_id) <= set(verdicts.update_id)
    return sorted(verdicts.update_id), len(views), len(activity)


@pytest.fixture
def ledger():
    with lf.sandbox(seed=11, updates=300) as net:
        yield net


def test_the_rows_are_the_truth_and_a_second_sync_adds_nothing(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    first = store.sync(ledger, tables=["verdicts"], progress=False)
    store.sync(ledger, tables=["views"], progress=False)
    versions = dict(store.tables().set_index("table").version)
    third = store.sync(ledger, tables=["app_activity"], progress=False)

    assert stored(store) == truth(ledger)
    assert set(first.rows) == set(TABLES)
    assert sum(third.rows.values()) == 0
    assert dict(store.tables().set_index("table").version) == versions
    assert all(text.startswith("verdicts: ") for text in first.covered)
    assert bool(store.check(full=True))


def test_new_requests_are_added_once(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    for _ in range(4):
        store.sync(ledger, tables=["verdicts"], progress=False, page_size=40)
        ledger.sandbox.advance(updates=25)
    store.sync(ledger, tables=["verdicts"], progress=False)

    assert stored(store) == truth(ledger)


def test_a_history_and_its_verdicts_cover_what_each_of_them_has(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, progress=False)
    before = store.coverage()
    store.sync(ledger, tables=["verdicts"], end=(0, "2025-03-03T09:05:00Z"), progress=False)

    assert store.coverage().equals(before)
    assert store.coverage(table="views").up_to.to_list() == [pd.Timestamp("2025-03-03T09:04:59.999999Z")]
    with pytest.raises(lf.errors.InputError, match="table='licenses' has no coverage: give one of updates"):
        store.coverage(table="licenses")
    assert len(store.load("updates")) == 300
    assert 0 < len(store.load("verdicts")) < len(truth(ledger)[0])
    with pytest.raises(lf.errors.PartialResultError, match="verdicts: what is stored ends at"):
        store.load("verdicts", start=(1, "2025-03-03"), end=(2, "2025-03-04"))


@pytest.mark.long
def test_both_in_one_sync_and_in_either_order(ledger, tmp_path):
    one, two = lf.open_store(tmp_path / "one"), lf.open_store(tmp_path / "two")
    report = one.sync(ledger, tables=["updates", "verdicts"], progress=False)
    two.sync(ledger, tables=["verdicts"], progress=False)
    two.sync(ledger, progress=False)

    assert set(report.rows) == {"updates", "events", "reassignments", *TABLES}
    for store in (one, two):
        assert stored(store) == truth(ledger)
        assert len(store.load("updates")) == 300
        assert bool(store.check())


def test_sql_export_and_a_part_know_them(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, tables=["updates", "verdicts"], progress=False)
    joined = store.sql("select count(*) as n from verdicts v join updates u using (update_id)").n[0]
    part = store.load("verdicts", start=(0, "2025-03-03T09:02:00Z"), end=(0, "2025-03-03T09:04:00Z"))

    assert joined == store.load("verdicts").has_update.sum()
    assert store.export(tmp_path / "out", tables=["verdicts", "views"]).rows == sum(truth(ledger)[:2][1:]) + len(
        truth(ledger)[0]
    )
    assert part.record_time.between("2025-03-03T09:02:00Z", "2025-03-03T09:04:00Z", inclusive="left").all()
    assert len(part) > 0


class Dies(BaseException):
    """The machine is gone."""


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("commits", [1, 2, 3, 4, 5, 7])
def test_a_kill_between_two_commits_loses_nothing(ledger, tmp_path, monkeypatch, commits):
    """A kill is an exception that nothing catches, raised before one of the writes to a table's log."""
    from ledgerframes.store.delta.table import DeltaStoreTable

    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, tables=["verdicts"], end=(0, "2025-03-03T09:03:00Z"), progress=False)
    ledger.sandbox.advance(updates=40)
    left = [commits]
    append = DeltaStoreTable.append

    def dying(self, *arguments):
        if self.name in VERDICTS.order:
            left[0] -= 1
            if not left[0]:
                raise Dies
        return append(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(DeltaStoreTable, "append", dying)
        with pytest.raises(Dies):
            store.sync(ledger, tables=["verdicts"], progress=False, page_size=30, commit_bytes=20_000)
    stored(store)
    store.sync(ledger, tables=["verdicts"], progress=False)

    assert stored(store) == truth(ledger)
    assert bool(store.check(full=True))


def test_a_lost_table_and_a_damaged_file_are_repaired(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, tables=["updates", "verdicts"], progress=False)
    (tmp_path / "lake" / "views" / "_delta_log").rename(tmp_path / "gone")
    damaged = next((tmp_path / "lake" / "app_activity").rglob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-20])

    assert not store.check()
    with pytest.raises(lf.errors.StoreError, match="views"):
        store.load("verdicts")
    report = store.repair()
    store.sync(ledger, tables=["verdicts"], progress=False)

    assert "views" in report.remade
    assert any("app_activity" in text for text in report.damaged)
    assert stored(store) == truth(ledger)
    assert len(store.load("updates")) == 300
    assert bool(store.check(full=True))


@pytest.mark.long
def test_what_is_not_final_is_read_again_after_a_repair(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, tables=["verdicts"], progress=False)
    report = store.repair(unsettled=True)
    assert [text for text in report.stretches if text.startswith("verdicts: ")]
    store.sync(ledger, tables=["verdicts"], progress=False)

    assert stored(store) == truth(ledger)


@pytest.mark.long
def test_late_verdicts_of_a_slow_synchronizer_are_not_lost(tmp_path):
    with simulated(seed=4, updates=300, rounds_per_day=1_440, late=0.6) as net:
        store = lf.open_store(tmp_path / "lake")
        for _ in range(6):
            store.sync(net, tables=["verdicts"], progress=False, page_size=50)
        assert stored(store) == truth(net)


def test_another_network_is_refused(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, tables=["verdicts"], progress=False)
    with lf.sandbox(seed=12, updates=300) as other:
        for tables in (["verdicts"], ["updates"], ["licenses"]):
            with pytest.raises(lf.errors.StoreError, match="not the network"):
                store.sync(other, tables=tables, progress=False)

    assert stored(store) == truth(ledger)


def test_a_store_of_the_history_refuses_verdicts_of_another_network(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, progress=False)
    with lf.sandbox(seed=12, updates=300) as other, pytest.raises(lf.errors.StoreError, match="not the network"):
        store.sync(other, tables=["verdicts"], progress=False)

    assert "verdicts" not in set(store.tables().table)


def test_a_lagging_server_beside_another_one_loses_nothing(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with replica(ledger.sandbox, lag=120) as behind:
        urls = [behind.scan_url, ledger.sandbox.scan_url]
        with lf.connect(scan_url=urls) as both:
            for _ in range(3):
                store.sync(both, tables=["verdicts"], progress=False, page_size=40)

    assert stored(store) == truth(ledger)


def test_the_states_of_syncs_can_be_read(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    first = store.sync(ledger, tables=["verdicts"], progress=False)
    before = store.load("verdicts")
    ledger.sandbox.advance(updates=50)
    store.sync(ledger, tables=["verdicts"], progress=False)

    assert store.load("verdicts", as_of=first.sync_id).equals(before)
    assert len(store.load("verdicts")) > len(before)


def test_tables_of_0_2_without_verdicts_open_as_before(ledger, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, progress=False)
    history = Lake(tmp_path / "lake").history(VERDICTS)

    assert history.network is None
    with pytest.raises(lf.errors.StoreError, match="has no verdicts"):
        store.load("verdicts")


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("which", ["a root", "a view inside another"])
def test_a_single_lost_row_of_views_is_found_and_repaired(ledger, tmp_path, which):
    store = lf.open_store(tmp_path / "lake")
    store.sync(ledger, tables=["verdicts"], progress=False)
    assert store.check(full=True)
    verdicts, views = store.load("verdicts"), store.load("views")
    roots = {(row.update_id, one) for row in verdicts.itertuples() for one in json.loads(row.root_views)}
    wanted = [row for row in views.itertuples() if ((row.update_id, row.view_id) in roots) == (which == "a root")]
    lost = wanted[len(wanted) // 2]
    deltalake.DeltaTable(tmp_path / "lake" / "views").delete(
        f"update_id = '{lost.update_id}' and view_id = {lost.view_id}"
    )
    adopt(store)

    check = store.check()
    assert not check
    assert [(one.name, one.count, one.example) for one in check.findings if one.severity == "error"] == [
        ("views: a view that its verdict or another view names is missing", 1, lost.update_id)
    ]
    store.repair()
    store.sync(ledger, tables=["verdicts"], progress=False)
    assert stored(store) == truth(ledger)
    assert store.check(full=True)
