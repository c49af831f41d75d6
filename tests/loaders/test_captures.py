"""What real servers answered, through the whole client."""

import json
from decimal import Decimal

import pytest

import ledgerframes as lf
from tests.replay import read_capture, replay

pytestmark = pytest.mark.usefixtures("captures")


def connected(server):
    return lf.connect(scan_url=server.scan_url)


def test_a_real_page_is_25_updates_with_all_their_events_in_preorder():
    body = read_capture("scan-updates-page").body
    want = json.loads(json.dumps(body), parse_float=Decimal)["transactions"]
    with replay("scan-updates-page") as server, connected(server) as net:
        history = lf.load_history(net, limit=1000, progress=False)
    assert len(history.updates) == 25
    assert len(history.events) == 86
    assert list(lf.rebuild_items(history)) == want
    numbers = history.events.event_id.str.rpartition(":")[2].astype(int)
    assert (numbers == history.events.node_index).all()
    assert history.events.payload.notna().all()
    first = history.events[history.events.update_id == history.updates.update_id[0]]
    assert list(first.depth[:4]) == [0, 0, 1, 1]
    assert history.events.extra.isna().all()


def test_a_real_assignment_is_a_reassignment_row():
    with replay("scan-updates-assignment") as server, connected(server) as net:
        history = lf.load_history(net, limit=10, progress=False)
    (row,) = history.reassignments.to_dict("records")
    assert row["kind"] == "assignment"
    assert row["migration_id"] == 4
    assert row["source_synchronizer"] == "sync-a::1220aa"
    assert row["reassignment_counter"] == 1
    assert row["template_name"] == "Splice.Ans:AnsRules"
    assert row["created_at"].isoformat() == "2024-06-24T21:08:35.469232+00:00"
    assert history.updates.synchronizer_id[0] == row["target_synchronizer"]
    assert len(history.events) == 0


def test_an_unknown_update_is_not_found_with_the_servers_words():
    with (
        replay("scan-error-not-found") as server,
        connected(server) as net,
        pytest.raises(lf.errors.NotFoundError, match="No ans entry found") as caught,
    ):
        net.scan.update_by_id("1220ab")
    assert caught.value.status == 404
    assert not caught.value.unknown_route


def test_a_route_that_the_server_does_not_know_is_told_apart():
    with (
        replay("scan-error-unknown-route") as server,
        connected(server) as net,
        pytest.raises(lf.errors.NotFoundError) as caught,
    ):
        net.scan.earliest_available_round()
    assert caught.value.unknown_route


def test_the_name_service_rules_come_with_and_without_a_cache_hint():
    with replay() as server, connected(server) as net:
        rules = net.scan.ans_rules()
        assert rules.contract.template_id.endswith(":Splice.Ans:AnsRules")
        assert rules.contract.arguments["config"]["entryFee"] == "1.0"
        again = net.scan.ans_rules(cached_contract_id=rules.contract.contract_id, cached_domain_id=rules.domain_id)
    assert again.contract is None
    assert again.domain_id == rules.domain_id


def test_the_licenses_go_on_until_a_page_has_no_token():
    with replay() as server, connected(server) as net:
        page = net.scan.validator_licenses()
        assert len(page.validator_licenses) == 300
        licenses = list(net.scan.iter_validator_licenses())
    assert len(licenses) == 300
    assert all(one.arguments["validator"] for one in licenses)
