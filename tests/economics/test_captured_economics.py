"""Real events of MainNet: every number follows by hand from the others."""

import json
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import WHOLE, captured_events, frame_of, incomplete, known, opening_of
from tests.replay import read_capture

pytestmark = pytest.mark.usefixtures("captures")

SV, APP = "Splice.Amulet:SvRewardCoupon", "Splice.Amulet:AppRewardCoupon"
LIVENESS = "Splice.ValidatorLicense:ValidatorLivenessActivityRecord"


@pytest.fixture(scope="module")
def events(captures):  # noqa: ARG001 - skips where there are none
    return captured_events()


def test_the_issuance_of_a_closed_round_follows_from_the_configuration(events):
    """20e9 x 600 s / 365 d = 380,517.50 coin; 48 % of it over a weight of 2,647,000 is 0.0690020407."""
    rounds = lf.round_history(events).set_index("round")
    opened = rounds.loc[74224]
    issued = opened.amulet_to_issue_per_year * opened.tick_us / (365 * 86_400 * 1_000_000)
    share = 1 - opened.app_percentage - opened.validator_percentage

    assert (round(issued, 2), share) == (Decimal("380517.50"), Decimal("0.48"))
    assert round(issued * share / 2_647_000, 10) == rounds.issuance_per_sv[74218] == Decimal("0.0690020407")
    assert rounds.holding_fee_usd[74224] == Decimal("0.0000190259")


@incomplete
def test_unclaimed_rewards_are_the_sums_of_what_expired(events):
    """The page has four, and the rounds of two of them. That of the other two is not on it: of all issuances with ten
    places one gives 86.1679129993 for its two apps, 2 x 13.7005069188 x 3.1446979849 = 86.16791299932..., while each
    coupon rounded on its own would give ...9994; four liveness records are 4 x 64.8505728200 = 259.4022912800."""
    assert lf.rewards(events).attrs["checks"]["unclaimed_rewards"] == {"equal": 2, "different": 0, "unknown": 2}

    issuance = {
        "issuancePerFeaturedAppRewardCoupon": "3.1446979849",
        "optIssuancePerValidatorFaucetCoupon": "64.85057282",
    }
    (closed,) = events[events.choice == "AppRewardCoupon_DsoExpire"].payload.str.extract(r'"(00[0-9a-f]+)"')[0].unique()
    opening = opening_of([(closed, "Splice.Round:ClosedMiningRound", {"round": {"number": "74219"}} | issuance)])

    checks = lf.rewards(events, opening=opening).attrs["checks"]["unclaimed_rewards"]

    assert checks == {"equal": 4, "different": 0, "unknown": 0}


def test_a_claim_is_the_weight_times_the_issuance_of_its_round(events):
    """159,250 x 0.0690020407 = 10,988.5749814750; the coupon was created before the page."""
    first = events[events.choice == "AmuletRules_Transfer"].iloc[0]
    (name,) = events[
        (events.choice == "SvRewardCoupon_ArchiveAsBeneficiary") & (events.update_id == first.update_id)
    ].contract_id
    coupon = {"sv": "sv", "beneficiary": "sv", "round": {"number": "74220"}, "weight": "159250"}

    rewards = lf.rewards(events, opening=opening_of([(name, SV, coupon)]))

    assert known(rewards[rewards.contract_id == name], "outcome", "amount") == [("claimed", Decimal("10988.574981475"))]
    # the two other transfers claim a liveness record each, which weighs 1, and a coupon whose weight is not known
    assert rewards.attrs["checks"]["claims"] == {"equal": 3, "different": 0, "unknown": 2}


@incomplete
def test_what_expired_of_coupons_from_before_the_page_has_the_weight_of_its_result(events):
    rewards = lf.rewards(events)
    rows = rewards.set_index("contract_id")
    expired = events[events.choice.fillna("").str.endswith("_DsoExpire")]

    assert rewards.attrs["edges"]["began_before"]["without_create"] == 54 + 7 + 2
    assert len(expired) == 58
    for event in expired.itertuples():
        result, row = json.loads(event.exercise_result), rows.loc[event.contract_id]
        weight = 1 if isinstance(result, str) or not result else Decimal(result.get("weight") or result["amount"])
        assert (row.outcome, row.weight, row.ended_at) == ("expired", weight, event.record_time)


def test_the_first_super_validator_and_price_vote_of_a_network(captures):
    assert captures
    first = frame_of(read_capture("scan-updates-page").body["transactions"], **WHOLE)
    party = "Digital-Asset-2::12209b21d512c6a7e2f5d215266fe6568cb732caaef7ff04e308f990a652340d3529"
    since, price = pd.Timestamp("2024-06-24 21:08:34.404896", tz="UTC"), Decimal("0.005")

    columns = ("sv", "sv_name", "weight", "joined_round", "participant_id", "since", "beneficiaries", "began", "until")
    assert known(lf.sv_weights(first), *columns) == [
        (party, "Digital-Asset-2", 140_000, 0, f"PAR::{party}", since, (party,), "onboarded", None)
    ]
    columns = ("sv", "price_usd", "record_time", "voters", "median_usd", "lowest_usd", "highest_usd")
    assert known(lf.price_votes(first), *columns) == [(party, price, since, 1, *[price] * 3)]


def test_the_super_validators_of_a_network_late_with_whom_their_coupons_name(events):
    rules = read_capture("scan-dso").body["dso_rules"]["contract"]
    opening = opening_of([(rules["contract_id"], "Splice.DsoRules:DsoRules", rules["payload"])])
    coupons = events[(events.template_name == SV) & (events.event_type == "created_event")]
    named = {(coupon["sv"], coupon["beneficiary"]) for coupon in map(json.loads, coupons.payload)}

    rows = lf.sv_weights(events, opening=opening)

    members = {sv: (info["name"], int(info["svRewardWeight"])) for sv, info in rules["payload"]["svs"]}
    assert {row.sv: (row.sv_name, row.weight) for row in rows.itertuples()} == members
    assert len(rows) == len(members) == 13
    assert {(row.sv, to) for row in rows.itertuples() for to in row.beneficiaries or ()} == named
    assert rows.since.isna().all()
