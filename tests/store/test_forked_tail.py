"""Servers that were restored and went on differently, above or below what is final: which way on there is."""

import pytest

import ledgerframes as lf
from tests.moving_window import MovingWindow
from tests.store.conftest import assert_whole


def forked(store, net, place):
    """Sync a store, then take an update out of the server's history and let that go on."""
    store.sync(net)
    gone = net.sandbox.world.updates.pop(place)
    net.sandbox.advance(updates=60)
    return gone


def test_a_fork_in_the_unsettled_tail_is_left_by_repair(store):
    with lf.sandbox(updates=200, migrations=1) as net:
        gone = forked(store, net, -2)
        with pytest.raises(lf.errors.StoreError, match=r"repair\(unsettled=True\)"):
            store.sync(net)
        settled = store.coverage().settled.iloc[0]
        assert gone.update_id in set(store.load("updates").update_id)
        report = store.repair(unsettled=True)
        assert report.stretches
        assert gone.update_id not in set(store.load("updates").update_id)
        assert store.coverage().settled.iloc[0] == settled
        assert store.check()
        store.sync(net)
        assert_whole(store, net)


@pytest.mark.parametrize("page_size", [1000, 20])
def test_a_fork_that_shows_only_while_a_sync_reads_makes_nothing_final(page_size, store):
    with lf.sandbox(updates=200, migrations=1) as net:
        store.sync(net)
        settled = store.coverage().settled.iloc[0]
        gone = net.sandbox.world.updates.pop(-2)

        def move(page):
            if page == 2:  # the first one is the look before it
                net.sandbox.advance(updates=60)

        with MovingWindow(net, move) as scan, pytest.raises(lf.errors.StoreError, match=gone.update_id):
            store.sync(lf.connect(scan_url=scan.scan_url), page_size=page_size)

    assert store.coverage().settled.iloc[0] == settled


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


def test_a_repair_without_it_leaves_the_tail(store):
    with lf.sandbox(updates=200, migrations=1) as net:
        store.sync(net)
        assert "nothing to repair" in str(store.repair())
        assert len(store.load("updates")) == 200
        with pytest.raises(lf.errors.InputError, match="unsettled='yes'"):
            store.repair(unsettled="yes")
