"""What transaction_by_id asks, of old servers and of new ones, and what it reads."""

import json

import pytest
from served_answers import UNKNOWN_ROUTE, far, reply

from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.event_formats import (
    EventFormat,
    Filters,
    TransactionFormat,
    WildcardFilter,
)
from ledgerframes.interfaces.ledger_answers import LedgerTransaction, Reassignment
from ledgerframes.transport import DeprecatedEndpointWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")

FORMAT = TransactionFormat(event_format=EventFormat(filters_for_any_party=Filters([WildcardFilter()])))
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

        wanted = {"eventFormat": event_format, "transactionShape": shape}
        assert json.loads(first.raw) == TRANSACTION
        assert there.routes == ["POST /v2/updates/transaction-by-id"] + ["POST /v2/updates/update-by-id"] * 2
        assert there.asked[0].json == {"updateId": "u-1", "transactionFormat": wanted}
        assert there.asked[1].json == {"updateId": "u-1", "updateFormat": {"includeTransactions": wanted}}


REASSIGNMENT = {
    "updateId": "u-1", "offset": 7, "recordTime": "2026-01-01T00:00:00Z", "synchronizerId": "da1::12",
    "events": [{"JsUnassignedEvent": {"value": {"contractId": "00ab", "source": "da1::12", "target": "da2::12"}}}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param({"Transaction": {"value": TRANSACTION}}, LedgerTransaction, id="transaction"),
        pytest.param({"Reassignment": {"value": REASSIGNMENT}}, Reassignment, id="reassignment"),
        pytest.param({"Reassignment": REASSIGNMENT}, Reassignment, id="flat reassignment"),
    ],
)
def test_an_update_of_either_kind_is_asked_for_by_id(answer, kind):
    with far(update_by_id=reply({"update": answer})) as there:
        found = there.net.ledger.update_by_id("u-1", requesting_parties=["a::1"])

    shown = {"filtersByParty": {"a::1": WILDCARD}, "verbose": True}
    assert isinstance(found.item, kind)
    assert found.item.update_id == "u-1"
    assert json.loads(found.raw) in (TRANSACTION, REASSIGNMENT)
    assert there.asked[0].json == {
        "updateId": "u-1",
        "updateFormat": {
            "includeTransactions": {"eventFormat": shown, "transactionShape": "TRANSACTION_SHAPE_LEDGER_EFFECTS"},
            "includeReassignments": shown,
        },
    }


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "the answer has no 'update'"), ({"update": None}, "the answer has no 'update'"),
        ({"update": {"TopologyTransaction": {"value": {}}}}, "TopologyTransaction"),
        ({"update": {"Reassignment": {"value": {}}}}, "no 'Transaction' but"),
    ],
    ids=str,
)  # fmt: skip
def test_an_answer_without_an_update_or_with_another_kind_is_named(answer, said):
    with far(transaction_by_id=UNKNOWN_ROUTE, update_by_id=reply(answer)) as there:
        call = there.net.ledger.transaction_by_id if "but" in said else there.net.ledger.update_by_id
        with pytest.raises(DecodeError, match=said):
            call("u-1")
