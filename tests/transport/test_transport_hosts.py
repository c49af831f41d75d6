"""What depends on the host: the rate, and whether a proxy is asked."""

from __future__ import annotations

import threading

import pytest
from hostile_server import answer

from ledgerframes.errors import NoAnswerError
from ledgerframes.transport import Endpoint, Stats, Stop
from ledgerframes.transport.rate_limiter import RateLimiter

READ = Endpoint(interface="scan", method="GET", path="/v0/thing")


@pytest.fixture
def proxy(serve, monkeypatch):
    """A server that the environment names as the proxy for everything."""
    server = serve(by=lambda heard: answer({"target": heard.target}))
    for name in ("NO_PROXY", "no_proxy", "all_proxy", "ALL_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("http_proxy", server.url)
    return server


def test_a_host_the_environment_excepts_is_not_reached_through_the_proxy(proxy, transport, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "scan.invalid")
    monkeypatch.setenv("no_proxy", "scan.invalid")
    with pytest.raises(NoAnswerError):
        transport(scan_url="http://scan.invalid", attempts=1).send(READ.request(), read=bytes)
    assert proxy.heard == []


@pytest.mark.usefixtures("proxy")
def test_a_host_is_asked_no_faster_than_the_rate_by_all_its_interfaces_and_loopback_as_fast_as_it_can(
    serve, transport, clock
):
    sender = transport(scan_url="http://scan.example", rate=4.0, burst=3)
    for _ in range(7):
        sender.send(READ.request(), read=bytes)
    assert clock.sleeps == [pytest.approx(0.25)] * 4
    assert sender.transport.stats.waits_seconds == pytest.approx(1.0)
    clock.time += 1_000  # fills the bucket up to the burst and no further
    for _ in range(4):
        sender.send(READ.request(), read=bytes)
    assert clock.sleeps[4:] == [pytest.approx(0.25)]
    both = transport(scan_url="http://one.example", registry_url="http://one.example", rate=1.0, burst=1)
    both.send(READ.request(), read=bytes)
    both.send(Endpoint(interface="registry", method="GET", path="/x").request(), read=bytes)
    assert clock.sleeps[5:] == [pytest.approx(1.0)]
    local = transport(scan_url=serve().url, rate=0.001, burst=1)
    for _ in range(3):
        local.send(READ.request(), read=bytes)
    assert len(clock.sleeps) == 6


def test_only_so_many_requests_are_under_way_at_once(clock):
    gate = RateLimiter(rate=1000.0, burst=100, parallel=2, clock=clock, stats=Stats())
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
