"""What Canton 3.6 adds to the ledger interface: look-ups by hash, synchronizers' times, and a right."""

from __future__ import annotations

import pytest
from served_answers import far, reply

import ledgerframes as lf
from ledgerframes.errors import InputError, NotFoundError, StatusError

FOUND = {
    "updateId": "u-1", "offset": 3, "synchronizerId": "s", "recordTime": "2026-11-01T00:00:00Z",
    "effectiveAt": "2026-11-01T00:00:00Z", "transactionHash": "aGFzaA==", "paidTrafficCost": 1_234, "events": [],
}  # fmt: skip


def test_a_transaction_is_loaded_by_its_hash():
    none = reply({"code": "UPDATE_NOT_FOUND", "cause": "none", "context": {}, "errorCategory": 11}, 404)
    with far(update_by_hash=[reply({"update": {"Transaction": {"value": FOUND}}}), none]) as there:
        found = lf.load_ledger_transaction(there.net, hash="aGFzaA==", parties=["a::1"])
        with pytest.raises(NotFoundError, match="UPDATE_NOT_FOUND"):
            lf.load_ledger_transaction(there.net, hash="bm9uZQ==")

    (row,) = found.transactions.to_dict("records")
    assert (row["update_id"], row["transaction_hash"], row["paid_traffic_cost"]) == ("u-1", "aGFzaA==", 1_234)
    assert there.asked[0].json["updateFormat"]["includeReassignments"]["filtersByParty"].keys() == {"a::1"}
    assert [asked.json["transactionHash"] for asked in there.asked] == ["aGFzaA==", "bm9uZQ=="]


def test_a_participant_before_3_6_is_named_as_such():
    with far() as there, pytest.raises(NotFoundError, match=r"another release, .*Canton has it since 3\.6"):
        lf.load_ledger_transaction(there.net, hash="aGFzaA==")


def test_a_participant_whose_contracts_are_a_get_is_named_as_such():
    other = reply(b"HTTP method not allowed, supported methods: GET", 405, "text/plain")
    with far(active_contracts_page=other, ledger_end=reply({"offset": 10})) as there:
        with pytest.raises(InputError, match=r"3\.5\.1 to 3\.5\.9 have a GET.*give ledger_url= of a newer one"):
            lf.load_ledger_contracts(there.net, parties=None)
        with pytest.raises(StatusError, match=r"by another method only.*3\.5\.1 to 3\.5\.9 have a GET") as caught:
            there.net.ledger.active_contracts_page(at_offset=1)
    assert "prefix" not in str(caught.value)
