"""A sandbox serves as one release or another, to the letter."""

from __future__ import annotations

import pytest

from ledgerframes.sandbox.http.routes import RELEASES
from ledgerframes.sandbox.server import start
from tests.sandbox.asking import ask

SUMMARY = "/v0/scan-proxy/holdings/summary"
EARLIEST = "reward-accounting-process/rounds/earliest-available"
TREE = "/v2/commands/submit-and-wait-for-transaction-tree"

#: Which releases have what not all of them have, by interface, method and path.
SERVED = {
    ("scan", "POST", "/v2/state/acs"): "contract 0.9",
    ("scan", "POST", "/v2/holdings/state"): "contract 0.9",
    ("scan", "POST", "/v1/state/acs"): "0.7",
    ("scan", "POST", "/v1/holdings/state"): "0.7",
    ("scan", "POST", "/v0/state/acs"): "0.7 0.5",
    ("scan", "POST", "/v0/holdings/state"): "0.7 0.5",
    ("scan", "GET", "/v0/state/acs/snapshot-timestamp"): "contract 0.9 0.7 0.5",
    ("scan", "POST", "/v1/holdings/summary"): "contract 0.9 0.7",
    ("scan", "POST", "/v0/holdings/summary"): "contract 0.9 0.7 0.5",
    ("scan", "GET", "/v1/updates/00"): "contract 0.7 0.5",
    ("scan", "GET", "/v2/updates/00"): "contract 0.9 0.7 0.5",
    ("scan", "GET", "/v2/updates/hash/00"): "contract 0.9 0.7",
    ("scan", "GET", f"/v0/internal/{EARLIEST}"): "contract 0.9 0.7",
    ("scan", "POST", "/v0/history/bulk/updates"): "contract 0.9 0.7",
    ("validator", "POST", "/v1/scan-proxy/holdings/summary"): "contract 0.9 0.7",
    ("validator", "POST", SUMMARY): "contract 0.9 0.7 0.5",
    ("ledger", "POST", "/v2/updates/transaction-by-id"): "contract 0.7 0.5",
    ("ledger", "POST", "/v2/updates/update-by-id"): "contract 0.9 0.7 0.5",
    ("ledger", "POST", "/v2/updates/update-by-hash"): "contract 0.9",
    ("ledger", "POST", "/v2/updates/get-updates-page"): "contract 0.9 0.7",
    ("ledger", "POST", TREE): "contract 0.9 0.7 0.5",
}


@pytest.fixture(scope="module")
def sandbox():
    with start(updates=200) as running:
        yield running


@pytest.fixture(scope="module", params=RELEASES)
def release(sandbox, request):
    """A server of a release, with its name."""
    with sandbox.replica(release=request.param) as running:
        yield request.param, running


def call(server, interface, method, path, body=None, token=""):
    body = {} if body is None and method == "POST" else body
    url = getattr(server, f"{interface}_url") + path
    return ask(url, body, method=method, token=token or server.token("validator_operator"))


def ledger(sandbox, path, body=None, token=""):
    return call(sandbox, "ledger", "GET" if body is None else "POST", path, body, token)


def test_a_route_is_there_in_its_releases_and_unknown_in_others(release):
    name, server = release

    def known(route):
        answer = call(server, *route)
        unknown = answer.status in (404, 405) and answer.content_type == "text/plain; charset=utf-8"
        return not unknown

    assert [route for route in SERVED if known(route) != (name in SERVED[route].split())] == []


def test_the_newest_releases_take_lists_of_a_thousand_and_no_more(release):
    name, server = release
    many = [f"a:b:c{number}" for number in range(1_001)]
    place = {"migration_id": 2, "record_time": server.snapshots(2)[-1], "page_size": 5}
    state = {"contract": "v2", "0.9": "v2", "0.7": "v1"}.get(name, "v0")
    rounds = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
    asked = [
        ("scan", f"/{state}/state/acs", place, "party_ids"),
        ("scan", f"/{state}/state/acs", place, "templates"),
        ("scan", f"/{state}/holdings/state", place, "owner_party_ids"),
        ("scan", "/v0/holdings/summary", place, "owner_party_ids"),
        ("validator", SUMMARY, place, "owner_party_ids"),
        ("scan", "/v0/open-and-issuing-mining-rounds", rounds, "cached_issuing_round_contract_ids"),
    ]
    for interface, path, body, member in asked:
        answer = call(server, interface, "POST", path, body | {member: many})
        assert call(server, interface, "POST", path, body | {member: many[1:]}).status == 200
        if name in ("contract", "0.9"):
            said = f"Expected '{member}' to contain at most 1000 items, but contained 1001."
            assert (answer.status, answer.json) == (400, {"error": said})
        else:
            assert answer.status == 200


def test_the_newest_ledger_tells_hashes_and_times(release):
    name, server = release
    newest = name in ("contract", "0.9")
    anyone = {"includeTransactions": {"eventFormat": {"filtersForAnyParty": {}}}}
    wanted = next(one for one in server.world.updates if one.external_hash)
    body = {"updateId": wanted.update_id, "updateFormat": anyone}
    transaction = ledger(server, "/v2/updates/update-by-id", body).json["update"]["Transaction"]["value"]
    end = ledger(server, "/v2/state/ledger-end").json

    assert {"transactionHash" in transaction, "synchronizerTimes" in end} == {newest}
    assert isinstance(transaction["paidTrafficCost"], int)
    if newest:
        times = {one["synchronizerId"]: one["recordTime"] for one in end["synchronizerTimes"]}
        assert max(times.values()) == max(item["record_time"] for item in server.world.items())
        for hashed in (transaction["transactionHash"], "00"):
            found = ledger(server, "/v2/updates/update-by-hash", {"transactionHash": hashed, "updateFormat": anyone})
            assert found.status == (404 if hashed == "00" else 200)
        plain = server.world.updates[0].update_id
        first = ledger(server, "/v2/updates/update-by-id", body | {"updateId": plain}).json["update"]["Transaction"]
        hashed = {"transactionHash": first["value"]["transactionHash"], "updateFormat": anyone}
        assert ledger(server, "/v2/updates/update-by-hash", hashed).json["update"]["Transaction"] == first
