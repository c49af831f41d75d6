"""How an endpoint's declaration becomes a request on the wire."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hostile_server import answer

from ledgerframes.errors import InputError
from ledgerframes.transport import Endpoint

ONE = Endpoint(interface="scan", method="GET", path="/v1/updates/{update_id}")
LARGE = bytes(range(256)) * 20_000
POST = Endpoint(interface="scan", method="POST", path="/v2/updates")


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("party::1220ab", "party%3A%3A1220ab"),
        ("../admin", "..%2Fadmin"),
        ("a%2Fb", "a%252Fb"),
        (" \r\n\0", "%20%0D%0A%00"),
        ("\u00e9", "%C3%A9"),
    ],
)
def test_path_parameters_arrive_percent_encoded_whole(value, sent, serve, transport):
    server = serve()
    transport(scan_url=f"{server.url}/api/scan/").send(ONE.request(path={"update_id": value}), read=bytes)
    assert server.heard[0].target == f"/api/scan/v1/updates/{sent}"


def test_query_values_are_written_out_and_none_is_left_out(serve, transport):
    server = serve()
    query = {"limit": 10, "vet": True, "not": False, "after": None, "token": "a+b &c=d/\u00e9"}
    transport(scan_url=server.url).send(POST.request(query=query), read=bytes)
    assert server.heard[0].target == "/v2/updates?limit=10&vet=true&not=false&token=a%2Bb%20%26c%3Dd%2F%C3%A9"


@pytest.mark.parametrize(
    ("arguments", "kind", "body"),
    [
        ({"json": {"a": [1, None]}}, "application/json", b'{"a":[1,null]}'),
        ({"json": None}, "application/json", b"null"),
        ({"content": b"PK\x03"}, "application/octet-stream", b"PK\x03"),
        ({"content": LARGE, "content_type": "text/plain"}, "text/plain", LARGE),
        ({}, None, b""),
    ],
    ids=["json", "json null", "bytes", "large and typed", "none"],
)
def test_the_body_arrives_with_its_type(arguments, kind, body, serve, transport):
    server = serve()
    transport(scan_url=server.url).send(POST.request(**arguments), read=bytes)
    assert server.heard[0].body == body
    assert server.heard[0].headers.get("content-type") == kind


@pytest.mark.parametrize(
    "arguments",
    [{"json": 1, "content": b""}, {"json": object()}, {"json": "\ud800"}],
    ids=["two bodies", "no JSON", "no text"],
)
def test_a_body_that_cannot_be_sent_is_refused(arguments):
    with pytest.raises(InputError, match="POST /v2/updates"):
        POST.request(**arguments)


def test_the_answer_says_where_it_came_from(serve, transport):
    server = serve(answer([1], X_More="y"))
    got = transport(scan_url=f"{server.url}/api/scan").send(POST.request(), read=len)
    assert (got.value, got.status, got.size, got.server) == (3, 200, 3, f"{server.url}/api/scan")
    assert got.headers["x-more"] == "y"
    assert got.request == POST.request()
    assert server.heard[0].headers["user-agent"].startswith("ledgerframes")


def test_importing_the_transport_imports_no_http_library():
    code = "import sys, ledgerframes.transport; print([n for n in ('httpx', 'urllib3') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
