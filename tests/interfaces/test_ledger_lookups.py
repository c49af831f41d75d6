"""What is looked up on a participant by id or hash: what is asked of old servers and of new ones, and what is read."""

import json

import pytest
from served_answers import UNKNOWN_ROUTE, far, reply

import ledgerframes as lf
from ledgerframes import commands as sent
from ledgerframes.errors import DecodeError, InputError, NotFoundError, StatusError
from ledgerframes.transport import DeprecatedEndpointWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")

ANYONE = sent.EventFormat(filters_for_any_party=sent.Filters([sent.WildcardFilter()]))
FORMAT = sent.TransactionFormat(event_format=ANYONE)
TRANSACTION = {
    "updateId": "u-1", "effectiveAt": "2026-01-01T00:00:00Z", "offset": 7, "events": [], "synchronizerId": "da1::12",
    "recordTime": "2026-01-01T00:00:00Z", "traceContext": None, "paidTrafficCost": 12,
}  # fmt: skip


WILDCARD = {"cumulative": [{"identifierFilter": {"WildcardFilter": {"value": {}}}}]}
EFFECTS = "TRANSACTION_SHAPE_LEDGER_EFFECTS"


@pytest.mark.parametrize(
    ("options", "event_format", "shape"),
    [
        pytest.param(
            {"transaction_format": FORMAT}, {"filtersByParty": {}, "filtersForAnyParty": WILDCARD, "verbose": False},
            "TRANSACTION_SHAPE_ACS_DELTA", id="a format",
        ),
        pytest.param(
            {"requesting_parties": ["a::1", "b::1"]},
            {"filtersByParty": {"a::1": WILDCARD, "b::1": WILDCARD}, "verbose": True}, EFFECTS, id="parties",
        ),
        pytest.param(
            {}, {"filtersByParty": {}, "filtersForAnyParty": WILDCARD, "verbose": True}, EFFECTS, id="nothing said",
        ),
    ],
)  # fmt: skip
def test_a_format_is_always_sent_and_the_current_route_asked_where_the_former_one_is_not_served(
    options, event_format, shape
):
    for answer in ({"Transaction": {"value": TRANSACTION}}, {"Transaction": TRANSACTION}):
        with far(transaction_by_id=UNKNOWN_ROUTE, update_by_id=reply({"update": answer})) as there:
            first = there.net.ledger.transaction_by_id("u-1", **options)
            there.net.ledger.transaction_by_id("u-1", **options)
            if "transaction_format" not in options:
                assert there.net.ledger.update_by_id("u-1", **options).raw == first.raw

        wanted = {"eventFormat": event_format, "transactionShape": shape}
        assert json.loads(first.raw) == TRANSACTION
        assert there.routes[:3] == ["POST /v2/updates/transaction-by-id"] + ["POST /v2/updates/update-by-id"] * 2
        assert there.asked[0].json == {"updateId": "u-1", "transactionFormat": wanted}
        assert there.asked[1].json == {"updateId": "u-1", "updateFormat": {"includeTransactions": wanted}}
        both = {"includeTransactions": wanted, "includeReassignments": event_format}
        assert [asked.json["updateFormat"] for asked in there.asked[3:]] in ([], [both])


def test_the_fallback_reports_an_update_that_is_no_transaction():
    answer = reply({"update": {"Reassignment": {"value": {}}}})
    refused = pytest.raises(DecodeError, match="no 'Transaction' but")
    with far(transaction_by_id=UNKNOWN_ROUTE, update_by_id=answer) as there, refused:
        there.net.ledger.transaction_by_id("u", transaction_format=FORMAT)


FOUND = TRANSACTION | {"transactionHash": "aGFzaA==", "paidTrafficCost": 1_234}


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
