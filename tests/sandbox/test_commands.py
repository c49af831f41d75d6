"""Commands: contracts created, exercised and moved, all or none, seen the same on every interface, or refused."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from ledgerframes.sandbox.server import start
from tests.economics.books import Books
from tests.rigs.servers import started
from tests.sandbox.asking import ask
from tests.sandbox.commanding import (
    BY_ID,
    COIN,
    ERROR,
    IOU,
    REASSIGN,
    REASSIGN_ASYNC,
    TREE,
    Desk,
    assign,
    create,
    created,
    exercise,
    iou,
    nodes,
    refusal,
    unassign,
)  # fmt: skip


@pytest.fixture
def places(desk):
    return desk.sandbox.world.synchronizers


def last_item(desk):
    return list(desk.sandbox.world.items(private=True))[-1]


def shown(desk, *commands):
    """The reassignment of some commands, and the events that alice sees of it."""
    answer = desk.reassign(*commands, events={"filtersByParty": {desk.party("alice"): {}}}, workflowId="w")
    events = [event for one in answer.json["reassignment"]["events"] for event in one.values()]
    return answer.json["reassignment"], [event.get("value", event) for event in events]


def sent_off(desk, places):
    """The event by which a contract is under way from the first to the second place."""
    desk.reassign(unassign(desk.iou(), places[0], places[1]))
    return last_item(desk)["event"]


def test_a_contract_is_created_in_the_ledgers_spelling_by_either_reference(desk):
    answer = desk.submit(create(IOU, iou(desk, amount=5)), workflowId="w-1", submissionId="s-1")
    ((kind, event),) = nodes(answer)
    tree, exact = answer.json["transactionTree"], event["templateId"]

    assert kind == "CreatedTreeEvent"
    assert event["createArgument"] == iou(desk, amount="5.0000000000", observers=[], reference=None)
    assert (event["signatories"], event["observers"]) == ([desk.party("alice")], [])
    assert (tree["workflowId"], tree["rootNodeIds"]) == ("w-1", [0])
    assert tree["commandId"].startswith("c-")
    assert tree["synchronizerId"] == desk.sandbox.world.synchronizers[0]
    again = desk.submit(create(exact, iou(desk)), exercise(exact, created(answer)[0], "Iou_Settle"))
    assert nodes(again)[0][1]["templateId"] == exact


def test_a_transaction_shows_in_scan_by_page_and_id_and_on_the_ledger_and_a_private_one_on_the_ledger_alone(desk):
    world, before = desk.sandbox.world, list(desk.sandbox.world.items())[-1]
    tree = desk.tap(workflowId="w-2").json["transactionTree"]
    update_id = tree["updateId"]
    place = before.get("event", before)
    after = {"after_migration_id": place["migration_id"], "after_record_time": before["record_time"]}

    (item,) = ask(f"{desk.sandbox.scan_url}/v2/updates", {"page_size": 5, "after": after}).json["transactions"]
    single = ask(f"{desk.sandbox.scan_url}/v1/updates/{update_id}").json
    (coin,) = (event for event in item["events_by_id"].values() if event["event_type"] == "created_event")
    read = desk.post(BY_ID, {"updateId": update_id, "requestingParties": [desk.party("alice")]}).json["transaction"]

    assert (item["update_id"], item["workflow_id"]) == (update_id, "w-2")
    assert {key: single[key] for key in item} == item
    assert coin["contract_id"] == tree["eventsById"]["1"]["CreatedTreeEvent"]["value"]["contractId"]
    assert [read[name] for name in ("commandId", "offset", "recordTime")] == [
        tree["commandId"], tree["offset"], item["record_time"],
    ]  # fmt: skip
    scanned, private = len(world.updates), desk.iou()
    assert len(world.updates) == scanned
    assert private in {one["contract_id"] for one in last_item(desk)["events_by_id"].values() if "created_at" in one}
    desk.sandbox.advance(updates=20)
    assert len(world.updates) == scanned + 20


def test_a_choice_has_its_children_below_it_and_may_be_exercised_as_its_contract_is_created(desk):
    contract_id = desk.iou(amount="10.0")
    answer = desk.submit(exercise(IOU, contract_id, "Iou_Split", {"splitAmount": "2.5"}))
    (_, split), *halves = nodes(answer)

    assert (split["choice"], split["choiceArgument"]) == ("Iou_Split", {"splitAmount": "2.5000000000"})
    assert (split["consuming"], split["lastDescendantNodeId"]) == (True, 2)
    assert split["exerciseResult"] == [event["contractId"] for _, event in halves]
    assert [event["createArgument"]["amount"] for _, event in halves] == ["2.5000000000", "7.5000000000"]
    assert answer.json["transactionTree"]["rootNodeIds"] == [0]
    assert contract_id not in desk.sandbox.world.contracts.active

    command = {"templateId": IOU, "createArguments": iou(desk), "choice": "Iou_GetBalance"}
    answer = desk.submit({"CreateAndExerciseCommand": {**command, "choiceArgument": {"viewer": desk.party("alice")}}})
    (_, made), (_, asked) = nodes(answer)
    assert (asked["exerciseResult"], asked["consuming"]) == ("10.0000000000", False)
    assert answer.json["transactionTree"]["rootNodeIds"] == [0, 1]
    assert made["contractId"] == asked["contractId"] in desk.sandbox.world.contracts.active


def test_a_batch_with_one_refused_command_changes_nothing(desk):
    kept, before = desk.iou(), desk.counts()
    chance = desk.sandbox.world.simulation.rng.getstate()

    answer = desk.submit(create(IOU, iou(desk)), exercise(IOU, kept, "Iou_Settle"), exercise(IOU, kept, "Iou_Settle"))

    assert refusal(answer) == (404, "CONTRACT_NOT_ACTIVE")
    assert desk.counts() == before
    assert desk.sandbox.world.simulation.rng.getstate() == chance
    assert desk.submit(exercise(IOU, kept, "Iou_Settle")).status == 200


def test_a_batch_runs_where_its_contracts_are(desk):
    there = desk.sandbox.world.synchronizers[1]
    transfer = exercise(IOU, desk.iou(synchronizerId=there), "Iou_Transfer", {"newOwner": desk.party("bob")})

    away = desk.submit(create(IOU, iou(desk)), transfer)
    wrong = desk.submit(exercise(IOU, desk.iou(), "Iou_Settle"), synchronizerId=there)
    both = desk.submit(exercise(IOU, created(away)[0], "Archive"), exercise(IOU, desk.iou(), "Archive"))
    unknown = desk.submit(create(IOU, iou(desk)), synchronizerId="nowhere")

    assert away.json["transactionTree"]["synchronizerId"] == there
    assert [desk.sandbox.world.contracts.active[one].synchronizer_id for one in created(away)] == [there, there]
    assert refusal(wrong) == refusal(both) == (400, "INVALID_PRESCRIBED_SYNCHRONIZER_ID")
    assert refusal(unknown) == (400, "NOT_CONNECTED_TO_SYNCHRONIZER")


def test_contracts_go_to_another_synchronizer_and_back_together(desk, places):
    here, there, _ = places
    contracts, before = [desk.iou(), desk.iou()], desk.counts()
    for counter, source, target in ((1, here, there), (2, there, here)):
        left, gone = shown(desk, *(unassign(one, source, target) for one in contracts))
        assert [(one["contractId"], one["source"], one["target"]) for one in gone] == [
            (one, source, target) for one in contracts
        ]
        assert (left["synchronizerId"], left["workflowId"]) == (source, "w")
        assert {desk.sandbox.world.contracts.active[one].synchronizer_id for one in contracts} == {None}

        came, arrived = shown(desk, *(assign(one["reassignmentId"], source, target) for one in gone))
        assert came["synchronizerId"] == target
        assert [one["createdEvent"]["contractId"] for one in arrived] == contracts
        assert [one["reassignmentId"] for one in arrived] == [one["reassignmentId"] for one in gone]
        assert {one["reassignmentCounter"] for one in (*gone, *arrived)} == {counter}
    assert desk.counts()[0] == before[0] + 8


def test_both_halves_show_in_scan_as_in_the_answers(desk, places):
    (contract_id,) = created(desk.tap())
    left = desk.reassign(unassign(contract_id, places[0], places[1])).json["reassignment"]
    gone = last_item(desk)
    came = desk.reassign(assign(gone["event"]["unassign_id"], places[0], places[1])).json["reassignment"]
    arrived = last_item(desk)

    for answer, item in ((left, gone), (came, arrived)):
        assert answer["events"] == []
        assert (answer["updateId"], answer["recordTime"]) == (item["update_id"], item["record_time"])
        found = ask(f"{desk.sandbox.scan_url}/v1/updates/{answer['updateId']}")
        assert found.json["event"] == item["event"]
    assert gone["event"]["contract_id"] == arrived["event"]["created_event"]["contract_id"] == contract_id
    assert gone["event"]["reassignment_counter"] == arrived["event"]["reassignment_counter"] == 1
    assert arrived["event"]["submitter"] == desk.party("alice")


def test_the_submission_that_does_not_wait_answers_nothing_and_shows_in_scan_unless_it_is_refused(desk, places, caplog):
    caplog.set_level("INFO", logger="ledgerframes.sandbox")
    (contract_id,) = created(desk.tap())
    answer = desk.reassign(unassign(contract_id, places[0], places[1]), path=REASSIGN_ASYNC)
    assert (answer.status, answer.json) == (200, {})
    assert last_item(desk)["event"]["contract_id"] == contract_id

    before = desk.counts()
    answer = desk.reassign(unassign("00ab", places[0], places[1]), path=REASSIGN_ASYNC)
    assert (answer.status, answer.json, desk.counts()) == (200, {}, before)
    assert "CONTRACT_NOT_FOUND" in caplog.text


@pytest.mark.parametrize("path", [REASSIGN, REASSIGN_ASYNC])
def test_the_same_change_is_carried_out_once_and_a_refused_one_may_be_tried_again(desk, places, path):
    contract_id, again = desk.iou(), {"path": path, "commandId": f"once by {path}"}
    desk.reassign(unassign(contract_id, places[1], places[0]), **again)
    desk.reassign(unassign(contract_id, places[0], places[1]), **again, submissionId="the-first")
    assert last_item(desk)["event"]["contract_id"] == contract_id
    before = desk.counts()

    answer = desk.reassign(unassign(contract_id, places[0], places[1]), **again, submissionId="the-second")

    assert refusal(answer) == (409, "DUPLICATE_COMMAND")
    assert answer.json["context"]["existing_submission_id"] == "the-first"
    assert answer.json["definiteAnswer"] is False
    assert desk.counts() == before


NO_TEMPLATE = (404, "TEMPLATES_OR_INTERFACES_NOT_FOUND")
UNREADABLE = (400, "COMMAND_PREPROCESSING_FAILED")
NO_AUTHORITY = (400, "DAML_AUTHORIZATION_ERROR")
NO_CONTRACT = (404, "CONTRACT_NOT_FOUND")
INVALID = (400, "INVALID_ARGUMENT")
UNDER_WAY = (409, "CONTRACT_BEING_REASSIGNED")
BROKEN = (400, "UNHANDLED_EXCEPTION")
#: By what is wrong: the commands, and how they are refused.
REFUSED = {
    "unknown template": (lambda d, _: create("#iou-app:Iou:Nothing", iou(d)), NO_TEMPLATE),
    "unknown package": (lambda d, _: create(f"{'0f' * 32}:Iou:Iou", iou(d)), NO_TEMPLATE),
    "no reference": (lambda d, _: create("Iou", iou(d)), INVALID),
    "arguments missing": (lambda *_: create(IOU, {}), UNREADABLE),
    "no decimal": (lambda d, _: create(IOU, iou(d, amount="x")), UNREADABLE),
    "too many digits": (lambda d, _: create(IOU, iou(d, amount="1.00000000001")), UNREADABLE),
    "unknown argument": (lambda d, _: create(IOU, iou(d, more=1)), UNREADABLE),
    "rule broken": (lambda d, _: create(IOU, iou(d, amount="0.0")), BROKEN),
    "signatory missing": (lambda d, _: create(IOU, iou(d, issuer=d.party("bob"))), NO_AUTHORITY),
    "coin out of nothing": (lambda *_: create(COIN, {}), NO_AUTHORITY),
    "unknown contract": (lambda *_: exercise(IOU, "00ab", "Archive"), NO_CONTRACT),
    "unseen contract": (lambda d, _: exercise(IOU, d.iou(issuer="bob", owner="bob"), "Archive"), NO_CONTRACT),
    "observer archives": (lambda d, _: exercise(IOU, d.iou(issuer="bob"), "Archive"), NO_AUTHORITY),
    "other template": (lambda d, _: exercise(COIN, d.iou(), "Archive"), (400, "WRONGLY_TYPED_CONTRACT")),
    "unknown choice": (lambda d, _: exercise(IOU, d.iou(), "Iou_Dance"), UNREADABLE),
    "choice argument missing": (lambda d, _: exercise(IOU, d.iou(), "Iou_Transfer"), UNREADABLE),
    "choice refuses": (lambda d, _: exercise(IOU, d.iou(), "Iou_Split", {"splitAmount": "10.0"}), BROKEN),
    "in flight": (lambda d, p: exercise(IOU, sent_off(d, p)["contract_id"], "Archive"), UNDER_WAY),
    "one of several": (lambda d, p: [unassign(d.iou(), *p[:2]), unassign("00ab", *p[:2])], NO_CONTRACT),
    "another party's": (lambda d, p: unassign(d.iou(issuer="bob", owner="bob"), *p[:2]), NO_CONTRACT),
    "wrong source": (lambda d, p: unassign(d.iou(), p[1], p[2]), (400, "INVALID_PRESCRIBED_SYNCHRONIZER_ID")),
    "same source and target": (lambda d, p: unassign(d.iou(), p[0], p[0]), INVALID),
    "unknown target": (lambda d, p: unassign(d.iou(), p[0], "no::1220"), (400, "NOT_CONNECTED_TO_SYNCHRONIZER")),
    "under way": (lambda d, p: unassign(sent_off(d, p)["contract_id"], *p[:2]), UNDER_WAY),
    "unknown id": (lambda _, p: assign("00ab", *p[:2]), (404, "REASSIGNMENT_NOT_FOUND")),
    "other target": (lambda d, p: assign(sent_off(d, p)["unassign_id"], p[0], p[2]), (400, "REASSIGNMENT_MISMATCH")),
    "completed": (lambda d, p: assign(completed(d, p), *p[:2]), (409, "REASSIGNMENT_ALREADY_COMPLETED")),
    "archived": (
        lambda d, p: unassign(nodes(d.submit(exercise(IOU, d.iou(), "Archive")))[0][1]["contractId"], *p[:2]),
        (404, "CONTRACT_NOT_ACTIVE"),
    ),
    "empty command": (lambda *_: {"command": {"Empty": {}}}, INVALID),
    "two kinds": (lambda d, p: [unassign(d.iou(), *p[:2]), assign(sent_off(d, p)["unassign_id"], *p[:2])], INVALID),
    "twice the same": (lambda d, p: [unassign(d.iou(), *p[:2])] * 2, INVALID),
}  # fmt: skip


@pytest.mark.parametrize(("refuse", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_the_rules_forbid_is_refused_and_changes_nothing(desk, places, refuse, expected):
    asked = refuse(desk, places)
    commands = asked if isinstance(asked, list) else [asked]
    send, before = desk.reassign if "command" in commands[0] else desk.submit, desk.counts()

    answer = send(*commands)

    assert refusal(answer) == expected
    assert answer.json.keys() == ERROR
    assert answer.json["context"]["definite_answer"] == "false"
    assert answer.json["context"]["category"] == str(answer.json["errorCategory"])
    assert answer.json["correlationId"]
    assert desk.counts() == before


def completed(desk, places):
    reassignment_id = sent_off(desk, places)["unassign_id"]
    desk.reassign(assign(reassignment_id, places[0], places[1]))
    return reassignment_id


def test_only_who_may_act_and_read_submits(desk, places):
    alice, contract_id, sent = desk.party("alice"), desk.iou(), sent_off(desk, places)
    batch = {"commands": [create(IOU, iou(desk))], "commandId": "c", "actAs": [alice]}
    moves = {"commands": [unassign(contract_id, places[0], places[1])], "commandId": "once more", "submitter": alice}
    asked = [
        ("alice", {"actAs": [alice, desk.party("bob")]}), ("alice", {"readAs": [desk.party("bob")]}),
        ("alice", {"userId": "bob"}), ("mallory", {"actAs": [desk.party("mallory")]}), ("validator_operator", {}),
    ]  # fmt: skip
    for user, members in asked:
        answer = desk.post(TREE, {**batch, **members}, user=user)
        assert (answer.status, answer.json["grpcCodeValue"]) == (403, 7), (user, members)
    for user, members in (*asked[2:], ("participant_admin", {})):
        answer = desk.post(REASSIGN, {"reassignmentCommands": {**moves, **members}}, user=user)
        assert answer.status == 403, (user, members)
    assert desk.post(REASSIGN, {"reassignmentCommands": {**moves, "userId": "alice"}}).status == 200
    others = desk.reassign(assign(sent["unassign_id"], places[0], places[1]), user="bob")
    assert refusal(others) == (404, "REASSIGNMENT_NOT_FOUND")


def test_a_ledger_that_takes_no_commands_says_so():
    for options in ({"hostile": True, "updates": 50}, {"updates": 0}):
        with started(**options) as sandbox:
            assert refusal(Desk(sandbox).submit(create(IOU, {}))) == (503, "SYNCHRONIZER_NOT_READY")


def test_commands_may_complete_what_the_ledger_began_and_it_lives_on_without_touching_what_they_made():
    with start(seed=11, updates=400) as sandbox:
        desk, world = Desk(sandbox), sandbox.world
        for half in list(world.contracts.open.values()):
            user = half.submitter.partition("::")[0]
            if half.source != half.target and not world.accounts.get(user).deactivated:
                answer = desk.reassign(assign(half.unassign_id, half.source, half.target), user=user)
                assert answer.status == 200, answer.body
        made = [desk.iou(amount="3"), *created(desk.tap())]
        sandbox.advance(updates=600)
        assert all(one in world.contracts.active for one in made)
        assert world.updates == sorted(world.updates)
        arrivals = [one["event"]["unassign_id"] for one in world.items() if "created_event" in one.get("event", {})]

    assert len(arrivals) == len(set(arrivals))


THREADS = 20


def test_twenty_threads_with_two_hundred_requests_leave_one_consistent_state():
    with start(seed=3, updates=300) as sandbox:
        desk = Desk(sandbox)
        shared = desk.iou()
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(lambda number: worker(desk, number, shared), range(THREADS)))
        statuses = sum(found, Counter())
        book, world = Books(sandbox.world.items(private=True)), sandbox.world

    assert statuses.total() >= 200
    assert not {status for _, status in statuses if status >= 500}
    assert statuses["shared", 200] == 1
    assert statuses["same id", 200] == 1
    assert statuses["same id", 409] == THREADS - 1
    assert {contract: (life.place, life.counter) for contract, life in book.active().items()} == {
        one.contract_id: (one.synchronizer_id, one.counter) for one in world.contracts.active.values()
    }
    assert book.supply == Decimal(world.coins.units) / 10**10
    assert len({update.update_id for update in world.updates}) == len(world.updates)


def worker(desk, number, shared):
    """Ten requests of one thread: commands of its own, two that everybody sends, and reads of every interface."""
    sandbox, here, there = desk.sandbox, *desk.sandbox.world.synchronizers[:2]
    statuses, seen = Counter(), {"filtersByParty": {desk.party("alice"): {}}}

    def note(kind, answer):
        statuses[kind, answer.status] += 1
        return answer

    (mine,) = created(note("create", desk.submit(create(IOU, iou(desk)))))
    left = note("unassign", desk.reassign(unassign(mine, here, there), events=seen))
    (event,) = left.json["reassignment"]["events"]
    note("assign", desk.reassign(assign(event["JsUnassignedEvent"]["value"]["reassignmentId"], here, there)))
    note("split", desk.submit(exercise(IOU, mine, "Iou_Split", {"splitAmount": "1"})))
    note("same id", desk.submit(create(IOU, iou(desk)), commandId="everybody"))
    note("shared", desk.submit(exercise(IOU, shared, "Iou_Settle")))
    note("user", desk.post("/v2/users", {"user": {"id": f"t-{number}"}}, user="participant_admin"))
    note("page", ask(f"{sandbox.scan_url}/v2/updates", {"page_size": 1000}))
    note("offers", ask(f"{sandbox.validator_url}/v0/wallet/transfer-offers", token=sandbox.token("alice")))
    note("instruments", ask(f"{sandbox.registry_url}/registry/metadata/v1/instruments"))
    if number % 5 == 0:
        sandbox.advance(updates=20)
    return statuses
