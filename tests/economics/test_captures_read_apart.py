"""The models over captured pages against a reading of their raw JSON that shares nothing with them."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal

import pytest

import ledgerframes as lf
from tests.economics.histories import frame_of, incomplete
from tests.replay import read_capture

COINS = ("Splice.Amulet:Amulet", "Splice.Amulet:LockedAmulet")
REWARDS = ("App", "Validator", "Sv")


@pytest.fixture(scope="module")
def items(captures):  # noqa: ARG001 - skips where there are none
    """The updates of the captured page, as they were sent."""
    page = json.loads(read_capture("scan-events-page").sent)
    return [item["update"] for item in page["events"] if item.get("update")]


def nodes(item):
    """The events of an update with their templates as `Module:Entity`."""
    for event in item.get("events_by_id", {}).values():
        yield event["template_id"].partition(":")[2], event


def amount_of(arguments):
    return Decimal(arguments.get("amulet", arguments)["amount"]["initialAmount"])


def rows_of(table, items):
    return table(frame_of(items), as_="arrow").to_pylist()


@incomplete
def test_the_change_of_supply_is_what_was_created_less_what_ended(items):
    known, changes = {}, defaultdict(Decimal)
    for item in items:
        for template, event in nodes(item):
            if template in COINS and event["event_type"] == "created_event":
                known[event["contract_id"]] = amount_of(event["create_arguments"])
    unknown = set()
    for item in items:
        for template, event in nodes(item):
            if template in COINS and event["event_type"] == "created_event":
                changes[item["update_id"]] += known[event["contract_id"]]
            elif template in COINS and event["consuming"]:
                changes[item["update_id"]] -= known.get(event["contract_id"], 0)
                unknown |= {item["update_id"]} - ({item["update_id"]} if event["contract_id"] in known else set())

    rows = rows_of(lf.mint_burn, items)

    stated = {row["update_id"]: row["net_change"] for row in rows if row["inputs_from"] == "creates"}
    assert stated
    assert stated == {update_id: changes[update_id] for update_id in stated}
    assert not unknown & stated.keys()


@incomplete
def test_what_is_claimed_is_the_sum_of_the_summaries_and_what_expired_became_unclaimed(items):
    claimed, expired = defaultdict(Decimal), defaultdict(Decimal)
    for item in items:
        for template, event in nodes(item):
            if event.get("choice") == "AmuletRules_Transfer":
                summary = event["exercise_result"]["summary"]
                claimed[item["update_id"]] += sum(Decimal(summary[f"input{kind}RewardAmount"]) for kind in REWARDS)
            elif template == "Splice.Amulet:UnclaimedReward" and event["event_type"] == "created_event":
                expired[item["update_id"]] += Decimal(event["create_arguments"]["amount"])

    found = {"claimed": defaultdict(Decimal), "expired": defaultdict(Decimal)}
    for row in rows_of(lf.reward_flows, items):
        if row["event"] in found and row["amount"] is not None:
            found[row["event"]][row["update_id"]] += row["amount"]

    assert {key: value for key, value in claimed.items() if value} == dict(found["claimed"])
    assert dict(expired) == dict(found["expired"])
    assert claimed
    assert expired


def test_transfers_are_the_outputs_that_were_asked_for(items):
    asked = sorted(
        (
            item["update_id"],
            event["choice_argument"]["transfer"]["sender"],
            output["receiver"],
            Decimal(output["amount"]),
        )
        for item in items
        for _, event in nodes(item)
        if event.get("choice") == "AmuletRules_Transfer"
        for output in event["choice_argument"]["transfer"]["outputs"]
    )

    rows = rows_of(lf.transfers, items)

    assert sorted((row["update_id"], row["sender"], row["receiver"], row["amount"]) for row in rows) == asked
