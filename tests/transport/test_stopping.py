"""Every wait of a request ends once its operation is stopped, and a place that was waited for is given back."""

import socket
import threading
import time
from contextlib import nullcontext

import pytest
from hostile_server import Reply, answer

from ledgerframes.config.settings import Settings
from ledgerframes.errors import StoppedError
from ledgerframes.transport import Endpoint, Sender, Stats, Stop, SystemClock, Transport
from ledgerframes.transport.rate_limiter import RateLimiter

READ = Endpoint(interface="scan", method="GET", path="/v0/thing")
COMMAND = Endpoint(interface="ledger", method="POST", path="/v2/commands/do", safe=False)


def stopped_in(call, stop, begun):
    """Seconds from setting the stop until a call in another thread has raised a StoppedError."""
    ended = []

    def run():
        with pytest.raises(StoppedError):
            call()
        ended.append(time.monotonic())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert begun.wait(5)
    began = time.monotonic()
    stop.set()
    thread.join(10)
    return ended[0] - began


class NotedClock(SystemClock):
    """The real time; tells when somebody begins to wait."""

    def __init__(self):
        self.waiting = threading.Event()

    def sleep(self, seconds):
        self.waiting.set()
        super().sleep(seconds)


def test_waiting_for_the_rate_or_for_a_place_ends():
    clock = NotedClock()
    held = threading.Event()
    held.set()
    for rate, begun in ((0.01, clock.waiting), (100.0, held)):
        stop = Stop()
        gate = RateLimiter(rate=rate, burst=1, parallel=1, clock=clock, waited=Stats().waited)
        with gate.passing(Stop()) if rate > 1 else nullcontext():
            if rate < 1:
                gate._reserve()
            assert stopped_in(gate.passing(stop).__enter__, stop, begun) < 1.5
        assert gate._slots.acquire(timeout=0)  # the place was given back


@pytest.mark.parametrize(
    "reply",
    [Reply(hang_up="before"), answer({}, 429, Retry_After="120")],
    ids=["back-off", "429"],
)
def test_waiting_between_two_attempts_ends(reply, serve):
    clock, stop = NotedClock(), Stop()
    with Transport(Settings(scan_url=serve(reply).url), clock=clock) as opened:
        sender = Sender(opened)
        assert stopped_in(lambda: sender.stoppable(stop).send(READ.request(), read=bytes), stop, clock.waiting) < 1.5
        paused, stop = threading.Event(), Stop()
        clock.waiting = paused
        assert stopped_in(lambda: sender.stoppable(stop).pause(60), stop, paused) < 1.5


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_connection_that_does_not_come_about_ends(scheme):
    """A full backlog drops what knocks; over TLS, a server that takes the connection never shakes hands."""
    stop, begun = Stop(), threading.Event()
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        place = listener.getsockname()
        crowd = [socket.socket() for _ in range(4 if scheme == "http" else 0)]
        for one in crowd:
            one.settimeout(0)
            one.connect_ex(place)
        with Transport(Settings(scan_url=f"{scheme}://127.0.0.1:{place[1]}")) as opened:
            sender = Sender(opened)

            def ask():
                if scheme == "http":
                    begun.set()
                sender.stoppable(stop).send(READ.request(), read=bytes)

            def take():
                taken, _ = listener.accept()
                crowd.append(taken)
                taken.recv(1)  # reset before its handshake, Python would leave the client's socket open
                begun.set()

            if scheme == "https":
                threading.Thread(target=take, daemon=True).start()
            assert stopped_in(ask, stop, begun) < 1.5
        for one in crowd:
            one.close()


def test_a_command_that_was_answered_is_answered_even_if_it_was_to_end(serve, transport):
    stop = Stop()

    def by(_heard):
        stop.set()
        return answer({"done": True})

    with_token = transport(ledger_url=serve(by=by).url, ledger_token="secret-token")
    assert with_token.stoppable(stop).send(COMMAND.request(json={}), read=bytes).value == b'{"done": true}'


def test_only_so_many_requests_are_under_way_at_once(clock):
    gate = RateLimiter(rate=1000.0, burst=100, parallel=2, clock=clock, waited=Stats().waited)
    under_way, most, both = [], [], threading.Barrier(2, timeout=60)
    for _ in range(2):  # a place is given back after a failure
        with pytest.raises(ZeroDivisionError), gate.passing(Stop()):
            raise ZeroDivisionError

    def pass_through() -> None:
        with gate.passing(Stop()):
            under_way.append(1)
            most.append(len(under_way))
            both.wait()  # two are under way each time, and no third
            under_way.pop()

    threads = [threading.Thread(target=pass_through, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (len(most), max(most)) == (6, 2)
