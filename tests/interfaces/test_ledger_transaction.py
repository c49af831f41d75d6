"""What transaction_by_id asks, of old servers and of new ones, and what it reads."""

import json
from decimal import Decimal

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


def test_the_flat_answer_is_read_with_exact_numbers():
    with far(transaction_by_id=reply({"transaction": TRANSACTION})) as there:
        read = there.ledger.transaction_by_id("u-1", transaction_format=FORMAT)
    created, archived, exercised = read.item.events

    assert (read.item.update_id, read.item.offset, read.item.paid_traffic_cost) == ("u-1", 7, 12)
    assert (created.kind, created.acs_delta, created.create_argument) == ("CreatedEvent", True, {"n": Decimal("1.1")})
    assert (archived.kind, archived.witness_parties) == ("ArchivedEvent", ["a::1"])
    assert (exercised.kind, exercised.acting_parties) == ("ExercisedEvent", ["a::1"])
    assert json.loads(read.raw) == TRANSACTION
    assert there.asked[0].json == {
        "updateId": "u-1",
        "transactionFormat": {
            "eventFormat": {
                "filtersByParty": {},
                "filtersForAnyParty": {"cumulative": [{"identifierFilter": {"WildcardFilter": {"value": {}}}}]},
                "verbose": False,
            },
            "transactionShape": "TRANSACTION_SHAPE_ACS_DELTA",
        },
    }


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"update": {"Transaction": {"value": TRANSACTION}}}, id="wrapped"),
        pytest.param({"update": {"Transaction": TRANSACTION}}, id="flat"),
    ],
)
def test_a_server_without_transaction_by_id_is_asked_by_update_by_id(answer):
    with far(transaction_by_id=UNKNOWN_ROUTE, update_by_id=reply(answer)) as there:
        first = there.ledger.transaction_by_id("u-1", transaction_format=FORMAT)
        there.ledger.transaction_by_id("u-1", transaction_format=FORMAT)

    assert json.loads(first.raw) == TRANSACTION
    assert there.routes == ["POST /v2/updates/transaction-by-id"] + ["POST /v2/updates/update-by-id"] * 2
    assert there.asked[1].json == {
        "updateId": "u-1",
        "updateFormat": {"includeTransactions": there.asked[0].json["transactionFormat"]},
    }


WILDCARD = {"cumulative": [{"identifierFilter": {"WildcardFilter": {"value": {}}}}]}


@pytest.mark.parametrize(
    ("options", "event_format"),
    [
        pytest.param(
            {"requesting_parties": ["a::1", "b::1"]},
            {"filtersByParty": {"a::1": WILDCARD, "b::1": WILDCARD}, "verbose": True},
            id="requesting parties",
        ),
        pytest.param({}, {"filtersByParty": {}, "filtersForAnyParty": WILDCARD, "verbose": True}, id="nothing said"),
    ],
)
def test_a_format_is_always_sent(options, event_format):
    answer = reply({"update": {"Transaction": {"value": TRANSACTION}}})
    with far(transaction_by_id=UNKNOWN_ROUTE, update_by_id=answer) as there:
        there.ledger.transaction_by_id("u-1", **options)

    wanted = {"eventFormat": event_format, "transactionShape": "TRANSACTION_SHAPE_LEDGER_EFFECTS"}
    older, newer = there.asked
    assert older.json == {"updateId": "u-1", "transactionFormat": wanted}
    assert newer.json == {"updateId": "u-1", "updateFormat": {"includeTransactions": wanted}}


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
        found = there.ledger.update_by_id("u-1", requesting_parties=["a::1"])

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
    [({}, "the answer has no 'update'"), ({"update": None}, "the answer has no 'update'"),
     ({"update": {"TopologyTransaction": {"value": {}}}}, "TopologyTransaction")],
    ids=str,
)  # fmt: skip
def test_an_answer_without_an_update_or_with_another_kind_is_named(answer, said):
    with far(update_by_id=reply(answer)) as there, pytest.raises(DecodeError, match=said):
        there.ledger.update_by_id("u-1")


def test_the_fallback_reports_an_update_that_is_no_transaction():
    answer = reply({"update": {"Reassignment": {"value": {}}}})
    refused = pytest.raises(DecodeError, match="no 'Transaction' but")
    with far(transaction_by_id=UNKNOWN_ROUTE, update_by_id=answer) as there, refused:
        there.ledger.transaction_by_id("u", transaction_format=FORMAT)
