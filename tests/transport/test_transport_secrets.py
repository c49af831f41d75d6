"""A token is seen by its own server and by nobody else: no log, message, pickle, repr or other host."""

from __future__ import annotations

import logging
import pickle
import sys
import traceback

import httpx
import msgspec
import pandas as pd
import pytest
import urllib3
from hostile_server import Reply, answer, text, unused_port

import ledgerframes as lf
from ledgerframes.config.profiles import resolve
from ledgerframes.config.settings import Settings
from ledgerframes.config.token_sources import token_from
from ledgerframes.errors import DecodeError, LedgerframesError, NoAnswerError, StatusError
from ledgerframes.transport import Endpoint, Sender, Transport

TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9/"x+.c2lnbmF0dXJlLW9mLWFsaWNl'
SIGNATURE = "c2lnbmF0dXJlLW9mLWFsaWNl"
LEDGER = Endpoint(interface="ledger", method="GET", path="/v2/users")
COMMAND = Endpoint(interface="ledger", method="POST", path="/v2/users", safe=False)
SCAN = Endpoint(interface="scan", method="GET", path="/v0/x")

ECHOES = {
    "text": text(f"bad token {TOKEN}", 401),
    "json": answer({"error": f"bad token {TOKEN}"}, 401),
    "json at the cut": answer({"error": "x" * 480 + TOKEN}, 401),
    "json escaped": Reply(401, ('{"error": "' + "".join(f"\\u{ord(c):04x}" for c in TOKEN) + '"}').encode()),
    "ledger": answer({"code": TOKEN, "cause": TOKEN, "context": {TOKEN: TOKEN}, "traceId": TOKEN}, 401),
    "html": text(
        f"<html><title>{TOKEN}</title><p>&#{ord('e')};{TOKEN[1:].replace(chr(34), '&quot;')}", 401, "text/html"
    ),
    "signature": text(f"bad signature {SIGNATURE}", 401),
    "redirect": Reply(302, b"", (("Location", f"http://{SIGNATURE}.example/{TOKEN}"),)),
    "broken body": text(f"not JSON: {TOKEN}", 200, TOKEN),
    "far in the body": text("x" * 70 + TOKEN, 200),
    "status line": Reply(raw=f"HTTX {TOKEN}\r\n\r\n".encode()),
    "huge": text(" " * (2**16 - 14) + TOKEN, 401),
    "huge body": text(" " * (2**16 - 14) + TOKEN, 200),
    "html at the cut": text("<html>" + "<p>" * 2725 + TOKEN, 401),
    "compression": Reply(200, b"{}", (("Content-Encoding", TOKEN),)),
    "reset": Reply(hang_up="before"),
    "header": Reply(500, b"no", (("X-Echo", TOKEN), ("Retry-After", TOKEN))),
}


def everything_shown(error: BaseException) -> str:
    """All that a log, a notebook, a crash report or a pickle would show of an error, with the locals of its frames."""
    shown, seen = [], set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        shown += [repr(current), str(current), repr(vars(current)), repr(getattr(current, "request", None))]
        shown.append("".join(traceback.TracebackException.from_exception(current, capture_locals=True).format()))
        current = current.__cause__ or current.__context__
    return "".join(shown) + pickle.dumps(error).decode("latin-1")


def leaks(shown: str) -> bool:
    return TOKEN[:11].lower() in shown.lower() or SIGNATURE.lower() in shown.lower()


@pytest.fixture
def root_log(caplog):
    """The whole log at DEBUG, as a program that logs everything sees it."""
    for name in (None, "ledgerframes", "httpx", "httpcore", "httpcore.http11"):
        caplog.set_level(logging.DEBUG, name)
    return caplog


def ask(sender: Sender, endpoint: Endpoint) -> LedgerframesError:
    """An error whose frames hold no token of the test's own."""
    try:
        sender.send(endpoint.request(json={}), read=msgspec.json.decode)
    except LedgerframesError as error:
        return error
    raise AssertionError("no error")


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES.keys())
@pytest.mark.parametrize(("endpoint", "carrier"), [(LEDGER, "websocket"), (COMMAND, "bearer")], ids=["read", "command"])
def test_no_error_shows_the_token_even_if_the_server_echoes_it(endpoint, echo, carrier, serve, transport, root_log):
    server = serve(echo)
    error = ask(transport(ledger_url=server.url, ledger_token=TOKEN, ledger_carrier=carrier, attempts=2), endpoint)
    assert TOKEN in "".join(server.heard[0].headers.values())
    assert not leaks(everything_shown(error) + root_log.text)
    assert "httpcore" not in repr(error.__cause__)
    assert error.__context__ is None


def quoted(body: bytes) -> None:
    raise msgspec.ValidationError(f"Invalid enum value {body!r}")


def refused(body: bytes) -> None:
    try:
        quoted(body)
    except msgspec.ValidationError as error:
        raise DecodeError(f"an item breaks the contract: {body!r}") from error


@pytest.mark.parametrize("read", [quoted, refused, lambda body: body.decode()], ids=["quoted", "refused", "decoded"])
def test_a_contract_breach_that_quotes_the_token_is_not_chained(read, serve, transport):
    sender = transport(ledger_url=serve(Reply(200, TOKEN.encode() + b"\xff")).url, ledger_token=TOKEN, attempts=1)
    with pytest.raises(LedgerframesError, match=r"breaks the contract|not whole JSON") as caught:
        sender.send(LEDGER.request(), read=read)
    assert caught.value.__cause__ is None
    assert not leaks(everything_shown(caught.value))


def test_the_frames_that_read_an_answer_are_in_no_error(serve, transport):
    sender = transport(ledger_url=serve(text("{" + TOKEN, 200)).url, ledger_token=TOKEN, attempts=1)
    with pytest.raises(LedgerframesError) as caught:
        sender.send(LEDGER.request(), read=lambda body: msgspec.json.decode(body, type=list))
    assert not leaks(everything_shown(caught.value))


def test_an_answer_shows_no_token(serve, transport):
    server = serve(Reply(body=TOKEN.encode(), headers=(("X-Echo", TOKEN),)))
    got = transport(ledger_url=server.url, ledger_token=TOKEN).send(LEDGER.request(), read=bytes)
    assert got.headers["x-echo"] == "***"
    assert not leaks(repr(got) + str(got) + repr(got.headers))


@pytest.mark.parametrize(
    ("carrier", "name", "value"),
    [
        ("bearer", "authorization", f"Bearer {TOKEN}"),
        ("websocket", "sec-websocket-protocol", f"jwt.token.{TOKEN}, daml.ws.auth"),
    ],
)
def test_a_request_carries_the_token_and_its_preview_everything_else(carrier, name, value, serve, transport):
    server = serve()
    sender = transport(ledger_url=server.url, ledger_token=TOKEN, ledger_carrier=carrier)
    prepared = sender.prepare(COMMAND.request(query={"a": "b c"}, json={"name": "it's"}))
    assert (prepared.url, prepared.body) == (f"{server.url}/v2/users?a=b%20c", b'{"name":"it\'s"}')
    shown = repr(prepared) + str(prepared) + repr(dict(prepared.headers)) + repr(vars(prepared))
    assert not leaks(shown)
    assert "***" in str(prepared)
    assert server.heard == []
    sender.send(LEDGER.request(), read=bytes)
    assert server.heard[0].headers[name] == value
    assert len({"authorization", "sec-websocket-protocol"} & server.heard[0].headers.keys()) == 1


def test_a_token_goes_to_its_own_interface_only(serve):
    servers = {name: serve() for name in ("scan", "validator", "registry", "ledger")}
    settings = resolve(environ={}, token=TOKEN, **{f"{name}_url": server.url for name, server in servers.items()})
    with Transport(settings) as opened:
        sender = Sender(opened)
        for name in servers:
            sender.send(Endpoint(interface=name, method="GET", path="/x").request(), read=bytes)
    carried = {name for name, server in servers.items() if "authorization" in server.heard[0].headers}
    assert carried == {"ledger", "validator"}


def test_no_token_goes_where_an_alternative_or_a_revised_request_would_take_it(serve, transport):
    scan, ledger = serve(text("", 503), text("", 404)), serve()
    sender = transport(scan_url=scan.url, ledger_url=ledger.url, ledger_token=TOKEN, attempts=2)
    for alternatives in ([], [LEDGER.request()]):
        with pytest.raises(LedgerframesError):
            sender.send(SCAN.request(), *alternatives, read=bytes, revise=lambda _request, _error: LEDGER.request())
    assert (len(scan.heard) >= 4, ledger.heard) == (True, [])
    assert not [heard for heard in scan.heard if "authorization" in heard.headers]


def test_a_function_is_asked_for_the_token_at_each_request_and_an_earlier_one_is_still_masked(serve, transport):
    tokens = iter(["first-token", "second-token"])
    server = serve(text("", 503), text("was first-token", 400))
    with pytest.raises(StatusError) as caught:
        transport(ledger_url=server.url, ledger_token=lambda: next(tokens)).send(LEDGER.request(), read=bytes)
    assert caught.value.detail == "was ***"
    assert [heard.headers["authorization"] for heard in server.heard] == ["Bearer first-token", "Bearer second-token"]


def test_settings_and_transport_show_no_token():
    settings = Settings(ledger_url="https://ledger.example", ledger_token=TOKEN)
    assert not leaks(repr(settings) + str(settings) + repr(vars(settings)))
    with pytest.raises(TypeError, match="LEDGERFRAMES_TOKEN"):
        pickle.dumps(settings)
    with Transport(settings) as opened:
        sender = Sender(opened)
        assert not leaks(repr(sender) + repr(vars(sender)) + repr(sender.transport.stats))


@pytest.mark.parametrize("token", [TOKEN, f"Bearer {TOKEN}"], ids=["sound", "not one"])
def test_settings_that_are_refused_show_no_variable(token, monkeypatch):
    monkeypatch.setenv("LEDGERFRAMES_TOKEN", token)
    del token
    with pytest.raises(LedgerframesError) as caught:
        lf.connect("htp://scan.example/api/scan")
    assert not leaks(everything_shown(caught.value))


PRINT = [sys.executable, "-c", "import sys; sys.exit(print(open(sys.argv[1]).read()) or 3)", __file__]  # with the token


CLIENT = {"client_id": "a", "secret_file": "s"}


@pytest.mark.parametrize(
    "token",
    [lambda: f"Bearer {TOKEN}", ("command", PRINT), ("file", "token"), ("oauth", CLIENT)],
    ids=["function", "command", "file", "oauth"],
)
def test_what_is_fetched_and_is_no_token_is_not_shown(token, serve, transport, tmp_path):
    server = serve(Reply(200, f'{{"access_token": "{TOKEN}'.encode() + b'\xff"}'))
    (tmp_path / "token").write_bytes(TOKEN.encode() + b"\xff")
    (tmp_path / "s").write_text("secret")
    if not callable(token):
        own = token[1] | {"token_url": server.url} if token[0] == "oauth" else token[1]
        token = token_from(token[0], own, "here", tmp_path, {})
    error = ask(transport(ledger_url=server.url, ledger_token=token), LEDGER)
    assert not leaks(everything_shown(error))


def test_the_log_says_what_was_asked_and_what_failed(serve, transport, root_log):
    server = serve(text("busy", 503), answer({}))
    transport(scan_url=server.url).send(SCAN.request(query={"secret": "hidden-value"}), read=bytes)
    lines = root_log.messages
    assert "GET /v0/x -> 503, 4 bytes, 0 ms" in lines
    assert any("answered 503: busy" in line and "Asking" in line for line in lines)
    assert not any("hidden-value" in line for line in lines)
    away = transport(scan_url=f"http://127.0.0.1:{unused_port()}", attempts=1)
    with pytest.raises(NoAnswerError) as caught:
        away.send(SCAN.request(query={"secret": "hidden-value"}), read=bytes)
    assert "hidden-value" not in str(caught.value)


def test_a_token_in_what_the_http_library_logs_is_masked(serve, transport, root_log):
    server = serve(Reply(headers=(("X-Echo", TOKEN),)))
    transport(ledger_url=server.url, ledger_token=TOKEN).send(LEDGER.request(), read=bytes)
    urllib3.request("GET", f"{server.url}/v0/x?t={TOKEN}")
    with httpx.HTTPTransport() as other:
        other.handle_request(httpx.Request("GET", f"{server.url}/v0/x?t={TOKEN}")).read()
    assert '"GET /v0/x?*** HTTP/1.1" 200' in root_log.text
    assert "X-Echo" in root_log.text
    assert not leaks(root_log.text)


def test_a_frame_and_its_file_hide_the_token(net, tmp_path):
    """The command line's own tests look for it in all that a command prints."""
    users, token = lf.load_users(net), net.sandbox.token("validator_operator")
    users.to_parquet(tmp_path / "users.parquet")
    shown = str(users.attrs) + users.to_string() + (tmp_path / "users.parquet").read_bytes().decode("latin-1")
    assert not [part for part in (token, *token.split(".")) if part in shown]
    assert pd.read_parquet(tmp_path / "users.parquet").attrs["source"] == net.settings.ledger_url[0]
