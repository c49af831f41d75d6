"""What the first request to a new server may meet: another kind of server, codings, refusals; each is said at once."""

from __future__ import annotations

import gzip
import re

import msgspec
import pytest
from hostile_server import Reply, answer, text

import ledgerframes as lf
from ledgerframes.errors import DecodeError, NotAuthorizedError
from ledgerframes.transport import Endpoint

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


def test_another_server_is_asked_where_one_gives_a_page(serve, transport):
    wrong, right = serve(PAGES["a page"]), serve(answer({"a": 1}))
    got = transport(scan_url=[wrong.url, right.url]).send(READ.request(), read=msgspec.json.decode)
    assert got.value == {"a": 1}


def test_a_page_from_a_server_that_has_answered_before_is_a_fault_of_the_moment(serve, transport):
    server = serve(answer({"a": 1}), PAGES["a page"], answer({"a": 2}))
    sender = transport(scan_url=server.url)
    sender.send(READ.request(), read=msgspec.json.decode)
    assert sender.send(READ.request(), read=msgspec.json.decode).value == {"a": 2}


def test_a_compressed_error_is_read_too(serve, transport):
    body = gzip.compress(b'{"error": "no such party"}')
    server = serve(Reply(status=400, body=body, headers=(("Content-Encoding", "gzip"),)))
    with pytest.raises(lf.errors.StatusError, match="no such party"):
        transport(scan_url=server.url).send(READ.request(), read=bytes)


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
