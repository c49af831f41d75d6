"""A live tail: sync after sync, over a server that is away, to a clean end."""

import threading

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from tests.store.conftest import assert_whole


def test_a_tail_takes_what_comes(store):
    with lf.sandbox(updates=50) as net:
        reports = store.follow(net, every="1ms")
        assert next(reports).rows["updates"] == 50
        for _ in range(3):
            net.sandbox.advance(updates=7)
            assert next(reports).rows["updates"] == 7
        assert_whole(store, net)


def test_a_server_that_is_away_does_not_end_it(store):
    with lf.sandbox(updates=50) as base:
        net = lf.connect(scan_url=base.sandbox.scan_url, attempts=1)
        reports = store.follow(net, every="1ms")
        assert next(reports).rows["updates"] == 50
        base.sandbox.advance(updates=7)
        base.sandbox.faults = Faults(sequence=("503",) * 5)
        assert next(reports).rows["updates"] == 7


def test_it_ends_when_told_between_two_syncs(store, net):
    stop = threading.Event()
    reports = store.follow(net, every="1h", stop=stop)
    next(reports)
    stop.set()
    assert list(reports) == []


def test_a_wrong_interval_is_refused_at_once(store, net):
    with pytest.raises(lf.errors.InputError, match="every='often'"):
        store.follow(net, every="often")


def test_a_short_wait_is_written_in_full(store, caplog):
    with lf.sandbox(updates=50) as base:
        base.sandbox.faults = Faults(sequence=("503",))
        next(store.follow(lf.connect(scan_url=base.sandbox.scan_url, attempts=1), every="0.2s"))
    assert "starts in 0.2 s" in caplog.text
