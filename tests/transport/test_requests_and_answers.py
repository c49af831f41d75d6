"""How a declared endpoint becomes a request, and what an error says of its answer: status, detail, what to do."""

from __future__ import annotations

import gzip
import pickle
import re
from unittest.mock import ANY

import msgspec
import pytest
from hostile_server import Reply, answer, text

from ledgerframes.errors import DecodeError, NotAuthorizedError, NotFoundError, StatusError
from ledgerframes.transport import Endpoint

ONE = Endpoint(interface="scan", method="GET", path="/v1/updates/{update_id}")

PAGE = """<!DOCTYPE html><html><head><title>502 Bad&nbsp;Gateway</title><style>b {color: red}</style></head>
<body><script>alert(1)</script><h1>502 Bad Gateway</h1><!-- x --><p>nginx</p></body></html>"""


def fail(serve, transport, reply: Reply) -> StatusError:
    server = serve(reply)
    sender = transport(scan_url=f"{server.url}/api/scan", attempts=1)
    with pytest.raises(StatusError) as caught:
        sender.send(ONE.request(path={"update_id": "a::b"}), read=bytes)
    return caught.value


def test_the_message_names_request_server_status_and_remedy(serve, transport):
    error = fail(serve, transport, answer({"error": "no such update"}, 404))
    message = str(error)
    assert message.startswith("GET /v1/updates/{update_id} (/v1/updates/a%3A%3Ab) at http://127.0.0.1:")
    assert "/api/scan answered 404: no such update. What to do: check the id." in message


DETAILS = {
    "json": (answer({"error": "no"}, 400), "no"),
    "text": (text("  plain  words\n", 400), "plain words"),
    "html": (text(PAGE, 502, "text/html"), "502 Bad Gateway nginx"),
    "html title": (text("<html><head><title>Sign in</title></head><p>Go &amp; see</p>", 401), "Sign in: Go & see"),
    "empty": (text("", 503), ""),
    "null": (text("null", 400), "null"),
    "list": (text("[1]", 400), "[1]"),
    "null error": (answer({"error": None}, 400), ""),
    "odd error": (answer({"error": 7}, 400), ""),
    "no text": (Reply(400, b"\xff\xfe"), "\ufffd\ufffd"),
    "compressed": (Reply(400, gzip.compress(b'{"error": "no"}'), (("Content-Encoding", "gzip"),)), "no"),
    "long": (text("x" * 9999, 500), "x" * 499 + "\u2026"),
    "cut": (Reply(503, b"half of it", length=20, cut=10), "half of it"),
    "made to be slow": (text("<html>" + "<head<!--" * 7000, 502), ANY),
    "another status": (Reply(418, b""), ""),
}


@pytest.mark.parametrize(("reply", "detail"), DETAILS.values(), ids=DETAILS)
def test_the_detail_is_what_the_server_said(reply, detail, serve, transport):
    error = fail(serve, transport, reply)
    assert error.detail == detail
    assert "What to do:" in str(error)


def test_a_ledger_error_is_taken_apart_and_survives_a_pickle(serve, transport):
    body = {
        "code": "CONTRACT_NOT_FOUND",
        "cause": "An error occurred. Please contact the operator",
        "correlationId": "corr-1",
        "traceId": "trace-2",
        "context": {"participant": "p1"},
        "resources": [["a", "b"]],
        "errorCategory": 11,
        "grpcCodeValue": 5,
        "retryInfo": None,
        "definiteAnswer": False,
    }
    error = fail(serve, transport, answer(body, 404))
    assert isinstance(error, NotFoundError)
    assert not error.unknown_route
    assert (error.code, error.category) == ("CONTRACT_NOT_FOUND", 11)
    assert (error.correlation_id, error.trace_id) == ("corr-1", "trace-2")
    assert error.context == {"participant": "p1"}
    assert "correlation id corr-1, trace id trace-2" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


@pytest.mark.parametrize(
    ("interface", "safe", "reply", "advice"),
    [
        ("validator", True, text("no", 404), "or validator_url= lacks a prefix such as /api/validator."),
        ("ledger", True, text("no", 404), "or ledger_url= is that of another kind of server."),
        ("registry", True, text("no", 500), "What to do: try again later."),
        ("registry", True, text("no", 429), "What to do: lower rate=."),
        ("ledger", False, text("no", 504), "check whether the command was carried out before sending it again."),
        ("ledger", True, text("no", 504), "a further ledger_url= is asked when one server fails."),
    ],
)
def test_the_remedy_suits_the_interface(interface, safe, reply, advice, serve, transport):
    endpoint = Endpoint(interface=interface, method="GET", path="/v0/dso", safe=safe)
    sender = transport(**{f"{interface}_url": serve(reply).url}, attempts=1)
    with pytest.raises(StatusError) as caught:
        sender.send(endpoint.request(), read=bytes)
    assert advice in str(caught.value)


LARGE = bytes(range(256)) * 20_000
POST = Endpoint(interface="scan", method="POST", path="/v2/updates")


@pytest.mark.parametrize(
    ("arguments", "kind", "body"),
    [
        ({"json": {"a": [1, None]}}, "application/json", b'{"a":[1,null]}'),
        ({"json": None}, "application/json", b"null"),
        ({"content": b"PK\x03"}, "application/octet-stream", b"PK\x03"),
        ({"content": LARGE}, "application/octet-stream", LARGE),
        ({}, None, b""),
    ],
    ids=["json", "json null", "bytes", "large", "none"],
)
def test_the_body_arrives_with_its_type(arguments, kind, body, serve, transport):
    server = serve()
    transport(scan_url=server.url).send(POST.request(**arguments), read=bytes)
    assert server.heard[0].body == body
    assert server.heard[0].headers.get("content-type") == kind


READ = Endpoint(interface="scan", method="GET", path="/v0/thing")
PAGES = {
    "a page": text("<!DOCTYPE html><html><head><title>Wallet</title></head></html>", 200, "text/html"),
    "a page that calls itself JSON": text("  <html><title>Wallet</title></html>", 200, "application/json"),
    "a page with a comment before it": text("<!-- x --><html><title>Wallet</title></html>", 200, "text/html;x=y"),
    "a page with a byte order mark": Reply(body=b"\xef\xbb\xbf<html><title>Wallet</title></html>", headers=()),
    "a compressed page": Reply(
        body=gzip.compress(b"<html><title>Wallet</title></html>"), headers=(("Content-Encoding", "gzip"),)
    ),
}
PREFIX = {"scan": "lack the prefix /api/scan", "validator": "lack the prefix /api/validator", "ledger": "another kind"}


@pytest.mark.parametrize(
    ("name", "interface"), [*((name, "scan") for name in PAGES), ("a page", "validator"), ("a page", "ledger")]
)
def test_a_page_where_a_server_should_be_fails_at_once_with_what_to_check(name, interface, serve, transport, clock):
    server = serve(PAGES[name])
    sender = transport(**{f"{interface}_url": server.url})
    with pytest.raises(DecodeError, match="answered 200 with an HTML page, not JSON: 'Wallet'") as caught:
        sender.send(
            Endpoint(interface=interface, method="GET", path="/v0/thing").request(), read=bytes,
            revise=lambda request, _error: request,
        )  # fmt: skip
    assert f"check {interface}_url=" in str(caught.value)
    assert PREFIX[interface] in str(caught.value)
    assert (len(server.heard), clock.sleeps) == (1, [])


def test_a_page_from_a_server_that_has_answered_before_is_a_fault_of_the_moment(serve, transport):
    server = serve(answer({"a": 1}), PAGES["a page"], answer({"a": 2}))
    sender = transport(scan_url=server.url)
    sender.send(READ.request(), read=msgspec.json.decode)
    assert sender.send(READ.request(), read=msgspec.json.decode).value == {"a": 2}


TOKEN = "secret-token-of-alice"
CHALLENGES = {
    "expired": ('Bearer realm="x", error="invalid_token", error_description="The token expired"', "The token expired"),
    "only a kind": ('Bearer error="insufficient_scope"', "insufficient_scope"),
    "without quotes": ("Bearer error=invalid_token", "invalid_token"),
    "with the token in it": (f'Bearer error_description="{TOKEN} expired"', r"\*\*\* expired"),
    "nothing": ("", "^denied$"),
    "too much": ("Bearer " + "a" * 50_000, "^denied$"),
    "half a quote": ('Bearer error="', "^denied$"),
    "with an escape sequence": ('Bearer error_description="\x1b[2Jexpired"', r"\\u001b\[2Jexpired"),
}


@pytest.mark.parametrize(("header", "said"), CHALLENGES.values(), ids=CHALLENGES)
def test_what_the_challenge_says_of_the_token_is_shown(header, said, serve, transport):
    server = serve(Reply(status=401, body=b"denied", headers=(("WWW-Authenticate", header),)))
    with pytest.raises(NotAuthorizedError) as caught:
        transport(scan_url=server.url, scan_token=TOKEN).send(READ.request(), read=bytes)
    assert TOKEN not in str(caught.value) + caught.value.detail
    assert "denied" in caught.value.detail
    assert re.search(said, caught.value.detail)
