"""The Validator interface and the registry on a real loopback port: wallet, names, preapprovals, instruments."""

from random import Random
from urllib.parse import quote

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import departure
from tests.hostile.instruments import invent_instruments
from tests.rigs.servers import started
from tests.sandbox.asking import ask, call, party_of
from tests.sandbox.economy_books import active_of

OFFERS = "/v0/wallet/transfer-offers"
NAMES = "/v0/entry/all"
PREAPPROVALS = "/v0/scan-proxy/transfer-preapprovals/by-party/"


def preapproval(sandbox, party):
    return call(sandbox, "validator", PREAPPROVALS + quote(party, safe=""), user="alice")


@pytest.mark.parametrize("user", ["alice", "validator_operator", "noor"])
def test_offers_and_names_are_the_caller_s_and_the_names_those_that_have_not_expired(sandbox, items, net_books, user):
    party, now = party_of(sandbox, user), timestamps.parse(items[-1]["record_time"])
    every = active_of(net_books, "Splice.Wallet.TransferOffer:TransferOffer").items()
    offers = {one: payload for one, payload in every if party in (payload["sender"], payload["receiver"])}
    entries = active_of(net_books, "Splice.Ans:AnsEntry").items()
    mine = {one: payload for one, payload in entries if payload["user"] == party}
    valid = {one: payload["name"] for one, payload in mine.items() if timestamps.parse(payload["expiresAt"]) > now}

    found, names = (call(sandbox, "validator", path, user=user).json for path in (OFFERS, NAMES))

    assert {one["contract_id"]: one["payload"] for one in found["offers"]} == offers
    assert {one["contractId"]: one["name"] for one in names["entries"]} == valid
    assert user == "noor" or (len(offers) > 0 and len(mine) == len(valid) + 1)


def test_a_preapproval_comes_with_its_synchronizer_and_none_or_who_has_no_party_is_not_found(sandbox, net_books):
    given = {one["receiver"]: one for one in active_of(net_books, "Splice.AmuletRules:TransferPreapproval").values()}
    parties = {user: party_of(sandbox, user) for user in ("alice", "bob", "carol", "validator_operator")}

    for path in (OFFERS, NAMES, PREAPPROVALS + "x"):
        answer = call(sandbox, "validator", path, user="participant_admin")
        assert (answer.status, answer.json.keys()) == (404, {"error"}), path  # who has no party has no wallet
    assert parties["bob"] in given
    assert parties["alice"] not in given
    for party in parties.values():
        answer = preapproval(sandbox, party)
        if party in given:
            found = answer.json["transfer_preapproval"]
            assert found["contract"]["payload"] == given[party]
            assert found["domain_id"] == sandbox.world.synchronizers[0]
        else:
            assert (answer.status, party in answer.json["error"]) == (404, True)


def test_a_preapproval_in_flight_has_no_synchronizer_and_one_that_ran_out_is_none():
    world = generate(7, 40)
    party = world.accounts.get("bob").primary_party
    given = next(one for one in world.contracts.active.values() if "validFrom" in one.payload and one.owner == party)
    with started(world=world) as other:
        world.contracts.depart(departure(given, *world.synchronizers[:2], submitter="", rng=Random(1)))
        assert preapproval(other, party).json["transfer_preapproval"].keys() == {"contract"}
        given.payload["expiresAt"] = timestamps.trimmed(world.now)
        assert preapproval(other, party).status == 404


INSTRUMENTS = "/registry/metadata/v1/instruments"
FACTORY = "/registry/allocation-instruction/v1/allocation-factory"
TOLD = {"templateId", "contractId", "createdEventBlob", "synchronizerId"}
DEBUG = {"debugPackageName", "debugPayload", "debugCreatedAt"}


@pytest.fixture(scope="module")
def registry():
    world = generate(7, 60)
    world.instruments = invent_instruments()
    with started(world=world) as running:
        yield running


def pages(registry, size):
    """The instruments of every page."""
    token, found = "", []
    while token is not None:
        answer = ask(f"{registry.registry_url}{INSTRUMENTS}?pageToken={token}" + (f"&pageSize={size}" if size else ""))
        found.append(answer.json["instruments"])
        token = answer.json["nextPageToken"]
    return found


def listed(registry):
    return {one["id"]: one for page in pages(registry, 1_000) for one in page}


def factory(registry, instrument="Amulet", **more):
    leg = {"sender": "a::12", "receiver": "b::12", "amount": "1.0", "instrumentId": {"admin": "d", "id": instrument}}
    told = {"allocation": {"transferLeg": leg}, "extraArgs": {"context": {}, "meta": {}}}
    return ask(registry.registry_url + FACTORY, {"choiceArguments": told, **more})


@pytest.mark.parametrize(("size", "lengths"), [(None, [25, 25, 10]), (7, [7] * 8 + [4]), (60, [60])])
def test_every_page_size_gives_every_instrument_once_without_a_token(registry, size, lengths):
    found = pages(registry, size)
    ids = [one["id"] for page in found for one in page]

    assert [len(page) for page in found] == lengths
    assert ids == sorted(set(ids)) == list(listed(registry))


def test_the_factory_of_an_instrument_that_is_there_and_not_paused_comes_with_the_contracts_to_disclose(registry):
    found, active = factory(registry), registry.world.contracts.active
    answer = found.json
    disclosed = answer["choiceContext"]["disclosedContracts"]

    assert found.status == 200
    assert answer["factoryId"] == disclosed[0]["contractId"]
    for one in disclosed:
        contract = active[one["contractId"]]
        assert one.keys() == TOLD | DEBUG
        assert (one["templateId"], one["debugPayload"]) == (contract.template_id, contract.payload)
        assert one["synchronizerId"] == registry.world.synchronizers[0]
    plain = factory(registry, excludeDebugFields=True).json["choiceContext"]["disclosedContracts"]
    assert plain == [{name: value for name, value in one.items() if name in TOLD} for one in disclosed]
    rounds = [one for one in active.values() if one.template.entity == "Splice.Round:OpenMiningRound"]
    earliest = min(rounds, key=lambda one: int(one.payload["round"]["number"]))
    context = answer["choiceContext"]["choiceContextData"]["values"]
    assert context["open-round"]["value"] == earliest.contract_id == disclosed[-1]["contractId"]
    paused, unknown = factory(registry, "HALCYON-NOTE-2026"), factory(registry, "amulet")
    assert factory(registry, "ORCHARD-POINT").status == 200
    assert paused.status == 409
    assert listed(registry)["HALCYON-NOTE-2026"]["pauseInfo"]["reason"] in paused.json["error"]
    assert (unknown.status, unknown.json.keys()) == (404, {"error"})


def test_a_single_instrument_is_the_one_of_the_list_and_the_admin_is_the_scan_s(registry):
    for name, told in listed(registry).items():
        assert ask(f"{registry.registry_url}{INSTRUMENTS}/{name}").json == told
    for name in ("amulet", "x%2Fy", "Amulet%20"):
        answer = ask(f"{registry.registry_url}{INSTRUMENTS}/{name}")
        assert (answer.status, answer.json.keys()) == (404, {"error"})
    info = ask(f"{registry.registry_url}/registry/metadata/v1/info").json
    assert info["adminId"] == ask(f"{registry.scan_url}/v0/dso").json["dso_party_id"]
    assert info["supportedApis"] == listed(registry)["Amulet"]["supportedApis"]
