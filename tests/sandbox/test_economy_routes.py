"""What the sandbox's routes say of the economy is what its history says."""

from __future__ import annotations

from collections import defaultdict

from tests.sandbox.asking import ask
from tests.sandbox.economy_books import number, round_number


def get(sandbox, path):
    return ask(f"{sandbox.scan_url}{path}").json


def active(books, entity):
    return {contract: life.payload for contract, life in books.active().items() if life.entity == entity}


def test_open_issuing_and_closed_rounds_are_those_of_the_history(sandbox, net_books):
    body = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
    now = ask(f"{sandbox.scan_url}/v0/open-and-issuing-mining-rounds", body).json
    closed = get(sandbox, "/v0/closed-rounds")["rounds"]

    for name, phase in (("open_mining_rounds", "Open"), ("issuing_mining_rounds", "Issuing")):
        told = {cid: one["contract"]["payload"] for cid, one in now[name].items()}
        assert told == active(net_books, f"Splice.Round:{phase}MiningRound")
        assert told
    assert {one["contract_id"]: one["payload"] for one in closed} == active(net_books, "Splice.Round:ClosedMiningRound")
    assert [round_number(one["payload"]) for one in closed] == sorted(round_number(one["payload"]) for one in closed)
    assert closed


def test_featured_apps_and_bought_traffic_are_those_of_the_history(sandbox, net_books):
    apps = get(sandbox, "/v0/featured-apps")["featured_apps"]
    bought = defaultdict(int)
    for payload in active(net_books, "Splice.DecentralizedSynchronizer:MemberTraffic").values():
        bought[payload["memberId"]] += int(payload["totalPurchased"])

    assert {one["contract_id"]: one["payload"] for one in apps} == active(net_books, "Splice.Amulet:FeaturedAppRight")
    assert bought
    main = sandbox.world.synchronizers[0]
    for member, total in bought.items():
        status = get(sandbox, f"/v0/domains/{main}/members/{member}/traffic-status")["traffic_status"]
        assert status["target"]["total_purchased"] == status["actual"]["total_limit"] == total
        assert 0 <= status["actual"]["total_consumed"] <= total


def test_the_supply_is_the_coin_of_the_history(sandbox, net_books):
    listed = ask(f"{sandbox.registry_url}/registry/metadata/v1/instruments?pageSize=100").json["instruments"]
    (told,) = (one for one in listed if one["id"] == "Amulet")

    assert number(told["totalSupply"]) == net_books.supply
