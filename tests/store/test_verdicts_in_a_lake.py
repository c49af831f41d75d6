"""Verdicts in a store: by the code of the history, with coverage of their own, and never in its way."""

import json

import deltalake
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world.verdicts import events_of
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
    with lf.sandbox(seed=11, updates=200) as net:
        yield net


def test_a_history_and_its_verdicts_cover_what_each_of_them_has_and_are_read_together(ledger, store, tmp_path):
    store.sync(ledger, progress=False)
    before = store.coverage()
    store.sync(ledger, tables=["verdicts"], end=(0, "2025-03-03T09:05:00Z"), progress=False)

    assert store.coverage().equals(before)
    assert store.coverage(table="views").up_to.to_list() == [pd.Timestamp("2025-03-03T09:04:59.999999Z")]
    with pytest.raises(lf.errors.InputError, match="table='licenses' has no coverage: give one of updates"):
        store.coverage(table="licenses")
    assert len(store.load("updates")) == 200
    some = len(store.load("verdicts"))
    assert 0 < some < len(truth(ledger)[0])
    with pytest.raises(lf.errors.PartialResultError, match="verdicts: what is stored ends at"):
        store.load("verdicts", start=(1, "2025-03-03"), end=(2, "2025-03-04"))

    rest = store.sync(ledger, tables=["verdicts"], progress=False)
    assert stored(store) == truth(ledger)
    assert set(rest.rows) == set(TABLES)
    assert sum(text.startswith("verdicts: ") for text in rest.covered) == len(store.coverage(table="verdicts"))
    assert bool(store.check(full=True))
    joined = store.sql("select count(*) as n from verdicts v join updates u using (update_id)").n[0]
    assert joined == store.load("verdicts").has_update.sum()
    part = store.load("verdicts", start=(0, "2025-03-03T09:02:00Z"), end=(0, "2025-03-03T09:04:00Z"))
    assert part.record_time.between("2025-03-03T09:02:00Z", "2025-03-03T09:04:00Z", inclusive="left").all()
    assert len(part) > 0
    verdicts, views, _ = truth(ledger)
    assert store.export(tmp_path / "out", tables=["verdicts", "views"]).rows == len(verdicts) + views

    versions = dict(store.tables().set_index("table").version)
    for name in ("views", "app_activity"):
        assert sum(store.sync(ledger, tables=[name], progress=False).rows.values()) == 0
    assert dict(store.tables().set_index("table").version) == versions
    for _ in range(2):
        ledger.sandbox.advance(updates=25)
        store.sync(ledger, tables=["verdicts"], progress=False, page_size=40)
    assert stored(store) == truth(ledger)
    assert len(store.load("verdicts", as_of=rest.sync_id)) == some + rest.rows["verdicts"] < len(store.load("verdicts"))


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("which", ["a root", "a view inside another"])
def test_a_single_lost_row_of_views_is_found_and_repaired(ledger, store, which):
    store.sync(ledger, tables=["verdicts"], progress=False)
    assert store.check(full=True)
    verdicts, views = store.load("verdicts"), store.load("views")
    roots = {(row.update_id, one) for row in verdicts.itertuples() for one in json.loads(row.root_views)}
    wanted = [row for row in views.itertuples() if ((row.update_id, row.view_id) in roots) == (which == "a root")]
    lost = wanted[len(wanted) // 2]
    deltalake.DeltaTable(store._lake.folder / "views").delete(
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
