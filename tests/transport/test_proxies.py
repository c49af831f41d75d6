"""Proxies that the environment names: used, refused clearly, or named where they fail; the rate of hosts behind one."""

from __future__ import annotations

import base64
import json
import logging
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest
from authorities import Authority
from hostile_server import HostileServer, Reply, answer, text, unused_port
from tunnel_proxy import TunnelProxy

from ledgerframes.errors import ConfigurationError, NoAnswerError, StatusError
from ledgerframes.transport import Endpoint

READ = Endpoint(interface="scan", method="GET", path="/v0/thing")
USER, PASSWORD = "proxy-user-of-alice", "proxy-password-of-alice"
BASIC = f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"
VARIABLES = [f"{kind}_{word}" for kind in ("http", "https", "all", "no") for word in ("proxy",)]


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def named(monkeypatch):
    """Name a proxy in the environment, with a user."""

    def set_(port: int, *, scheme: str = "http", variable: str = "HTTPS_PROXY") -> None:
        monkeypatch.setenv(variable, f"{scheme}://{USER}:{PASSWORD}@127.0.0.1:{port}")

    return set_


def failed(transport, url: str, error: type[Exception] = NoAnswerError, **settings) -> str:
    with pytest.raises(error) as caught:
        transport(scan_url=url, **settings).send(READ.request(), read=bytes)
    said = str(caught.value)
    assert USER not in said
    assert PASSWORD not in said
    return said


@pytest.mark.parametrize(
    ("url", "variable"), [("https://scan.example", "HTTPS_PROXY"), ("https://x.example", "ALL_PROXY")]
)
def test_a_dead_proxy_is_named_as_the_proxy(url, variable, transport, named, caplog):
    caplog.set_level(logging.DEBUG)
    port = unused_port()
    named(port, variable=variable)
    said = failed(transport, url, attempts=2)
    assert f"no connection to the proxy http://***@127.0.0.1:{port} that {variable} names" in said
    assert "refused" in said
    assert f"fix or unset {variable}" in said
    assert USER not in caplog.text
    assert PASSWORD not in caplog.text


@pytest.mark.skipif(find_spec("socks") is not None, reason="PySocks is installed, so SOCKS5 can be spoken")
def test_a_socks_proxy_without_its_library_is_refused_with_what_to_install(transport, named):
    named(1080, scheme="socks5h")
    said = failed(transport, "https://scan.example", ConfigurationError)
    assert "pip install pysocks" in said
    assert "socks5h://***@127.0.0.1:1080 that HTTPS_PROXY names" in said


REFUSALS = {
    "wants a password": (407, "Proxy Authentication Required", "write user and password into HTTPS_PROXY", 1),
    "does not let it through": (403, "Forbidden", "ask the proxy's operator to let this host through", 1),
    "cannot reach it now": (503, "Service Unavailable", "check scan_url= and the network", 3),
}


@pytest.mark.parametrize(("status", "words", "advice", "asked"), REFUSALS.values(), ids=REFUSALS)
def test_a_proxy_that_does_not_let_a_connection_through_is_named(status, words, advice, asked, transport, named, serve):
    proxy = serve(Reply(raw=f"HTTP/1.1 {status} {words}\r\nContent-Length: 0\r\n\r\n".encode()))
    named(proxy.port)
    said = failed(transport, "https://scan.example", attempts=3)
    assert f"the proxy http://***@127.0.0.1:{proxy.port} that HTTPS_PROXY names refused: {status} {words}" in said
    assert advice in said
    assert [heard.method for heard in proxy.heard] == ["CONNECT"] * asked


def test_what_a_proxy_says_is_shown_without_the_password_that_it_was_sent(transport, named, serve):
    def echo(heard):
        words = f"{heard.headers['proxy-authorization']} {PASSWORD} \x1b[31m" + "x" * 50_000
        return Reply(raw=f"HTTP/1.1 403 {words}\r\nContent-Length: 0\r\n\r\n".encode())

    named(serve(by=echo).port)
    said = failed(transport, "https://scan.example", attempts=1)
    assert "refused: 403 Basic *** *** " in said
    assert (len(said) < 1_000, said.isprintable()) == (True, True)


def test_requests_through_a_proxy_of_plain_http_name_the_server_and_share_a_connection(transport, named, serve):
    proxy = serve(answer("right"))
    named(proxy.port, variable="HTTP_PROXY")
    sender = transport(scan_url="http://scan.example:8080/api/scan")
    for _ in range(3):
        assert sender.send(READ.request(), read=bytes).value == b'"right"'
    assert {heard.target for heard in proxy.heard} == {"http://scan.example:8080/api/scan/v0/thing"}
    assert {heard.headers["host"] for heard in proxy.heard} == {"scan.example:8080"}
    assert {heard.headers["proxy-authorization"] for heard in proxy.heard} == {BASIC}
    assert proxy.connections == 1
    proxy.script = [text(f"you sent {BASIC}, {PASSWORD}", 407)]
    assert "the proxy requires a user and a password" in failed(transport, "http://scan.example", StatusError)


@pytest.fixture
def tunnel(tmp_path, serve, named):
    """A proxy named in the environment, a server of https behind it that nobody else reaches, and whom to trust."""
    with ExitStack() as stack:

        def start(*script: Reply, scheme: str = "http") -> tuple[TunnelProxy, HostileServer, Path]:
            authority = Authority(tmp_path)
            server = serve(*script, tls=authority.server("scan.example"))
            tls = authority.server("127.0.0.1") if scheme == "https" else None
            proxy = stack.enter_context(TunnelProxy(server.port, tls))
            named(proxy.port, scheme=scheme)
            return proxy, server, authority.file

        yield start


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_requests_to_a_server_of_https_share_a_tunnel(scheme, transport, tunnel):
    body = json.dumps("x" * 300_000).encode()
    proxy, server, trusted = tunnel(Reply(body=body), scheme=scheme)
    sender = transport(scan_url="https://scan.example/api/scan", ca_file=trusted)
    for _ in range(3):
        assert sender.send(READ.request(), read=bytes).value == body
    assert [heard.target for heard in server.heard] == ["/api/scan/v0/thing"] * 3
    assert "proxy-authorization" not in server.heard[0].headers
    (head,) = proxy.heads
    assert head.startswith("CONNECT scan.example:443 HTTP/1.")
    assert f"Proxy-Authorization: {BASIC}\r\n" in head
    # The certificate at the end of the tunnel is checked, as that of a proxy is before it.
    said = failed(transport, "https://scan.example", attempts=1)
    assert ("its certificate" if scheme == "http" else "the certificate of the proxy https://***@127.0.0.1") in said
    assert "is not trusted" in said
    assert "ca_file=" in said


STRAY = b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"another"'


@pytest.mark.parametrize(("scheme", "records"), [("http", 1), ("https", 2)])
def test_what_a_server_sends_behind_its_answer_is_never_the_next_one(scheme, records, transport, tunnel):
    """Within one record of TLS, or in a second one that arrives with the first."""
    size = 2**14 - len(Reply(length=16_000).parts()[0]) if records == 2 else 2
    body = b"1" * size
    proxy, server, trusted = tunnel(Reply(body=body + STRAY, length=size), answer("right"), scheme=scheme)
    sender = transport(scan_url="https://scan.example", ca_file=trusted, attempts=1)
    assert sender.send(READ.request(), read=bytes).value == body
    assert sender.send(READ.request(), read=bytes).value == b'"right"'
    assert (len(proxy.heads), len(server.heard)) == (2, 2)


@pytest.mark.parametrize("address", ["ftp://proxy.example", "http://[::1", "http://", "http://proxy:no-port"])
def test_what_is_no_proxy_is_named_by_its_variable_and_not_shown(address, transport, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", address.replace("://", f"://{USER}:{PASSWORD}@", 1))
    assert "HTTPS_PROXY" in failed(transport, "https://scan.example", ConfigurationError)


def test_a_host_the_environment_excepts_is_not_reached_through_the_proxy(transport, serve, named, monkeypatch):
    proxy = serve()
    named(proxy.port, variable="HTTP_PROXY")
    monkeypatch.setenv("NO_PROXY", "scan.invalid")
    failed(transport, "http://scan.invalid", attempts=1)
    assert proxy.heard == []


def test_a_host_is_asked_no_faster_than_the_rate_by_all_its_interfaces_and_loopback_as_fast_as_it_can(
    serve, transport, named, clock
):
    named(serve().port, variable="HTTP_PROXY")
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
