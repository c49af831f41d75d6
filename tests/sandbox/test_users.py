"""Users of the ledger interface: in pages, made by the contract's rules with rights that count at once, and by whom."""

from __future__ import annotations

import urllib.parse

import pytest

from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.parties import User
from tests.sandbox.commanding import IOU, USERS, create, refusal
from tests.sandbox.ledger_calls import call


def make(desk, user, *rights, by="participant_admin"):
    body = {"user": user, "rights": [{"kind": {kind: {"value": value}}} for kind, value in rights]}
    return desk.post(USERS, body, user=by)


def listed(desk):
    found = desk.post(f"{USERS}?pageSize=1000", None, user="participant_admin").json["users"]
    return {one["id"]: one for one in found}


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


def test_a_new_user_comes_back_as_it_is_listed(desk):
    annotations = {"team": "Käffchen", "billing.example.com/cost-center": "7"}
    wanted = {
        "id": "dora", "primaryParty": desk.party("alice"), "metadata": {"annotations": annotations},
        "primaryPartyAuthentication": True,
    }  # fmt: skip

    answer = make(desk, wanted)

    assert answer.status == 200
    assert answer.json["user"] == listed(desk)["dora"]
    assert answer.json["user"] == {
        **wanted, "isDeactivated": False, "identityProviderId": "",
        "metadata": {"resourceVersion": "0", "annotations": annotations},
    }  # fmt: skip


def test_a_user_of_that_id_is_not_made_twice(desk):
    make(desk, {"id": "twice"})
    answer = make(desk, {"id": "twice", "isDeactivated": True})

    assert refusal(answer) == (409, "USER_ALREADY_EXISTS")
    assert listed(desk)["twice"]["isDeactivated"] is False


def test_the_rights_of_a_new_user_count_at_once(desk):
    alice = desk.party("alice")
    payload = {"issuer": alice, "owner": alice, "currency": "USD", "amount": "1"}
    make(desk, {"id": "actor"}, ("CanActAs", {"party": alice}))
    make(desk, {"id": "reader"}, ("CanReadAs", {"party": alice}))
    make(desk, {"id": "second-admin"}, ("ParticipantAdmin", {}))
    make(desk, {"id": "anybody"}, ("CanActAsAnyParty", {}))
    made = desk.submit(create(IOU, payload), user="actor", act_as=[alice])
    update = {"updateId": made.json["transactionTree"]["updateId"], "requestingParties": [alice]}

    assert made.status == 200
    assert desk.submit(create(IOU, payload), user="anybody", act_as=[alice]).status == 200
    assert desk.submit(create(IOU, payload), user="reader", act_as=[alice]).status == 403
    assert desk.post("/v2/updates/transaction-by-id", update, user="reader").status == 200
    assert make(desk, {"id": "by-the-second"}, by="second-admin").status == 200


@pytest.mark.parametrize("body", [None, {"user": {"id": "nobody"}, "rights": []}], ids=["list", "make"])
def test_only_who_manages_the_participant_lists_and_makes_users_and_why_is_in_the_log_alone(desk, caplog, body):
    caplog.set_level("INFO", logger="ledgerframes.sandbox")
    for user in ("nobody-at-all", "alice", "mallory"):
        answer = desk.post(USERS, body, user=user)
        assert (answer.status, answer.json["grpcCodeValue"]) == (403, 7)
        assert user not in answer.json["cause"]
        assert answer.json["correlationId"] in caplog.text
    assert "'mallory' is deactivated" in caplog.text
    assert desk.sandbox.token("mallory").split(".")[2] not in caplog.text
    assert "nobody" not in listed(desk)


def test_every_character_that_an_id_may_have_is_taken_and_no_other_identity_provider(desk):
    user_id = "aZ9@^$.!-#+'~_|:()`"

    assert make(desk, {"id": user_id}).status == 200
    assert user_id in listed(desk)
    assert make(desk, {"id": "foreign", "identityProviderId": "corp"}).status == 404
