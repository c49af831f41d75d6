"""Users of the ledger interface: made by the contract's rules with rights that count at once, and by whom."""

import pytest

from ledgerframes.sandbox.http.ledger_access import Issuer
from tests.sandbox.asking import ask
from tests.sandbox.commanding import BY_ID, IOU, USERS, create, iou, refusal


def make(desk, user, *rights, by="participant_admin"):
    body = {"user": user, "rights": [{"kind": {kind: {"value": value}}} for kind, value in rights]}
    return desk.post(USERS, body, user=by)


def listed(desk):
    found = desk.post(f"{USERS}?pageSize=1000", None, user="participant_admin").json["users"]
    return {one["id"]: one for one in found}


def test_a_new_user_is_listed_as_it_comes_back_and_is_not_made_twice(desk):
    annotations = {"team": "Käffchen", "billing.example.com/cost-center": "7"}
    wanted = {
        "id": "aZ9@^$.!-#+'~_|:()`", "primaryParty": desk.party("alice"), "primaryPartyAuthentication": True,
        "metadata": {"annotations": annotations},
    }  # fmt: skip

    answer = make(desk, wanted)

    assert answer.json["user"] == {
        **wanted, "isDeactivated": False, "identityProviderId": "",
        "metadata": {"resourceVersion": "0", "annotations": annotations},
    }  # fmt: skip
    assert refusal(make(desk, {"id": wanted["id"], "isDeactivated": True})) == (409, "USER_ALREADY_EXISTS")
    assert listed(desk)[wanted["id"]] == answer.json["user"]
    assert make(desk, {"id": "foreign", "identityProviderId": "corp"}).status == 404


def test_the_rights_of_a_new_user_count_at_once(desk):
    alice = desk.party("alice")
    make(desk, {"id": "actor"}, ("CanActAs", {"party": alice}))
    make(desk, {"id": "reader"}, ("CanReadAs", {"party": alice}))
    make(desk, {"id": "second-admin"}, ("ParticipantAdmin", {}))
    make(desk, {"id": "anybody"}, ("CanActAsAnyParty", {}))
    made = {
        user: desk.submit(create(IOU, iou(desk)), user=user, act_as=[alice]) for user in ("actor", "anybody", "reader")
    }
    update = {"updateId": made["actor"].json["transactionTree"]["updateId"], "requestingParties": [alice]}

    assert [one.status for one in made.values()] == [200, 200, 403]
    assert desk.post(BY_ID, update, user="reader").status == 200
    assert make(desk, {"id": "by-the-second"}, by="second-admin").status == 200


@pytest.mark.parametrize("body", [None, {"user": {"id": "nobody"}, "rights": []}], ids=["list", "make"])
def test_only_who_manages_the_participant_lists_and_makes_users_and_the_log_says_why_without_a_token(
    desk, caplog, body
):
    caplog.set_level("DEBUG", logger="ledgerframes")
    for user in ("nobody-at-all", "alice", "mallory"):
        token = desk.sandbox.token(user)
        answer = ask(desk.sandbox.ledger_url + USERS, body, token=token)
        assert (answer.status, answer.json["grpcCodeValue"]) == (403, 7)
        assert user not in answer.json["cause"]
        assert answer.json["correlationId"] in caplog.text
        for said in (answer.body.decode(), str(answer.headers), caplog.text, repr(desk.sandbox), repr(Issuer())):
            assert token.split(".")[2] not in said
            assert "key=" not in said
    assert "'mallory' is deactivated" in caplog.text
    assert "nobody" not in listed(desk)
