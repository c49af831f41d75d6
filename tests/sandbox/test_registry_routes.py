"""The token registry on a real loopback port: instruments in pages, and the way to an allocation."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world.contracts import departure
from tests.hostile.instruments import invent_instruments
from tests.rigs.servers import started
from tests.sandbox.asking import ask

INSTRUMENTS = "/registry/metadata/v1/instruments"
FACTORY = "/registry/allocation-instruction/v1/allocation-factory"
TOLD = {"templateId", "contractId", "createdEventBlob", "synchronizerId"}
DEBUG = {"debugPackageName", "debugPayload", "debugCreatedAt"}


@pytest.fixture(scope="module")
def sandbox():
    world = generate(7, 600)
    world.instruments = invent_instruments(Random(7))
    with started(world=world) as running:
        yield running


def pages(sandbox, query=""):
    token, found = "", []
    while token is not None:
        separator = "&" if query else ""
        found.append(ask(f"{sandbox.registry_url}{INSTRUMENTS}?{query}{separator}pageToken={token}").json)
        token = found[-1]["nextPageToken"]
    return found


def listed(sandbox):
    return {one["id"]: one for page in pages(sandbox, "pageSize=1000") for one in page["instruments"]}


def arguments(instrument="Amulet", **changes):
    leg = {
        "sender": "a::1220",
        "receiver": "b::1220",
        "amount": "1.0",
        "instrumentId": {"admin": "d", "id": instrument},
    }
    return {"allocation": {"transferLeg": leg}, "extraArgs": {"context": {}, "meta": {}}, **changes}


def factory(sandbox, choice_arguments, **more):
    return ask(sandbox.registry_url + FACTORY, {"choiceArguments": choice_arguments, **more})


def test_instruments_come_in_pages_of_25_without_a_token(sandbox):
    found = pages(sandbox)

    assert [len(page["instruments"]) for page in found] == [25, 25, 10]
    assert found[-1]["nextPageToken"] is None
    assert ask(sandbox.registry_url + INSTRUMENTS).json == found[0]


@pytest.mark.parametrize("size", [7, 60])
def test_every_page_size_gives_every_instrument_once(sandbox, size):
    found = pages(sandbox, f"pageSize={size}")
    ids = [one["id"] for page in found for one in page["instruments"]]

    assert len(found) == -(-60 // size)
    assert ids == sorted(set(ids)) == list(listed(sandbox))


def test_the_factory_comes_with_the_contracts_to_disclose(sandbox):
    answer = factory(sandbox, arguments()).json
    disclosed = answer["choiceContext"]["disclosedContracts"]
    active = sandbox.world.contracts.active

    assert answer.keys() == {"factoryId", "choiceContext"}
    assert answer["choiceContext"].keys() == {"choiceContextData", "disclosedContracts"}
    assert answer["factoryId"] == disclosed[0]["contractId"]
    for one in disclosed:
        contract = active[one["contractId"]]
        assert one.keys() == TOLD | DEBUG
        assert (one["templateId"], one["debugPayload"]) == (contract.template_id, contract.payload)
        assert one["synchronizerId"] == sandbox.world.synchronizers[0]
    plain = factory(sandbox, arguments(), excludeDebugFields=True).json["choiceContext"]["disclosedContracts"]
    assert plain == [{name: value for name, value in one.items() if name in TOLD} for one in disclosed]
    rounds = [one for one in active.values() if one.template.entity == "Splice.Round:OpenMiningRound"]
    earliest = min(rounds, key=lambda one: int(one.payload["round"]["number"]))
    context = answer["choiceContext"]["choiceContextData"]["values"]
    assert context["open-round"]["value"] == earliest.contract_id == disclosed[-1]["contractId"]


def test_only_an_instrument_that_is_there_and_not_paused_can_be_allocated(sandbox):
    paused, unknown = factory(sandbox, arguments("HALCYON-NOTE-2026")), factory(sandbox, arguments("amulet"))

    assert [factory(sandbox, arguments(name)).status for name in ("Amulet", "ORCHARD-POINT")] == [200, 200]
    assert paused.status == 409
    assert listed(sandbox)["HALCYON-NOTE-2026"]["pauseInfo"]["reason"] in paused.json["error"]
    assert (unknown.status, unknown.json.keys()) == (404, {"error"})


def test_a_disclosed_contract_in_flight_is_a_conflict_until_it_arrives():
    world = generate(7, 60)
    here, there = world.synchronizers[:2]
    with started(world=world) as sandbox:
        for place in range(3):
            disclosed = factory(sandbox, arguments()).json["choiceContext"]["disclosedContracts"][place]
            contract = world.contracts.active[disclosed["contractId"]]
            leg = departure(contract, here, there, submitter="", rng=Random(1))
            world.contracts.depart(leg)
            refused = factory(sandbox, arguments())
            world.contracts.arrive(leg)
            again = factory(sandbox, arguments()).json["choiceContext"]["disclosedContracts"][place]

            assert (refused.status, contract.contract_id in refused.json["error"]) == (409, True)
            assert again["synchronizerId"] == there


def test_a_hostile_ledger_lists_instruments_and_has_no_factory():
    with started(hostile=True, updates=20) as sandbox:
        supply = Decimal(sandbox.world.coins.units).scaleb(-10)
        assert Decimal(listed(sandbox)["Amulet"]["totalSupply"]) == supply
        assert factory(sandbox, arguments()).status == 404


def test_a_single_instrument_is_the_one_of_the_list(sandbox):
    for name, told in listed(sandbox).items():
        assert ask(f"{sandbox.registry_url}{INSTRUMENTS}/{name}").json == told
    for name in ("amulet", "x%2Fy", "Amulet%20"):
        answer = ask(f"{sandbox.registry_url}{INSTRUMENTS}/{name}")
        assert (answer.status, answer.json.keys()) == (404, {"error"})


def test_the_registry_names_its_admin_as_the_scan_does(sandbox):
    info = ask(f"{sandbox.registry_url}/registry/metadata/v1/info").json

    assert info["adminId"] == ask(f"{sandbox.scan_url}/v0/dso").json["dso_party_id"]
    assert info["supportedApis"] == listed(sandbox)["Amulet"]["supportedApis"]
