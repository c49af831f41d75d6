"""A sandbox serves as one release or another; what is on its way out says so."""

from __future__ import annotations

import datetime as dt

import pytest
from asking import ask

import ledgerframes as lf
from ledgerframes.sandbox.server import start

SUMMARY = "/v0/scan-proxy/holdings/summary"


@pytest.fixture(scope="module")
def sandbox():
    with start(updates=60) as running:
        yield running


@pytest.fixture(scope="module")
def newer(sandbox):
    with sandbox.replica(release="3.6") as running:
        yield running


def ledger(sandbox, path, body=None, token=""):
    return ask(f"{sandbox.ledger_url}{path}", body, token=token or sandbox.token("validator_operator"))


def test_a_deprecated_route_says_so_and_leads_to_its_successor(sandbox):
    answer = ledger(sandbox, "/v2/updates/transaction-by-id", {"updateId": "unknown"})

    assert answer.headers["Deprecation"].startswith("@")
    since = dt.datetime.fromtimestamp(int(answer.headers["Deprecation"][1:]), dt.UTC)
    assert since.isoformat() == "2025-03-03T09:00:00+00:00"
    assert '</api/ledger/v2/updates/update-by-id>; rel="successor-version"' in answer.headers["Link"]
    assert '</openapi.json>; rel="deprecation"' in answer.headers["Link"]
    assert answer.headers["Sunset"] is None


def test_it_says_so_to_those_it_refuses_too(sandbox):
    answer = ledger(sandbox, "/v2/updates/transaction-by-id", {}, token="a.b.c")

    assert (answer.status, answer.headers["Deprecation"][:1]) == (401, "@")


def test_every_interface_says_it(sandbox):
    by_id = ask(f"{sandbox.scan_url}/v1/updates/unknown")
    summary = ask(f"{sandbox.validator_url}{SUMMARY}", {}, token=sandbox.token("alice"))

    assert [one.headers["Deprecation"][:1] for one in (by_id, summary)] == ["@", "@"]
    assert '</api/validator/v1/scan-proxy/holdings/summary>; rel="successor-version"' in summary.headers["Link"]
    assert "successor" not in by_id.headers["Link"]


def test_a_successor_is_not_promised_where_it_is_not_served(sandbox):
    with sandbox.replica(older=True) as older:
        summary = ask(f"{older.validator_url}{SUMMARY}", {}, token=older.token("alice"))

    assert "successor" not in summary.headers["Link"]


def test_other_routes_say_nothing(sandbox):
    assert ledger(sandbox, "/v2/users").headers["Deprecation"] is None
    assert ledger(sandbox, "/v2/updates/update-by-id", {}).headers["Deprecation"] is None


@pytest.mark.parametrize("path", ["updates/transaction-by-id", "commands/submit-and-wait-for-transaction-tree"])
def test_the_newer_release_no_longer_knows_what_was_removed(newer, path):
    answer = ledger(newer, f"/v2/{path}", {"updateId": "unknown"})

    assert (answer.status, answer.content_type) == (404, "text/plain; charset=utf-8")


@pytest.mark.parametrize("release", ["3.5", "3.6"])
def test_a_client_finds_an_update_on_either_release(release):
    with lf.sandbox(updates=60, release=release) as net:
        wanted = next(one for one in net.sandbox.world.items() if "events_by_id" in one)["update_id"]

        assert lf.load_update(net, wanted).updates.update_id.tolist() == [wanted]
        assert lf.load_ledger_transaction(net, wanted)[0].update_id.tolist() == [wanted]


@pytest.mark.parametrize("release", ["3.4", "3.6.1", "", "newest"])
def test_an_unknown_release_is_refused_with_those_there_are(release):
    with pytest.raises(lf.InputError, match=r"3\.5, 3\.6"):
        lf.sandbox(release=release)
