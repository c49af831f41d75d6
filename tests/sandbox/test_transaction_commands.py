"""Batches of commands: contracts created and exercised, all or none, and seen the same on every interface."""

from __future__ import annotations

import pytest

from tests.rigs.servers import started
from tests.sandbox.asking import ask
from tests.sandbox.commanding import (
    COIN,
    IOU,
    RULES,
    TREE,
    Desk,
    create,
    created,
    exercise,
    iou,
    nodes,
    refusal,
    unassign,
)  # fmt: skip


def test_a_contract_is_created_in_the_ledgers_spelling(desk):
    answer = desk.submit(create(IOU, iou(desk, amount=5)), workflowId="w-1", submissionId="s-1")
    ((kind, event),) = nodes(answer)
    tree = answer.json["transactionTree"]

    assert kind == "CreatedTreeEvent"
    assert event["createArgument"] == iou(desk, amount="5.0000000000", observers=[], reference=None)
    assert (event["signatories"], event["observers"]) == ([desk.party("alice")], [])
    assert (tree["workflowId"], tree["rootNodeIds"]) == ("w-1", [0])
    assert tree["commandId"].startswith("c-")
    assert tree["synchronizerId"] == desk.sandbox.world.synchronizers[0]


def test_a_transaction_shows_in_scan_by_page_and_id_and_on_the_ledger(desk):
    before = desk.sandbox.world.updates[-1]
    argument = {"receiver": desk.party("alice"), "amount": "7.0", "openRound": desk.round}
    tap = exercise(
        RULES,
        desk.rule("Splice.AmuletRules:AmuletRules"),
        "AmuletRules_DevNet_Tap",
        argument,
    )
    tree = desk.submit(tap, workflowId="w-2").json["transactionTree"]
    update_id = tree["updateId"]
    after = {"after_migration_id": before.migration_id, "after_record_time": last_time(desk, 1)}

    (item,) = ask(f"{desk.sandbox.scan_url}/v2/updates", {"page_size": 5, "after": after}).json["transactions"]
    single = ask(f"{desk.sandbox.scan_url}/v1/updates/{update_id}").json
    (coin,) = (event for event in item["events_by_id"].values() if event["event_type"] == "created_event")
    asked = {"updateId": update_id, "requestingParties": [desk.party("alice")]}
    read = desk.post("/v2/updates/transaction-by-id", asked).json["transaction"]

    assert (item["update_id"], item["workflow_id"]) == (update_id, "w-2")
    assert {key: single[key] for key in item} == item
    assert coin["contract_id"] == tree["eventsById"]["1"]["CreatedTreeEvent"]["value"]["contractId"]
    assert (read["commandId"], read["offset"], read["recordTime"]) == (
        tree["commandId"], tree["offset"], item["record_time"],
    )  # fmt: skip


def last_time(desk, back):
    return list(desk.sandbox.world.items())[-1 - back]["record_time"]


def test_a_choice_has_its_children_below_it(desk):
    contract_id = desk.iou(amount="10.0")
    answer = desk.submit(exercise(IOU, contract_id, "Iou_Split", {"splitAmount": "2.5"}))
    (_, split), *halves = nodes(answer)

    assert (split["choice"], split["choiceArgument"]) == ("Iou_Split", {"splitAmount": "2.5000000000"})
    assert (split["consuming"], split["lastDescendantNodeId"]) == (True, 2)
    assert split["exerciseResult"] == [event["contractId"] for _, event in halves]
    assert [event["createArgument"]["amount"] for _, event in halves] == ["2.5000000000", "7.5000000000"]
    assert answer.json["transactionTree"]["rootNodeIds"] == [0]
    assert contract_id not in desk.sandbox.world.contracts.active


def test_a_contract_is_created_and_exercised_at_once(desk):
    command = {"templateId": IOU, "createArguments": iou(desk), "choice": "Iou_GetBalance"}
    answer = desk.submit({"CreateAndExerciseCommand": {**command, "choiceArgument": {"viewer": desk.party("alice")}}})
    (_, made), (_, asked) = nodes(answer)

    assert (asked["contractId"], asked["exerciseResult"], asked["consuming"]) == (
        made["contractId"], "10.0000000000", False,
    )  # fmt: skip
    assert answer.json["transactionTree"]["rootNodeIds"] == [0, 1]
    assert made["contractId"] in desk.sandbox.world.contracts.active


def test_a_batch_with_one_refused_command_changes_nothing(desk):
    kept, before = desk.iou(), desk.counts()
    chance = desk.sandbox.world.simulation.rng.getstate()

    answer = desk.submit(create(IOU, iou(desk)), exercise(IOU, kept, "Iou_Settle"), exercise(IOU, kept, "Iou_Settle"))

    assert refusal(answer) == (404, "CONTRACT_NOT_ACTIVE")
    assert desk.counts() == (before[0], before[1], before[2], before[3])
    assert desk.sandbox.world.simulation.rng.getstate() == chance
    assert desk.submit(exercise(IOU, kept, "Iou_Settle")).status == 200


def test_references_by_package_name_and_by_package_id_name_the_same_template(desk):
    answer = desk.submit(create(IOU, iou(desk)))
    exact = nodes(answer)[0][1]["templateId"]

    again = desk.submit(create(exact, iou(desk)), exercise(exact, created(answer)[0], "Iou_Settle"))

    assert nodes(again)[0][1]["templateId"] == exact


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (lambda d: create("#iou-app:Iou:Nothing", iou(d)), (404, "TEMPLATES_OR_INTERFACES_NOT_FOUND")),
        (lambda d: create(f"{'0f' * 32}:Iou:Iou", iou(d)), (404, "TEMPLATES_OR_INTERFACES_NOT_FOUND")),
        (lambda d: create("Iou", iou(d)), (400, "INVALID_ARGUMENT")),
        (lambda _: create(IOU, {}), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, amount="x")), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, amount="1.00000000001")), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, more=1)), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, amount="0.0")), (400, "UNHANDLED_EXCEPTION")),
        (lambda d: create(IOU, iou(d, issuer=d.party("bob"))), (400, "DAML_AUTHORIZATION_ERROR")),
        (lambda _: create(COIN, {}), (400, "DAML_AUTHORIZATION_ERROR")),
        (lambda _: exercise(IOU, "00ab", "Archive"), (404, "CONTRACT_NOT_FOUND")),
        (lambda d: exercise(IOU, d.iou(issuer="bob", owner="bob"), "Archive"), (404, "CONTRACT_NOT_FOUND")),
        (lambda d: exercise(IOU, d.iou(issuer="bob"), "Archive"), (400, "DAML_AUTHORIZATION_ERROR")),
        (lambda d: exercise(COIN, d.iou(), "Archive"), (400, "WRONGLY_TYPED_CONTRACT")),
        (lambda d: exercise(IOU, d.iou(), "Iou_Dance"), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: exercise(IOU, d.iou(), "Iou_Transfer"), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: exercise(IOU, d.iou(), "Iou_Split", {"splitAmount": "10.0"}), (400, "UNHANDLED_EXCEPTION")),
        (lambda d: exercise(IOU, on_its_way(d), "Archive"), (409, "CONTRACT_BEING_REASSIGNED")),
    ],
    ids=[
        "unknown template", "unknown package", "no reference", "arguments missing", "no decimal", "too many digits",
        "unknown argument", "rule broken", "signatory missing", "coin out of nothing", "unknown contract",
        "unseen contract", "observer archives", "other template", "unknown choice", "choice argument missing",
        "choice refuses", "in flight",
    ],
)  # fmt: skip
def test_what_the_rules_forbid_is_refused_and_changes_nothing(desk, command, expected):
    asked = command(desk)
    before = desk.counts()

    answer = desk.submit(asked)

    assert refusal(answer) == expected
    assert answer.json["correlationId"]
    assert desk.counts() == before


def on_its_way(desk):
    contract_id = desk.iou()
    desk.reassign(unassign(contract_id, *desk.sandbox.world.synchronizers[:2]))
    return contract_id


def test_only_who_may_act_and_read_submits(desk):
    asked = [
        ("alice", {"actAs": ["alice", "bob"]}), ("alice", {"readAs": ["bob"]}), ("alice", {"userId": "bob"}),
        ("mallory", {"actAs": ["mallory"]}), ("validator_operator", {}),
    ]  # fmt: skip
    for user, members in asked:
        named = {name: [desk.party(one) for one in value] for name, value in members.items() if name != "userId"}
        body = {"commands": [create(IOU, iou(desk))], "commandId": "c", "actAs": [desk.party("alice")]}

        answer = desk.post(TREE, {**body, **members, **named}, user=user)

        assert (answer.status, answer.json["grpcCodeValue"]) == (403, 7), (user, members)


def test_a_batch_runs_where_its_contracts_are(desk):
    here, there = desk.sandbox.world.synchronizers[:2]
    elsewhere = desk.iou(synchronizerId=there)

    away = desk.submit(
        create(IOU, iou(desk)), exercise(IOU, elsewhere, "Iou_Transfer", {"newOwner": desk.party("bob")})
    )
    wrong = desk.submit(exercise(IOU, desk.iou(), "Iou_Settle"), synchronizerId=there)
    both = desk.submit(exercise(IOU, created(away)[0], "Archive"), exercise(IOU, desk.iou(), "Archive"))
    unknown = desk.submit(create(IOU, iou(desk)), synchronizerId="nowhere")

    assert away.json["transactionTree"]["synchronizerId"] == there
    assert [desk.sandbox.world.contracts.active[one].synchronizer_id for one in created(away)] == [there, there]
    assert refusal(wrong) == refusal(both) == (400, "INVALID_PRESCRIBED_SYNCHRONIZER_ID")
    assert refusal(unknown) == (400, "NOT_CONNECTED_TO_SYNCHRONIZER")
    assert here != there


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"hostile": True, "updates": 50}, (503, "SYNCHRONIZER_NOT_READY")),
        ({"updates": 0}, (503, "SYNCHRONIZER_NOT_READY")),
    ],
    ids=["hostile", "empty"],
)
def test_a_ledger_that_takes_no_commands_says_so(options, expected):
    with started(**options) as sandbox:
        party = sandbox.world.accounts.get("alice").primary_party
        body = {"commands": [create(IOU, {})], "commandId": "c", "actAs": [party]}
        assert refusal(Desk(sandbox).post(TREE, body)) == expected
