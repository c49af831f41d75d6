"""Who may read the ledger interface, and its users in pages."""

from __future__ import annotations

import urllib.parse

from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.parties import User
from tests.sandbox.ledger_calls import call

USERS = "/v2/users"


def users(sandbox, **query):
    return call(sandbox, f"{USERS}?{urllib.parse.urlencode(query)}", user="participant_admin")


def test_users_come_in_pages_until_a_token_is_empty(sandbox):
    pages = [users(sandbox, pageSize=90).json]
    while pages[-1]["nextPageToken"]:
        pages.append(users(sandbox, pageSize=90, pageToken=pages[-1]["nextPageToken"]).json)
    ids = [one["id"] for page in pages for one in page["users"]]

    assert [len(page["users"]) for page in pages] == [90, 90, 90, 52]
    assert pages[-1]["nextPageToken"] == ""
    assert ids == sorted(set(ids))
    assert len(ids) == 322
    assert {"alice", "bob", "validator_operator", "participant_admin", "mallory"} <= set(ids)
    default = call(sandbox, USERS, user="participant_admin").json
    assert len(default["users"]) == 100
    assert users(sandbox, pageSize=0, pageToken="").json == default


def test_a_page_size_above_a_thousand_is_capped_without_a_word():
    with start(updates=5) as sandbox:
        extra = [f"extra-{number:04}" for number in range(1_100)]
        sandbox.world.accounts.update({name: User(name) for name in extra})
        page = users(sandbox, pageSize=2_000).json
        rest = users(sandbox, pageSize=2**31 - 1, pageToken=page["nextPageToken"]).json

    assert len(page["users"]) == 1_000
    assert len(rest["users"]) == 322 + 1_100 - 1_000
    assert rest["nextPageToken"] == ""


def test_only_who_manages_the_participant_lists_users_and_why_is_in_the_log_alone(sandbox, caplog):
    caplog.set_level("INFO", logger="ledgerframes.sandbox")
    for user in ("nobody-at-all", "alice", "mallory"):
        answer = call(sandbox, USERS, user=user)
        assert (answer.status, answer.json["grpcCodeValue"]) == (403, 7)
        assert user not in answer.json["cause"]
        assert answer.json["correlationId"] in caplog.text
    assert "'mallory' is deactivated" in caplog.text
    assert sandbox.token("mallory").split(".")[2] not in caplog.text
