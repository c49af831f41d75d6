"""What the sandbox's routes say of the economy is what its history says."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

import pytest

from ledgerframes.sandbox.server import start
from tests.sandbox.asking import ask
from tests.sandbox.economy_books import COIN, LOCKED, Books, coin_payload, entity_of, number, round_number


@pytest.fixture(scope="module")
def sandbox():
    with start(seed=4, updates=2_500) as running:
        yield running


@pytest.fixture(scope="module")
def books(sandbox):
    return Books().read(sandbox.world.items())


def get(sandbox, path):
    return ask(f"{sandbox.scan_url}{path}").json


def active(books, entity):
    return {cid: event["create_arguments"] for cid, event in books.active.items() if entity_of(event) == entity}


def test_open_issuing_and_closed_rounds_are_those_of_the_history(sandbox, books):
    body = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
    now = ask(f"{sandbox.scan_url}/v0/open-and-issuing-mining-rounds", body).json
    closed = get(sandbox, "/v0/closed-rounds")["rounds"]

    for name, phase in (("open_mining_rounds", "Open"), ("issuing_mining_rounds", "Issuing")):
        told = {cid: one["contract"]["payload"] for cid, one in now[name].items()}
        assert told == active(books, f"Splice.Round:{phase}MiningRound")
        assert told
    assert {one["contract_id"]: one["payload"] for one in closed} == active(books, "Splice.Round:ClosedMiningRound")
    assert [round_number(one["payload"]) for one in closed] == sorted(round_number(one["payload"]) for one in closed)
    assert closed


def test_featured_apps_and_bought_traffic_are_those_of_the_history(sandbox, books):
    apps = get(sandbox, "/v0/featured-apps")["featured_apps"]
    bought = defaultdict(int)
    for payload in active(books, "Splice.DecentralizedSynchronizer:MemberTraffic").values():
        bought[payload["memberId"]] += int(payload["totalPurchased"])

    assert {one["contract_id"]: one["payload"] for one in apps} == active(books, "Splice.Amulet:FeaturedAppRight")
    assert bought
    main = sandbox.world.synchronizers[0]
    for member, total in bought.items():
        status = get(sandbox, f"/v0/domains/{main}/members/{member}/traffic-status")["traffic_status"]
        assert status["target"]["total_purchased"] == status["actual"]["total_limit"] == total
        assert 0 <= status["actual"]["total_consumed"] <= total


def test_the_faucets_of_validators_are_the_coupons_they_were_given(sandbox, books):
    given = {validator: rounds for validator, rounds in books.faucets.items() if rounds}
    asked = "&".join(f"validator_ids={one}" for one in given)
    told = get(sandbox, f"/v0/validators/validator-faucets?{asked}")["validatorsReceivedFaucets"]

    assert len(told) == len(given) > 3
    for one in told:
        rounds = given[one["validator"]]
        assert one["numRoundsCollected"] == len(rounds)
        assert (one["firstCollectedInRound"], one["lastCollectedInRound"]) == (rounds[0], rounds[-1])


def test_supply_and_holdings_are_the_coins_of_the_history(sandbox, books):
    held = defaultdict(Decimal)
    for entity in (COIN, LOCKED):
        for payload in active(books, entity).values():
            coin = coin_payload(entity, payload)
            held[coin["owner"]] += number(coin["amount"]["initialAmount"])
    listed = ask(f"{sandbox.registry_url}/registry/metadata/v1/instruments?pageSize=100").json["instruments"]
    (told,) = (one for one in listed if one["id"] == "Amulet")

    assert sum(held.values()) == books.supply
    assert number(told["totalSupply"]) == books.supply


def test_a_snapshot_has_the_coins_coupons_and_rounds_of_the_history_so_far(sandbox):
    newest = sandbox.world.updates[-1].migration_id
    instant = sandbox.snapshots(newest)[-1]
    before = [
        item
        for item in sandbox.world.items()
        if (item.get("event", item)["migration_id"], item["record_time"]) <= (newest, instant)
    ]
    books = Books().read(before)
    body = {"migration_id": newest, "record_time": instant, "page_size": 1_000}
    told = {}
    while True:
        page = ask(f"{sandbox.scan_url}/v2/state/acs", body).json
        told |= {one["contract_id"]: one["create_arguments"] for one in page["created_events"]}
        if "next_page_token" not in page:
            break
        body["after"] = page["next_page_token"]

    assert told == {cid: event["create_arguments"] for cid, event in books.active.items()}
