"""The six calls of scan, one request each, typed both ways."""

import pytest

import ledgerframes as lf
from tests.asking import asking
from tests.transport.hostile_server import HostileServer, answer


@pytest.fixture(scope="module")
def scan(net):
    return net.scan


def test_pages_are_typed_say_where_the_next_one_begins_and_give_each_update_once(scan, truth):
    page = scan.updates(page_size=1000)
    assert [item.update_id for item in page.items] == [item["update_id"] for item in truth[:1000]]
    last = page.page_index.cursors[-1]
    assert last.migration_id == page.items[-1].migration_id
    assert scan.updates(after=last, page_size=5).page_index.cursors[0] > last
    assert {item.kind for item in page.items} == {"transaction", "assignment", "unassignment"}
    assert next(item for item in page.items if item.kind == "assignment").event.created_event.contract_id
    transaction = next(item for item in page.items if item.kind == "transaction")
    assert set(transaction.root_event_ids) <= set(transaction.events_by_id)
    assert [item.update_id for item in scan.iter_updates(page_size=333)] == [item["update_id"] for item in truth]


def test_an_interface_without_an_address_says_which_argument_is_missing_and_only_a_sandbox_has_its_handle():
    with lf.connect(ledger_url="https://ledger.example.com") as net:
        with pytest.raises(lf.errors.ConfigurationError, match="scan_url"):
            net.scan.updates()
        with pytest.raises(lf.errors.ConfigurationError):
            _ = net.sandbox


def test_what_a_scan_does_not_have_is_said_though_it_failed_before():
    with (
        HostileServer([answer({"error": "busy"}, 503), answer({"error": "none"}, 404)]) as server,
        asking(server) as net,
        pytest.raises(lf.errors.NotFoundError),
    ):
        net.scan.update_by_hash("ab")
    assert len(server.heard) == 2
