"""Reassignments by command: a contract leaves, is under way, arrives; everything out of turn is refused."""

from __future__ import annotations

import pytest

from ledgerframes.sandbox.server import start
from tests.sandbox.asking import ask
from tests.sandbox.commanding import IOU, REASSIGN, REASSIGN_ASYNC, Desk, assign, exercise, refusal, unassign
from tests.sandbox.ledger_calls import ERROR


@pytest.fixture
def places(desk):
    return desk.sandbox.world.synchronizers


def seen_by(desk, *users):
    return {"filtersByParty": {desk.party(user): {} for user in users}}


def last_item(desk):
    return list(desk.sandbox.world.items(private=True))[-1]


def sent_off(desk, places, **members):
    """A new contract under way from the first to the second place, with the id of its reassignment."""
    contract_id = desk.iou()
    desk.reassign(unassign(contract_id, places[0], places[1]), **members)
    return contract_id, last_item(desk)["event"]["unassign_id"]


def test_a_contract_goes_to_another_synchronizer_and_back(desk, places):
    here, there, _ = places
    contract_id = desk.iou()
    counters = []
    for source, target in ((here, there), (there, here)):
        left = desk.reassign(unassign(contract_id, source, target), events=seen_by(desk, "alice"), workflowId="w")
        (event,) = left.json["reassignment"]["events"]
        gone = event["JsUnassignedEvent"]["value"]
        assert (gone["contractId"], gone["source"], gone["target"]) == (contract_id, source, target)
        assert left.json["reassignment"]["synchronizerId"] == source
        assert desk.sandbox.world.contracts.active[contract_id].synchronizer_id is None

        came = desk.reassign(assign(gone["reassignmentId"], source, target), events=seen_by(desk, "alice"))
        (event,) = came.json["reassignment"]["events"]
        arrived = event["JsAssignmentEvent"]
        assert arrived["createdEvent"]["contractId"] == contract_id
        assert arrived["reassignmentId"] == gone["reassignmentId"]
        assert came.json["reassignment"]["synchronizerId"] == target
        assert arrived["reassignmentCounter"] == gone["reassignmentCounter"]
        counters.append(arrived["reassignmentCounter"])
    assert counters == [1, 2]
    assert left.json["reassignment"]["workflowId"] == "w"


def test_both_halves_show_in_scan_as_in_the_answers(desk, places):
    contract_id = desk.coin()
    left = desk.reassign(unassign(contract_id, places[0], places[1])).json["reassignment"]
    gone = last_item(desk)
    came = desk.reassign(assign(gone["event"]["unassign_id"], places[0], places[1])).json["reassignment"]
    arrived = last_item(desk)

    assert (left["events"], came["events"]) == ([], [])
    for answer, item in ((left, gone), (came, arrived)):
        assert (answer["updateId"], answer["recordTime"]) == (item["update_id"], item["record_time"])
        found = ask(f"{desk.sandbox.scan_url}/v1/updates/{answer['updateId']}")
        assert found.json["event"] == item["event"]
    assert gone["event"]["contract_id"] == contract_id
    assert arrived["event"]["created_event"]["contract_id"] == contract_id
    assert gone["event"]["reassignment_counter"] == arrived["event"]["reassignment_counter"] == 1
    assert arrived["event"]["submitter"] == desk.party("alice")


def test_the_submission_that_does_not_wait_answers_nothing_and_shows_in_scan_unless_it_is_refused(desk, places, caplog):
    caplog.set_level("INFO", logger="ledgerframes.sandbox")
    contract_id = desk.coin()
    answer = desk.reassign(unassign(contract_id, places[0], places[1]), path=REASSIGN_ASYNC)
    assert (answer.status, answer.json) == (200, {})
    assert last_item(desk)["event"]["contract_id"] == contract_id

    before = desk.counts()
    answer = desk.reassign(unassign("00ab", places[0], places[1]), path=REASSIGN_ASYNC)
    assert (answer.status, answer.json, desk.counts()) == (200, {}, before)
    assert "CONTRACT_NOT_FOUND" in caplog.text


def test_several_contracts_go_together_or_not_at_all(desk, places):
    first, second = desk.iou(), desk.iou()
    before = desk.counts()
    assert refusal(desk.reassign(*(unassign(one, *places[:2]) for one in (first, "00ab")))) == (
        404, "CONTRACT_NOT_FOUND",
    )  # fmt: skip
    assert desk.counts() == before

    left = desk.reassign(*(unassign(one, *places[:2]) for one in (first, second)), events=seen_by(desk, "alice"))
    ids = [one["JsUnassignedEvent"]["value"]["reassignmentId"] for one in left.json["reassignment"]["events"]]
    came = desk.reassign(*(assign(one, *places[:2]) for one in ids), events=seen_by(desk, "alice"))

    assert [one["JsAssignmentEvent"]["createdEvent"]["contractId"] for one in came.json["reassignment"]["events"]] == [
        first, second,
    ]  # fmt: skip
    assert desk.counts()[0] == before[0] + 4


@pytest.mark.parametrize("path", [REASSIGN, REASSIGN_ASYNC])
def test_the_same_change_is_carried_out_once(desk, places, path):
    contract_id, command_id = desk.iou(), f"once-{path[-8:]}"
    again = {"path": path, "commandId": command_id}
    desk.reassign(unassign(contract_id, places[0], places[1]), **again, submissionId="the-first")
    before = desk.counts()

    answer = desk.reassign(unassign(contract_id, places[0], places[1]), **again, submissionId="the-second")

    assert refusal(answer) == (409, "DUPLICATE_COMMAND")
    assert answer.json["context"]["existing_submission_id"] == "the-first"
    assert answer.json["definiteAnswer"] is False
    assert desk.counts() == before


def test_a_refused_change_may_be_tried_again_under_its_id(desk, places):
    contract_id = desk.iou()
    wrong = desk.reassign(unassign(contract_id, places[1], places[0]), commandId="again")
    right = desk.reassign(unassign(contract_id, places[0], places[1]), commandId="again")

    assert (wrong.status, right.status) == (400, 200)


@pytest.mark.parametrize(
    ("refuse", "expected"),
    [
        (lambda _d, p: unassign("00ab", p[0], p[1]), (404, "CONTRACT_NOT_FOUND")),
        (lambda d, p: unassign(d.iou(issuer="bob", owner="bob"), p[0], p[1]), (404, "CONTRACT_NOT_FOUND")),
        (lambda d, p: unassign(d.iou(), p[1], p[2]), (400, "INVALID_PRESCRIBED_SYNCHRONIZER_ID")),
        (lambda d, p: unassign(d.iou(), p[0], p[0]), (400, "INVALID_ARGUMENT")),
        (lambda d, p: unassign(d.iou(), p[0], "nowhere::1220"), (400, "NOT_CONNECTED_TO_SYNCHRONIZER")),
        (lambda d, p: unassign(sent_off(d, p)[0], p[0], p[1]), (409, "CONTRACT_BEING_REASSIGNED")),
        (lambda _d, p: assign("00ab", p[0], p[1]), (404, "REASSIGNMENT_NOT_FOUND")),
        (lambda d, p: assign(sent_off(d, p)[1], p[0], p[2]), (400, "REASSIGNMENT_MISMATCH")),
        (lambda d, p: assign(completed(d, p), p[0], p[1]), (409, "REASSIGNMENT_ALREADY_COMPLETED")),
        (lambda d, p: unassign(archived(d), p[0], p[1]), (404, "CONTRACT_NOT_ACTIVE")),
        (lambda _d, _p: {"command": {"Empty": {}}}, (400, "INVALID_ARGUMENT")),
    ],
    ids=[
        "unknown contract", "another party's contract", "wrong source", "same source and target", "unknown target",
        "under way", "unknown id", "other target", "completed", "archived", "empty command",
    ],
)  # fmt: skip
def test_what_is_out_of_turn_is_refused_and_changes_nothing(desk, places, refuse, expected):
    command = refuse(desk, places)
    before = desk.counts()

    answer = desk.reassign(command)

    assert refusal(answer) == expected
    assert answer.json.keys() == ERROR
    assert answer.json["context"]["definite_answer"] == "false"
    assert answer.json["context"]["category"] == str(answer.json["errorCategory"])
    assert desk.counts() == before


def completed(desk, places):
    _, reassignment_id = sent_off(desk, places)
    desk.reassign(assign(reassignment_id, places[0], places[1]))
    return reassignment_id


def archived(desk):
    contract_id = desk.iou()
    desk.submit(exercise(IOU, contract_id, "Archive"))
    return contract_id


def test_commands_of_two_kinds_are_not_one_reassignment(desk, places):
    _, reassignment_id = sent_off(desk, places)
    mixed = unassign(desk.iou(), places[0], places[1]), assign(reassignment_id, places[0], places[1])
    contract_id = desk.iou()
    twice = unassign(contract_id, *places[:2]), unassign(contract_id, *places[:2])

    others = desk.reassign(assign(reassignment_id, places[0], places[1]), user="bob")
    assert refusal(others) == (404, "REASSIGNMENT_NOT_FOUND")
    assert refusal(desk.reassign(*mixed)) == (400, "INVALID_ARGUMENT")
    assert refusal(desk.reassign(*twice)) == (400, "INVALID_ARGUMENT")


def test_only_who_may_act_as_the_submitter_submits(desk, places):
    contract_id = desk.iou()
    asked = [
        ("alice", "bob", 403), ("mallory", None, 403), ("participant_admin", None, 403),
        ("validator_operator", None, 403), ("alice", "alice", 200),
    ]  # fmt: skip
    for user, named, status in asked:
        body = {"commandId": f"rights-{contract_id[-20:]}", "submitter": desk.party("alice"), "userId": named}
        body["commands"] = [unassign(contract_id, places[0], places[1])]

        assert desk.post(REASSIGN, {"reassignmentCommands": body}, user=user).status == status, (user, named)


def test_commands_may_complete_what_the_ledger_began_and_it_lives_on_without_touching_what_they_made():
    with start(seed=11, updates=400) as sandbox:
        desk, world = Desk(sandbox), sandbox.world
        for half in list(world.contracts.open.values()):
            user = half.submitter.partition("::")[0]
            if half.source != half.target and not world.accounts.get(user).deactivated:
                answer = desk.reassign(assign(half.unassign_id, half.source, half.target), user=user)
                assert answer.status == 200, answer.body
        made = [desk.iou(amount="3"), desk.coin()]
        sandbox.advance(updates=600)
        assert all(one in world.contracts.active for one in made)
        assert world.updates == sorted(world.updates)
        arrivals = [one["event"]["unassign_id"] for one in world.items() if "created_event" in one.get("event", {})]

    assert len(arrivals) == len(set(arrivals))
