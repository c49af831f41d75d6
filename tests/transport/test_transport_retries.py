"""When a request is tried again, how long is waited, and when it is not."""

import logging
import time
from email.utils import formatdate

import msgspec
import pytest
from hostile_server import HostileServer, Reply, answer, text, unused_port

from ledgerframes.errors import (
    ConflictError,
    DecodeError,
    NoAnswerError,
    NotAuthorizedError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    StatusError,
)
from ledgerframes.transport import Endpoint
from tests.clocks import NOON

READ = Endpoint(interface="scan", method="GET", path="/v0/thing")
PAGES = Endpoint(interface="scan", method="POST", path="/v2/updates")
COMMAND = Endpoint(interface="ledger", method="POST", path="/v2/commands/do", safe=False)
OLDER = Endpoint(interface="ledger", method="POST", path="/v1/do", safe=False)

FAULTS = {
    "reset before": Reply(hang_up="before"),
    "reset in the body": Reply(body=b'{"a": 1}', hang_up="body"),
    "body cut short": Reply(body=b'{"a": 1}', cut=4),
    "gzip cut short": Reply(body=b"\x1f\x8b\x08\x00\x00\x00", headers=(("Content-Encoding", "gzip"),)),
    "not gzip at all": Reply(body=b"{}", headers=(("Content-Encoding", "gzip"),)),
    "no HTTP": Reply(raw=b"SSH-2.0-OpenSSH\r\n\r\n"),
    "429": text("slow down", 429),
    "502": text("<html><title>Bad Gateway</title></html>", 502, "text/html"),
    "503": answer({"error": "not yet replicated all data"}, 503),
    "504": text("", 504),
    "200 with nothing": text("", 200),
    "200 cut inside JSON": Reply(body=b'{"a": [1, 2'),
    "ledger contention": answer({"code": "X", "cause": "y", "context": {}, "errorCategory": 2}, 409),
}
PAGE = text("<html><title>Sign in</title></html>", 200, "text/html")
GONE = text("The requested resource could not be found.", 404)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_safe_request_is_tried_again_after(fault, serve, transport, clock):
    server = serve(fault, text('{"a": 1}', 200, "text/html"))  # the content type is not trusted
    sender = transport(scan_url=server.url)
    got = sender.send(PAGES.request(), read=msgspec.json.decode)
    assert got.value == {"a": 1}
    assert len(server.heard) == 2
    assert sender.transport.stats.retries == 1
    assert sender.transport.stats.requests == 2
    assert len(clock.sleeps) == 1
    assert sender.transport.stats.waits_seconds == pytest.approx(sum(clock.sleeps))


@pytest.mark.parametrize("fault", [*FAULTS.values(), PAGE, GONE], ids=[*FAULTS, "200 with HTML", "no such route"])
def test_a_command_is_sent_once_whatever_happens(fault, serve, transport, clock):
    server, other = serve(fault, answer({})), serve()
    sender = transport(ledger_url=[server.url, other.url], ledger_token="secret-token")
    with pytest.raises((NoAnswerError, StatusError, DecodeError)):
        sender.send(
            COMMAND.request(json={}), OLDER.request(json={}), read=msgspec.json.decode, revise=lambda one, _error: one
        )
    assert (len(server.heard), len(other.heard), clock.sleeps) == (1, 0, [])


def test_a_command_is_not_sent_to_another_server_even_if_the_first_is_away(serve, transport):
    other = serve()
    sender = transport(ledger_url=[f"http://127.0.0.1:{unused_port()}", other.url], ledger_token="secret-token")
    with pytest.raises(NoAnswerError, match="before sending it again"):
        sender.send(COMMAND.request(), read=bytes)
    assert other.heard == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, StatusError), (401, NotAuthorizedError), (404, NotFoundError), (409, ConflictError), (500, ServerError),
     (501, ServerError)],
)  # fmt: skip
def test_other_errors_are_final(status, kind, serve, transport):
    server = serve(answer({"error": "no"}, status))
    with pytest.raises(kind) as caught:
        transport(scan_url=server.url).send(READ.request(), read=bytes)
    assert (caught.value.status, caught.value.detail, len(server.heard)) == (status, "no", 1)


@pytest.mark.parametrize(
    ("reply", "low", "high"),
    [
        (answer({}, 503, Retry_After="3"), 3, 3),
        (answer({}, 429, Retry_After=formatdate(NOON + 7, usegmt=True)), 7, 7),
        (answer({"code": "X", "errorCategory": 1, "retryInfo": "1 second"}, 503), 1, 1),
        (answer({"code": "X", "errorCategory": 12, "retryInfo": "2 minutes"}, 501), 120, 120),
        *((answer({}, 503, Retry_After=odd), 0, 0.5) for odd in ("soon", "-5")),
    ],
    ids=["seconds", "date", "ledger", "ledger, minutes", "no number", "negative"],
)
def test_the_wait_the_server_asks_for_is_kept_if_it_makes_sense(reply, low, high, serve, transport, clock):
    server = serve(reply, answer({}))
    transport(scan_url=server.url).send(READ.request(), read=bytes)
    assert len(clock.sleeps) == 1
    assert low - 0.001 <= clock.sleeps[0] <= high + 0.001


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (answer({}, 429, Retry_After="86400"), 86400),
        (answer({}, 503, Retry_After=formatdate(NOON + 7200, usegmt=True)), 7200),
        (answer({"code": "X", "errorCategory": 1, "retryInfo": "2 hours"}, 503), 7200),
        *((answer({}, 503, Retry_After=digits), "9999999999") for digits in ("9999999999", "9" * 400)),
    ],
    ids=["seconds", "date", "ledger", "long", "endless"],
)
def test_a_wait_that_there_is_no_time_for_is_quoted_and_not_begun(reply, seconds, serve, transport, clock):
    server = serve(reply, answer({}))
    with pytest.raises(StatusError, match=rf"asks for a wait of {seconds} s \(Retry-After\), and 300 s of budget=300"):
        transport(scan_url=server.url).send(READ.request(), read=bytes)
    assert (len(server.heard), clock.sleeps) == (1, [])


def test_waits_grow_with_jitter_and_attempts_end(serve, transport, clock):
    server = serve(text("busy", 503))
    with pytest.raises(ServerError, match=r"busy.*Gave up after 8 attempts"):
        transport(scan_url=server.url).send(READ.request(), read=bytes)
    assert len(server.heard) == 8
    assert len(clock.sleeps) == 7
    assert all(0 <= wait <= 0.5 * 2**n for n, wait in enumerate(clock.sleeps))
    assert len(set(clock.sleeps)) == 7


def test_the_time_for_one_request_is_limited(serve, transport, clock):
    server = serve(answer({}, 429, Retry_After="50"))
    with pytest.raises(RateLimitedError, match="Gave up after 3 attempts in 100"):
        transport(scan_url=server.url, budget=120.0).send(READ.request(), read=bytes)
    assert clock.sleeps == [50, 50]


def test_a_server_that_was_never_there_is_asked_twice_and_then_named(transport, clock, caplog):
    url = f"http://127.0.0.1:{unused_port()}"
    with pytest.raises(NoAnswerError, match=r"no connection.*scan_url.*2 attempts") as caught:
        transport(scan_url=url).send(READ.request(), read=bytes)
    assert url in str(caught.value)
    assert sum(clock.sleeps) < 1
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_server_that_was_there_is_waited_for(transport):
    with HostileServer([answer({}, Connection="close")]) as server:
        sender = transport(scan_url=server.url)
        sender.send(READ.request(), read=bytes)
    with pytest.raises(NoAnswerError, match=r"no connection.*refused.*scan_url.*8 attempts"):
        sender.send(READ.request(), read=bytes)


SLOW = {
    "dripped body": (Reply(body=b"x" * 400, drip=0.02), {"deadline": 0.1}, "no whole answer within 0.1 s"),
    "dripped head": (Reply(drip=0.02, drip_head=True), {"deadline": 0.1}, "no whole answer within 0.1 s"),
    "silence, deadline": (Reply(body=b"xx", drip=9.0), {"deadline": 0.1}, "no whole answer within"),
    "silence, read timeout": (Reply(body=b"xx", drip=9.0), {"read_timeout": 0.1}, "stopped sending"),
}


@pytest.mark.parametrize(("reply", "limits", "said"), SLOW.values(), ids=SLOW)
def test_a_slow_answer_ends_with_the_limit_that_comes_first(reply, limits, said, serve, transport):
    server = serve(reply)
    began = time.monotonic()
    with pytest.raises(NoAnswerError, match=said):
        transport(scan_url=server.url, attempts=2, **limits).send(READ.request(), read=bytes)
    assert time.monotonic() - began < 3
    assert len(server.heard) == 2


def test_a_body_that_breaks_the_contract_is_final(serve, transport):
    server = serve(answer({"a": "text"}))
    decode = msgspec.json.Decoder(dict[str, int]).decode
    with pytest.raises(DecodeError, match=r"breaks the contract.*Expected `int`") as caught:
        transport(scan_url=server.url).send(READ.request(), read=decode)
    assert caught.value.endpoint == "/v0/thing"
    assert isinstance(caught.value.__cause__, msgspec.ValidationError)
    assert len(server.heard) == 1


def test_a_body_that_is_never_json_is_shown_in_part(serve, transport):
    server = serve(text("sign in" + "x" * 500, 200))
    with pytest.raises(DecodeError, match=r"text/plain, beginning 'sign in") as caught:
        transport(scan_url=server.url, attempts=2).send(READ.request(), read=msgspec.json.decode)
    assert caught.value.endpoint == "/v0/thing"
    assert "x" * 80 not in str(caught.value)
    assert len(server.heard) == 2


@pytest.mark.parametrize("fault", [answer({"error": "Exceeded limit maximum (9 > 5)."}, 400), text("", 413)], ids=str)
def test_a_revised_request_is_sent_without_a_wait(fault, serve, transport, clock):
    seen = []

    def smaller(request, error):
        seen.append((request, error.status))
        return PAGES.request(json={"page_size": 5})

    server = serve(fault, answer({}))
    got = transport(scan_url=server.url).send(PAGES.request(json={"page_size": 9}), read=bytes, revise=smaller)
    assert [heard.body for heard in server.heard] == [b'{"page_size":9}', b'{"page_size":5}']
    assert got.request == PAGES.request(json={"page_size": 5})
    assert [request.content for request, _ in seen] == [b'{"page_size":9}']
    assert clock.sleeps == []
