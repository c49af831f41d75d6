"""Rounds and claims at their times, rewards of the second version with them, and people by day and on weekdays."""

from collections import Counter, defaultdict
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from statistics import median

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.calendar import updates_of_days
from tests.economics.books import OPEN
from tests.sandbox.economy_books import REWARD, allowed_by, by_traffic, round_number, rounded

SECOND, MINUTE = timestamps.SECOND, 60 * timestamps.SECOND
TICK = 10 * MINUTE


def test_each_phase_of_a_round_begins_at_its_time(economy_items, economy_books):
    phases = {
        (life.entity.removesuffix("MiningRound")[13:], round_number(life.payload)): (life.since, life.payload)
        for life in economy_books.lives.values()
        if life.entity.startswith("Splice.Round:")
    }
    opened = [at for (name, _), (at, _) in sorted(phases.items()) if name == "Open"][3:]
    apart, issued, closed = [later - earlier for earlier, later in pairwise(opened)], [], []
    for (phase, number), (at, payload) in phases.items():
        if phase == "Issuing":
            assert timestamps.parse(payload["opensAt"]) == at + TICK
            issued.append(at - phases["Summarizing", number][0])
        if phase == "Closed":
            closed.append(at - timestamps.parse(phases["Issuing", number][1]["targetClosesAt"]))
    claims = list(economy_books.exercises("SvRewardCoupon_ArchiveAsBeneficiary"))
    first, last = (timestamps.parse(economy_items[place]["record_time"]) for place in (0, -1))

    assert 0.97 < (last - first) / (1_440 * MINUTE) < 1.03
    assert 143 <= len(opened) <= 144
    assert median(apart) == TICK
    assert all(TICK <= one < TICK + SECOND for one in apart)
    # A migration can begin a little before the former one ends.
    assert all(-TICK // 3 < one < 3 * MINUTE for one in issued)
    assert all(0 <= one < 3 * MINUTE for one in closed)
    assert median(issued) > 0
    assert len(claims) > 20
    for item, event, _ in claims:
        issuing = phases["Issuing", round_number(economy_books.lives[event["contract_id"]].payload)][1]
        assert timestamps.parse(item["record_time"]) >= timestamps.parse(issuing["opensAt"])


@pytest.fixture(scope="module")
def made(economy_books):
    """Every coupon of the second version, by id."""
    return {contract: life for contract, life in economy_books.lives.items() if life.entity == REWARD}


def creates(below):
    return [one["create_arguments"] for one in below if one["event_type"] == "created_event"]


def test_a_round_is_calculated_when_it_closes_and_gives_a_coupon_per_provider_but_for_dry_runs(economy_books, made):
    opened = {round_number(life.payload): life.payload for life in economy_books.of(OPEN)}
    calculated = list(economy_books.of("Splice.Amulet.RewardAccountingV2:CalculateRewardsV2"))
    dry_rounds = {round_number(life.payload) for life in calculated if life.payload["dryRun"]}
    per_round = defaultdict(list)
    for life in made.values():
        if life.above[-1] == "ProcessRewardsV2_ProcessBatch":
            per_round[round_number(life.payload)].append(life.payload)

    assert {life.above[-1] for life in calculated} == {"AmuletRules_AdvanceOpenMiningRounds"}
    assert min(len(dry_rounds), len(per_round)) > 10
    assert not dry_rounds & per_round.keys()
    for number, payloads in per_round.items():
        _, _, apps, *_ = allowed_by(opened[number]["issuanceConfig"], TICK)
        assert by_traffic(opened[number])
        assert len({one["provider"] for one in payloads}) == len(payloads) >= 2
        assert apps - Decimal("0.000001") < sum(Decimal(one["amount"]) for one in payloads) <= apps


def test_coupons_end_before_their_time_or_expire_after_it_and_are_unclaimed_together(economy_books, made):
    expired, ended = set(), {contract: life for contract, life in made.items() if life.until is not None}
    for _, event, below in economy_books.exercises("AmuletRules_ClaimExpiredRewardsV2"):
        together = event["choice_argument"]["rewardCouponCids"]
        (unclaimed,) = creates(below)
        assert Decimal(unclaimed["amount"]) == sum(Decimal(made[one].payload["amount"]) for one in together)
        expired |= {*together}

    assert 0 < len(expired) < len(ended) < len(made)
    for contract, life in ended.items():
        assert (life.until > timestamps.parse(life.payload["expiresAt"])) == (contract in expired)


def test_shares_are_the_percentages_of_each_coupon(economy_books, made):
    exercises = list(economy_books.exercises("RewardCoupon_AssignBeneficiaries"))
    assert exercises
    for _, event, below in exercises:
        argument = event["choice_argument"]
        parts = {one["beneficiary"]: Decimal(one["percentage"]) for one in argument["newBeneficiaries"]}
        shared = [made[one].payload for one in (event["contract_id"], *argument["additionalCoupons"])]
        assert sum(parts.values()) == 1
        assert sorted((one["beneficiary"], Decimal(one["amount"])) for one in creates(below)) == sorted(
            (party, rounded(Decimal(one["amount"]) * part)) for one in shared for party, part in parts.items()
        )
        assert {party for party, _ in event["exercise_result"]["newBeneficiariesCouponCids"]} == set(parts)


@pytest.mark.long
def test_a_quarter_is_as_long_as_it_says_and_people_keep_hours_and_weekends():
    world = generate(7, updates_of_days(90), days=90)
    moments = [timestamps.EPOCH + timedelta(microseconds=update.record_time) for update in world.updates]
    per_day, hours = Counter(one.date() for one in moments), Counter(one.hour for one in moments)
    weekdays = Counter(one.weekday() for one in moments)

    assert 87 < (max(per_day) - min(per_day)).days == len(per_day) - 1 < 93, "no day is empty"
    assert hours[15] > 4 * hours[3]
    assert min(weekdays[day] for day in range(5)) > 1.5 * max(weekdays[5], weekdays[6])
