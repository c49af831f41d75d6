"""What calls of scan, validator and registry send and read that their neighbours do not."""

import pytest
from served_answers import UNKNOWN_ROUTE, far, reply

import ledgerframes as lf
from ledgerframes.errors import NotFoundError
from ledgerframes.transport import DeprecatedEndpointWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")
COIN = {"id": "Coin", "name": "Coin", "symbol": "C", "decimals": 10, "supportedApis": {"metadata-v1": 1}}
ASK = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4, "owner_party_ids": ["a::1"]}
SENT = {"record_time": "2026-01-30T06:00:00.000000Z", "migration_id": 4, "owner_party_ids": ["a::1"]}


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
