"""Users that a manager of the participant makes: by the contract's rules, with rights that count at once."""

from __future__ import annotations

import pytest

from ledgerframes.sandbox.server import start
from tests.sandbox.commanding import IOU, USERS, Desk, create, refusal

ADMIN = "participant_admin"


@pytest.fixture(scope="module")
def desk():
    with start(seed=7, updates=300) as sandbox:
        yield Desk(sandbox)


def make(desk, user, *rights, by=ADMIN):
    body = {"user": user, "rights": [{"kind": {kind: {"value": value}}} for kind, value in rights]}
    return desk.post(USERS, body, user=by)


def listed(desk):
    found = desk.post(f"{USERS}?pageSize=1000", None, user=ADMIN).json["users"]
    return {one["id"]: one for one in found}


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


@pytest.mark.parametrize("user", ["alice", "mallory"], ids=["no admin", "deactivated"])
def test_only_who_manages_the_participant_makes_users(desk, user):
    answer = make(desk, {"id": "nobody"}, by=user)

    assert (answer.status, answer.json["grpcCodeValue"]) == (403, 7)
    assert "nobody" not in listed(desk)


def test_every_character_that_an_id_may_have_is_taken_and_no_other_identity_provider(desk):
    user_id = "aZ9@^$.!-#+'~_|:()`"

    assert make(desk, {"id": user_id}).status == 200
    assert user_id in listed(desk)
    assert make(desk, {"id": "foreign", "identityProviderId": "corp"}).status == 404
