"""What transaction_by_id asks, of old servers and of new ones, and what it reads."""

import json

import pytest
from served_answers import UNKNOWN_ROUTE, far, reply

from ledgerframes import commands as sent
from ledgerframes.errors import DecodeError
from ledgerframes.transport import DeprecatedEndpointWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")

ANYONE = sent.EventFormat(filters_for_any_party=sent.Filters([sent.WildcardFilter()]))
FORMAT = sent.TransactionFormat(event_format=ANYONE)
TRANSACTION = {
    "updateId": "u-1", "commandId": "", "workflowId": "", "effectiveAt": "2026-01-01T00:00:00Z", "offset": 7,
    "events": [
        {"CreatedEvent": {"nodeId": 0, "contractId": "00ab", "acsDelta": True, "createArgument": {"n": 1.10}}},
        {"ArchivedEvent": {"nodeId": 1, "implementedInterfaces": [], "witnessParties": ["a::1"]}},
        {"ExercisedEvent": {"value": {"nodeId": 2, "choice": "Go", "actingParties": ["a::1"]}}},
    ],
    "synchronizerId": "da1::12", "recordTime": "2026-01-01T00:00:00Z", "traceContext": None,
    "externalTransactionHash": None, "paidTrafficCost": 12,
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
