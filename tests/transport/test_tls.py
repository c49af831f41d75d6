"""Whom TLS trusts, real handshakes on loopback; what is said where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from authorities import DAY, Authority
from hostile_server import Reply, answer

import ledgerframes as lf
from ledgerframes.config.profiles import resolve
from ledgerframes.errors import ConfigurationError, NoAnswerError
from ledgerframes.transport import Endpoint, Sender
from ledgerframes.transport.tls import TRUST_VARIABLES

READ = Endpoint(interface="scan", method="GET", path="/v0/thing")


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    for name in (*TRUST_VARIABLES, "LEDGERFRAMES_CA_FILE", "LEDGERFRAMES_PROFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def server(authority, serve):
    return serve(answer({}), tls=authority.server())


def test_a_private_authority_is_taken_from_a_variable_or_from_a_profile_relative_to_it(
    authority, server, monkeypatch, tmp_path
):
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "LEDGERFRAMES_CA_FILE"):
        with monkeypatch.context() as patch:
            patch.setenv(name, str(authority.file))
            with lf.connect(scan_url=server.url, attempts=1) as net:
                assert Sender(net.transport).send(READ.request(), read=bytes).value == b"{}"
    (tmp_path / "config.toml").write_text(f"[profiles.own]\nscan_url='{server.url}'\nca_file='{authority.file.name}'\n")
    settings = resolve(profile="own", environ={}, config_dir=tmp_path)
    assert settings.ca_file == str(authority.file)
    with lf.types.Network(settings) as net:
        assert Sender(net.transport).send(READ.request(), read=bytes).value == b"{}"


def test_the_usual_authorities_are_trusted_beside_it(authority, monkeypatch, serve, transport, tmp_path):
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other", "Other authority")
    monkeypatch.setenv("SSL_CERT_FILE", str(other.file))
    for one in (authority, other):
        server = serve(answer({}), tls=one.server())
        sender = transport(scan_url=server.url, ca_file=authority.file, scan_token="secret-token")
        assert sender.send(READ.request(), read=bytes).value == b"{}"
        assert server.heard[0].headers["authorization"] == "Bearer secret-token"


def refused(transport, server, clock, **settings) -> str:
    """The message of a request that TLS stops at once, before anything is sent."""
    sender = transport(scan_url=server.url, scan_token="secret-token", **settings)
    with pytest.raises(NoAnswerError) as caught:
        sender.send(READ.request(), read=bytes, revise=lambda request, _error: request)
    assert (sender.transport.stats.requests, clock.sleeps, server.heard) == (1, [], [])
    return str(caught.value)


def test_an_unknown_authority_is_said_with_what_to_do(server, transport, clock):
    said = refused(transport, server, clock)
    assert "certificate is not trusted: unable to get local issuer certificate" in said
    assert "ca_file=" in said
    assert "SSL_CERT_FILE" in said


def test_a_name_below_localhost_is_the_one_in_the_certificate(authority, serve, transport):
    for name, host in (("scan.localhost", "scan.localhost"), ("wallet.localhost", "scan.localhost")):
        url = serve(answer({}), tls=authority.server(name)).url.replace("127.0.0.1", host)
        sender = transport(scan_url=url, ca_file=authority.file, attempts=1)
        if name == host:
            assert sender.send(READ.request(), read=bytes).value == b"{}"
        else:
            with pytest.raises(NoAnswerError, match="check the host in scan_url="):
                sender.send(READ.request(), read=bytes)


@pytest.mark.parametrize(
    ("from_", "to", "said"), [(-2 * DAY, -DAY, "has to renew it"), (DAY, 2 * DAY, "clock")], ids=["past", "to come"]
)
def test_a_certificate_out_of_its_time_is_said(from_, to, said, authority, serve, transport, clock):
    server = serve(answer({}), tls=authority.server(from_=from_, to=to))
    assert said in refused(transport, server, clock, ca_file=authority.file)


def test_a_server_without_tls_is_said(serve, transport, clock):
    """A server of HTTP answers a handshake with an error in HTTP."""
    server = serve(otherwise=Reply(raw=b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
    sender = transport(scan_url=server.url.replace("http:", "https:"))
    with pytest.raises(NoAnswerError, match=r"does not speak TLS.*http://"):
        sender.send(READ.request(), read=bytes)
    assert (sender.transport.stats.requests, clock.sleeps) == (1, [])


NO_FILE = {
    "missing": (lambda folder: folder / "no.pem", "cannot be read: No such file"),
    "a folder": (lambda folder: folder, "is a folder"),
    "no PEM": (lambda folder: _written(folder, b"\x30\x82\x01\x00 DER"), "no certificate in PEM form"),
    "broken PEM": (
        lambda folder: _written(folder, b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        "a broken certificate",
    ),
    "a NUL": (lambda folder: f"{folder}/\0.pem", "cannot be read"),
    "no text": (lambda _folder: 5, "is not valid: give the path"),
}


def _written(folder: Path, content: bytes) -> Path:
    (folder / "file.pem").write_bytes(content)
    return folder / "file.pem"


@pytest.mark.parametrize(("place", "said"), NO_FILE.values(), ids=NO_FILE)
def test_a_file_that_cannot_vouch_is_named_before_anything_is_sent(place, said, tmp_path):
    with pytest.raises(ConfigurationError, match="ca_file=") as caught:
        lf.connect(scan_url="https://127.0.0.1:9", ca_file=place(tmp_path))
    assert said in str(caught.value)


def test_a_variable_that_names_nothing_is_named_and_no_matter_without_tls(transport, serve, monkeypatch, tmp_path):
    for name in TRUST_VARIABLES:
        with monkeypatch.context() as patch:
            patch.setenv(name, str(tmp_path / "nowhere"))
            with pytest.raises(ConfigurationError, match=f"{name}=.*nowhere"):
                transport(scan_url="https://127.0.0.1:9").send(READ.request(), read=bytes)
            assert transport(scan_url=serve().url).send(READ.request(), read=bytes).value == b"{}"
