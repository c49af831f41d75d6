"""Pages of the update history become columns, exactly, and back."""

import json
from collections import defaultdict
from decimal import Decimal

import pyarrow as pa
import pytest

from ledgerframes.decoding.pages import decode_page, decode_pages, parse_page
from ledgerframes.decoding.rebuild import rebuild_rows
from ledgerframes.errors import DecodeError
from tests.decoding.items import assignment, created, exercised, page_of, transaction, unassignment
from tests.fuzz.targets import rows_of

pytestmark = pytest.mark.usefixtures("decoder")


def rows(body, table):
    return decode_page(body).batches[table].to_pylist()


def test_an_update_row_says_what_the_item_said():
    (row,) = rows(page_of(transaction(workflow_id="w", external_transaction_hash="ab")), "updates")
    assert (row["kind"], row["migration_id"], row["event_count"]) == ("transaction", 3, 4)
    assert row["record_time"].isoformat() == "2026-01-30T08:39:28.485596+00:00"
    assert row["record_month"] == "2026-01"
    assert (row["workflow_id"], row["external_transaction_hash"], row["extra"]) == ("w", "ab", None)
    assert rows(page_of(transaction(workflow_id="")), "updates")[0]["workflow_id"] is None


def test_events_come_in_preorder_with_parent_and_depth_whatever_the_order_of_the_keys():
    events = rows(page_of(transaction()), "events")
    told = [[row[name] for name in ("event_id", "node_index", "parent_event_id", "depth")] for row in events]
    assert told == [["u:0", 0, None, 0], ["u:2", 1, "u:0", 1], ["u:10", 2, "u:2", 2], ["u:1", 3, None, 0]]
    assert {row["template_name"] for row in events} == {"Splice.Amulet:Amulet"}


def test_created_and_exercised_members_stand_in_their_own_rows():
    zero, two, ten, one = rows(page_of(transaction()), "events")
    assert (zero["choice"], zero["consuming"], zero["acting_parties"]) == ("Transfer", True, ["alice"])
    assert {one[name] for name in ("choice", "consuming", "acting_parties", "exercise_result")} == {None}
    assert json.loads(one["payload"]) == created("u:1")["create_arguments"]
    assert json.loads(zero["payload"]) == exercised("u:0")["choice_argument"]
    assert (two["signatories"], ten["signatories"]) == (None, ["alice", "dso"])


def test_the_migration_of_a_reassignment_stands_in_its_event():
    body = page_of(unassignment(), assignment())
    legs = [(row["kind"], row["migration_id"]) for row in rows(body, "reassignments")]
    assert legs == [("unassignment", 3), ("assignment", 4)]
    updates = [(row["synchronizer_id"], row["event_count"]) for row in rows(body, "updates")]
    assert updates == [("sync-a::12", 1), ("sync-b::12", 1)]


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
    "record_time with nine digits": transaction(record_time="2026-01-30T08:39:28.480000123Z"),
    "record_time of a second": unassignment() | {"record_time": "2026-01-30T08:39:28Z"},
    "other zone": transaction(effective_at="2026-01-30T08:39:28.485596+02:00"),
    "year one": transaction(record_time="0001-01-01T00:00:00.000000Z", effective_at="9999-12-31T23:59:59.999999Z"),
    "event member": transaction(events={"u:0": {"surprise": [1, {"x": Decimal("0E-10")}]}}),
    "absent interface": transaction(events={"u:0": {"interface_id": ...}}),
    "interface": transaction(events={"u:0": {"interface_id": "ab:Holding:Holding"}}),
    "own event id differs": transaction(events={"u:1": {"event_id": "other"}}),
    "own event id absent": transaction(events={"u:1": {"event_id": ...}}),
    "created_at with zeros": transaction(events={"u:1": {"created_at": "2026-01-30T08:39:28.480000Z"}}),
    "created_at with seven digits": transaction(events={"u:1": {"created_at": "2026-01-30T08:39:28.4800001Z"}}),
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
    "unknown in the contract": assignment(created={"surprise": 1}),
    "another event type in the contract": assignment(created={"event_type": "another"}),
    "no event type in the contract": assignment(created={"event_type": ...}),
    "reassignment with a migration id": {**unassignment(), "migration_id": 3, "workflow_id": ""},
    "no offset": {name: value for name, value in unassignment().items() if name != "offset"},
    "event null": transaction(event=None),
    "unknown in a reassignment": unassignment(surprise=1),
    "unknown beside a reassignment": {**unassignment(), "surprise": 1},
    "many unknown members": transaction(**{f"member {number}": number for number in range(100)}),
    "an event that no root reaches": transaction(root_event_ids=["u:1"]),
    "a number of nineteen digits": transaction(migration_id=10**18),
    "unicode": transaction(workflow_id='\u0000\u2028\U0001f600 "\\ é'),
}


def rebuilt(body):
    """Decode a page and rebuild its items."""
    told, events_of = {name: rows_of(batch) for name, batch in decode_page(body).batches.items()}, defaultdict(list)
    for row in told["events"]:
        events_of[row["update_id"]].append(row)
    halves = {row["update_id"]: row for row in told["reassignments"]}
    return list(rebuild_rows(told["updates"], events_of, halves))


@pytest.mark.parametrize("item", CASES.values(), ids=CASES.keys())
def test_what_was_sent_can_be_rebuilt(item):
    body = page_of(item)
    assert rebuilt(body) == json.loads(body, parse_float=Decimal)["transactions"]


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


@pytest.mark.parametrize(
    ("children", "said"),
    [({"u:2": ["u:0"], "u:0": ["u:2"]}, "its own ancestor"), ({"u:2": ["u:1"], "u:0": []}, "second parent")],
    ids=["a cycle", "a second parent"],
)
def test_events_that_no_root_reaches_have_to_be_a_tree_too(children, said):
    item = transaction(events={event_id: {"child_event_ids": ids} for event_id, ids in children.items()})
    item["root_event_ids"] = ["u:1"]
    item["events_by_id"].pop("u:10")
    with pytest.raises(DecodeError, match=said):
        decode_page(page_of(item))


def test_only_the_tables_asked_for_are_built():
    assert set(decode_page(page_of(transaction()), tables={"updates"}).batches) == {"updates"}


PAGES = {
    "first": page_of(transaction(update_id="a"), unassignment(), transaction(update_id="b")),
    "second": page_of(assignment(), transaction(update_id="c", external_transaction_hash=None)),
    "left to Python": page_of(transaction(update_id="d", migration_id=10**18), unassignment()),
    "empty": page_of(),
}


@pytest.mark.parametrize("names", [["first"], ["second", "left to Python", "first"], ["empty", "first"]], ids=str)
@pytest.mark.parametrize("parse", [parse_page, bytes], ids=["parsed", "as sent"])
def test_pages_decoded_together_give_the_rows_of_each_in_turn(names, parse):
    bodies, rows = [PAGES[name] for name in names], [None, [0], None][: len(names)]
    together = decode_pages(list(zip(map(parse, bodies), rows, strict=True))).batches
    one_by_one = [decode_page(body, rows=chosen).batches for body, chosen in zip(bodies, rows, strict=True)]
    for name in ("updates", "events", "reassignments"):
        assert together[name].equals(pa.concat_batches([batches[name] for batches in one_by_one]), check_metadata=True)


def test_a_broken_page_among_others_is_refused_in_its_own_words():
    broken = page_of(transaction(update_id=""))
    with pytest.raises(DecodeError) as alone:
        decode_page(broken)
    with pytest.raises(DecodeError) as among:
        decode_pages([(PAGES["first"], None), (broken, None), (PAGES["second"], None)])
    assert str(among.value) == str(alone.value)
