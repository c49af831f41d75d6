"""A sandbox serves as one release or another, to the letter."""

import pytest

from ledgerframes.sandbox.http.routes import RELEASES
from tests.sandbox.asking import call
from tests.sandbox.commanding import TREE

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
    ("scan", "GET", "/v0/internal/reward-accounting-process/rounds/earliest-available"): "contract 0.9 0.7",
    ("scan", "POST", "/v0/history/bulk/updates"): "contract 0.9 0.7",
    ("validator", "POST", "/v1/scan-proxy/holdings/summary"): "contract 0.9 0.7",
    ("validator", "POST", "/v0/scan-proxy/holdings/summary"): "contract 0.9 0.7 0.5",
    ("ledger", "POST", "/v2/updates/transaction-by-id"): "contract 0.7 0.5",
    ("ledger", "POST", "/v2/updates/update-by-id"): "contract 0.9 0.7 0.5",
    ("ledger", "POST", "/v2/updates/update-by-hash"): "contract 0.9",
    ("ledger", "POST", "/v2/updates/get-updates-page"): "contract 0.9 0.7",
    ("ledger", "POST", TREE): "contract 0.9 0.7 0.5",
}


@pytest.fixture(scope="module", params=RELEASES)
def release(sandbox, request):
    """A server of a release, with its name."""
    with sandbox.replica(release=request.param) as running:
        yield request.param, running


def test_a_route_is_there_in_its_releases_and_unknown_in_others(release):
    name, server = release
    for (interface, method, path), releases in SERVED.items():
        answer = call(server, interface, path, {} if method == "POST" else None)
        known = answer.status not in (404, 405) or answer.content_type != "text/plain; charset=utf-8"
        assert known == (name in releases.split()), path


def test_the_newest_ledger_tells_hashes_and_times(release):
    name, server = release
    newest = name in ("contract", "0.9")
    anyone = {"includeTransactions": {"eventFormat": {"filtersForAnyParty": {}}}}
    end = call(server, "ledger", "/v2/state/ledger-end").json
    signed = next(one for one in server.world.updates if one.external_hash)

    for update in (signed, server.world.updates[0]):
        body = {"updateId": update.update_id, "updateFormat": anyone}
        found = call(server, "ledger", "/v2/updates/update-by-id", body).json["update"]["Transaction"]
        assert {"transactionHash" in found["value"], "synchronizerTimes" in end} == {newest}
        assert isinstance(found["value"]["paidTrafficCost"], int)
        if newest:
            body = {"transactionHash": found["value"]["transactionHash"], "updateFormat": anyone}
            again = call(server, "ledger", "/v2/updates/update-by-hash", body)
            assert again.json["update"]["Transaction"] == found
            assert call(server, "ledger", "/v2/updates/update-by-hash", body | {"transactionHash": "00"}).status == 404
    if newest:
        times = [one["recordTime"] for one in end["synchronizerTimes"]]
        assert max(times) == max(item["record_time"] for item in server.world.items())
