"""A load that is to end ends in time: one of two threads, a generator that is left, a request at any instruction."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import ledgerframes as lf
from ledgerframes.transport import Stop
from tests.signalled import HOLDING, Holding, environment
from tests.transport.hostile_server import HostileServer, Reply


@pytest.mark.parametrize("kind", ["silence", "503"])
def test_one_of_two_operations_on_a_network_is_stopped_and_the_other_goes_on(kind, net):
    holding, page = Holding(HOLDING[kind]), Reply(body=net.scan.updates(page_size=10).raw)

    def by(heard):
        return page if b'"page_size":10' in heard.body else holding(heard)

    with HostileServer(by) as server, lf.connect(scan_url=server.url) as both, ThreadPoolExecutor() as threads:
        stop, other = Stop(), Stop()
        asked = threads.submit(both.scan.stoppable(stop).updates, page_size=20)
        assert holding.waiting.wait(20)
        stop.set()
        with pytest.raises(lf.errors.StoppedError, match="start it again"):
            asked.result(timeout=1.5)
        assert both.scan.stoppable(other).updates(page_size=10).raw == page.body
        with pytest.raises(lf.errors.StoppedError):
            both.scan.stoppable(stop).updates(page_size=10)


def test_closing_a_network_ends_what_waits_on_it(caplog):
    holding = Holding(HOLDING["silence"])
    with HostileServer(holding) as server, ThreadPoolExecutor() as threads:
        net = lf.connect(scan_url=server.url)
        loaded = threads.submit(lf.load_history, net, last="1h")
        assert holding.waiting.wait(20)
        net.close()
        with pytest.raises(lf.errors.StoppedError):
            loaded.result(timeout=5)
    assert caplog.records == []


def test_an_iterator_that_is_left_ends_the_request_it_had_begun():
    with lf.sandbox(updates=60) as base:
        page = base.scan.updates(page_size=10).raw
        holding = Holding(HOLDING["silence"], lambda _heard: Reply(body=page), 1)
        with HostileServer(holding) as server, lf.connect(scan_url=server.url) as net:
            before = fetching()
            pages = net.scan.iter_updates(page_size=10)
            next(pages)
            assert holding.waiting.wait(20)
            assert fetching() - before
            began = time.monotonic()
            pages.close()
            # A call that has ended is followed by its thread's own end a moment later.
            while fetching() - before and time.monotonic() - began < 1.5:
                time.sleep(0.01)
            assert time.monotonic() - began < 1.5


def fetching():
    return {thread for thread in threading.enumerate() if thread.name == "ledgerframes-fetch"}


BROKEN_OFF = """
import faulthandler, random, signal, sys
from contextlib import suppress
import ledgerframes as lf

class Broken(BaseException):
    pass

def leave(number, frame):
    left.append(1)
    raise Broken

chance = random.Random(3)
with lf.connect(scan_url=sys.argv[1]) as net:
    first = net.scan.updates(page_size=5)
    signal.signal(signal.SIGALRM, leave)
    for _ in range(150):
        faulthandler.dump_traceback_later(20, exit=True)
        left = []  # Python drops what is raised while it takes an object apart
        with suppress(Broken):
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0001, 0.006))
                while not left:
                    net.scan.updates(page_size=5)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    print(net.scan.updates(page_size=5).raw == first.raw)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no signal after so many microseconds")
def test_a_network_can_be_used_after_a_request_was_broken_off_at_any_instruction(net, tmp_path):
    command = [sys.executable, "-c", BROKEN_OFF, net.sandbox.scan_url]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, env=environment(tmp_path))
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr
