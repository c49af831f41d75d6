"""App rewards of the second version: what a round's providers may mint, how it is shared, and how it ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal

import pytest

from ledgerframes.sandbox.world import timestamps
from tests.economics.books import OPEN, steps
from tests.sandbox import economy_books
from tests.sandbox.economy_books import REWARD, by_traffic, entity_of, round_number, rounded

V1 = "Splice.Amulet:AppRewardCoupon"
CALCULATE = "Splice.Amulet.RewardAccountingV2:CalculateRewardsV2"


@pytest.fixture(scope="module")
def made(day_books):
    """Every coupon of the second version, by id."""
    return {contract: life for contract, life in day_books.lives.items() if life.entity == REWARD}


@pytest.fixture(scope="module")
def opened(day_books):
    """The payloads of open rounds, by number."""
    return {round_number(life.payload): life.payload for life in day_books.of(OPEN)}


def creates(below):
    return [one["create_arguments"] for one in below if one["event_type"] == "created_event"]


def test_one_range_has_both_kinds_and_the_books_balance(day, day_items, day_books, opened):
    books = economy_books.Books().read(day_items)
    assert books.supply * 10**10 == day.coins.units
    assert {charged for charged, _ in books.transfers} == {True, False}
    assert set(books.outcomes.values()) == {"claimed", "expired"}

    kinds = Counter((one.entity, by_traffic(opened[round_number(one.payload)])) for one in day_books.of(V1, REWARD))
    assert set(kinds) == {(V1, False), (REWARD, True)}
    assert min(kinds.values()) > 30


def test_a_round_is_calculated_when_it_closes_and_gives_a_coupon_per_provider(day_books, made, opened):
    per_round = defaultdict(list)
    for life in made.values():
        if life.above[-1] == "ProcessRewardsV2_ProcessBatch":
            per_round[round_number(life.payload)].append(life.payload)

    assert {life.above[-1] for life in day_books.of(CALCULATE)} == {"AmuletRules_AdvanceOpenMiningRounds"}
    for number, payloads in per_round.items():
        config = opened[number]["issuanceConfig"]
        whole = rounded(Decimal(config["amuletToIssuePerYear"]) * 600 / (365 * 86_400))
        fund = rounded(whole * Decimal(config["optDevelopmentFundPercentage"] or 0))
        apps = rounded((whole - fund) * Decimal(config["appRewardPercentage"]))
        assert len({one["provider"] for one in payloads}) == len(payloads) >= 2
        assert apps - Decimal("0.000001") < sum(Decimal(one["amount"]) for one in payloads) <= apps
        assert all(one["beneficiary"] is None and one["kind"] is None for one in payloads)


def test_dry_runs_make_no_coupon(day_books, made):
    dry_rounds = {round_number(life.payload) for life in day_books.of(CALCULATE) if life.payload["dryRun"]}
    processed = day_books.exercises("ProcessRewardsV2_ProcessBatch")
    batches = Counter(bool(creates(below)) for _, _, below in processed)

    assert len(dry_rounds) > 10
    assert not dry_rounds & {round_number(life.payload) for life in made.values()}
    assert batches[False] >= len(dry_rounds) - 1
    assert batches[True] > 10


def test_coupons_are_shared_claimed_and_expired_by_time(day_items, made):
    ways = set()
    for item in day_items:
        for event, above, _ in steps(item) if "events_by_id" in item else ():
            if entity_of(event) == REWARD and event.get("consuming"):
                ways.add((event["choice"], above[-1] if above else ""))
                life = made[event["contract_id"]]
                late = timestamps.parse(item["record_time"]) - timestamps.parse(life.payload["expiresAt"])
                assert (late > 0) == ("AmuletRules_ClaimExpiredRewardsV2" in above)
                assert life.since < life.until

    assert ways == {
        ("RewardCoupon_AssignBeneficiaries", ""), ("Archive", "RewardCoupon_AssignBeneficiaries"),
        ("Archive", "AmuletRules_Transfer"), ("Archive", "AmuletRules_ClaimExpiredRewardsV2"),
    }  # fmt: skip


def test_shares_are_the_percentages_of_each_coupon(day_books, made):
    exercises = list(day_books.exercises("RewardCoupon_AssignBeneficiaries"))
    assert exercises
    for _, event, below in exercises:
        argument = event["choice_argument"]
        parts = {one["beneficiary"]: Decimal(one["percentage"]) for one in argument["newBeneficiaries"]}
        shared = [made[one].payload for one in (event["contract_id"], *argument["additionalCoupons"])]
        assert sum(parts.values()) == 1
        assert sorted((one["beneficiary"], Decimal(one["amount"])) for one in creates(below)) == sorted(
            (party, rounded(Decimal(one["amount"]) * part)) for one in shared for party, part in parts.items()
        )
        assert event["interface_id"].endswith(":Splice.Api.RewardAssignmentV1:RewardCoupon")
        named = {party for party, _ in event["exercise_result"]["newBeneficiariesCouponCids"]}
        assert named == set(parts)


def test_what_expired_is_unclaimed_together(day_books, made):
    expiries = list(day_books.exercises("AmuletRules_ClaimExpiredRewardsV2"))
    assert expiries
    for _, event, below in expiries:
        ended = [made[one].payload for one in event["choice_argument"]["rewardCouponCids"]]
        (unclaimed,) = creates(below)
        assert Decimal(unclaimed["amount"]) == sum(Decimal(one["amount"]) for one in ended)
        assert event["exercise_result"] == {}
