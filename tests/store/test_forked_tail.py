"""Servers that were restored and went on differently, above or below what is final: which way on there is."""

import pytest

import ledgerframes as lf
from tests.store.conftest import assert_whole


def test_a_fork_in_the_unsettled_tail_is_left_by_repair(store):
    with lf.sandbox(updates=200, migrations=1) as net:
        store.sync(net)
        gone = net.sandbox.world.updates.pop(-2)
        net.sandbox.advance(updates=60)
        with pytest.raises(lf.errors.StoreError, match=r"repair\(unsettled=True\)"):
            store.sync(net)
        settled = store.coverage().settled.iloc[0]
        assert "nothing to repair" in str(store.repair())
        with pytest.raises(lf.errors.InputError, match="unsettled='yes'"):
            store.repair(unsettled="yes")
        assert gone.update_id in set(store.load("updates").update_id)
        report = store.repair(unsettled=True)
        assert report.stretches
        assert gone.update_id not in set(store.load("updates").update_id)
        assert store.coverage().settled.iloc[0] == settled
        assert store.check()
        store.sync(net)
        assert_whole(store, net)


def test_a_fork_in_the_settled_part_needs_a_new_store(store):
    with lf.sandbox(updates=200, migrations=1) as net:
        updates = net.sandbox.world.updates
        store.sync(net, end=lf.load_updates(net).record_time[100])
        count = len(store.load("updates"))
        updates.pop(count - 1)
        for _ in range(2):
            with pytest.raises(lf.errors.StoreError, match=r"store is final: sync into a new store"):
                store.sync(net)
            store.repair(unsettled=True)
        assert len(store.load("updates")) == count
