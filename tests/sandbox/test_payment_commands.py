"""Commands that pay: coin is transferred, locked, offered and sent by consent, and none is lost or made."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.configuration import transfer_config
from tests.hostile.serving import started
from tests.sandbox.asking import ask
from tests.sandbox.commanding import (
    ACCEPTED,
    IOU,
    LOCKED,
    NAMES,
    OFFER,
    RULES,
    TREE,
    Desk,
    by_key,
    create,
    created,
    exercise,
    holdings,
    nodes,
    offer,
    refusal,
    transfer,
)  # fmt: skip


@pytest.fixture(scope="module")
def desk():
    with start(seed=7, updates=800) as sandbox:
        yield Desk(sandbox)


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
    with started(**options) as sandbox:
        party = sandbox.world.accounts.get("alice").primary_party
        body = {"commands": [create(IOU, {})], "commandId": "c", "actAs": [party]}
        assert refusal(Desk(sandbox).post(TREE, body)) == expected
