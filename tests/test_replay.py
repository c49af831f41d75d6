"""The replay server answers as the captured servers did."""

from __future__ import annotations

import http.client
import json

import pytest
from replay import Replay, captures, read_capture, replay

from ledgerframes.sandbox.faults import Faults

__all__ = ["captures"]
pytestmark = pytest.mark.usefixtures("captures")

CREATED = "/api/ledger/v2/commands/submit-and-wait-for-transaction-tree"
LICENSES = "/api/scan/v0/admin/validator/licenses"
UPDATES = "/api/scan/v2/updates"
RULES = "/api/scan/v0/ans-rules"


@pytest.fixture(scope="module")
def everything(captures):
    with replay(folder=captures) as running:
        yield running


def ask(server: Replay, method: str, path: str, body: object = None) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    try:
        headers = {"Authorization": "Bearer t", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["content-type"], answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", CREATED, "ledger-transaction-tree"),
        ("GET", "/api/ledger/v2/users?pageSize=100", "ledger-users-page"),
        ("GET", "/registry/metadata/v1/instruments", "registry-instruments"),
        ("GET", "/registry/metadata/v1/instruments?pageToken=", "registry-instruments"),
        ("POST", RULES, "scan-ans-rules"),
        ("GET", f"{LICENSES}?limit=1000", "scan-licenses-page"),
        ("GET", f"{LICENSES}?limit=20", "scan-licenses-page"),
        ("GET", f"{LICENSES}?limit=1000&after=176267969", "scan-licenses-last-page"),
        ("POST", "/api/validator/v0/scan-proxy/holdings/summary", "validator-holdings-summary"),
        ("GET", "/api/validator/v0/entry/all", "validator-name-entries"),
        ("GET", "/api/validator/v0/wallet/transfer-offers", "validator-transfer-offers"),
        (
            "GET",
            "/api/validator/v0/scan-proxy/transfer-preapprovals/by-party/a%3A%3A12%2F20",
            "validator-transfer-preapproval",
        ),
    ],
)
def test_every_captured_route_is_answered_as_it_was(everything, method, path, name):
    status, content_type, sent = ask(everything, method, path, {} if method == "POST" else None)
    captured = read_capture(name)
    assert (status, content_type) == (captured.status, captured.content_type)
    assert json.loads(sent) == captured.body
    assert b'": ' not in sent[:200]


def test_a_history_read_gets_the_captured_page_and_then_an_empty_one(everything):
    _, _, first = ask(everything, "POST", UPDATES, {"page_size": 1000})
    last = json.loads(first)["transactions"][-1]
    after = {"after_migration_id": last["migration_id"], "after_record_time": last["record_time"]}
    _, _, second = ask(everything, "POST", UPDATES, {"page_size": 1000, "after": after})
    assert len(json.loads(first)["transactions"]) == 25
    assert json.loads(second) == {"transactions": []}


def test_the_hint_that_names_the_rules_gets_the_answer_without_them(everything):
    known = read_capture("scan-ans-rules").body["ans_rules_update"]["contract"]["contract_id"]
    hit, miss = (
        json.loads(ask(everything, "POST", RULES, {"cached_ans_rules_contract_id": cid})[2]) for cid in (known, "00")
    )
    assert list(hit["ans_rules_update"]) == ["domain_id"]
    assert "contract" in miss["ans_rules_update"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/scan/v0/unknown"),
        ("GET", "/api/scan/v1/updates/1220aa"),
        ("GET", UPDATES),
        ("GET", f"{LICENSES}?after=1"),
        ("GET", "/v0/entry/all"),
        ("DELETE", "/api/ledger/v2/users"),
    ],
)
def test_everything_else_is_a_404_in_text(everything, method, path):
    status, content_type, _ = ask(everything, method, path)
    assert status == 404
    assert content_type.startswith("text/plain")


@pytest.mark.parametrize(
    ("name", "method", "path"),
    [
        ("scan-error-not-found", "GET", "/api/scan/v1/updates/1220aa"),
        ("scan-error-unknown-route", "GET", "/api/scan/v0/unknown"),
        ("ledger-error-400-json", "POST", "/api/ledger/v2/commands/submit-and-wait-for-reassignment"),
    ],
)
def test_errors_are_served_when_they_are_named(name, method, path):
    captured = read_capture(name)
    with replay(name) as server:
        status, content_type, sent = ask(server, method, path)
    assert (status, content_type) == (captured.status, captured.content_type)
    assert sent == captured.sent


def test_a_capture_named_alone_answers_its_route():
    with replay("scan-updates-assignment") as server:
        _, _, sent = ask(server, "POST", UPDATES, {"page_size": 10})
        assert ask(server, "GET", LICENSES)[0] == 404
    assert "created_event" in json.loads(sent)["transactions"][0]["event"]


def test_what_the_client_sent_can_be_looked_at():
    with replay("scan-licenses-page") as server:
        ask(server, "GET", f"{LICENSES}?limit=7")
        (seen,) = server.seen
    assert (seen.method, seen.path, seen.query, seen.body) == ("GET", LICENSES, {"limit": "7"}, None)
    assert seen.headers["authorization"] == "Bearer t"


def test_faults_come_between_as_on_any_server(everything):
    everything.served.faults = Faults(sequence=("503",))
    statuses = [ask(everything, "GET", f"{LICENSES}?limit=1")[0] for _ in range(2)]
    everything.served.faults = None
    assert statuses == [503, 200]


def test_the_four_interfaces_have_their_own_bases(everything):
    assert everything.urls == {
        "scan_url": f"{everything.url}/api/scan",
        "validator_url": f"{everything.url}/api/validator",
        "registry_url": everything.url,
        "ledger_url": f"{everything.url}/api/ledger",
    }
