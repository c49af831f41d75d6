"""The plausible ledger: in server order and time, true to its own bookkeeping and votes, and as varied as real ones."""

import json
from collections import Counter, defaultdict
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from statistics import median

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.calendar import updates_of_days
from tests.economics.books import OPEN, steps
from tests.sandbox.economy_books import COIN, REWARD, allowed_by, by_traffic, entity_of, preorder, round_number, rounded

SECOND, MINUTE = timestamps.SECOND, 60 * timestamps.SECOND
TICK = 10 * MINUTE


@pytest.fixture(scope="module")
def transactions(economy_items):
    return [item for item in economy_items if "events_by_id" in item]


def test_updates_stand_in_the_order_of_migration_record_time_and_id(economy, net):
    keys = [update[:3] for update in economy.updates]

    assert keys == sorted(set(keys))
    for update, item in zip(economy.updates, economy.items(), strict=True):
        assert item.get("event", item)["migration_id"] == update.migration_id
        assert timestamps.parse(item["record_time"]) == update.record_time
        assert len(item["record_time"]) == len("2025-03-03T09:00:00.000000Z")
        assert update.rendered == json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode()
    tie = next(a for a, b in pairwise(economy.updates) if a[:2] == b[:2])
    after_tie = economy.position(tie[:2])
    assert economy.updates[after_tie - 1][:2] == tie[:2] < economy.updates[after_tie][:2]
    assert economy.position((99, 0)) == len(economy.updates)
    updates = net.sandbox.world.updates
    groups = Counter(update[:2] for update in updates)
    assert 0.05 <= sum(size for size in groups.values() if size > 1) / len(updates) <= 0.15
    assert set(groups.values()) == {1, 2, 3}
    places = {(one.migration_id, one.record_time, one.synchronizer_id) for one in updates}
    assert len(places) == len(updates), "two at one time on one synchronizer"
    world = generate(1, 20)
    late = world.updates[7]._replace(update_id="late", external_hash="signed")
    world.record([late])
    assert world.updates == sorted(world.updates)
    assert world.update("late") is world.scanned_by_hash("signed") is late


def test_event_numbers_are_preorder_and_the_map_is_sorted_as_text(transactions):
    for item in transactions:
        events = item["events_by_id"]
        told = [event["event_id"] for event in preorder(item)]
        assert told == [f"{item['update_id']}:{n}" for n in range(len(events))]
        assert [event["event_id"] for event in events.values()] == list(events) == sorted(events)
    assert sum(len(item["events_by_id"]) > 10 for item in transactions) > 100


def test_reassignments_of_every_sort_occur(economy):
    legs, travels = defaultdict(list), Counter()
    for item in economy.items():
        if "event" in item:
            legs[item["event"]["unassign_id"]].append(item["event"])
            travels[item["event"].get("contract_id")] += 1
    sorts = Counter(tuple("created_event" in leg for leg in own) for own in legs.values())
    every = [leg for own in legs.values() for leg in own]

    assert set(sorts) == {(False, True), (True, False), (False,), (True,)}
    assert sorts[False, True] > sum(sorts.values()) / 2
    assert any(leg["source_synchronizer"] == leg["target_synchronizer"] for leg in every)
    assert {(0, 1), (1, 2)} <= {(own[0]["migration_id"], own[-1]["migration_id"]) for own in legs.values()}
    assert any(len(own) == 1 and own[0]["migration_id"] == 0 for own in legs.values())
    del travels[None]
    assert max(travels.values()) >= 3


def test_times_results_hashes_and_interfaces_vary_as_on_real_servers(transactions):
    events = [event for item in transactions for event in item["events_by_id"].values()]
    early = {timestamps.parse(item["effective_at"]) < timestamps.parse(item["record_time"]) for item in transactions}
    exercised = [event for event in events if event["event_type"] == "exercised_event"]
    created_at = [one["created_at"] for one in events if "created_at" in one]
    signed = sum("external_transaction_hash" in item for item in transactions)
    coins = [event["template_id"] for event in events if event["template_id"].endswith(f":{COIN}")]

    assert early == {True, False}
    assert {type(event["exercise_result"]) for event in exercised} == {dict, str, list, type(None)}
    assert {event["interface_id"] is None for event in exercised} == {True, False}
    assert not any(text.rpartition("Z")[0].endswith("0") and "." in text for text in created_at)
    assert {len(text) for text in created_at} > {20, 24, 27}
    assert {item["workflow_id"] == "" for item in transactions} == {True, False}
    assert 0.04 < signed / len(transactions) < 0.12
    assert len(set(coins)) == 2, "a package is upgraded midway"
    assert coins[0] != coins[-1]


def test_contracts_are_used_where_they_are_until_they_end(economy, economy_items, economy_books):
    places = {}
    for item in economy_items:
        move = item.get("event", {})
        if "contract_id" in move:
            # Scans show some assignments before their unassignments.
            assert places[move["contract_id"]] in (move["source_synchronizer"], move["target_synchronizer"])
        elif move:
            places[move["created_event"]["contract_id"]] = move["target_synchronizer"]
        for event in preorder(item) if not move else ():
            assert places.setdefault(event["contract_id"], item["synchronizer_id"]) == item["synchronizer_id"]

    left = economy_books.active()
    assert {contract: (life.place, life.counter) for contract, life in left.items()} == {
        one.contract_id: (one.synchronizer_id, one.counter) for one in economy.contracts.active.values()
    }


def test_every_outcome_occurs_as_votes_say_and_what_was_accepted_is_done_below_the_close(economy_books):
    rules = next(economy_books.of("Splice.DsoRules:DsoRules")).payload
    members = {party.partition("::")[0] for party, _ in rules["svs"]}
    outcomes, abstaining, done = set(), 0, set()
    for _, event, children in economy_books.exercises("DsoRules_CloseVoteRequest"):
        result = event["exercise_result"]
        votes, outcome = dict(result["request"]["votes"]), result["outcome"]["tag"]
        below = [child["choice"] for child in children if child["event_type"] == "exercised_event"]
        assert (outcome == "VRO_Accepted") == (sum(vote["accept"] for vote in votes.values()) >= 3)
        assert set(votes) | set(result["abstainingSvs"]) == members
        assert below[0] == "Archive"
        assert len(below) == 1 + (outcome == "VRO_Accepted")
        outcomes.add(outcome)
        abstaining += len(result["abstainingSvs"])
        done |= set(below[1:])
    assert outcomes == {"VRO_Accepted", "VRO_Rejected", "VRO_Expired"}
    assert abstaining > 0
    assert done == {
        "AmuletRules_SetConfig", "DsoRules_GrantFeaturedAppRight", "DsoRules_RevokeFeaturedAppRight",
        "DsoRules_UpdateFeaturedAppRight", "DsoRules_UpdateSvRewardWeight",
    }  # fmt: skip
    cast = economy_books.exercises("DsoRules_CastVote")
    assert len({event["choice_argument"]["vote"]["reason"]["body"] for _, event, _ in cast}) > 3


def test_a_members_coupons_weigh_what_the_rules_say(transactions):
    weights = {}
    for event, _, below in (step for item in transactions for step in steps(item)):
        if event["event_type"] == "created_event" and entity_of(event) == "Splice.DsoRules:DsoRules":
            weights = {party: int(info["svRewardWeight"]) for party, info in event["create_arguments"]["svs"]}
        if event.get("choice") == "DsoRules_ReceiveSvRewardCoupon":
            made = [child["create_arguments"] for child in below if child["event_type"] == "created_event"]
            given = [int(one["weight"]) for one in made if "weight" in one]
            assert sum(given) == weights[event["choice_argument"]["sv"]]
    assert set(weights.values()) != {40_000, 30_000, 20_000, 10_000}


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
