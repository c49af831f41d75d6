"""Batches of commands: contracts created and exercised, all or none, and seen the same on every interface."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ledgerframes.sandbox.http.responses import blob
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.configuration import transfer_config
from tests.sandbox.asking import ask
from tests.sandbox.commanding import (
    ACCEPTED,
    COIN,
    IOU,
    LOCKED,
    NAMES,
    OFFER,
    RULES,
    TREE,
    Desk,
    create,
    created,
    exercise,
    nodes,
    refusal,
    unassign,
)  # fmt: skip


@pytest.fixture(scope="module")
def desk():
    with start(seed=7, updates=800) as sandbox:
        yield Desk(sandbox)


def iou(desk, **members):
    alice = desk.party("alice")
    return {"issuer": alice, "owner": alice, "currency": "USD", "amount": "10.0", **members}


def offer(desk, *, amount="5.0", **members):
    """An offer of alice's to bob."""
    return {
        "sender": desk.party("alice"), "receiver": desk.party("bob"), "dso": desk.sandbox.world.simulation.parties.dso,
        "amount": {"amount": amount, "unit": "AMULETUNIT"}, "description": "", "expiresAt": "2030-01-01T00:00:00Z",
        "trackingId": f"t-{next(desk.numbers)}", **members,
    }  # fmt: skip


def holdings(desk, user):
    """A party's locked and unlocked coin at the newest snapshot."""
    party = desk.party(user)
    newest = desk.sandbox.world.updates[-1]
    body = {"migration_id": newest.migration_id, "record_time": "2100-01-01T00:00:00Z", "owner_party_ids": [party]}
    url = f"{desk.sandbox.validator_url}/v0/scan-proxy/holdings/summary"
    answer = ask(url, {**body, "record_time_match": "at_or_before"}, token=desk.sandbox.token(user))
    found = next(iter(answer.json["summaries"]), {})
    return tuple(Decimal(found.get(f"total_{kind}_coin", 0)) for kind in ("locked", "unlocked"))


def transfer(desk, coins, outputs, *, sender="alice", lock=None, ratio="0.0"):
    terms = {
        "sender": desk.party(sender), "provider": desk.party(sender),
        "inputs": [{"tag": "InputAmulet", "value": one} for one in coins],
        "outputs": [
            {"receiver": desk.party(user), "amount": amount, "receiverFeeRatio": ratio, "lock": lock}
            for user, amount in outputs
        ],
    }  # fmt: skip
    argument = {"transfer": terms, "context": {"openMiningRound": desk.round, "validatorRights": []}}
    return exercise(RULES, desk.rule("Splice.AmuletRules:AmuletRules"), "AmuletRules_Transfer", argument)


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
    tree = desk.submit(create(IOU, iou(desk)), workflowId="w-2").json["transactionTree"]
    update_id = tree["updateId"]
    after = {"after_migration_id": before.migration_id, "after_record_time": last_time(desk, 1)}

    (item,) = ask(f"{desk.sandbox.scan_url}/v2/updates", {"page_size": 5, "after": after}).json["transactions"]
    single = ask(f"{desk.sandbox.scan_url}/v1/updates/{update_id}").json
    (event,) = item["events_by_id"].values()
    asked = {"updateId": update_id, "requestingParties": [desk.party("alice")]}
    read = desk.post("/v2/updates/transaction-by-id", asked).json["transaction"]

    assert (item["update_id"], item["workflow_id"]) == (update_id, "w-2")
    assert {key: single[key] for key in item} == item
    assert event["contract_id"] == tree["eventsById"]["0"]["CreatedTreeEvent"]["value"]["contractId"]
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


def test_a_batch_settles_the_legs_that_its_operator_owns(desk):
    legs = [desk.iou(), desk.iou()]
    batch = {"operator": desk.party("alice"), "legs": legs}
    command = {"templateId": "#iou-app:Settlement:Batch", "createArguments": batch, "choice": "Batch_Settle"}

    answer = desk.submit({"CreateAndExerciseCommand": {**command, "choiceArgument": {"legCount": "2"}}})

    assert len(nodes(answer)[1][1]["exerciseResult"]["settled"]) == 2
    assert len(nodes(answer)) == 6


def test_references_by_package_name_and_by_package_id_name_the_same_template(desk):
    answer = desk.submit(create(IOU, iou(desk)))
    exact = nodes(answer)[0][1]["templateId"]

    again = desk.submit(create(exact, iou(desk)), exercise(exact, created(answer)[0], "Iou_Settle"))

    assert nodes(again)[0][1]["templateId"] == exact


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (lambda d: create("#iou-app:Iou:Nothing", iou(d)), (404, "TEMPLATES_OR_INTERFACES_NOT_FOUND")),
        (lambda d: create("#nothing:Iou:Iou", iou(d)), (404, "TEMPLATES_OR_INTERFACES_NOT_FOUND")),
        (lambda d: create(f"{'0f' * 32}:Iou:Iou", iou(d)), (404, "TEMPLATES_OR_INTERFACES_NOT_FOUND")),
        (lambda d: create("Iou", iou(d)), (400, "INVALID_ARGUMENT")),
        (lambda _: create(IOU, {}), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda _: create(IOU, []), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, amount="x")), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, amount="1.00000000001")), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, amount=None)), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, amount=True)), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, more=1)), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: create(IOU, iou(d, amount="0.0")), (400, "UNHANDLED_EXCEPTION")),
        (lambda d: create(IOU, iou(d, issuer=d.party("bob"))), (400, "DAML_AUTHORIZATION_ERROR")),
        (lambda _: create(COIN, {}), (400, "DAML_AUTHORIZATION_ERROR")),
        (lambda _: exercise(IOU, "00ab", "Archive"), (404, "CONTRACT_NOT_FOUND")),
        (lambda d: exercise(IOU, d.iou(issuer="bob", owner="bob"), "Archive"), (404, "CONTRACT_NOT_FOUND")),
        (lambda d: exercise(IOU, d.iou(issuer="bob"), "Archive"), (400, "DAML_AUTHORIZATION_ERROR")),
        (lambda d: exercise(IOU, d.iou(owner="bob"), "Iou_Settle"), (400, "DAML_AUTHORIZATION_ERROR")),
        (lambda d: exercise(COIN, d.iou(), "Archive"), (400, "WRONGLY_TYPED_CONTRACT")),
        (lambda d: exercise(IOU, d.iou(), "Iou_Dance"), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: exercise(IOU, d.iou(), "Iou_Transfer"), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda d: exercise(IOU, d.iou(), "Iou_Split", {"splitAmount": "10.0"}), (400, "UNHANDLED_EXCEPTION")),
        (lambda d: exercise(IOU, on_its_way(d), "Archive"), (409, "CONTRACT_BEING_REASSIGNED")),
        (lambda _: by_key(IOU, {"_1": "a", "_2": "b"}, "Archive"), (400, "COMMAND_PREPROCESSING_FAILED")),
        (lambda _: by_key(OFFER, {"_1": "a", "_2": "b"}, "Archive"), (404, "CONTRACT_KEY_NOT_FOUND")),
    ],
    ids=[
        "unknown template", "unknown package", "unknown package id", "no reference", "arguments missing", "a list",
        "no decimal", "too many digits", "null amount", "boolean amount", "unknown argument", "rule broken",
        "signatory missing", "coin out of nothing", "unknown contract", "unseen contract", "observer archives",
        "issuer settles", "other template", "unknown choice", "choice argument missing", "choice refuses", "in flight",
        "template without keys", "unknown key",
    ],
)  # fmt: skip
def test_what_the_rules_forbid_is_refused_and_changes_nothing(desk, command, expected):
    asked = command(desk)
    before = desk.counts()

    answer = desk.submit(asked)

    assert refusal(answer) == expected
    assert answer.json["correlationId"]
    assert desk.counts() == before


def by_key(template, key, choice, argument=None):
    body = {"templateId": template, "contractKey": key, "choice": choice, "choiceArgument": argument or {}}
    return {"ExerciseByKeyCommand": body}


def on_its_way(desk):
    contract_id = desk.iou()
    desk.reassign(unassign(contract_id, *desk.sandbox.world.synchronizers[:2]))
    return contract_id


@pytest.mark.parametrize(
    "change",
    [
        {"commands": []},
        {"commands": [{}]},
        {"commands": [{"DanceCommand": {}}]},
        {"commands": [{"CreateCommand": {"templateId": IOU}}]},
        {"commands": [{"CreateCommand": 7}]},
        {"commandId": None},
        {"actAs": []},
        {"actAs": ["a#b"]},
        {"deduplicationPeriod": {"Forever": {}}},
        {"deduplicationPeriod": {"DeduplicationDuration": {"value": {"seconds": -1}}}},
        {"minLedgerTimeAbs": "tomorrow"},
        {"disclosedContracts": [{}]},
    ],
    ids=str,
)
def test_a_batch_that_cannot_be_read_is_refused_in_plain_text(desk, change):
    body = {"commands": [create(IOU, iou(desk))], "commandId": "c", "actAs": [desk.party("alice")], **change}
    answer = desk.post(TREE, body)

    assert (answer.status, answer.content_type) == (400, "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    ("user", "members"),
    [
        ("alice", {"actAs": ["bob"]}),
        ("alice", {"actAs": ["alice", "bob"]}),
        ("alice", {"readAs": ["bob"]}),
        ("alice", {"userId": "bob"}),
        ("mallory", {"actAs": ["mallory"]}),
        ("validator_operator", {}),
    ],
    ids=["as another", "as another too", "reads another's", "as another user", "deactivated", "reads everything"],
)
def test_only_who_may_act_and_read_submits(desk, user, members):
    named = {name: [desk.party(one) for one in value] for name, value in members.items() if name != "userId"}
    body = {"commands": [create(IOU, iou(desk))], "commandId": "c", "actAs": [desk.party("alice")]}

    answer = desk.post(TREE, {**body, **members, **named}, user=user)

    assert (answer.status, answer.json["grpcCodeValue"]) == (403, 7)


@pytest.mark.parametrize(
    ("period", "second"),
    [
        (None, 409),
        ({"Empty": {}}, 409),
        ({"DeduplicationDuration": {"value": {"seconds": 60, "nanos": 0}}}, 409),
        ({"DeduplicationDuration": {"value": {"seconds": 0, "nanos": 1_000_000}}}, 200),
        ({"DeduplicationOffset": {"value": 1}}, 409),
        ({"DeduplicationOffset": {"value": 10**9}}, 200),
    ],
    ids=["no period", "empty", "a minute", "a millisecond", "since long", "since later"],
)
def test_the_same_change_is_carried_out_once_within_its_period(desk, period, second):
    command_id = f"once-{next(desk.numbers)}"
    first = desk.submit(create(IOU, iou(desk)), commandId=command_id, deduplicationPeriod=period)
    desk.iou()
    again = desk.submit(create(IOU, iou(desk)), commandId=command_id, deduplicationPeriod=period)
    other = desk.submit(create(IOU, iou(desk)), commandId=f"{command_id}x", deduplicationPeriod=period)

    assert (first.status, again.status, other.status) == (200, second, 200)


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


def test_the_ledger_time_waits_up_to_a_minute(desk):
    soon = desk.submit(create(IOU, iou(desk)), minLedgerTimeRel={"seconds": 30, "nanos": 0})
    later = desk.submit(create(IOU, iou(desk)), minLedgerTimeAbs="2100-01-01T00:00:00Z")
    tree = soon.json["transactionTree"]

    assert tree["effectiveAt"] > tree["recordTime"]
    assert refusal(later) == (409, "LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND")


def test_a_disclosed_contract_may_be_used_by_who_does_not_see_it(desk):
    contract_id = desk.iou(issuer="bob", owner="bob")
    ask_for = exercise(IOU, contract_id, "Iou_GetBalance", {"viewer": desk.party("alice")})
    disclosed = {"templateId": IOU, "contractId": contract_id, "synchronizerId": desk.sandbox.world.synchronizers[0]}

    seen = desk.submit(ask_for, disclosedContracts=[{**disclosed, "createdEventBlob": blob(contract_id)}])
    spoilt = desk.submit(ask_for, disclosedContracts=[{**disclosed, "createdEventBlob": "AAAA"}])

    assert nodes(seen)[0][1]["exerciseResult"] == "10.0000000000"
    assert refusal(spoilt) == (400, "INVALID_ARGUMENT")
    assert refusal(desk.submit(ask_for)) == (404, "CONTRACT_NOT_FOUND")


def result_of(answer):
    return next(event["exerciseResult"] for kind, event in nodes(answer) if kind == "ExercisedTreeEvent")


@pytest.fixture
def charging(desk):
    """A desk whose open rounds charge for transfers."""
    rounds = list(desk.sandbox.world.rounds)
    before = [one.payload["transferConfigUsd"] for one in rounds]
    for one in rounds:
        one.payload["transferConfigUsd"] = transfer_config(charged=True)
    yield desk
    for one, terms in zip(rounds, before, strict=True):
        one.payload["transferConfigUsd"] = terms


def test_a_transfer_by_command_pays_the_fees_of_its_round(charging):
    both = charging.user_for("alice", "bob")
    act_as = [charging.party("alice"), charging.party("bob")]
    payload = charging.sandbox.world.rounds[0].payload
    price, number = Decimal(payload["amuletPrice"]), int(payload["round"]["number"])
    coin, total = charging.coin("2000.0"), charging.sandbox.world.coins.units

    paid = charging.submit(transfer(charging, [coin], [("bob", "30.25")]), user=both, act_as=act_as)
    summary = result_of(paid)["summary"]

    create = (Decimal("0.03") / price).quantize(Decimal("1e-10"))
    stepped = (Decimal("30.25") * Decimal("0.01")).quantize(Decimal("1e-10"))
    assert [Decimal(one) for one in summary["outputFees"]] == [create + stepped]
    assert Decimal(summary["senderChangeFee"]) == create
    assert Decimal(summary["holdingFees"]) == 0  # the coin is of this round
    assert Decimal(summary["senderChangeAmount"]) == Decimal("1969.75") - 2 * create - stepped
    burned = 2 * create + stepped
    assert charging.sandbox.world.coins.units == total - int(burned * 10**10)
    coupons = [event["createArgument"] for kind, event in nodes(paid)
               if kind == "CreatedTreeEvent" and "Coupon" in event["templateId"]]  # fmt: skip
    assert [Decimal(one["amount"]) for one in coupons] == [burned, burned]
    assert {one["round"]["number"] for one in coupons} == {str(number)}


def test_the_receiver_pays_its_share_of_the_fee(charging):
    both = charging.user_for("alice", "bob")
    act_as = [charging.party("alice"), charging.party("bob")]
    before = holdings(charging, "bob")
    coin = charging.coin("2000.0")

    paid = charging.submit(transfer(charging, [coin], [("bob", "30.25")], ratio="1.0"), user=both, act_as=act_as)
    fee = Decimal(result_of(paid)["summary"]["outputFees"][0])

    assert fee > 0
    assert holdings(charging, "bob")[1] == before[1] + Decimal("30.25") - fee


@pytest.mark.parametrize(
    ("amount", "ratio", "reason"),
    [
        ("2000", "0.0", "short of the outputs and their fees"),
        ("0.0000000001", "1.0", "less the fee that its receiver pays"),
        ("0", "0.0", "every output is above zero, not 0.0000000000"),
        ("1", "1.5", "a share of the fee from 0 to 1, not 1.5000000000"),
        ("1", "-0.5", "a share of the fee from 0 to 1, not -0.5000000000"),
    ],
)
def test_a_transfer_that_cannot_pay_its_fees_is_refused(charging, amount, ratio, reason):
    both, coin = charging.user_for("alice", "bob"), charging.coin("2000.0")
    act_as, before = [charging.party("alice"), charging.party("bob")], charging.counts()

    answer = charging.submit(transfer(charging, [coin], [("bob", amount)], ratio=ratio), user=both, act_as=act_as)

    assert refusal(answer) == (400, "UNHANDLED_EXCEPTION")
    assert reason in answer.json["cause"]
    assert charging.counts() == before


def test_coin_is_paid_locked_and_unlocked_without_loss(desk):
    both, before = desk.user_for("alice", "bob"), (holdings(desk, "alice"), holdings(desk, "bob"))
    act_as = [desk.party("alice"), desk.party("bob")]
    coin, total = desk.coin("100.0"), desk.sandbox.world.coins.units
    paid = desk.submit(transfer(desk, [coin], [("bob", "30.25")]), user=both, act_as=act_as)
    to_bob, change = created(paid)
    lock = {"holders": [desk.party("bob")], "expiresAt": "2030-01-01T00:00:00Z", "optContext": None}
    locking = desk.submit(transfer(desk, [change], [("alice", "69.75")], lock=lock), user=both, act_as=act_as)
    (locked,) = created(locking)
    during = holdings(desk, "alice"), holdings(desk, "bob")
    early = desk.submit(exercise(LOCKED, locked, "LockedAmulet_OwnerExpireLock", {"openRoundCid": desk.round}))
    open_round = {"openRoundCid": desk.round}
    freed = desk.submit(exercise(LOCKED, locked, "LockedAmulet_Unlock", open_round), user=both, act_as=act_as)

    assert during[0] == (before[0][0] + Decimal("69.75"), before[0][1])
    assert during[1] == (before[1][0], before[1][1] + Decimal("30.25"))
    assert refusal(early) == (400, "UNHANDLED_EXCEPTION")
    assert holdings(desk, "alice") == (before[0][0], before[0][1] + Decimal("69.75"))
    assert desk.sandbox.world.coins.units == total
    assert desk.sandbox.world.contracts.active[to_bob].owner == desk.party("bob")
    assert len(created(freed)) == 1


@pytest.mark.parametrize(
    ("coins", "amount"),
    [(1, "100.0000000001"), (1, "0.0"), (1, "-1.0"), (2, "150.0")],
    ids=["more than there is", "nothing", "less than nothing", "a coin twice"],
)
def test_coin_is_not_made_by_paying(desk, coins, amount):
    command = transfer(desk, [desk.coin("100.0")] * coins, [("alice", amount)])
    before = desk.counts()

    assert refusal(desk.submit(command)) == (400, "UNHANDLED_EXCEPTION")
    assert desk.counts() == before


def test_another_party_s_coin_cannot_be_spent(desk):
    both = desk.user_for("alice", "bob")
    command = transfer(desk, [desk.coin(owner="bob")], [("alice", "1.0")])

    answer = desk.submit(command, user=both, act_as=[desk.party("alice"), desk.party("bob")])

    assert refusal(answer) == (400, "UNHANDLED_EXCEPTION")


def test_an_offer_is_listed_accepted_and_paid(desk):
    payload = offer(desk, amount="5.0")
    (offered,) = created(desk.submit(create(OFFER, payload)))
    url = f"{desk.sandbox.validator_url}/v0/wallet/transfer-offers"

    def listed(user):
        return [one["contract_id"] for one in ask(url, token=desk.sandbox.token(user)).json["offers"]]

    assert offered in listed("alice")
    assert offered in listed("bob")
    assert refusal(desk.submit(exercise(OFFER, offered, "TransferOffer_Accept"))) == (400, "DAML_AUTHORIZATION_ERROR")
    key = {"_1": payload["sender"], "_2": payload["trackingId"]}
    (accepted,) = created(desk.submit(by_key(OFFER, key, "TransferOffer_Accept"), user="bob"))
    assert offered not in listed("bob")
    before = holdings(desk, "bob")
    argument = {"inputs": [desk.coin("8.0")], "walletProvider": desk.party("alice")}
    paid = desk.submit(exercise(ACCEPTED, accepted, "AcceptedTransferOffer_Complete", argument))

    assert len(created(paid)) == 2
    assert holdings(desk, "bob")[1] == before[1] + 5
    assert accepted not in desk.sandbox.world.contracts.active


@pytest.mark.parametrize(
    ("user", "choice"),
    [("bob", "TransferOffer_Reject"), ("alice", "TransferOffer_Withdraw")],
    ids=["reject", "withdraw"],
)
def test_an_offer_is_declined(desk, user, choice):
    payload = offer(desk)
    (offered,) = created(desk.submit(create(OFFER, payload)))

    ((_, event),) = nodes(desk.submit(exercise(OFFER, offered, choice), user=user))

    assert event["exerciseResult"] == {"trackingInfo": {"trackingId": payload["trackingId"]}}
    assert offered not in desk.sandbox.world.contracts.active


def test_an_offer_that_ran_out_is_not_accepted(desk):
    (offered,) = created(desk.submit(create(OFFER, offer(desk, expiresAt="2020-01-01T00:00:00Z"))))

    assert (
        refusal(desk.submit(exercise(OFFER, offered, "TransferOffer_Accept"), user="bob"))[1] == "UNHANDLED_EXCEPTION"
    )


def test_a_created_offer_tells_its_key(desk):
    payload = offer(desk)
    ((_, event),) = nodes(desk.submit(create(OFFER, payload)))

    assert event["contractKey"] == {"_1": payload["sender"], "_2": payload["trackingId"]}
    assert event["contractKeyHash"]


def test_a_name_that_is_asked_for_is_listed(desk):
    argument = {"name": "alice-2.unverified.cns", "url": "", "description": "", "requester": desk.party("alice")}
    rules = desk.rule("Splice.Ans:AnsRules")
    (entry,) = created(desk.submit(exercise(NAMES, rules, "AnsRules_RequestEntry", argument)))
    url = f"{desk.sandbox.validator_url}/v0/entry/all"
    entries = ask(url, token=desk.sandbox.token("alice")).json["entries"]

    assert {one["contractId"]: one["name"] for one in entries}[entry] == "alice-2.unverified.cns"
    bad = exercise(NAMES, rules, "AnsRules_RequestEntry", {**argument, "name": "Alice"})
    assert refusal(desk.submit(bad)) == (400, "UNHANDLED_EXCEPTION")


def test_coin_is_sent_to_who_consented_to_it_beforehand(desk):
    consent = {"receiver": desk.party("ivan"), "provider": desk.party("ivan"), "expiresAt": "2030-01-01T00:00:00Z"}
    rules, choice = desk.rule("Splice.AmuletRules:AmuletRules"), "AmuletRules_CreateTransferPreapproval"
    (given,) = created(desk.submit(exercise(RULES, rules, choice, consent), user="ivan"))
    template = "#splice-amulet:Splice.AmuletRules:TransferPreapproval"
    url = f"{desk.sandbox.validator_url}/v0/scan-proxy/transfer-preapprovals/by-party/{desk.party('ivan')}"
    found = ask(url, token=desk.sandbox.token("alice")).json["transfer_preapproval"]["contract"]
    before = holdings(desk, "ivan")
    argument = {"sender": desk.party("alice"), "inputs": [desk.coin()], "amount": "7.0", "openRound": desk.round}
    desk.submit(exercise(template, found["contract_id"], "TransferPreapproval_Send", argument))
    desk.submit(exercise(template, given, "TransferPreapproval_Cancel", {"p": desk.party("ivan")}), user="ivan")

    assert found["contract_id"] == given
    assert holdings(desk, "ivan")[1] == before[1] + 7
    assert ask(url, token=desk.sandbox.token("alice")).status == 404


def test_the_ledger_lives_on_after_commands_without_touching_what_they_made():
    with start(seed=5, updates=400) as sandbox:
        desk = Desk(sandbox)
        made = [desk.iou(amount="3"), desk.coin(), *created(desk.submit(create(OFFER, offer(desk))))]
        sandbox.advance(updates=2_000)

        assert all(one in sandbox.world.contracts.active for one in made)
        assert sandbox.world.updates == sorted(sandbox.world.updates)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"hostile": True, "updates": 50}, (501, "UNSUPPORTED_OPERATION")),
        ({"updates": 0}, (503, "SYNCHRONIZER_NOT_READY")),
    ],
    ids=["hostile", "empty"],
)
def test_a_ledger_that_takes_no_commands_says_so(options, expected):
    with start(**options) as sandbox:
        party = sandbox.world.accounts.get("alice").primary_party
        body = {"commands": [create(IOU, {})], "commandId": "c", "actAs": [party]}
        assert refusal(Desk(sandbox).post(TREE, body)) == expected
