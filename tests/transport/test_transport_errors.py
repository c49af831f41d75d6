"""What an error says: status, detail, ids, and what to do next."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from unittest.mock import ANY

import pytest
from hostile_server import Reply, answer, text

from ledgerframes.errors import NotFoundError, StatusError
from ledgerframes.transport import Endpoint

READ = Endpoint(interface="scan", method="GET", path="/v1/updates/{update_id}")
CAPTURES = Path(__file__).parents[2].parent / "shared" / "captures"

PAGE = """<!DOCTYPE html><html><head><title>502 Bad&nbsp;Gateway</title><style>b {color: red}</style></head>
<body><script>alert(1)</script><h1>502 Bad Gateway</h1><!-- x --><p>nginx</p></body></html>"""


def fail(serve, transport, reply: Reply) -> StatusError:
    server = serve(reply)
    sender = transport(scan_url=f"{server.url}/api/scan", attempts=1)
    with pytest.raises(StatusError) as caught:
        sender.send(READ.request(path={"update_id": "a::b"}), read=bytes)
    return caught.value


def test_the_message_names_request_server_status_and_remedy(serve, transport):
    error = fail(serve, transport, answer({"error": "no such update"}, 404))
    message = str(error)
    assert message.startswith("GET /v1/updates/{update_id} (/v1/updates/a%3A%3Ab) at http://127.0.0.1:")
    assert "/api/scan answered 404: no such update. What to do: check the id." in message


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        (answer({"error": "no"}, 400), "no"),
        (text("  plain  words\n", 400), "plain words"),
        (text(PAGE, 502, "text/html"), "502 Bad Gateway nginx"),
        (text("<html><head><title>Sign in</title></head><p>Go &amp; see</p>", 401, "text/html"), "Sign in: Go & see"),
        (text("", 503), ""),
        (text("null", 400), "null"),
        (text("[1]", 400), "[1]"),
        (answer({"error": None}, 400), ""),
        (answer({"error": 7}, 400), ""),
        (Reply(400, b"\xff\xfe"), "\ufffd\ufffd"),
        (text("x" * 9999, 500), "x" * 499 + "\u2026"),
        (Reply(503, b"half of it", length=20, cut=10), "half of it"),
        (text("<html>" + "<head<!--" * 7000, 502), ANY),
    ],
    ids=[
        "json",
        "text",
        "html",
        "html title",
        "empty",
        "null",
        "list",
        "null error",
        "odd error",
        "no text",
        "long",
        "cut",
        "made to be slow",
    ],
)
def test_the_detail_is_what_the_server_said(reply, detail, serve, transport):
    assert fail(serve, transport, reply).detail == detail


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


@pytest.mark.parametrize("name", ["scan-error-unknown-route", "scan-error-not-found", "ledger-error-400-json"])
def test_captured_errors_are_understood(name, serve, transport):
    path = CAPTURES / f"{name}.json"
    if not path.exists():
        pytest.skip("the captured answers are not here")
    response = json.loads(path.read_text())["response"]
    body = response["body"] if isinstance(response["body"], str) else json.dumps(response["body"])
    error = fail(serve, transport, text(body, response["status"], response["content_type"]))
    assert error.detail
    assert error.unknown_route == (name == "scan-error-unknown-route")
    assert (error.category, error.trace_id is not None) == ((8, True) if "ledger" in name else (None, False))


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
