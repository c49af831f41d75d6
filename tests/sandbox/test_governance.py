"""Votes of the members in a simulated history: requests, votes, outcomes, and that what was decided happens."""

from __future__ import annotations

import pytest

from ledgerframes.sandbox.world import timestamps
from tests.economics.books import OPEN, Books, steps
from tests.sandbox.economy_books import entity_of

RULES = "Splice.DsoRules:DsoRules"


@pytest.fixture(scope="module")
def books(voted):
    return Books(voted)


@pytest.fixture(scope="module")
def closes(books):
    """Each close of a request with what is right below it, and its result."""
    found = books.exercises("DsoRules_CloseVoteRequest")
    return [(event, below, event["exercise_result"]) for _, event, below in found]


def test_votes_have_reasons_and_every_outcome_occurs(books, closes):
    assert {result["outcome"]["tag"] for _, _, result in closes} == {"VRO_Accepted", "VRO_Rejected", "VRO_Expired"}
    assert any(result["abstainingSvs"] for _, _, result in closes)
    members = {party.partition("::")[0] for party, _ in next(books.of(RULES)).payload["svs"]}
    for event, _, result in closes:
        votes = dict(result["request"]["votes"])
        accepting = sum(vote["accept"] for vote in votes.values())
        assert (result["outcome"]["tag"] == "VRO_Accepted") == (accepting >= 3)
        assert set(votes) | set(result["abstainingSvs"]) == members
        assert event["choice_argument"]["requestCid"]
    cast = books.exercises("DsoRules_CastVote")
    assert len({event["choice_argument"]["vote"]["reason"]["body"] for _, event, _ in cast}) > 3


def test_what_was_accepted_is_done_below_the_close(closes):
    done = set()
    for _, children, result in closes:
        below = [child["choice"] for child in children if child["event_type"] == "exercised_event"]
        accepted = result["outcome"]["tag"] == "VRO_Accepted"
        assert below[0] == "Archive"
        assert len(below) == 1 + accepted
        done |= set(below[1:])
    assert done == {
        "AmuletRules_SetConfig", "DsoRules_GrantFeaturedAppRight", "DsoRules_RevokeFeaturedAppRight",
        "DsoRules_UpdateFeaturedAppRight", "DsoRules_UpdateSvRewardWeight",
    }  # fmt: skip


def test_a_vote_switches_the_version_of_rewards_for_the_rounds_after_it(books):
    at = {}
    for item, event, _ in books.exercises("AmuletRules_SetConfig"):
        config, base = (event["choice_argument"][name]["rewardConfig"] for name in ("newConfig", "baseConfig"))
        if config != base:
            at[config["mintingVersion"], config["dryRunVersion"]] = timestamps.parse(item["record_time"])
    second = "RewardVersion_TrafficBasedAppRewards"
    assert set(at) == {("RewardVersion_FeaturedAppMarkers", second), (second, None)}
    for life in books.of(OPEN):
        assert (life.payload["rewardConfig"]["mintingVersion"] == second) == (life.since > at[second, None])


def test_a_members_coupons_weigh_what_the_rules_say(voted):
    weights = {}
    for event, _, below in (step for item in voted for step in steps(item)):
        if event["event_type"] == "created_event" and entity_of(event) == RULES:
            weights = {party: int(info["svRewardWeight"]) for party, info in event["create_arguments"]["svs"]}
        if event.get("choice") == "DsoRules_ReceiveSvRewardCoupon":
            made = [child["create_arguments"] for child in below if child["event_type"] == "created_event"]
            given = [int(one["weight"]) for one in made if "weight" in one]
            assert sum(given) == weights[event["choice_argument"]["sv"]]
    assert set(weights.values()) != {40_000, 30_000, 20_000, 10_000}
