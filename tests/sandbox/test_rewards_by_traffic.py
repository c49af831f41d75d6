"""App rewards of the second version: what a round's providers may mint, how it is shared, and how it ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal

import pytest

from ledgerframes.sandbox.world import timestamps
from tests.economics.books import steps
from tests.sandbox.economy_books import REWARD, Books, by_traffic, entity_of, preorder, round_number, rounded

V1 = "Splice.Amulet:AppRewardCoupon"
CALCULATE = "Splice.Amulet.RewardAccountingV2:CalculateRewardsV2"


class Coupons:
    """Every coupon of the second version in a history: what made it and how it ended."""

    def __init__(self, items):
        self.made, self.ends, self.asked, self.opened = {}, {}, [], {}
        self.shared, self.expiries, self.dry = [], [], []
        for item in items:
            for event, choices, below in steps(item) if "events_by_id" in item else ():
                self._read(event, choices[-1] if choices else "", below, item["record_time"])

    def _read(self, event, above, children, time):
        entity = entity_of(event)
        if event["event_type"] == "created_event":
            payload = event["create_arguments"]
            if entity == REWARD:
                self.made[event["contract_id"]] = (payload, above, time)
            elif entity == CALCULATE:
                self.asked.append((payload, above))
            elif entity.endswith(":OpenMiningRound"):
                self.opened[round_number(payload)] = payload
        elif entity == REWARD and event["consuming"]:
            self.ends[event["contract_id"]] = (event["choice"], above, time)
        kept = {
            "RewardCoupon_AssignBeneficiaries": self.shared,
            "AmuletRules_ClaimExpiredRewardsV2": self.expiries,
            "ProcessRewardsV2_ProcessBatch": self.dry,
        }.get(event.get("choice"))
        if kept is not None:
            created = [one["create_arguments"] for one in children if one["event_type"] == "created_event"]
            kept.append((event, created))


@pytest.fixture(scope="module")
def coupons(day_items):
    return Coupons(day_items)


def test_one_range_has_both_kinds_and_the_books_balance(day, day_items, coupons):
    books = Books().read(day_items)
    assert books.supply * 10**10 == day.coins.units
    assert {charged for charged, _ in books.transfers} == {True, False}
    assert set(books.outcomes.values()) == {"claimed", "expired"}

    kinds = Counter(
        (entity_of(event), by_traffic(coupons.opened[round_number(event["create_arguments"])]))
        for item in day_items
        if "events_by_id" in item
        for event in preorder(item)
        if event["event_type"] == "created_event" and entity_of(event) in (V1, REWARD)
    )
    assert set(kinds) == {(V1, False), (REWARD, True)}
    assert min(kinds.values()) > 30


def test_a_round_is_calculated_when_it_closes_and_gives_a_coupon_per_provider(coupons):
    per_round = defaultdict(list)
    for payload, above, _ in coupons.made.values():
        if above == "ProcessRewardsV2_ProcessBatch":
            per_round[round_number(payload)].append(payload)

    assert {above for _, above in coupons.asked} == {"AmuletRules_AdvanceOpenMiningRounds"}
    for number, payloads in per_round.items():
        config = coupons.opened[number]["issuanceConfig"]
        whole = rounded(Decimal(config["amuletToIssuePerYear"]) * 600 / (365 * 86_400))
        fund = rounded(whole * Decimal(config["optDevelopmentFundPercentage"] or 0))
        apps = rounded((whole - fund) * Decimal(config["appRewardPercentage"]))
        assert len({one["provider"] for one in payloads}) == len(payloads) >= 2
        assert apps - Decimal("0.000001") < sum(Decimal(one["amount"]) for one in payloads) <= apps
        assert all(one["beneficiary"] is None and one["kind"] is None for one in payloads)


def test_dry_runs_make_no_coupon(coupons):
    dry_rounds = {round_number(payload) for payload, _ in coupons.asked if payload["dryRun"]}
    batches = Counter(bool(made) for _, made in coupons.dry)

    assert len(dry_rounds) > 10
    assert not dry_rounds & {round_number(payload) for payload, _, _ in coupons.made.values()}
    assert batches[False] >= len(dry_rounds) - 1
    assert batches[True] > 10


def test_coupons_are_shared_claimed_and_expired_by_time(coupons):
    ways = Counter((choice, above) for choice, above, _ in coupons.ends.values())

    assert set(ways) == {
        ("RewardCoupon_AssignBeneficiaries", ""), ("Archive", "RewardCoupon_AssignBeneficiaries"),
        ("Archive", "AmuletRules_Transfer"), ("Archive", "AmuletRules_ClaimExpiredRewardsV2"),
    }  # fmt: skip
    for contract_id, (_, above, at) in coupons.ends.items():
        payload, _, made_at = coupons.made[contract_id]
        late = timestamps.parse(at) - timestamps.parse(payload["expiresAt"])
        assert (late > 0) == (above == "AmuletRules_ClaimExpiredRewardsV2")
        assert made_at < at


def test_shares_are_the_percentages_of_each_coupon(coupons):
    assert coupons.shared
    for event, made in coupons.shared:
        argument = event["choice_argument"]
        parts = {one["beneficiary"]: Decimal(one["percentage"]) for one in argument["newBeneficiaries"]}
        shared = [coupons.made[one][0] for one in (event["contract_id"], *argument["additionalCoupons"])]
        assert sum(parts.values()) == 1
        assert sorted((one["beneficiary"], Decimal(one["amount"])) for one in made) == sorted(
            (party, rounded(Decimal(one["amount"]) * part)) for one in shared for party, part in parts.items()
        )
        assert event["interface_id"].endswith(":Splice.Api.RewardAssignmentV1:RewardCoupon")
        named = {party for party, _ in event["exercise_result"]["newBeneficiariesCouponCids"]}
        assert named == set(parts)


def test_what_expired_is_unclaimed_together(coupons):
    assert coupons.expiries
    for event, made in coupons.expiries:
        ended = [coupons.made[one][0] for one in event["choice_argument"]["rewardCouponCids"]]
        (unclaimed,) = made
        assert Decimal(unclaimed["amount"]) == sum(Decimal(one["amount"]) for one in ended)
        assert event["exercise_result"] == {}
