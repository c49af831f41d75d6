"""The simulated economy: its books balance to the last digit."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world.amounts import units
from ledgerframes.sandbox.world.calendar import updates_of_days
from tests.sandbox.economy_books import KINDS, PHASES, REWARD, Books, entity_of, preorder, round_number

UNITS = 10**10
CHOICES = {
    "AmuletRules_Transfer", "AmuletRules_BuyMemberTraffic", "AmuletRules_CreateTransferPreapproval",
    "TransferPreapproval_Renew", "SubscriptionInitialPayment_Collect", "SubscriptionPayment_Collect",
    "AmuletRules_DevNet_Tap", "AmuletRules_Mint", "Amulet_Expire", "LockedAmulet_ExpireAmulet",
    "DsoRules_ClaimExpiredRewards", "DsoRules_ConfirmAction", "DsoRules_ExecuteConfirmedAction",
    "AmuletRules_MergeUnclaimedRewards", "AmuletRules_ConvertFeaturedAppActivityMarkers",
    "AmuletRules_AdvanceOpenMiningRounds", "AmuletRules_MiningRound_StartIssuing", "AmuletRules_MiningRound_Close",
    "AmuletRules_MiningRound_Archive", "AppRewardCoupon_DsoExpire", "ValidatorRewardCoupon_DsoExpire",
    "SvRewardCoupon_DsoExpire", "ValidatorFaucetCoupon_DsoExpire", "ValidatorLivenessActivityRecord_DsoExpire",
    "SvRewardCoupon_ArchiveAsBeneficiary", "ValidatorRewardCoupon_ArchiveAsValidator",
    "ValidatorLicense_ReceiveFaucetCoupon", "ValidatorLicense_RecordValidatorLivenessActivity",
    "LockedAmulet_Unlock", "LockedAmulet_OwnerExpireLock", "TransferFactory_Transfer", "TransferPreapproval_Send",
    "TransferInstruction_Accept", "TransferInstruction_Reject", "TransferInstruction_Withdraw",
    "EventLog_HoldingsChange", "FeaturedAppRight_CreateActivityMarker", "Rules_Issue", "Rules_Redeem", "Rules_Settle",
}  # fmt: skip


@pytest.fixture(scope="module")
def books(economy_items):
    return Books().read(economy_items)


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    "arguments",
    [
        {"seed": 6, "updates": 1_500, "synchronizers": 12, "migrations": 7},
        {"seed": 4, "updates": 0},
        {"seed": 4, "updates": 1},
        {"seed": 3, "updates": 1_600, "reward_version": "traffic"},
        {"seed": 3, "updates": updates_of_days(9), "days": 9},
        {"seed": 5, "updates": 1_500, "synchronizers": 1, "migrations": 1},
    ],
    ids=["many of each", "empty", "one update", "traffic", "9 days", "one of each"],
)
def test_every_update_balances_and_those_after_them(arguments):
    world = generate(**arguments)
    before = len(world.updates)
    world.advance(60)

    books = Books().read(world.items())

    assert (before, len(world.updates)) == (arguments["updates"], arguments["updates"] + 60)
    assert len(world.synchronizers) == arguments.get("synchronizers", 3)
    assert books.supply * UNITS == world.coins.units
    assert ("reward_version" in arguments) == (REWARD in {entity for entity, _ in books.created.values()})


def test_the_history_has_everything_that_the_economy_knows(books, economy):
    assert books.supply * UNITS == economy.coins.units
    assert set(books.seen) >= CHOICES
    assert {entity for coupons in books.coupons.values() for entity, _ in coupons.values()} == KINDS
    payloads = [payload for coupons in books.coupons.values() for _, payload in coupons.values()]
    assert {payload["featured"] for payload in payloads if "featured" in payload} == {True, False}
    assert {payload["beneficiary"] is None for payload in payloads if "featured" in payload} == {True, False}
    assert {payload["beneficiary"] == payload["sv"] for payload in payloads if "sv" in payload} == {True, False}


def test_transfers_cost_something_until_a_date_and_nothing_from_then_on(books):
    rounds = [phases["Open"] for _, phases in sorted(books.phases.items())]
    charged = [Decimal(one["transferConfigUsd"]["createFee"]["fee"]) > 0 for one in rounds]

    assert charged == sorted(charged, reverse=True)
    assert set(charged) == {True, False}
    assert {charged for charged, _ in books.transfers} == {True, False}
    for charged, summary in books.transfers:
        paid = [summary["holdingFees"], summary["senderChangeFee"], *summary["outputFees"]]
        assert charged or not any(map(Decimal, paid))
    assert all(Decimal(one["transferConfigUsd"]["holdingFee"]["rate"]) > 0 for one in rounds)
    assert any(Decimal(summary["holdingFees"]) for charged, summary in books.transfers if charged)


def test_rounds_pass_through_every_phase(books, economy):
    phases = [list(one) for _, one in sorted(books.phases.items())]

    assert phases[0] == list(PHASES)
    assert [len(one) for one in phases] == sorted((len(one) for one in phases), reverse=True)
    assert sum(len(one) == 1 for one in phases) == 3
    assert [round_number(one.payload) for one in economy.rounds] == list(range(len(phases) - 3, len(phases)))
    assert economy.earliest_round == 3


def test_a_coupon_ends_once_claimed_while_its_round_issues_or_expired_after_it(books):
    made = {contract_id for coupons in books.coupons.values() for contract_id in coupons}

    assert set(books.outcomes) | set(books.active) >= made
    assert set(books.outcomes.values()) == {"claimed", "expired"}
    assert not set(books.outcomes) & set(books.active)
    gone = [at for at, phases in books.phases.items() if len(phases) == 4 and not still_closed(books, at)]
    assert gone
    assert all(books.coupons[at].keys() <= books.outcomes.keys() for at in gone)


def still_closed(books, at):
    """Whether the closed round is still there."""
    entity = "Splice.Round:ClosedMiningRound"
    return any(
        entity_of(event) == entity and round_number(event["create_arguments"]) == at for event in books.active.values()
    )


def test_licenses_and_reward_states_count_what_was_given(books):
    states = {"license": 0, "sv": 0}
    given = {}
    for coupons in books.coupons.values():
        for entity, payload in coupons.values():
            if entity.endswith(":SvRewardCoupon"):
                given.setdefault(payload["sv"].partition("::")[0], []).append(round_number(payload))
    for event in books.active.values():
        payload = event["create_arguments"]
        if entity_of(event) == "Splice.ValidatorLicense:ValidatorLicense" and payload["faucetState"] is not None:
            rounds, state = books.faucets[payload["validator"]], payload["faucetState"]
            assert rounds == sorted(set(rounds))
            assert [state["firstReceivedFor"]["number"], state["lastReceivedFor"]["number"]] == [
                str(rounds[0]), str(rounds[-1]),
            ]  # fmt: skip
            assert int(state["numCouponsMissed"]) == rounds[-1] - rounds[0] + 1 - len(rounds)
            states["license"] += 1
        if entity_of(event) == "Splice.DSO.SvState:SvRewardState":
            rounds, state = given[payload["svName"]], payload["state"]
            assert int(state["lastRoundCollected"]["number"]) == max(rounds)
            assert int(state["numRoundsCollected"]) == len(set(rounds))
            assert int(state["numRoundsMissed"]) == max(rounds) + 1 - len(set(rounds))
            assert int(state["numCouponsIssued"]) == len(rounds)
            states["sv"] += 1
    assert states["license"] > 5
    assert states["sv"] == 4


def test_markers_become_coupons_or_wait(books):
    markers = {cid for cid, (entity, _) in books.created.items() if entity.endswith(":FeaturedAppActivityMarker")}

    assert len(books.converted) == len(set(books.converted)) > 10
    assert markers == set(books.converted) | (markers & set(books.active))


def test_holdings_of_two_instruments_move_by_the_token_standard(economy_items):
    instruments, held = set(), {}
    for item in economy_items:
        for event in preorder(item) if "events_by_id" in item else ():
            if event.get("choice") == "TransferFactory_Transfer":
                transfer = event["choice_argument"]["transfer"]
                assert event["interface_id"].endswith(":Splice.Api.Token.TransferInstructionV1:TransferFactory")
                assert transfer["instrumentId"]["admin"] == event["choice_argument"]["expectedAdmin"]
                instruments.add(transfer["instrumentId"]["id"])
            if event["event_type"] == "created_event" and entity_of(event) == "Harbor.Token:Holding":
                payload = event["create_arguments"]
                held[event["contract_id"]] = (payload["owner"], Decimal(payload["amount"]))
            if event.get("choice") == "EventLog_HoldingsChange":
                check_log(event["choice_argument"], held)
    assert instruments == {"Amulet", "HARBOR-SILVER"}


def check_log(log, held):
    """The legs of a reported change are the change of the account's holdings."""
    owner = log["account"]["owner"]
    came = sum(held[one][1] for one in log["outputHoldingCids"])
    went = sum(held[one][1] for one in log["inputHoldingCids"])
    assert all(held[one][0] == owner for one in (*log["outputHoldingCids"], *log["inputHoldingCids"]))
    signs = {"SenderSide": -1, "ReceiverSide": 1}
    legs = sum(signs[one["side"]] * Decimal(one["amount"]) for one in log["transferLegSides"])
    kind = log["extraArgs"]["meta"]["values"].get("splice.lfdecentralizedtrust.org/tx-kind")
    assert came - went == legs or kind in ("mint", "burn")


@pytest.mark.parametrize(
    ("text", "amount"),
    [("0E-10", 0), ("-1.43E-8", -143), ("1", UNITS), ("12.5000000000", 125 * 10**9), ("-0.0000000001", -1)],
)
def test_amounts_are_read_in_every_spelling(text, amount):
    assert units(text) == amount
