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
        reader = store._lake.existing()
        assert reader.shown("events").exists
        store.compact(forget_before=store.syncs().finished_at.iloc[-2])
        assert not document.exists()
        assert len(store.syncs()) == 2
        store.compact(forget_before=pd.Timestamp.now("UTC"))
        for name, count in before.items():
            assert len(log_files(store, name)) < count
        assert_whole(store, net)
        with pytest.raises(lf.errors.StoreError, match="forgotten"):
            store.load("updates", as_of=first)
        with pytest.raises(lf.errors.StoreError, match="read again"):  # who was reading what is forgotten
            Part.of(reader, "events", Window(), allow_partial=False).load(["update_id"])
        net.sandbox.advance(updates=20)
        store.sync(net)
        assert_whole(store, net)
    assert store.check(full=True).findings == ()
