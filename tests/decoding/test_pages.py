"""Pages of the update history become columns, exactly, and back."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from ledgerframes.decoding.rebuild import by_update, rebuild_rows
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, HistoryPage
from tests.decoding.items import assignment, created, decoded, exercised, page_of, to_json, transaction, unassignment

pytestmark = pytest.mark.usefixtures("decoder")


UNREACHED = transaction(root_event_ids=["u:1"], events={"u:0": {"child_event_ids": []}})
CREATED, EXERCISED = (to_json(own) for own in (created("u")["create_arguments"], exercised("u")["choice_argument"]))
LEGS = unassignment(), assignment()
#: Items, the table of which rows are looked at, and columns of it.
ROWS = {
    "an update": ([transaction(workflow_id="w", external_transaction_hash="ab")], "updates", {
        "kind": ["transaction"], "migration_id": [3], "event_count": [4], "workflow_id": ["w"], "extra": [None],
        "record_time": [datetime(2026, 1, 30, 8, 39, 28, 485596, UTC)], "record_month": ["2026-01"],
        "external_transaction_hash": ["ab"],
    }),
    "an empty workflow": ([transaction(workflow_id="")], "updates", {"workflow_id": [None]}),
    "events in preorder, whatever the order of the keys": ([transaction()], "events", {
        "event_id": ["u:0", "u:2", "u:10", "u:1"], "node_index": [0, 1, 2, 3], "depth": [0, 1, 2, 0],
        "parent_event_id": [None, "u:0", "u:2", None], "template_name": ["Splice.Amulet:Amulet"] * 4,
    }),
    "members of kinds of events": ([transaction()], "events", {
        "choice": ["Transfer"] * 2 + [None] * 2, "consuming": [True] * 2 + [None] * 2,
        "acting_parties": [["alice"]] * 2 + [None] * 2, "exercise_result": ['{"ok":true}'] * 2 + [None] * 2,
        "payload": [EXERCISED] * 2 + [CREATED] * 2, "signatories": [None] * 2 + [["alice", "dso"]] * 2,
    }),
    "legs, whose migration stands in their event": (LEGS, "reassignments", {
        "kind": ["unassignment", "assignment"], "migration_id": [3, 4],
    }),
    "updates of legs": (LEGS, "updates", {"synchronizer_id": ["sync-a::12", "sync-b::12"], "event_count": [1, 1]}),
    "events that no root reaches, by number": ([UNREACHED], "events", {
        "event_id": ["u:1", "u:0", "u:2", "u:10"], "depth": [0, None, None, None],
    }),
}  # fmt: skip


@pytest.mark.parametrize(("items", "table", "columns"), ROWS.values(), ids=ROWS)
def test_rows_say_what_their_items_said(items, table, columns):
    assert decoded(page_of(*items))[table].select([*columns]).to_pydict() == columns


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


@pytest.mark.parametrize("item", CASES.values(), ids=CASES.keys())
def test_what_was_sent_can_be_rebuilt(item):
    body = page_of(item)
    found = list(rebuild_rows(by_update(decoded(body))))
    assert found == json.loads(body, parse_float=Decimal)["transactions"]


UNREACHED_LOOPS = {"a cycle": {"u:2": ["u:0"], "u:0": ["u:2"]}, "a second parent": {"u:2": ["u:1"], "u:0": []}}
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
    **{f"{what} that no root reaches": (transaction(
        root_event_ids=["u:1"], events={event_id: {"child_event_ids": ids} for event_id, ids in children.items()},
    ), "child_event_ids", "events") for what, children in UNREACHED_LOOPS.items()},
    "counter missing": (unassignment(reassignment_counter=...), "reassignment_counter", "reassignments"),
    "neither half": (unassignment(contract_id=...), "contract_id", "reassignments"),
    "created_at no time": (assignment(created={"created_at": ""}), "created_at", "reassignments"),
    "signatories null": (assignment(created={"signatories": None}), "signatories", "reassignments"),
}  # fmt: skip


@pytest.mark.parametrize(("item", "column", "table"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_item_is_an_error_that_names_its_place(item, column, table):
    with pytest.raises(DecodeError) as caught:
        decoded(page_of(transaction(), item))
    error = caught.value
    assert (error.endpoint, error.table, error.column) == ("POST /v2/updates", table, column)
    assert error.item.startswith("item 1")
    assert column in str(error)


@pytest.mark.parametrize(("broken", "why"), [("child missing", "is missing"), ("cycle", "is its own ancestor")])
def test_a_broken_tree_says_what_is_wrong_with_it(broken, why):
    with pytest.raises(DecodeError, match=f"event 'u:[09]+', child of 'u:2', .*{why}"):
        decoded(page_of(BROKEN[broken][0]))


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b'{"transactions":5}', b"<html>", b'{"transactions":[1]}', b"\xff", b"[" * 9999],
)
def test_what_is_no_page_is_an_error(body):
    with pytest.raises(DecodeError, match="POST /v2/updates"):
        decoded(body)


def test_only_the_tables_asked_for_are_built():
    assert set(decoded(page_of(transaction()), tables={"updates"})) == {"updates"}


PAGES = {
    "first": page_of(transaction(update_id="a"), unassignment(), transaction(update_id="b")),
    "second": page_of(assignment(), transaction(update_id="c", external_transaction_hash=None)),
    "left to Python": page_of(transaction(update_id="d", migration_id=10**18), unassignment()),
    "empty": page_of(),
}


@pytest.mark.parametrize("names", [["first"], ["second", "left to Python", "first"], ["empty", "first"]], ids=str)
@pytest.mark.parametrize("changes", [{}, {"compiled": None}], ids=["parsed", "as sent"])
def test_pages_decoded_together_give_the_rows_of_each_in_turn(names, changes):
    bodies, rows = [PAGES[name] for name in names], [None, [0], None][: len(names)]
    pages = [replace(HistoryPage.read(body), **changes) for body in bodies]
    chosen = [(page, own or range(len(page))) for page, own in zip(pages, rows, strict=True)]
    together = UPDATE_HISTORY.decode_pages(chosen)
    one_by_one = [decoded(body, rows=chosen) for body, chosen in zip(bodies, rows, strict=True)]
    for name in ("updates", "events", "reassignments"):
        assert together[name].equals(pa.concat_batches([batches[name] for batches in one_by_one]), check_metadata=True)


def test_a_broken_page_among_others_is_refused_in_its_own_words():
    broken = page_of(transaction(workflow_id=5))
    with pytest.raises(DecodeError) as alone:
        decoded(broken)
    with pytest.raises(DecodeError) as among:
        UPDATE_HISTORY.decode_pages([(HistoryPage.read(body), [0]) for body in (PAGES["first"], broken)])
    assert str(among.value) == str(alone.value)
