"""After a fork the child loads and computes as its parent does, on connections of its own; a store says what to do."""

import os
from multiprocessing import get_context

import pytest

import ledgerframes as lf
from tests.transport.hostile_server import HostileServer, answer

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning"),
]


def in_child(work):
    """Begin something in a forked child; what waits for its end and returns its code, 0 if it went well."""
    child = get_context("fork").Process(target=work)
    child.start()

    def ended():
        child.join(30)  # a child may wait for a lock of its parent for ever
        return child.exitcode

    return ended


def test_a_child_loads_while_its_parent_goes_on():
    with lf.sandbox(updates=120) as net:
        wanted = lf.load_updates(net, page_size=20)

        def load():
            assert lf.load_updates(net, page_size=20).equals(wanted)
            net.close()

        children = [in_child(load) for _ in range(2)]
        for _ in range(3):
            assert lf.load_updates(net, page_size=20).equals(wanted)
        assert [ended() for ended in children] == [0, 0]
        assert lf.load_updates(net, page_size=20).equals(wanted)  # the sandbox and the connections are still there


def test_a_child_does_not_send_on_the_connections_of_its_parent():
    with HostileServer([answer({"earliest_round": 7})]) as server, lf.connect(scan_url=server.url) as net:
        assert net.scan.earliest_available_round() == 7
        assert server.connections == 1

        def ask():
            assert net.transport.reached  # which servers work is known
            assert net.scan.earliest_available_round() == 7
            assert net.stats.requests == 1

        assert in_child(ask)() == 0
        assert server.connections == 2
        assert net.scan.earliest_available_round() == 7
        assert server.connections == 2
        assert net.stats.requests == 2


def test_a_fork_while_every_lock_is_held():
    with HostileServer([answer({"earliest_round": 7})]) as server, lf.connect(scan_url=server.url) as net:
        net.scan.earliest_available_round()
        with net.transport.stats._lock, net.transport.mask._lock, net.transport._listing:
            ended = in_child(net.scan.earliest_available_round)
        assert ended() == 0


def test_a_child_computes_tables(hour_history):
    wanted = lf.template_activity(hour_history)

    def compute():
        assert lf.template_activity(hour_history).equals(wanted)

    assert in_child(compute)() == 0


CALLS = {
    "the same store": lambda store, _net: store.load("updates"),
    "another store": lambda store, _net: lf.open_store(store._lake.url).load("updates"),
    "sync": lambda store, net: store.sync(net),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_store_in_a_child_says_what_to_do(filled, hour, call, capfd):
    assert len(filled.load("updates")) == 600

    def use():
        with pytest.raises(lf.errors.StoreError, match="forkserver"):
            call(filled, hour)

    assert in_child(use)() == 0
    assert "panicked" not in capfd.readouterr().err
