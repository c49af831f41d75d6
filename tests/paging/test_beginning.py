"""Whether a history begins at ledger begin: proven by the DSO's bootstrap, refuted by contracts that began earlier."""

import msgspec
import pytest

from ledgerframes.decoding.history import decode_items
from ledgerframes.loaders.extent import from_beginning
from tests.replay import read_capture

pytestmark = pytest.mark.usefixtures("captures")


def decided(items):
    batches = decode_items([msgspec.json.encode(item) for item in items], endpoint="POST /v2/updates")
    return from_beginning(batches["events"], batches["reassignments"])


@pytest.fixture
def page():
    """The first 25 updates of MainNet."""
    return read_capture("scan-updates-page").body["transactions"]


def test_a_history_begins_where_its_earliest_time_has_the_networks_bootstrap(page):
    tied = page[1] | {"record_time": page[0]["record_time"]}
    assert [decided(items) for items in (page, page[:1], [tied, page[0]])] == [True] * 3
    assert decided([page[1], page[0]]) is not True


def test_what_follows_the_first_update_shows_that_something_was_before_it(page):
    later = [item["update"] for item in read_capture("scan-events-page").body["events"] if item.get("update")]
    assert [decided(items) for items in (page[1:], page[2:], page[10:], later)] == [False] * 4


def test_without_a_bootstrap_and_without_an_older_contract_nothing_is_known(page):
    events = page[0]["events_by_id"].items()
    created = {key: event for key, event in events if event["event_type"] == "created_event"}
    assert decided([page[0] | {"events_by_id": created, "root_event_ids": list(created)}]) is None
    assert decided([]) is None


def test_an_unassigned_contract_was_created_before_and_an_assigned_one_begins_here():
    assignment = read_capture("scan-updates-assignment").body["transactions"]
    assert decided(assignment) is None
    event = assignment[0]["event"]
    unassigned = {name: value for name, value in event.items() if name != "created_event"}
    unassigned["contract_id"] = event["created_event"]["contract_id"]
    leaving = assignment[0] | {"event": unassigned, "update_id": "1220" + "ab" * 32}
    assert decided([leaving]) is False
    assert decided([*assignment, leaving]) is None
