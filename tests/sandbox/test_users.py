"""Users of the ledger interface: whose token counts, on every route that asks for one; and who makes new ones."""

import base64
import json
import re

import pytest

from ledgerframes.sandbox.http.app import _MODULES
from ledgerframes.sandbox.http.ledger_access import Issuer, TokenError
from ledgerframes.sandbox.server import start
from tests.sandbox.asking import ask
from tests.sandbox.commanding import BY_ID, IOU, USERS, create, iou, refusal

NOW = 1_700_000_000.0
AUDIENCE = "https://sandbox.example/participant"
#: Every route that asks for a token: interface, method, path.
EVERYWHERE = [
    (interface, route.method, re.sub(r"\{.*?\}", "x", route.path.removeprefix(f"/api/{interface}")))
    for module in _MODULES
    for route in module.ROUTES
    for interface in ("ledger", "validator")
    if route.path.startswith(f"/api/{interface}/") and route.includes("contract")
]
LEDGER = [route for route in EVERYWHERE if route[0] == "ledger"]
LISTING = ("ledger", "GET", USERS)


def issuer_at(now=NOW):
    return Issuer(key=b"k" * 32, clock=lambda: now)


def send(sandbox, interface, method, path, **options):
    url = getattr(sandbox, f"{interface}_url") + path
    return ask(url, {} if method == "POST" else None, method=method, **options)


def part(members):
    return base64.urlsafe_b64encode(json.dumps(members).encode()).rstrip(b"=").decode()


def signed(issuer, header, claims):
    """A token with this issuer's signature, whatever it says."""
    body = f"{part(header)}.{part(claims)}"
    signature = base64.urlsafe_b64encode(issuer._sign(body)).rstrip(b"=").decode()
    return f"{body}.{signature}"


def test_a_token_is_a_jwt_that_names_its_user_until_it_expires():
    token = issuer_at().issue("alice", lifetime=60)

    assert [json.loads(base64.urlsafe_b64decode(one + "==")) for one in token.split(".")[:2]] == [
        {"alg": "HS256", "typ": "JWT"},
        {"sub": "alice", "aud": AUDIENCE, "iat": int(NOW), "exp": int(NOW) + 60},
    ]
    assert issuer_at(NOW + 59).user_id(token) == "alice"
    for later in (60, 3_600):
        with pytest.raises(TokenError, match="expired"):
            issuer_at(NOW + later).user_id(token)


HEADER, CLAIMS = {"alg": "HS256"}, {"sub": "alice", "aud": AUDIENCE, "exp": NOW + 9}
GOOD = signed(issuer_at(), HEADER, CLAIMS)
FORGED = {
    "signed by another key": Issuer(clock=lambda: NOW).issue("alice"),
    "no signature": GOOD.rpartition(".")[0] + ".",
    "no algorithm": f"{part({'alg': 'none'})}.{part(CLAIMS)}.",
    "other claims under the signature": f"{part(HEADER)}.{part({**CLAIMS, 'sub': 'bob'})}.{GOOD.split('.')[2]}",
    "another algorithm": signed(issuer_at(), {"alg": "none"}, CLAIMS),
    "another audience": signed(issuer_at(), HEADER, {**CLAIMS, "aud": "https://elsewhere.example"}),
    "no text": "ä.ö.ü",
    "nothing": "",
    "dots": "..",
}


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED)
def test_a_token_that_another_hand_wrote_does_not_count(token):
    assert issuer_at().user_id(GOOD) == "alice"
    with pytest.raises(TokenError):
        issuer_at().user_id(token)


def test_every_route_of_ledger_and_validator_asks_for_a_token_of_an_active_user(sandbox):
    assert len(EVERYWHERE) > 20
    statuses = {"alice, too late": 401, "of another issuer": 401, "mallory": 403, "nobody-at-all": 403}
    tokens = {name: sandbox.token(name) for name in ("mallory", "nobody-at-all")}
    tokens |= {"alice, too late": sandbox.token("alice", lifetime=-1), "of another issuer": Issuer().issue("alice")}
    for route in EVERYWHERE:
        answer = send(sandbox, *route)
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer"), route
        assert {name: send(sandbox, *route, token=token).status for name, token in tokens.items()} == statuses, route


def test_every_route_of_the_ledger_takes_the_token_as_a_websocket_protocol_but_the_header_decides(sandbox):
    token = sandbox.token("validator_operator")
    for scheme, status in (("bearer", 200), ("BEARER", 200), ("Basic", 401), ("", 401)):
        headers = {"Authorization": f"{scheme} {token}".strip()}
        assert send(sandbox, *LISTING, headers=headers).status == status, scheme
    assert send(sandbox, "ledger", "GET", f"{USERS}?access_token={token}").status == 401
    for offered, let_in in (("daml.ws.auth, jwt.token.{}", True), ("jwt.token.{}", True), ("{}", False)):
        headers = {"Sec-WebSocket-Protocol": offered.format(token)}
        for route in LEDGER:
            assert (send(sandbox, *route, headers=headers).status != 401) == let_in, route
            assert send(sandbox, *route, headers=headers, token="a.b.c").status == 401, route


def test_without_authentication_everybody_is_answered_with_any_token_or_none():
    with start(updates=60, auth="none") as open_to_all:
        for token in (None, "a.b.c"):
            users = send(open_to_all, *LISTING, token=token)
            assert (users.status, len(users.json["users"])) == (200, 100)
            for route in EVERYWHERE:
                assert send(open_to_all, *route, token=token).status not in (401, 403), route
        assert send(open_to_all, "validator", "GET", "/v0/entry/all").json["entries"], "those of the operator"


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
