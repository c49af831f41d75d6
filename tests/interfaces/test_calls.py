"""What calls ask of old servers and of new ones, and what they read that their neighbours do not."""

import json

import pytest
from served_answers import UNKNOWN_ROUTE, far, reply

import ledgerframes as lf
from ledgerframes import commands as sent
from ledgerframes.errors import DecodeError, DeprecatedEndpointWarning, InputError, NotFoundError, StatusError

pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")
COIN = {"id": "Coin", "name": "Coin", "symbol": "C", "decimals": 10, "supportedApis": {"metadata-v1": 1}}
ASK = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4, "owner_party_ids": ["a::1"]}
SENT = {"record_time": "2026-01-30T06:00:00.000000Z", "migration_id": 4, "owner_party_ids": ["a::1"]}
ANYONE = sent.EventFormat(filters_for_any_party=sent.Filters([sent.WildcardFilter()]))
FORMAT = sent.TransactionFormat(event_format=ANYONE)
TRANSACTION = {
    "updateId": "u-1", "effectiveAt": "2026-01-01T00:00:00Z", "offset": 7, "events": [], "synchronizerId": "da1::12",
    "recordTime": "2026-01-01T00:00:00Z", "traceContext": None, "paidTrafficCost": 12,
}  # fmt: skip
WILDCARD = {"cumulative": [{"identifierFilter": {"WildcardFilter": {"value": {}}}}]}
EFFECTS = "TRANSACTION_SHAPE_LEDGER_EFFECTS"


def test_the_newer_route_is_asked_where_only_it_is_and_has_no_fees():
    coins = {"total_unlocked_coin": "2.0", "total_locked_coin": "1.0", "total_coin_holdings": "3.0"}
    summaries = [{"party_id": "a::1", **coins, "fees": None}]
    newer = reply({"record_time": "t", "migration_id": 4, "summaries": summaries})
    with far(summary=[UNKNOWN_ROUTE, newer]) as there:
        answer = there.net.validator.holdings_summary(**ASK, as_of_round=5)

    assert there.routes == [f"POST /{version}/scan-proxy/holdings/summary" for version in ("v0", "v1")]
    assert [asked.json for asked in there.asked] == [SENT | {"as_of_round": 5}, SENT]
    assert answer.computed_as_of_round is None
    (one,) = answer.summaries
    assert one.total_coin_holdings == "3.0"
    assert one.total_available_coin is one.accumulated_holding_fees_total is None


def test_an_unknown_path_is_not_taken_for_no_preapproval():
    with far(**{"bob%3A%3A1": UNKNOWN_ROUTE}) as there, pytest.raises(NotFoundError, match="does not know this path"):
        there.net.validator.transfer_preapproval("bob::1")


def test_a_single_instrument_is_read_by_its_encoded_id_and_is_none_where_the_admin_has_none():
    absent = reply({"error": "no such instrument"}, 404)
    with far(**{"A%2FB%20%C3%A4": reply(COIN | {"id": "A/B ä"})}, Coin=absent) as there:
        assert there.net.registry.instrument("A/B ä").id == "A/B ä"
        assert there.net.registry.instrument("Coin") is there.net.registry.raw.instrument("Coin") is None
    assert there.routes[0] == "GET /registry/metadata/v1/instruments/A%2FB%20%C3%A4"
    with far() as there, pytest.raises(NotFoundError) as caught:
        there.net.registry.instrument("Coin")
    assert caught.value.unknown_route


def test_pages_are_typed_say_where_the_next_one_begins_and_give_each_update_once(net, truth):
    page = net.scan.updates(page_size=1000)
    assert [item.update_id for item in page.items] == [item["update_id"] for item in truth[:1000]]
    last = page.page_index.cursors[-1]
    assert last.migration_id == page.items[-1].migration_id
    assert net.scan.updates(after=last, page_size=5).page_index.cursors[0] > last
    assert {item.kind for item in page.items} == {"transaction", "assignment", "unassignment"}
    assert next(item for item in page.items if item.kind == "assignment").event.created_event.contract_id
    transaction = next(item for item in page.items if item.kind == "transaction")
    assert set(transaction.root_event_ids) <= set(transaction.events_by_id)
    assert [item.update_id for item in net.scan.iter_updates(page_size=333)] == [item["update_id"] for item in truth]


def test_an_interface_without_an_address_says_which_argument_is_missing_and_only_a_sandbox_has_its_handle():
    with lf.connect(ledger_url="https://ledger.example.com") as net:
        with pytest.raises(lf.errors.ConfigurationError, match="scan_url"):
            net.scan.updates()
        with pytest.raises(lf.errors.ConfigurationError):
            _ = net.sandbox


def test_what_a_scan_does_not_have_is_said_though_it_failed_before():
    answers = [reply({"error": "busy"}, 503), reply({"error": "none"}, 404)]
    with far(ab=answers) as there, pytest.raises(NotFoundError):
        there.net.scan.update_by_hash("ab")
    assert len(there.asked) == 2


@pytest.mark.parametrize(
    ("options", "filters", "shape"),
    [
        ({"transaction_format": FORMAT}, {"filtersForAnyParty": WILDCARD}, "TRANSACTION_SHAPE_ACS_DELTA"),
        ({"requesting_parties": ["a::1", "b::1"]}, {"filtersByParty": {"a::1": WILDCARD, "b::1": WILDCARD}}, EFFECTS),
        ({}, {"filtersForAnyParty": WILDCARD}, EFFECTS),
    ],
    ids=["a format", "parties", "nothing said"],
)
def test_a_format_is_always_sent_and_the_current_route_asked_where_the_former_one_is_not_served(
    options, filters, shape
):
    event_format = {"filtersByParty": {}, "verbose": shape == EFFECTS, **filters}
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
