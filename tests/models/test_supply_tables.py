"""`issuance` against the raw events, read another way, and what no simulated history has, by hand."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.generator.generate import generate
from tests.economics.histories import WHOLE, create, frame_of, opening_of, update
from tests.replay import read_capture
from tests.sandbox.economy_books import KINDS, YEAR, entity_of, preorder, round_number, rounded

RULES, OPEN = "Splice.AmuletRules:AmuletRules", "Splice.Round:OpenMiningRound"
UNCLAIMED = "Splice.Amulet:UnclaimedReward"
#: Of each template of coupons: what states its weight, and what its round issues for it.
WEIGHTS = {
    "AppRewardCoupon": ("amount", "issuancePer{}AppRewardCoupon"),
    "ValidatorRewardCoupon": ("amount", "issuancePerValidatorRewardCoupon"),
    "SvRewardCoupon": ("weight", "issuancePerSvRewardCoupon"),
    "ValidatorFaucetCoupon": (None, "optIssuancePerValidatorFaucetCoupon"),
    "ValidatorLivenessActivityRecord": (None, "optIssuancePerValidatorFaucetCoupon"),
}


def transactions(name):
    """The transactions of three days of the sandbox, or of a captured page."""
    if name == "sandbox":
        items = [json.loads(one.rendered) for one in generate(4, 5_000).updates]
    else:
        items = json.loads(read_capture("scan-updates-page").sent)["transactions"]
    return [item for item in items if "events_by_id" in item]


@pytest.fixture(scope="module")
def items():
    return transactions("sandbox")


def worth_of(coupon, issuing):
    """What a coupon is worth, exactly."""
    template, payload = coupon
    weight, issuance = WEIGHTS[template.partition(":")[2]]
    issuance = issuance.format("Featured" if payload.get("featured") else "Unfeatured")
    return Decimal(payload[weight] if weight else 1) * Decimal(issuing[issuance])


def became(items):
    """By round: what was minted for its coupons, what became unclaimed as they expired, and the worth of open ones."""
    coupons, issuing, closed, ended = {}, {}, {}, {}
    minted, expired, left = defaultdict(Decimal), defaultdict(Decimal), defaultdict(Decimal)
    for item in items:
        for event in preorder(item):
            entity = entity_of(event)
            if event["event_type"] == "created_event":
                payload = event["create_arguments"]
                if entity in KINDS:
                    coupons[event["contract_id"]] = entity, payload
                elif entity == "Splice.Round:IssuingMiningRound":
                    issuing[round_number(payload)] = payload
                elif entity == "Splice.Round:ClosedMiningRound":
                    closed[event["contract_id"]] = round_number(payload)
            elif event["choice"] == "DsoRules_ClaimExpiredRewards":
                (amount,) = (
                    below["create_arguments"]["amount"]
                    for below in map(item["events_by_id"].get, event["child_event_ids"])
                    if entity_of(below) == UNCLAIMED
                )
                expired[closed[event["choice_argument"]["choiceArg"]["closedRoundCid"]]] += Decimal(amount)
            elif entity in KINDS and event["consuming"]:
                ended[event["contract_id"]] = event["choice"]
    for contract, coupon in coupons.items():
        number = round_number(coupon[1])
        if contract not in ended:
            left[number] += rounded(worth_of(coupon, issuing[number])) if number in issuing else Decimal("NaN")
        elif not ended[contract].endswith("_DsoExpire"):
            minted[number] += rounded(worth_of(coupon, issuing[number]))
    return minted, expired, left


def allowed_by(opened):
    """What a round may issue, and the pools: validators, applications, development fund, super validators."""
    config = opened["issuanceConfig"]
    whole = rounded(Decimal(config["amuletToIssuePerYear"]) * int(opened["tickDuration"]["microseconds"]) / YEAR)
    shares = ("validatorRewardPercentage", "appRewardPercentage", "optDevelopmentFundPercentage")
    pools = [rounded(whole * Decimal(config.get(name) or 0)) for name in shares]
    return whole, *pools, whole - sum(pools)


def creates(items, entity):
    """The payloads of the contracts of a template."""
    for item in items:
        for event in preorder(item):
            if event["event_type"] == "created_event" and entity_of(event) == entity:
                yield event["create_arguments"]


def step_after(opened, rules):
    """When the next step of the curve begins to apply, and the coin per year from then on."""
    now, tick = (int(opened[name]["microseconds"]) for name in ("issuingFor", "tickDuration"))
    curve = rules["configSchedule"]["initialValue"]["issuanceCurve"]["futureValues"]
    steps = sorted((int(one["_1"]["microseconds"]), one["_2"]["amuletToIssuePerYear"]) for one in curve)
    for after, coin in steps:
        if after > now:
            rounds = -((now - after) // tick)
            opens = pd.Timestamp(opened["opensAt"]) + pd.Timedelta(microseconds=rounds * tick)
            return opens, round_number(opened) + rounds, Decimal(coin)
    return None, None, None


@pytest.mark.parametrize("name", ["sandbox", "captures"])
def test_what_the_curve_allows_is_in_the_raw_rounds(name, request):
    if name == "captures":
        request.getfixturevalue("captures")  # skips where there are none
    own = transactions(name)
    rounds = {round_number(payload): payload for payload in creates(own, OPEN)}
    rules = next(creates(own, RULES))

    rows = lf.issuance(frame_of(own, **WHOLE)).set_index("round")

    assert list(rows.index) == sorted(rounds)
    for number, opened in rounds.items():
        row = rows.loc[number]
        pools = (row.allowed_validator, row.allowed_app, row.allowed_development_fund, row.allowed_sv)
        assert (row.allowed, *pools) == allowed_by(opened)
        assert row.allowed_usd == rounded(row.allowed * Decimal(opened["amuletPrice"]))
        found = (row.next_step_at, row.next_step_round, row.next_amulet_to_issue_per_year)
        assert tuple(None if pd.isna(one) else one for one in found) == step_after(opened, rules)
    assert name == "captures" or {*rows.next_step_round.isna()} == {True, False}


def test_what_became_of_a_rounds_coupons_is_in_the_raw_events(items):
    minted, expired, left = became(items)
    events = frame_of(items, **WHOLE)

    rows = lf.issuance(events).set_index("round")

    assert min(map(len, (minted, expired, left))) > 2
    price = {round_number(payload): Decimal(payload["amuletPrice"]) for payload in creates(items, OPEN)}
    for number, row in rows.iterrows():
        assert (row.minted, row.expired) == (minted[number], expired[number])
        assert left[number].is_nan() if pd.isna(row.open) else row.open == left[number]
        assert (row.minted_usd, row.expired_usd) == tuple(
            rounded(amount * price[number]) for amount in (row.minted, row.expired)
        )
        assert pd.isna(row.allowed_featured_app) or (
            row.allowed_featured_app + row.allowed_unfeatured_app - row.allowed_app < Decimal("1e-6")
        )
    by_round = lf.supply_per_round(events).set_index("round").burned
    assert rows.burned[rows.burned != 0].to_dict() == by_round[by_round != 0].to_dict()
    assert rows.whole.to_dict() == lf.round_history(events).set_index("round").whole.to_dict()
    sums = rows[[name for name in rows if f"cumulative_{name}" in rows]].cumsum()
    assert sums.add_prefix("cumulative_").equals(rows[[f"cumulative_{name}" for name in sums]])


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
def test_sums_from_ledger_begin_are_not_known_of_a_part(items):
    part = frame_of(items[len(items) // 2 :])

    rows = lf.issuance(part, opening=opening_of([]))

    cumulative = rows.filter(like="cumulative_")
    assert len(rows) > 3
    assert cumulative.isna().all(axis=None)
    assert rows.allowed.notna().any()
    begun = lf.issuance(part, opening="nothing").filter(like="cumulative_")
    assert not begun.isna().all(axis=None)


def rules_with(*steps):
    """The coin's rules with later steps of the curve, each so many rounds after the first and a coin per year."""
    future = [{"_1": {"microseconds": str(after * 600_000_000)}, "_2": {"amuletToIssuePerYear": coin}}
              for after, coin in steps]  # fmt: skip
    return {"configSchedule": {"initialValue": {"issuanceCurve": {"futureValues": future}}}}


def opens(number, *, tick="600000000"):
    """An open round; the curve lets 1 coin a microsecond be issued in a year of ticks."""
    return create(OPEN, f"r{number}", {
        "round": {"number": str(number)}, "amuletPrice": "0.5", "opensAt": "2026-01-01T12:00:00Z",
        "issuingFor": {"microseconds": str(number * 600_000_000)}, "tickDuration": {"microseconds": tick},
        "issuanceConfig": {"amuletToIssuePerYear": "31536000000.0"},
    })  # fmt: skip


def test_the_next_step_is_that_of_the_rules_that_held_when_a_round_opened():
    history = [
        update("g1", 0, opens(7)),
        update("g2", 10, create(RULES, "new", rules_with((9, "3.0"), (8, "2.0")))),
        update("g3", 20, opens(8)),
        update("g4", 30, opens(9), opens(10, tick="0"), create(RULES, "odd", rules_with((11, "more")))),
    ]
    opening = opening_of([("old", RULES, rules_with((7, "5.0"), (30, "4.0")))])

    rows = lf.issuance(frame_of(history), opening=opening)

    assert rows.next_step_round.fillna(0).to_list() == [30, 9, 0, 0]
    assert rows.next_amulet_to_issue_per_year.to_list() == [Decimal(4), Decimal(3), None, None]
    assert rows.next_step_at[0] == pd.Timestamp("2026-01-01T12:00Z") + 23 * pd.Timedelta("10min")
    assert rows.allowed.to_list() == [Decimal(600_000), Decimal(600_000), Decimal(600_000), 0]
    assert rows.attrs["not_understood"] == {"Splice.AmuletRules:AmuletRules: _2.amuletToIssuePerYear": 1}
    without = lf.issuance(frame_of(history[:1]))
    assert without.next_step_round.isna().all()


@pytest.mark.parametrize("word", ["issuance", "halving", "schedule", "issuance curve"])
def test_an_analyst_finds_the_issuance(word):
    assert "issuance" in {*lf.find(word).name}
