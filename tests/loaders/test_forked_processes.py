"""A network that was used before a fork is used in the child and in the parent, each on connections of its own."""

import os
import signal
import sys

import pytest

import ledgerframes as lf
from tests.transport.hostile_server import HostileServer, answer

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def in_child(work):
    """Run something in a forked child; how it ended, 0 if it went well."""
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a child that waits for a lock of its parent for ever
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:  # noqa: BLE001 - shown, then the child is gone
            print(type(error).__name__, error, file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    return child


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_loads_while_its_parent_goes_on():
    with lf.sandbox(updates=300) as net:
        wanted = lf.load_updates(net, page_size=20)

        def load():
            assert lf.load_updates(net, page_size=20).equals(wanted)
            net.close()

        children = [in_child(load) for _ in range(2)]
        for _ in range(3):
            assert lf.load_updates(net, page_size=20).equals(wanted)
        assert [ended(child) for child in children] == [0, 0]
        assert lf.load_updates(net, page_size=20).equals(wanted)  # the sandbox and the connections are still there


def test_a_child_does_not_send_on_the_connections_of_its_parent():
    with HostileServer([answer({"earliest_round": 7})]) as server, lf.connect(scan_url=server.url) as net:
        assert net.scan.earliest_available_round() == 7
        assert server.connections == 1

        def ask():
            assert net.transport.memory.reached  # which servers work is known
            assert net.scan.earliest_available_round() == 7
            assert net.stats.requests == 1

        assert ended(in_child(ask)) == 0
        assert server.connections == 2
        assert net.scan.earliest_available_round() == 7
        assert server.connections == 2
        assert net.stats.requests == 2


def test_a_fork_while_every_lock_is_held():
    with HostileServer([answer({"earliest_round": 7})]) as server, lf.connect(scan_url=server.url) as net:
        net.scan.earliest_available_round()
        with net.transport.stats._lock, net.transport.mask._lock, net.transport._listing:
            child = in_child(net.scan.earliest_available_round)
        assert ended(child) == 0
