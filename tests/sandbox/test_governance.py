"""Votes of the members in a simulated history: requests, votes, outcomes, and that what was decided happens."""

from __future__ import annotations

import pytest

from tests.sandbox.economy_books import entity_of, preorder


@pytest.fixture(scope="module")
def events(voted):
    """The events of three days in preorder, each with its update."""
    return [(item, event) for item in voted for event in preorder(item)]


def exercises(events, choice):
    return [(item, event) for item, event in events if event.get("choice") == choice]


def children(item, event):
    return [item["events_by_id"][child] for child in event["child_event_ids"]]


@pytest.fixture(scope="module")
def closes(events):
    return [(item, event, event["exercise_result"]) for item, event in exercises(events, "DsoRules_CloseVoteRequest")]


def test_votes_have_reasons_and_every_outcome_occurs(events, closes):
    assert {result["outcome"]["tag"] for _, _, result in closes} == {"VRO_Accepted", "VRO_Rejected", "VRO_Expired"}
    assert any(result["abstainingSvs"] for _, _, result in closes)
    for _, event, result in closes:
        votes = dict(result["request"]["votes"])
        accepting = sum(vote["accept"] for vote in votes.values())
        assert (result["outcome"]["tag"] == "VRO_Accepted") == (accepting >= 3)
        assert set(votes) | set(result["abstainingSvs"]) == {name.partition("::")[0] for name in members(events)}
        assert event["choice_argument"]["requestCid"]
    reasons = [
        event["choice_argument"]["vote"]["reason"]["body"] for _, event in exercises(events, "DsoRules_CastVote")
    ]
    assert len(set(reasons)) > 3


def members(events):
    rules = next(event for _, event in events if event["event_type"] == "created_event" and is_rules(event))
    return [party for party, _ in rules["create_arguments"]["svs"]]


def is_rules(event):
    return entity_of(event) == "Splice.DsoRules:DsoRules"


def test_what_was_accepted_is_done_below_the_close(closes):
    done = set()
    for item, event, result in closes:
        below = [child["choice"] for child in children(item, event) if child["event_type"] == "exercised_event"]
        accepted = result["outcome"]["tag"] == "VRO_Accepted"
        assert below[0] == "Archive"
        assert len(below) == 1 + accepted
        done |= set(below[1:])
    assert done == {
        "AmuletRules_SetConfig", "DsoRules_GrantFeaturedAppRight", "DsoRules_RevokeFeaturedAppRight",
        "DsoRules_UpdateFeaturedAppRight", "DsoRules_UpdateSvRewardWeight",
    }  # fmt: skip


def test_a_vote_switches_the_version_of_rewards_for_the_rounds_after_it(events):
    at = {}
    for item, event in exercises(events, "AmuletRules_SetConfig"):
        config, base = (event["choice_argument"][name]["rewardConfig"] for name in ("newConfig", "baseConfig"))
        if config == base:
            continue
        at[config["mintingVersion"], config["dryRunVersion"]] = item["record_time"]
    second = "RewardVersion_TrafficBasedAppRewards"
    assert set(at) == {("RewardVersion_FeaturedAppMarkers", second), (second, None)}
    switched = at[second, None]
    for item, event in events:
        if event["event_type"] == "created_event" and entity_of(event) == "Splice.Round:OpenMiningRound":
            version = event["create_arguments"]["rewardConfig"]["mintingVersion"]
            assert (version == second) == (item["record_time"] > switched)


def test_a_members_coupons_weigh_what_the_rules_say(events):
    weights = {}
    for item, event in events:
        if event["event_type"] == "created_event" and is_rules(event):
            weights = {party: int(info["svRewardWeight"]) for party, info in event["create_arguments"]["svs"]}
        if event.get("choice") == "DsoRules_ReceiveSvRewardCoupon":
            made = [child for child in children(item, event) if child["event_type"] == "created_event"]
            given = [int(one["create_arguments"]["weight"]) for one in made if "weight" in one["create_arguments"]]
            assert sum(given) == weights[event["choice_argument"]["sv"]]
    assert set(weights.values()) != {40_000, 30_000, 20_000, 10_000}
