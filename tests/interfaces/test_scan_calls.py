"""The six calls of scan, one request each, typed both ways."""

import json

import pytest

import ledgerframes as lf


@pytest.fixture(scope="module")
def scan(net):
    return net.scan


def body(prepared):
    return json.loads(prepared.body)


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


def test_the_default_encoding_is_not_named_and_the_verbose_one_goes_under_both_names(scan):
    assert body(scan.preview("updates")) == {"page_size": 1000}
    assert body(scan.preview("updates", value_encoding="compact_json")) == {"page_size": 1000}
    assert body(scan.preview("updates", value_encoding="protobuf_json")) == {
        "page_size": 1000,
        "contract_value_encoding": "protobuf_json",
        "daml_value_encoding": "protobuf_json",
    }
    query = scan.preview("update_by_hash", "ab", value_encoding="protobuf_json").url.partition("?")[2]
    assert query == "contract_value_encoding=protobuf_json&daml_value_encoding=protobuf_json"


@pytest.mark.parametrize(("token", "version"), [("Mw==", "v2"), (3, "v1")])
def test_a_token_of_a_snapshot_goes_to_the_newest_route_of_its_form(scan, token, version):
    place = {"record_time": "2026-01-30", "migration_id": 0, "after": token}
    assert scan.preview.active_contracts(**place).url.endswith(f"/{version}/state/acs")
    assert scan.preview.coins(**place, owners=["a::1"]).url.endswith(f"/{version}/holdings/state")


def test_an_update_is_found_by_id_on_old_and_new_scans():
    for release in ("0.7", "0.9"):
        with lf.sandbox(updates=60, release=release) as other:
            wanted = next(iter(other.sandbox.world.items()))
            if release == "0.9":
                update = other.scan.update_by_id(wanted["update_id"])
            else:
                with pytest.warns(FutureWarning, match="deprecated"):
                    update = other.scan.update_by_id(wanted["update_id"])
            assert update.item.update_id == wanted["update_id"]


def test_a_hash_that_one_scan_has_not_indexed_is_asked_of_the_others(net, truth):
    item = next(item for item in truth if item.get("external_transaction_hash"))
    with (
        lf.sandbox(updates=60, seed=1) as stranger,
        lf.connect(scan_url=[stranger.sandbox.scan_url, net.sandbox.scan_url]) as both,
    ):
        assert both.scan.update_by_hash(item["external_transaction_hash"]).item.update_id == item["update_id"]


def test_an_interface_without_an_address_says_which_argument_is_missing_and_only_a_sandbox_has_its_handle():
    with lf.connect(ledger_url="https://ledger.example.com") as net:
        with pytest.raises(lf.errors.ConfigurationError, match="scan_url"):
            net.scan.updates()
        with pytest.raises(lf.errors.ConfigurationError):
            _ = net.sandbox
