"""What Canton 3.6 adds to the ledger interface: look-ups by hash, synchronizers' times, and a right."""

from __future__ import annotations

import pytest

import ledgerframes as lf
from ledgerframes.errors import InputError, NotFoundError, StatusError
from tests.interfaces.served_answers import far, reply
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


def test_exactly_one_of_id_and_hash_is_given():
    with connected(Newer()) as net:
        for given in ({}, {"update_id": "u", "hash": "h"}):
            with pytest.raises(InputError, match="give exactly one of them"):
                lf.load_ledger_transaction(net, **given)


def test_a_participant_before_3_6_is_named_as_such():
    wrong = pytest.raises(NotFoundError, match=r"another release, .*Canton has it since 3\.6")
    with connected(Participant(without=("/v2/updates/update-by-hash",))) as net, wrong:
        lf.load_ledger_transaction(net, hash="aGFzaA==")


def test_the_completion_of_a_hash_is_a_success_or_rejections():
    rejected = {"commandId": "c", "status": {"code": 10, "message": "contention"}, "userId": "u", "actAs": ["a::1"]}
    accepted = {"commandId": "c", "updateId": "u-1", "userId": "u", "actAs": ["a::1"], "offset": 4}
    answer = {"acceptedCompletion": accepted, "lastRejectedCompletions": [rejected]}
    with far(completion_by_hash=[reply(answer), reply({})]) as there:
        found = there.ledger.completion_by_hash("aGFzaA==")
        nothing = there.ledger.completion_by_hash("aGFzaA==")

    assert there.asked[0].json == {"transactionHash": "aGFzaA=="}
    assert (found.accepted_completion.update_id, found.accepted_completion.offset) == ("u-1", 4)
    assert [one.status["code"] for one in found.last_rejected_completions] == [10]
    assert (nothing.accepted_completion, nothing.last_rejected_completions) == (None, None)


def test_the_end_of_the_ledger_keeps_synchronizers_times():
    times = [{"synchronizerId": "s", "recordTime": "2026-11-01T00:00:00Z"}]
    with far(ledger_end=[reply({"offset": 5, "synchronizerTimes": times}), reply({"offset": 6})]) as there:
        newer, older = there.ledger.ledger_end(), there.ledger.ledger_end()

    assert [(one.synchronizer_id, one.record_time) for one in newer.synchronizer_times] == [
        ("s", "2026-11-01T00:00:00Z")
    ]
    assert (newer.offset, older.offset, older.synchronizer_times) == (5, 6, None)


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
