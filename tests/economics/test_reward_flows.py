"""`reward_flows`: any cut of a history says of each kind what the whole says of that time, to the last digit."""

import json
import random
import warnings
import zlib
from collections import defaultdict
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.economics.books import prices_in

V2 = "Splice.Amulet:RewardCouponV2"
KINDS = ("app", "app_or_validator", "validator", "validator_faucet", "sv", "unclaimed_activity", "development_fund")
#: Coupons of the second version state their kind in their creates alone; the payment's summary has one sum.
ONE_SUM = ("app", "validator", "app_or_validator")
CUTS = 200
VERSIONS = ("markers", "switch", "validators", "ten minutes")


@pytest.fixture(scope="module")
def worlds(twelve_days_history, switched_history):
    """A history of each reward version, its flows, its rewards and the price of each round."""
    found = []
    # Rounds of ten minutes make payments that claim coupons of several rounds, and of one that issues.
    with lf.sandbox(seed=8, updates=2000, reward_version="switch") as net:
        busy = lf.load_history(net, as_="arrow", decimals="exact")
    for history in (twelve_days_history, switched_history, with_validators(switched_history), busy):
        with together(history) as inputs:
            prices = lf.round_history(inputs).set_index("round").amulet_price_usd
            found.append((history, lf.reward_flows(inputs), lf.rewards(inputs).set_index("contract_id"), prices))
    return found


@pytest.fixture(scope="module", params=range(len(VERSIONS)), ids=VERSIONS)
def world(worlds, request):
    return worlds[request.param]


def with_validators(history):
    """The same with every second provider's coupons of the second version a validator's, as CIP-0120 has them."""
    events = history.events
    names, payloads = events["template_name"].to_pylist(), events["payload"].to_pylist()
    for place, (name, payload) in enumerate(zip(names, payloads, strict=True)):
        if name == V2 and zlib.crc32(json.loads(payload).get("provider", "").encode()) % 2:
            payloads[place] = json.dumps(json.loads(payload) | {"kind": "RewardKind_Validator"})
    place = events.column_names.index("payload")
    return history._replace(
        events=events.set_column(place, events.schema.field("payload"), pa.array(payloads, pa.string()))
    )


def sums(flows, event):
    """Coin by kind; what is not nothing."""
    of_event = flows[flows.event == event]
    assert of_event.amount.notna().all()
    by_kind = of_event.groupby(of_event.kind.fillna("app_or_validator")).amount.sum()
    return {kind: amount for kind, amount in by_kind.items() if amount}


def joined(found):
    """The same with the kinds that one sum of a payment may stand for as one."""
    together = sum((found.get(kind, 0) for kind in ONE_SUM), Decimal(0))
    return {kind: amount for kind, amount in found.items() if kind not in ONE_SUM} | {"one sum": together}


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("number", range(CUTS))
def test_a_cut_says_what_the_whole_says_of_that_time(worlds, number):
    whole, flows, rewards, _ = worlds[number % len(worlds)]
    times = sorted(whole.updates["record_time"].to_pylist())
    start, end = sorted(random.Random(number).sample(times, 2))
    recorded = whole.events["record_time"]
    low, high = (pa.scalar(time, recorded.type) for time in (start, end))
    events = whole.events.filter(pc.and_(pc.greater_equal(recorded, low), pc.less(recorded, high)))
    wanted = flows[(flows.record_time >= start) & (flows.record_time < end)]

    with warnings.catch_warnings(record=True) as caught, together(events) as part:
        warnings.simplefilter("always", lf.errors.IncompleteFiguresWarning)
        found, minted = lf.reward_flows(part), lf.mint_burn(part)
        ended = lf.rewards(part).set_index("contract_id").query("outcome != 'open'")

    # Coins and coupons end in a cut that are not created in it; few are so short that none does.
    named = pc.match_substring_regex(events["template_name"], r"Coupon|ActivityRecord|:(Locked)?Amulet$")
    created = events.filter(pc.equal(events["event_type"], "created_event"))["contract_id"].to_pylist()
    ends = events.filter(pc.and_(named, events["consuming"]))["contract_id"].to_pylist()
    assert bool(caught) == bool({*ends} - {*created}), (start, end)
    second_version = pc.any(pc.equal(whole.events["template_name"], V2)).as_py()
    same = joined if second_version else dict
    for event in ("claimed", "expired", "withdrawn"):
        assert same(sums(found, event)) == same(sums(wanted, event)), (start, end, event)
    assert sums(found, "claimed") == {kind: amount for kind in KINDS if (amount := minted[f"minted_{kind}"].sum())}
    assert not minted.unexplained.fillna(0).any()
    # What is known of a coupon by itself is what the whole knows of it.
    known, same = ended.amount.notna(), rewards.reindex(ended.index)
    assert ended.ended_at.equals(same.ended_at)
    assert (ended.amount[known] == same.amount[known]).all()


def test_the_whole_has_every_coupon_once(world):
    _, flows, rewards, _ = world
    counted = flows.groupby("event").coupons.sum()
    outcomes = rewards.outcome.value_counts()

    for event in ("claimed", "expired", "withdrawn"):
        assert counted.get(event, 0) == outcomes.get(event, 0)
    # Sharing makes coupons of one that counts already.
    made = flows[flows.event == "created"].amount.dropna().sum()
    left = rewards[rewards.outcome != "shared"].amount.dropna()
    # The ledger rounds each share.
    assert abs(made - left.sum()) <= Decimal("5e-11") * len(left) * (rewards.outcome == "shared").any()


def test_the_worth_in_usd_is_at_the_price_of_the_round_and_of_several_at_that_of_the_payment(world):
    whole, flows, rewards, prices = world
    row = flows[flows.amount_usd.notna() & flows["round"].notna()].iloc[-1]

    assert row.amount_usd == round(row.amount * prices[row["round"]], 10)
    known = rewards[rewards.amount.notna() & rewards["round"].isin(prices.index)]
    assert len(known) > 100
    for coupon in known.itertuples():
        assert coupon.amount_usd == round(coupon.amount * prices[coupon.round], 10)

    stated = defaultdict(set)
    for event in whole.events.select(["update_id", "exercise_result"]).to_pylist():
        stated[event["update_id"]] |= prices_in(json.loads(event["exercise_result"] or "null"))
    several = flows[(flows.event == "claimed") & flows["round"].isna() & flows.amount.notna()]
    for row in several.itertuples():
        of_payment = stated[row.update_id] or {None}
        assert row.amount_usd in {price and round(row.amount * price, 10) for price in of_payment}
    assert several.amount_usd.notna().sum() > 5
    rounds = rewards[rewards.outcome == "claimed"].groupby(["ended_at", "kind"])["round"].agg(set)
    for row in flows[(flows.event == "claimed") & flows["round"].notna()].itertuples():
        assert rounds[row.record_time, row.kind] == {row.round}


def test_a_claim_of_coupons_that_are_not_known_has_no_price_and_only_a_round_that_is_theirs(world):
    whole, flows, rewards, _ = world
    start = whole.updates["record_time"][len(whole.updates) * 17 // 20].as_py()
    with (
        warnings.catch_warnings(),
        together(whole.events.filter(pc.greater_equal(whole.events["record_time"], start))) as part,
    ):
        warnings.simplefilter("ignore")
        late, placed = lf.reward_flows(part), lf.rewards(part).set_index("contract_id")["round"].dropna()
    assert placed.equals(rewards["round"].reindex(placed.index))
    names = ["update_id", "event", "kind", "party", "amount"]
    both = late[late["round"].isna()].merge(flows, on=names, suffixes=("", "_known"))
    claims = both[(both.event == "claimed") & both.amount_usd.notna()]

    assert len(claims) > 1
    assert claims.amount_usd.equals(claims.amount_usd_known)
