"""Old states are forgotten when asked, a sync without news leaves nothing, and small tables stay small."""

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.paging.cursor import Window
from ledgerframes.store.read.reading import Part
from tests.store.conftest import assert_whole


def log_files(store, name):
    return sorted((store._lake.folder / name / "_delta_log").glob("*.json"))


def test_forgetting_shortens_the_log_and_keeps_the_newest_state(store):
    with lf.sandbox(updates=100) as net:
        for _ in range(4):
            net.sandbox.advance(updates=20)
            store.sync(net)
        before = {name: len(log_files(store, name)) for name in ("events", "updates", "syncs")}
        first, document = store.syncs().sync_id[0], sorted((store._lake.folder / "_coverage").glob("*.json"))[0]
        store.compact(forget_before=store.syncs().finished_at.iloc[-2])
        assert not document.exists()
        assert len(store.syncs()) == 2
        store.compact(forget_before=pd.Timestamp.now("UTC"))
        for name, count in before.items():
            assert len(log_files(store, name)) < count
        assert_whole(store, net)
        with pytest.raises((lf.errors.StoreError, lf.errors.InputError)):
            store.load("updates", as_of=first)
        net.sandbox.advance(updates=20)
        store.sync(net)
        assert_whole(store, net)
    assert store.check(full=True).findings == ()


def test_compacting_without_forgetting_keeps_every_state(store):
    with lf.sandbox(updates=100) as net:
        first = store.sync(net)
        net.sandbox.advance(updates=20)
        store.sync(net)
        logs = log_files(store, "events")
        store.compact()
    assert set(logs) <= set(log_files(store, "events"))
    assert len(store.load("updates", as_of=first.sync_id)) == 100


def test_a_reader_of_a_state_that_is_forgotten_meanwhile_gets_its_rows_or_a_store_error(store):
    with lf.sandbox(updates=100) as net:
        store.sync(net)
        net.sandbox.advance(updates=20)
        store.sync(net)
        root = store._lake.existing()
        assert root.shown("events").exists
        store.compact(forget_before=pd.Timestamp.now("UTC"))
    with pytest.raises(lf.errors.StoreError, match="read again"):
        Part.of(root, "events", Window(), allow_partial=False).load(["update_id"])


def test_a_sync_without_news_writes_nothing(store, small):
    net = small
    store.sync(net)
    files = set(store._lake.folder.rglob("*"))
    report = store.sync(net)
    assert set(store._lake.folder.rglob("*")) == files
    assert report.complete
    assert len(store.syncs()) == 1


def test_the_list_of_syncs_is_joined_too(store):
    with lf.sandbox(updates=50) as net:
        for _ in range(5):
            net.sandbox.advance(updates=5)
            store.sync(net)
    store.compact()
    assert store._lake.table("syncs").refresh().size()["files"] == 1
    assert len(store.syncs()) == 5


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("history_first", [True, False], ids=["history first", "snapshots only"])
def test_a_snapshot_of_another_network_is_refused(store, net, history_first):
    store.sync(net, tables=None if history_first else ["licenses"])
    with lf.sandbox(seed=8, updates=100) as other:
        for tables in (["licenses"], ["instruments"], None):
            with pytest.raises(lf.errors.StoreError, match="not the network"):
                store.sync(other, tables=tables)
    store.sync(net, tables=["licenses", "updates"])
    assert_whole(store, net)
