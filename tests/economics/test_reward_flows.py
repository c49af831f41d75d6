"""`reward_flows`: any cut of a history says of each kind what the whole says of that time, to the last digit."""

from __future__ import annotations

import json
import random
from decimal import Decimal

import pytest

import ledgerframes as lf
from tests.economics.histories import captured_events

KINDS = ("app", "validator", "validator_faucet", "sv", "unclaimed_activity", "development_fund")
#: Coupons of the second version state their kind in their creates alone; the payment's summary has one sum.
ONE_SUM = {"app", "validator", "unknown"}


@pytest.fixture(scope="module", params=["markers", "switch"])
def whole(request):
    with lf.sandbox(seed=7, days=20, reward_version=request.param) as net:
        return lf.load_history(net, start="begin", progress=False, decimals="exact")


@pytest.fixture(scope="module")
def flows(whole):
    return lf.reward_flows(whole)


def sums(flows, event):
    """Coin by kind; what is not nothing."""
    of_event = flows[flows.event == event]
    assert of_event.amount.notna().all()
    by_kind = of_event.groupby(of_event.kind.fillna("unknown")).amount.sum()
    return {kind: amount for kind, amount in by_kind.items() if amount}


def joined(found):
    """The same with the kinds that one sum of a payment may stand for as one."""
    together = sum((amount for kind, amount in found.items() if kind in ONE_SUM), Decimal(0))
    return {kind: amount for kind, amount in found.items() if kind not in ONE_SUM} | {"one sum": together}


def cuts(whole, number):
    times = sorted(whole.updates.record_time)
    chance = random.Random(29)
    for _ in range(number):
        start, end = sorted(chance.sample(times, 2))
        yield start, end, whole.events[(whole.events.record_time >= start) & (whole.events.record_time < end)]


@pytest.mark.parametrize("number", [12, pytest.param(200, marks=pytest.mark.long)])
def test_a_cut_says_what_the_whole_says_of_that_time(number, whole, flows):
    second_version = whole.events.template_name.eq("Splice.Amulet:RewardCouponV2").any()
    for start, end, events in cuts(whole, number):
        found = lf.reward_flows(events)
        wanted = flows[(flows.record_time >= start) & (flows.record_time < end)]
        minted = lf.mint_burn(events)

        for event in ("claimed", "expired", "withdrawn"):
            same = joined if second_version else dict
            assert same(sums(found, event)) == same(sums(wanted, event)), (start, end, event)
        stated = {kind: amount for kind in KINDS if (amount := minted[f"minted_{kind}"].sum())}
        assert joined(sums(found, "claimed")) == joined(stated), (start, end)


def test_the_whole_has_every_coupon_once(whole, flows):
    rewards = lf.rewards(whole)
    counted = flows.groupby("event").coupons.sum()
    outcomes = rewards.outcome.value_counts()

    for event in ("claimed", "expired", "withdrawn"):
        assert counted.get(event, 0) == outcomes.get(event, 0)
    # Sharing makes coupons of one that counts already.
    made = flows[flows.event == "created"].amount.dropna().sum()
    left = rewards[rewards.outcome != "shared"].amount.dropna()
    # The ledger rounds each share.
    assert abs(made - left.sum()) <= Decimal("5e-11") * len(left) * (rewards.outcome == "shared").any()


@pytest.mark.usefixtures("captures")
def test_what_expired_is_what_the_real_page_says_became_unclaimed():
    events = captured_events()
    unclaimed = events[
        (events.template_name == "Splice.Amulet:UnclaimedReward") & (events.event_type == "created_event")
    ]
    flows = lf.reward_flows(events)

    stated = {row.update_id: Decimal(json.loads(row.payload)["amount"]) for row in unclaimed.itertuples()}
    assert flows[flows.event == "expired"].groupby("update_id").amount.sum().to_dict() == stated
    assert len(stated) == 4


def test_the_worth_in_usd_is_at_the_price_of_the_round(whole, flows):
    prices = lf.round_history(whole).set_index("round").amulet_price_usd
    row = flows[flows.amount_usd.notna()].iloc[-1]

    assert row.amount_usd == round(row.amount * prices[row["round"]], 10)
