"""A live tail: sync after sync, over a server that is away, to a clean end."""

import threading

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from tests.store.conftest import assert_whole


def test_a_tail_takes_what_comes_over_a_server_that_is_away_and_ends_when_told(store, caplog):
    stop = threading.Event()
    with lf.sandbox(updates=50) as base:
        net = lf.connect(scan_url=base.sandbox.scan_url, attempts=1)
        reports = store.follow(net, every="0.2s", stop=stop)
        assert next(reports).rows["updates"] == 50
        for failures in (0, 2):
            base.sandbox.advance(updates=7)
            base.sandbox.faults = Faults(sequence=("503",) * failures)
            assert next(reports).rows["updates"] == 7
        assert_whole(store, net)
    stop.set()
    assert list(reports) == []
    assert "starts in 0.2 s" in caplog.text  # a short wait is written in full
