"""What Canton 3.6 adds to the ledger interface: look-ups by hash, synchronizers' times, and a right."""

from __future__ import annotations

import pytest

import ledgerframes as lf
from ledgerframes.errors import InputError, NotFoundError, StatusError
from tests.loaders.participants import Participant, connected
from tests.transport.hostile_server import answer, text

FOUND = {
    "updateId": "u-1", "offset": 3, "synchronizerId": "s", "recordTime": "2026-11-01T00:00:00Z",
    "effectiveAt": "2026-11-01T00:00:00Z", "transactionHash": "aGFzaA==", "paidTrafficCost": 1_234, "events": [],
}  # fmt: skip


class Newer(Participant):
    """A participant of Canton 3.6 that knows one transaction by its hash."""

    def answer(self, heard):
        if heard.path != "/v2/updates/update-by-hash":
            return super().answer(heard)
        body = heard.json
        self.asked.append(body)
        if body["transactionHash"] != FOUND["transactionHash"]:
            return answer({"code": "UPDATE_NOT_FOUND", "cause": "none", "context": {}, "errorCategory": 11}, 404)
        return answer({"update": {"Transaction": {"value": FOUND}}})


def test_a_transaction_is_loaded_by_its_hash():
    newer = Newer()
    with connected(newer) as net:
        (row,) = lf.load_ledger_transaction(net, hash="aGFzaA==", parties=["a::1"]).transactions.to_dict("records")
        with pytest.raises(NotFoundError, match="UPDATE_NOT_FOUND"):
            lf.load_ledger_transaction(net, hash="bm9uZQ==")

    assert (row["update_id"], row["transaction_hash"], row["paid_traffic_cost"]) == ("u-1", "aGFzaA==", 1_234)
    assert newer.asked[0]["updateFormat"]["includeReassignments"]["filtersByParty"].keys() == {"a::1"}


def test_a_participant_before_3_6_is_named_as_such():
    wrong = pytest.raises(NotFoundError, match=r"another release, .*Canton has it since 3\.6")
    with connected(Participant(without=("/v2/updates/update-by-hash",))) as net, wrong:
        lf.load_ledger_transaction(net, hash="aGFzaA==")


class Former(Participant):
    """A participant of Canton 3.5.1 to 3.5.9, where active contracts are a GET with a body."""

    def answer(self, heard):
        if heard.path == "/v2/state/active-contracts-page" and heard.method == "POST":
            return text("HTTP method not allowed, supported methods: GET", 405)
        return super().answer(heard)


def test_a_participant_whose_contracts_are_a_get_is_named_as_such():
    with connected(Former()) as net:
        with pytest.raises(InputError, match=r"3\.5\.1 to 3\.5\.9 have a GET.*give ledger_url= of a newer one"):
            lf.load_ledger_contracts(net, parties=None)
        with pytest.raises(StatusError, match=r"by another method only.*3\.5\.1 to 3\.5\.9 have a GET") as caught:
            net.ledger.active_contracts_page(at_offset=1)
    assert "prefix" not in str(caught.value)
