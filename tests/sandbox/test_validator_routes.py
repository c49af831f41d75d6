"""The Validator interface on a real loopback port: wallet, names, preapprovals, and who is let in."""

from __future__ import annotations

import urllib.parse
from random import Random

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import departure
from tests.rigs.servers import started
from tests.sandbox.asking import ask, party_of

OFFERS = "/v0/wallet/transfer-offers"
NAMES = "/v0/entry/all"
PREAPPROVALS = "/v0/scan-proxy/transfer-preapprovals/by-party/"
SUMMARY = "/v0/scan-proxy/holdings/summary"
RECORD = {"template_id", "contract_id", "payload", "created_event_blob", "created_at"}


def call(sandbox, path, *, user="alice", **options):
    return ask(sandbox.validator_url + path, token=sandbox.token(user), **options)


def living(books, entity):
    """The contracts of a template that the history leaves active, by id."""
    return {contract: life.payload for contract, life in books.active().items() if life.entity == entity}


@pytest.mark.parametrize("user", ["alice", "validator_operator", "noor"])
def test_offers_are_those_open_from_or_to_the_caller_s_party(sandbox, net_books, user):
    party = party_of(sandbox, user)
    offers = living(net_books, "Splice.Wallet.TransferOffer:TransferOffer")

    found = call(sandbox, OFFERS, user=user).json["offers"]

    assert all(one.keys() == RECORD and one["created_event_blob"] for one in found)
    assert {one["contract_id"]: one["payload"] for one in found} == {
        contract_id: payload
        for contract_id, payload in offers.items()
        if party in (payload["sender"], payload["receiver"])
    }
    assert user == "noor" or found


@pytest.mark.parametrize("user", ["alice", "validator_operator", "noor"])
def test_names_are_the_caller_s_without_the_expired_ones(sandbox, items, net_books, user):
    party, now = party_of(sandbox, user), timestamps.parse(items[-1]["record_time"])
    mine = {
        contract_id: payload
        for contract_id, payload in living(net_books, "Splice.Ans:AnsEntry").items()
        if payload["user"] == party
    }
    valid = {one for one, payload in mine.items() if timestamps.parse(payload["expiresAt"]) > now}

    found = call(sandbox, NAMES, user=user).json["entries"]

    assert {one["contractId"] for one in found} == valid
    assert user == "noor" or len(mine) == len(valid) + 1
    for one in found:
        assert one["name"] == mine[one["contractId"]]["name"]


def test_a_name_carries_milliseconds_microseconds_and_a_unit_as_text(sandbox, net_books):
    entry = call(sandbox, NAMES).json["entries"][0]
    payload = living(net_books, "Splice.Ans:AnsEntry")[entry["contractId"]]

    assert entry == {
        "contractId": entry["contractId"],
        "name": "alice-wallet.unverified.cns",
        "amount": "1.0000000000",
        "unit": "USDUNIT",
        "expiresAt": str(timestamps.parse(payload["expiresAt"]) // 1_000),
        "paymentInterval": "7776000000000",
        "paymentDuration": "2592000000000",
    }
    assert len(entry["expiresAt"]) == 13


def test_a_name_expires_by_the_ledger_s_own_clock():
    with start(seed=7, updates=2) as sandbox:
        names = [one["name"] for one in call(sandbox, NAMES).json["entries"]]
        sandbox.advance(updates=200)
        later = [one["name"] for one in call(sandbox, NAMES).json["entries"]]

    assert names == ["alice-wallet.unverified.cns", "alice-trial.unverified.cns"]
    assert "alice-wallet.unverified.cns" in later
    assert "alice-trial.unverified.cns" not in later


def test_a_preapproval_comes_with_its_synchronizer_and_none_is_not_found(sandbox, net_books):
    given = {
        payload["receiver"]: payload for payload in living(net_books, "Splice.AmuletRules:TransferPreapproval").values()
    }

    for user in ("alice", "bob", "carol", "validator_operator"):
        party = party_of(sandbox, user)
        answer = call(sandbox, PREAPPROVALS + urllib.parse.quote(party, safe=""))
        if party in given:
            found = answer.json["transfer_preapproval"]
            assert found.keys() == {"contract", "domain_id"}
            assert found["contract"].keys() == RECORD
            assert found["contract"]["payload"] == given[party]
            assert found["domain_id"] == sandbox.world.synchronizers[0]
        else:
            assert answer.status == 404
            assert party in answer.json["error"]
    assert party_of(sandbox, "bob") in given
    assert party_of(sandbox, "alice") not in given


def test_a_preapproval_in_flight_has_no_synchronizer_and_one_that_ran_out_is_none():
    world = generate(7, 40)
    party = world.accounts.get("bob").primary_party
    given = next(one for one in world.contracts.active.values() if "validFrom" in one.payload and one.owner == party)
    here, there, *_ = world.synchronizers
    url = PREAPPROVALS + urllib.parse.quote(party, safe="")
    with started(world=world) as other:
        assert call(other, url).json["transfer_preapproval"].keys() == {"contract", "domain_id"}
        world.contracts.depart(departure(given, here, there, submitter="", rng=Random(1)))
        assert call(other, url).json["transfer_preapproval"].keys() == {"contract"}
        given.payload["expiresAt"] = timestamps.trimmed(world.now)
        assert call(other, url).status == 404


def test_a_user_without_a_party_has_no_wallet(sandbox):
    for path in (OFFERS, NAMES, PREAPPROVALS + "x"):
        answer = call(sandbox, path, user="participant_admin")
        assert (answer.status, answer.json.keys()) == (404, {"error"}), path


def test_a_replica_takes_the_same_tokens_and_another_sandbox_does_not(sandbox):
    token = sandbox.token("alice")
    with sandbox.replica() as replica, started(world=sandbox.world) as other:
        assert ask(replica.validator_url + NAMES, token=token).status == 200
        assert ask(other.validator_url + NAMES, token=token).status == 401


def test_a_hostile_ledger_answers_too():
    with started(hostile=True, updates=60) as sandbox:
        body = {"migration_id": 0, "record_time": sandbox.snapshots(0)[0], "owner_party_ids": ["alice::1220ab"]}
        assert len(sandbox.snapshots(0)) == 100
        assert call(sandbox, OFFERS).json == {"offers": []}
        assert call(sandbox, NAMES).json == {"entries": []}
        assert call(sandbox, SUMMARY, body=body).status == 404
        assert call(sandbox, SUMMARY, body={**body, "as_of_round": 5}).json["summaries"] == []
