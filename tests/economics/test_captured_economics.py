"""Real events of MainNet: every number follows by hand from the others."""

import json
from decimal import Decimal

import pytest

import ledgerframes as lf
from tests.economics.histories import captured_events, incomplete, opening_of

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

    assert round(issued, 2) == Decimal("380517.50")
    assert share == Decimal("0.48")
    assert round(issued * share / 2_647_000, 10) == rounds.issuance_per_sv[74218] == Decimal("0.0690020407")
    assert rounds.attrs["not_understood"] == {}
    assert rounds.holding_fee_usd[74224] == Decimal("0.0000190259")


@incomplete
def test_unclaimed_rewards_are_the_sums_of_what_expired(events):
    """The page has four; the rounds of two of them are in it: 145,801.3119991000 and 65.5173955496 coin."""
    assert lf.rewards(events).attrs["checks"]["unclaimed_rewards"] == {"equal": 2, "different": 0, "unknown": 2}

    # That of the other two is not. Of all issuances with ten places one gives 86.1679129993 for its two apps:
    # 2 x 13.7005069188 x 3.1446979849 = 86.16791299932..., while each coupon rounded on its own would give ...9994.
    worth = Decimal("13.7005069188") * Decimal("3.1446979849")
    assert (round(2 * worth, 10), 2 * round(worth, 10)) == (Decimal("86.1679129993"), Decimal("86.1679129994"))
    # The four liveness records of the same round: 4 x 64.8505728200 = 259.4022912800.
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

    assert Decimal(159_250) * Decimal("0.0690020407") == Decimal("10988.5749814750")
    assert rewards.set_index("contract_id").loc[name, ["outcome", "amount"]].tolist() == [
        "claimed",
        Decimal("10988.5749814750"),
    ]
    # the two other transfers claim a liveness record each, which weighs 1, and a coupon whose weight is not known
    assert rewards.attrs["checks"]["claims"] == {"equal": 3, "different": 0, "unknown": 2}


@incomplete
def test_coupons_from_before_the_page_are_counted(events):
    rewards = lf.rewards(events)

    begun = rewards[rewards.created_at.notna()]
    assert begun.kind.value_counts().to_dict() == {"app": 15, "sv": 7}
    assert len(rewards) - len(begun) == 54 + 7 + 2
    assert rewards.attrs["without_create"] == {SV: 54, LIVENESS: 7, APP: 2}
    assert rewards.attrs["not_understood"] == {}
    assert begun.provider.ne(begun.beneficiary).sum() == 13  # beneficiaries that are not the provider


@incomplete
def test_what_expired_of_coupons_from_before_the_page_is_what_the_ledger_states(events):
    """58 coupons: each has the weight of its result; those of rounds on the page add up to the unclaimed rewards."""
    rows = lf.rewards(events).set_index("contract_id")
    expired = events[events.choice.fillna("").str.endswith("_DsoExpire")]
    unclaimed = events[events.template_name.eq("Splice.Amulet:UnclaimedReward")]
    stated = {row.parent_event_id: Decimal(json.loads(row.payload)["amount"]) for row in unclaimed.itertuples()}

    assert len(expired) == 58
    for event in expired.itertuples():
        result, row = json.loads(event.exercise_result), rows.loc[event.contract_id]
        weight = 1 if isinstance(result, str) or not result else Decimal(result.get("weight") or result["amount"])
        assert (row.outcome, row.weight, row.ended_at) == ("expired", weight, event.record_time)
    sums = {}
    for event in expired.itertuples():
        sums.setdefault(event.parent_event_id, []).append(rows.loc[event.contract_id, "amount"])
    known = {above: sum(amounts) for above, amounts in sums.items() if None not in amounts}
    assert sorted(map(str, known.values())) == ["145801.3119991000", "65.5173955496"]
    assert all(stated[above] == amount for above, amount in known.items())
