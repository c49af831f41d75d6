"""Pages of the update history become columns, exactly, and back."""

import json
from decimal import Decimal

import pyarrow as pa
import pytest

from ledgerframes.decoding.pages import decode_page
from ledgerframes.errors import DecodeError
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from tests.decoding.items import assignment, created, exercised, page_of, rebuilt, transaction, unassignment

pytestmark = pytest.mark.usefixtures("decoder")


def rows(body, table):
    return decode_page(body).batches[table].to_pylist()


def test_a_regular_page_has_the_declared_schemas():
    batches = decode_page(page_of(transaction(), unassignment(), assignment())).batches
    assert batches["updates"].schema.equals(UPDATES.schema, check_metadata=True)
    assert batches["events"].schema.equals(EVENTS.schema, check_metadata=True)
    assert batches["reassignments"].schema.equals(REASSIGNMENTS.schema, check_metadata=True)


def test_an_update_row_says_what_the_item_said():
    (row,) = rows(page_of(transaction(workflow_id="w", external_transaction_hash="ab")), "updates")
    assert row["kind"] == "transaction"
    assert row["migration_id"] == 3
    assert row["record_time"].isoformat() == "2026-01-30T08:39:28.485596+00:00"
    assert row["record_month"] == "2026-01"
    assert row["event_count"] == 4
    assert (row["workflow_id"], row["external_transaction_hash"], row["extra"]) == ("w", "ab", None)


def test_an_empty_workflow_id_is_null():
    assert rows(page_of(transaction(workflow_id="")), "updates")[0]["workflow_id"] is None


def test_events_come_in_preorder_with_parent_and_depth_whatever_the_order_of_the_keys():
    events = rows(page_of(transaction()), "events")
    assert [row["event_id"] for row in events] == ["u:0", "u:2", "u:10", "u:1"]
    assert [row["node_index"] for row in events] == [0, 1, 2, 3]
    assert [row["parent_event_id"] for row in events] == [None, "u:0", "u:2", None]
    assert [row["depth"] for row in events] == [0, 1, 2, 0]


def test_a_template_is_named_without_its_hash():
    assert rows(page_of(transaction()), "events")[0]["template_name"] == "Splice.Amulet:Amulet"


def test_the_migration_of_a_reassignment_stands_in_its_event():
    both = rows(page_of(unassignment(), assignment()), "reassignments")
    assert [row["kind"] for row in both] == ["unassignment", "assignment"]
    assert [row["migration_id"] for row in both] == [3, 4]
    updates = rows(page_of(unassignment(), assignment()), "updates")
    assert [row["synchronizer_id"] for row in updates] == ["sync-a::12", "sync-b::12"]
    assert [row["event_count"] for row in updates] == [1, 1]


def test_events_that_no_root_reaches_follow_by_number():
    item = transaction()
    item["root_event_ids"] = ["u:1"]
    item["events_by_id"]["u:0"]["child_event_ids"] = []
    events = rows(page_of(item), "events")
    assert [row["event_id"] for row in events] == ["u:1", "u:0", "u:2", "u:10"]
    assert [row["depth"] for row in events] == [0, None, None, None]


CASES = {
    "regular": transaction(),
    "unassignment": unassignment(),
    "assignment": assignment(),
    "null hash": transaction(external_transaction_hash=None),
    "offset": transaction(offset="000000000000000001"),
    "null offset": transaction(offset=None),
    "unknown members": transaction(extra=1, absent=[2], **{"/x": {"y": Decimal("1.50")}, "a~/b": None, "": ""}),
    "finer than a microsecond": transaction(effective_at="2026-01-30T08:39:28.485596123Z"),
    "fewer digits": transaction(effective_at="2026-01-30T08:39:28Z"),
    "other zone": transaction(effective_at="2026-01-30T08:39:28.485596+02:00"),
    "year one": transaction(record_time="0001-01-01T00:00:00.000000Z", effective_at="9999-12-31T23:59:59.999999Z"),
    "event member": transaction(events={"u:0": {"surprise": [1, {"x": Decimal("0E-10")}]}}),
    "absent interface": transaction(events={"u:0": {"interface_id": ...}}),
    "interface": transaction(events={"u:0": {"interface_id": "ab:Holding:Holding"}}),
    "own event id differs": transaction(events={"u:1": {"event_id": "other"}}),
    "own event id absent": transaction(events={"u:1": {"event_id": ...}}),
    "created_at with zeros": transaction(events={"u:1": {"created_at": "2026-01-30T08:39:28.480000Z"}}),
    "created_at of a second": transaction(events={"u:1": {"created_at": "2026-01-30T08:39:28Z"}}),
    "unknown kind": transaction(events={"u:1": {"event_type": "rolled_back", "contract_id": 5, "why": None}}),
    "string result": transaction(events={"u:0": {"exercise_result": "done"}}),
    "null result": transaction(events={"u:0": {"exercise_result": None}}),
    "number result": transaction(events={"u:0": {"exercise_result": Decimal("-1.43E-8")}}),
    "undecodable argument": transaction(events={"u:1": {"create_arguments": {"error": "no package", "value": "00"}}}),
    "no events": transaction(root_event_ids=[], events_by_id={}),
    "assignment without unassign id": assignment(unassign_id=...),
    "null unassign id": unassignment(unassign_id=None),
    "both halves in one": assignment(contract_id="c"),
    "null created event": unassignment(created_event=None),
    "unknown in the contract": assignment(created={"surprise": 1, "event_type": "another"}),
    "no event type in the contract": assignment(created={"event_type": ...}),
    "reassignment with a migration id": {**unassignment(), "migration_id": 3, "workflow_id": ""},
    "no offset": {name: value for name, value in unassignment().items() if name != "offset"},
    "event null": transaction(event=None),
    "unicode": transaction(workflow_id='\u0000\u2028\U0001f600 "\\ é'),
}


@pytest.mark.parametrize("item", CASES.values(), ids=CASES.keys())
def test_what_was_sent_can_be_rebuilt(item):
    body = page_of(item)
    assert rebuilt(body) == json.loads(body, parse_float=Decimal)["transactions"]


def test_one_odd_item_does_not_change_its_neighbours():
    odd = CASES["event member"]
    plain = decode_page(page_of(transaction(), unassignment())).batches
    mixed = decode_page(page_of(transaction(), odd, unassignment())).batches
    for name, keep in (("updates", [0, 2]), ("reassignments", [0])):
        assert mixed[name].take(pa.array(keep)).equals(plain[name])


BROKEN = {
    "update_id missing": (transaction(update_id=...), "update_id", "updates"),
    "record_time null": (transaction(record_time=None), "record_time", "updates"),
    "record_time no time": (transaction(record_time="yesterday"), "record_time", "updates"),
    "thirteenth month": (transaction(effective_at="2026-13-01T00:00:00.000000Z"), "effective_at", "updates"),
    "migration_id text": (transaction(migration_id="3"), "migration_id", "updates"),
    "migration_id too large": (transaction(migration_id=2**63), "migration_id", "updates"),
    "events missing": (transaction(events_by_id=...), "events_by_id", "updates"),
    "roots not a list": (transaction(root_event_ids="u:0"), "root_event_ids", "updates"),
    "contract_id missing": (transaction(events={"u:1": {"contract_id": ...}}), "contract_id", "events"),
    "payload missing": (transaction(events={"u:1": {"create_arguments": ...}}), "create_arguments", "events"),
    "consuming null": (transaction(events={"u:0": {"consuming": None}}), "consuming", "events"),
    "event_type missing": (transaction(events={"u:0": {"event_type": ...}}), "event_type", "events"),
    "child missing": (transaction(events={"u:2": {"child_event_ids": ["u:99"]}}), "child_event_ids", "events"),
    "second parent": (transaction(events={"u:2": {"child_event_ids": ["u:1"]}}), "child_event_ids", "events"),
    "cycle": (transaction(events={"u:2": {"child_event_ids": ["u:0"]}}), "child_event_ids", "events"),
    "counter missing": (unassignment(reassignment_counter=...), "reassignment_counter", "reassignments"),
    "neither half": (unassignment(contract_id=...), "contract_id", "reassignments"),
    "created_at no time": (assignment(created={"created_at": ""}), "created_at", "reassignments"),
    "signatories null": (assignment(created={"signatories": None}), "signatories", "reassignments"),
}


@pytest.mark.parametrize(("item", "column", "table"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_item_is_an_error_that_names_its_place(item, column, table):
    with pytest.raises(DecodeError) as caught:
        decode_page(page_of(transaction(), item))
    error = caught.value
    assert (error.endpoint, error.table, error.column) == ("POST /v2/updates", table, column)
    assert error.item.startswith("item 1")
    assert column in str(error)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b'{"transactions":5}', b"<html>", b'{"transactions":[1]}', b"\xff", b"[" * 9999],
)
def test_what_is_no_page_is_an_error(body):
    with pytest.raises(DecodeError, match="POST /v2/updates"):
        decode_page(body)


def test_a_payload_that_is_not_utf8_is_an_error():
    body = page_of(transaction()).replace(b'"owner":"alice"', b'"owner":"al\xffce"')
    with pytest.raises(DecodeError, match="UTF-8"):
        decode_page(body)


def test_events_inside_a_cycle_that_no_root_reaches_are_an_error():
    item = transaction(events={"u:2": {"child_event_ids": ["u:0"]}, "u:0": {"child_event_ids": ["u:2"]}})
    item["root_event_ids"] = ["u:1"]
    item["events_by_id"].pop("u:10")
    with pytest.raises(DecodeError, match="its own ancestor"):
        decode_page(page_of(item))


def test_an_event_that_no_root_reaches_is_no_second_parent_either():
    item = transaction(events={"u:2": {"child_event_ids": ["u:1"]}, "u:0": {"child_event_ids": []}})
    item["root_event_ids"] = ["u:1"]
    item["events_by_id"].pop("u:10")
    with pytest.raises(DecodeError, match="second parent"):
        decode_page(page_of(item))


def test_only_the_tables_asked_for_are_built():
    assert set(decode_page(page_of(transaction()), tables={"updates"}).batches) == {"updates"}


def test_created_and_exercised_members_stand_in_their_own_rows():
    zero, two, ten, one = rows(page_of(transaction()), "events")
    assert (zero["choice"], zero["consuming"], zero["acting_parties"]) == ("Transfer", True, ["alice"])
    assert (one["choice"], one["consuming"], one["acting_parties"], one["exercise_result"]) == (None, None, None, None)
    assert json.loads(one["payload"]) == created("u:1")["create_arguments"]
    assert json.loads(zero["payload"]) == exercised("u:0")["choice_argument"]
    assert two["signatories"] is None
    assert ten["signatories"] == ["alice", "dso"]
