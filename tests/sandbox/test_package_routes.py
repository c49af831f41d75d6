"""DARs over HTTP: who may upload them, what is stored, what is refused and how."""

from __future__ import annotations

import http.client
import json
import socket
from hashlib import sha256
from urllib.parse import urlsplit

import pytest

from ledgerframes.sandbox.http.user_routes import ARCHIVE_MAXIMUM
from ledgerframes.sandbox.server import start
from tests.sandbox.asking import ask
from tests.sandbox.dars import FILES, dar

UPLOAD = "/v2/packages"
VALIDATE = "/v2/dars/validate"
BINARY = {"Content-Type": "application/octet-stream"}
TEXT = "text/plain; charset=utf-8"


@pytest.fixture(scope="module")
def running():
    with start(updates=5) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running):
    """Without any package."""
    running.world.packages.clear()
    return running


def send(sandbox, path, body, *, query="", user="participant_admin", headers=None):
    token = sandbox.token(user)
    return ask(f"{sandbox.ledger_url}{path}{query}", body, token=token, headers={**BINARY, **(headers or {})})


def code_before_the_end(sandbox, path, headers, *, body=b"", method="POST", user="participant_admin"):
    """The status and the error code of the answer to a request whose body begins with `body` and never ends."""
    url = urlsplit(sandbox.ledger_url + path)
    token = sandbox.token(user)
    headers = {"Host": url.netloc, "Authorization": f"Bearer {token}", **headers}
    head = [f"{method} {url.path}?{url.query} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    with socket.create_connection((url.hostname, url.port), timeout=30) as client:
        client.sendall("\r\n".join([*head, "", ""]).encode() + body)
        with http.client.HTTPResponse(client) as answer:
            answer.begin()
            assert answer.headers["Content-Type"] == "application/json"
            return answer.status, json.load(answer).get("code")


def version(number, content):
    """An archive with one package of that version."""
    return dar(
        {f"app-{number}.dalf": content}, b"Main-Dalf: app-%s.dalf\nDalfs: app-%s.dalf\n" % ((number.encode(),) * 2)
    )


def test_an_upload_is_stored_under_the_hash_of_each_package(sandbox):
    answer = send(sandbox, UPLOAD, dar())

    assert (answer.status, answer.json) == (200, {})
    assert {one.path: one.package_id for one in sandbox.packages.values()} == {
        path: sha256(content).hexdigest() for path, content in FILES.items()
    }
    assert all(one.vetted == set(sandbox.world.synchronizers) for one in sandbox.packages.values())


def test_validating_changes_nothing_and_an_archive_may_come_again(sandbox):
    answer = send(sandbox, VALIDATE, dar())

    assert (answer.status, answer.body, sandbox.packages) == (200, b"", {})
    assert [send(sandbox, UPLOAD, dar()).status for _ in range(2)] == [200, 200]
    assert len(sandbox.packages) == len(FILES)


@pytest.mark.parametrize("path", [UPLOAD, VALIDATE])
def test_garbage_and_an_unknown_synchronizer_are_refused(sandbox, path):
    garbage = send(sandbox, path, b"garbage")
    unknown = send(sandbox, path, dar(), query="?synchronizerId=sync-z::1220ff")

    assert (garbage.status, garbage.content_type) == (400, TEXT)
    assert b"zip" in garbage.body
    assert (unknown.status, unknown.json["code"]) == (404, "SYNCHRONIZER_NOT_FOUND")
    assert sandbox.packages == {}


@pytest.mark.parametrize("path", [UPLOAD, VALIDATE])
def test_the_user_and_the_content_type_count(sandbox, path):
    for user, status in (("alice", 403), ("mallory", 403), ("validator_operator", 200)):
        assert send(sandbox, path, dar(), user=user).status == status
    for kind in ("application/octet-stream; x=y", "Application/Octet-Stream"):
        assert send(sandbox, path, dar(), headers={"Content-Type": kind}).status == 200
    other = send(sandbox, path, dar(), headers={"Content-Type": "application/json"})
    assert (other.status, other.json["cause"].endswith("not application/json")) == (415, True)


@pytest.mark.parametrize("path", [UPLOAD, VALIDATE])
@pytest.mark.parametrize(
    ("query", "headers", "user", "refusal"),
    [
        ("", BINARY, "participant_admin", (413, "REQUEST_TOO_LARGE")),
        ("", {"Content-Type": "text/json"}, "participant_admin", (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("?synchronizerId=sync-z::1220ff", BINARY, "participant_admin", (404, "SYNCHRONIZER_NOT_FOUND")),
        ("", BINARY, "alice", (403, "NA")),
    ],
)
def test_an_archive_is_refused_before_it_comes(sandbox, path, query, headers, user, refusal):
    headers = {**headers, "Content-Length": 10_000_000_000}

    assert code_before_the_end(sandbox, path + query, headers, body=bytes(1_000), user=user) == refusal


def test_a_body_above_the_limit_is_refused_while_it_comes(sandbox):
    chunk = b"%x\r\n" % (ARCHIVE_MAXIMUM + 1) + bytes(ARCHIVE_MAXIMUM + 1)

    assert code_before_the_end(sandbox, UPLOAD, {"Transfer-Encoding": "chunked"}, body=chunk) == (
        413,
        "REQUEST_TOO_LARGE",
    )


def test_no_body_of_a_get_is_waited_for(sandbox):
    headers = {"Content-Length": 1_000}

    assert code_before_the_end(sandbox, "/v2/state/ledger-end", headers, method="GET") == (200, None)


@pytest.mark.parametrize("path", [UPLOAD, VALIDATE])
def test_a_vetted_version_is_not_replaced_by_other_bytes(sandbox, path):
    main, other = sandbox.world.synchronizers[:2]
    assert send(sandbox, UPLOAD, version("1.0", b"one"), query=f"?synchronizerId={main}").status == 200

    refused = send(sandbox, path, version("1.0", b"two"))

    assert (refused.status, refused.json["code"]) == (400, "KNOWN_PACKAGE_VERSION")
    assert sha256(b"one").hexdigest() in refused.json["cause"]
    assert send(sandbox, path, version("1.0", b"two"), query=f"?synchronizerId={other}").status == 200
    assert send(sandbox, path, version("1.1", b"two")).status == 200


def test_what_is_not_vetted_is_stored_and_stands_in_nobody_s_way(sandbox):
    assert send(sandbox, UPLOAD, version("1.0", b"one"), query="?vetAllPackages=false").status == 200
    assert next(iter(sandbox.packages.values())).vetted == set()

    assert send(sandbox, UPLOAD, version("1.0", b"two")).status == 200
