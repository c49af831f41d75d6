"""Whether a history begins at ledger begin: proven by the DSO's bootstrap, refuted by contracts that began earlier."""

import json

import msgspec
import pytest

from ledgerframes.decoding.history import decode_items
from ledgerframes.loaders.extent import from_beginning
from tests.replay import read_capture

pytestmark = pytest.mark.usefixtures("captures")


def decided(items):
    batches = decode_items([msgspec.json.encode(item) for item in items], endpoint="POST /v2/updates").batches
    return from_beginning(batches["events"], batches["reassignments"])


@pytest.fixture
def page():
    """The first 25 updates of MainNet."""
    return read_capture("scan-updates-page").body["transactions"]


@pytest.fixture
def later():
    """Updates of MainNet a year and a half later."""
    return [item["update"] for item in read_capture("scan-events-page").body["events"] if item.get("update")]


def test_the_networks_first_page_begins_with_its_bootstrap(page):
    assert decided(page) is True
    assert decided(page[:1]) is True


def test_what_follows_the_first_update_shows_that_something_was_before_it(page, later):
    for first in (1, 2, 10):
        assert decided(page[first:]) is False
    assert decided(later) is False


def test_a_bootstrap_that_is_not_first_proves_nothing(page):
    assert decided([page[1], page[0]]) is not True


def test_updates_of_one_time_come_in_any_order(page):
    tied = json.loads(json.dumps(page[1])) | {"record_time": page[0]["record_time"]}
    assert decided([tied, page[0]]) is True


def test_without_a_bootstrap_and_without_an_older_contract_nothing_is_known(page):
    creates = json.loads(json.dumps(page[0]))
    creates["events_by_id"] = {
        key: event for key, event in creates["events_by_id"].items() if event["event_type"] == "created_event"
    }
    creates["root_event_ids"] = list(creates["events_by_id"])
    assert decided([creates]) is None
    assert decided([]) is None


def test_an_unassigned_contract_was_created_before_and_an_assigned_one_begins_here():
    assignment = read_capture("scan-updates-assignment").body["transactions"]
    assert decided(assignment) is None
    event = assignment[0]["event"]
    created = event["created_event"]
    unassignment = {name: value for name, value in event.items() if name != "created_event"}
    leaving = {**assignment[0], "event": {**unassignment, "contract_id": created["contract_id"]}}
    assert decided([leaving]) is False
    assert decided([*assignment, {**leaving, "update_id": "1220" + "ab" * 32}]) is None
