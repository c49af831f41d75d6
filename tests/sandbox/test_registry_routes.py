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
OLD_STYLE = {"id", "name", "symbol", "decimals", "supportedApis"}
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


@pytest.mark.parametrize("size", [1, 7, 20, 60, 5_000])
def test_every_page_size_gives_every_instrument_once(sandbox, size):
    found = pages(sandbox, f"pageSize={size}")
    ids = [one["id"] for page in found for one in page["instruments"]]

    assert len(found) == -(-60 // size)
    assert ids == sorted(set(ids)) == list(listed(sandbox))


def test_instruments_differ_as_those_of_real_registries_do(sandbox):
    found = listed(sandbox)
    paused = [one for one in found.values() if one.get("paused")]

    assert len(found) == 60
    assert [one["id"] for one in paused] == ["HALCYON-NOTE-2026"]
    assert paused[0]["pauseInfo"].keys() == {"reason", "until"}
    assert [one["id"] for one in found.values() if one.keys() == OLD_STYLE] == ["ORCHARD-POINT"]
    assert [one["id"] for one in found.values() if one.get("totalSupply", "") is None] == ["TESSERA-FUND"]
    assert {one["decimals"] for one in found.values()} == {0, 2, 6, 10}
    for one in found.values():
        assert one["supportedApis"]["splice-api-token-metadata-v1"] == 1
        if one.get("totalSupply"):
            assert -Decimal(one["totalSupply"]).as_tuple().exponent == one["decimals"]


@pytest.mark.parametrize(
    "query",
    [
        "pageSize=0",
        "pageSize=-1",
        "pageSize=x",
        "pageSize=1.5",
        f"pageSize={2**31}",
        "pageToken=x",
        "pageToken=%C3%A4",
        "pageToken=eHg=",
    ],
)
def test_a_malformed_page_is_refused(sandbox, query):
    answer = ask(f"{sandbox.registry_url}{INSTRUMENTS}?{query}")

    assert answer.status == 400
    assert answer.json.keys() == {"error"}


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
    rounds = [one for one in active.values() if one.template.entity == "Splice.Round:OpenMiningRound"]
    earliest = min(rounds, key=lambda one: int(one.payload["round"]["number"]))
    context = answer["choiceContext"]["choiceContextData"]["values"]
    assert context["open-round"]["value"] == earliest.contract_id == disclosed[-1]["contractId"]


def test_debug_fields_are_left_out_on_demand(sandbox):
    plain = factory(sandbox, arguments(), excludeDebugFields=True).json["choiceContext"]["disclosedContracts"]
    told = factory(sandbox, arguments(), excludeDebugFields=False).json["choiceContext"]["disclosedContracts"]

    assert all(one.keys() == TOLD for one in plain)
    assert plain == [{name: value for name, value in one.items() if name in TOLD} for one in told]


@pytest.mark.parametrize("instrument", ["Amulet", "ORCHARD-POINT", "TESSERA-FUND", "BLUEWATER-BOND"])
def test_an_instrument_that_is_not_paused_can_be_allocated(sandbox, instrument):
    assert factory(sandbox, arguments(instrument)).status == 200


def test_a_paused_instrument_is_refused_with_the_reason(sandbox):
    answer = factory(sandbox, arguments("HALCYON-NOTE-2026"))

    assert answer.status == 409
    assert listed(sandbox)["HALCYON-NOTE-2026"]["pauseInfo"]["reason"] in answer.json["error"]


def test_an_unknown_instrument_is_not_found(sandbox):
    answer = factory(sandbox, arguments("amulet"))

    assert answer.status == 404
    assert answer.json.keys() == {"error"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        {},
        {"choiceArguments": None},
        {"choiceArguments": []},
        {"choiceArguments": {}},
        {"choiceArguments": arguments(extraArgs=None)},
        {"choiceArguments": arguments(extraArgs={"context": {}})},
        {"choiceArguments": arguments(extraArgs={"context": {"a": 1}, "meta": {}})},
        {"choiceArguments": arguments(extraArgs={"context": {}, "meta": {"values": {"a": 1}}})},
        {"choiceArguments": arguments(allocation=None)},
        {"choiceArguments": arguments(allocation={"transferLeg": {}})},
        {"choiceArguments": arguments(5)},
        {"choiceArguments": arguments(), "excludeDebugFields": "yes"},
    ],
    ids=str,
)
def test_malformed_choice_arguments_are_refused(sandbox, body):
    answer = ask(sandbox.registry_url + FACTORY, body)

    assert answer.status == 400
    assert answer.json.keys() == {"error"}


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_disclosed_contract_in_flight_is_a_conflict_until_it_arrives(position):
    world = generate(7, 60)
    with started(world=world) as sandbox:
        disclosed = factory(sandbox, arguments()).json["choiceContext"]["disclosedContracts"][position]
        contract = world.contracts.active[disclosed["contractId"]]
        leg = departure(contract, world.synchronizers[0], world.synchronizers[1], submitter="", rng=Random(1))
        world.contracts.depart(leg)
        refused = factory(sandbox, arguments())
        world.contracts.arrive(leg)
        again = factory(sandbox, arguments()).json["choiceContext"]["disclosedContracts"][position]

    assert refused.status == 409
    assert contract.contract_id in refused.json["error"]
    assert again["synchronizerId"] == world.synchronizers[1]


def test_a_hostile_ledger_lists_instruments_and_has_no_factory():
    with started(hostile=True, updates=20) as sandbox:
        supply = Decimal(sandbox.world.coins.units).scaleb(-10)
        assert Decimal(listed(sandbox)["Amulet"]["totalSupply"]) == supply
        assert factory(sandbox, arguments()).status == 404


def test_a_single_instrument_is_the_one_of_the_list(sandbox):
    for name, told in listed(sandbox).items():
        assert ask(f"{sandbox.registry_url}{INSTRUMENTS}/{name}").json == told


@pytest.mark.parametrize("name", ["amulet", "x%2Fy", "%C3%A4", "Amulet%20"])
def test_an_instrument_of_another_id_is_not_found(sandbox, name):
    answer = ask(f"{sandbox.registry_url}{INSTRUMENTS}/{name}")

    assert answer.status == 404
    assert answer.json.keys() == {"error"}


def test_the_registry_names_its_admin_as_the_scan_does(sandbox):
    info = ask(f"{sandbox.registry_url}/registry/metadata/v1/info").json

    assert info["adminId"] == ask(f"{sandbox.scan_url}/v0/dso").json["dso_party_id"]
    assert info["supportedApis"] == listed(sandbox)["Amulet"]["supportedApis"]
