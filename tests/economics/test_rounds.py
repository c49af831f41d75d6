"""`lf.round_history`: configuration, issuance and phases of mining rounds."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import frame_of, opening_of
from tests.economics.items import create, exercise, update

CONFIG = {
    "amuletToIssuePerYear": "20000000000.0000000000", "validatorRewardPercentage": "0.1200000000",
    "appRewardPercentage": "0.4000000000", "validatorRewardCap": "0.2000000000",
    "featuredAppRewardCap": "20000.0000000000", "unfeaturedAppRewardCap": "0.6000000000",
    "optValidatorFaucetCap": "570.0000000000", "optDevelopmentFundPercentage": None,
}  # fmt: skip
RULES, DSO_RULES = "Splice.AmuletRules:AmuletRules", "Splice.DsoRules:DsoRules"
OPEN = "Splice.Round:OpenMiningRound"


def opened(number, **config):
    return {
        "round": {"number": str(number)}, "amuletPrice": "0.0729300000", "opensAt": "2026-01-01T12:00:00.1234Z",
        "targetClosesAt": "2026-01-01T12:20:00Z", "tickDuration": {"microseconds": "600000000"},
        "transferConfigUsd": {"holdingFee": {"rate": "0.0000190259"}}, "issuanceConfig": CONFIG | config,
    }  # fmt: skip


def issuing(number, sv="0.0690020407"):
    return {
        "round": {"number": str(number)}, "issuancePerSvRewardCoupon": sv,
        "issuancePerValidatorRewardCoupon": "0.2000000000", "issuancePerFeaturedAppRewardCoupon": "3.4959069921",
        "issuancePerUnfeaturedAppRewardCoupon": "0.6000000000", "opensAt": "2026-01-01T12:30:00Z",
        "targetClosesAt": "2026-01-01T12:40:00Z", "optIssuancePerValidatorFaucetCoupon": "65.5173955496",
    }  # fmt: skip


def started(number=5, weight="2647000", sv="0.0690020407", cid=None):
    totals = {
        "totalValidatorRewardCoupons": "1.5000000000", "totalFeaturedAppRewardCoupons": "2.0000000000",
        "totalUnfeaturedAppRewardCoupons": "3.0000000000", "totalSvRewardWeight": weight,
        "optTotalValidatorFaucetCoupons": "697",
    }  # fmt: skip
    return update(
        f"issuing {number}", 30,
        exercise(
            RULES, "rules", "AmuletRules_MiningRound_StartIssuing", {"miningRoundCid": "sum", "summary": totals},
            {"issuingRoundCid": cid or f"c{number}"},
            create("Splice.Round:IssuingMiningRound", f"c{number}", issuing(number, sv)),
        ),
    )  # fmt: skip


def test_a_round_goes_through_its_phases():
    closed = {name: value for name, value in issuing(5).items() if not name.endswith("sAt")}
    events = frame_of([
        update("u1", 0, create(OPEN, "open", opened(5))),
        update("u2", 10, create("Splice.Round:SummarizingMiningRound", "sum", opened(5))),
        started(),
        update("u4", 40, create("Splice.Round:ClosedMiningRound", "closed", closed)),
    ])  # fmt: skip

    (row,) = lf.round_history(events).to_dict("records")

    noon = pd.Timestamp("2026-01-01 12:00", tz="UTC")
    times = [row[name] for name in ("opened_at", "summarizing_at", "issuing_at", "closed_at")]
    assert times == [noon + pd.Timedelta(seconds=second) for second in (0, 10, 30, 40)]
    assert row["opens_at"] == noon + pd.Timedelta(milliseconds=123.4)  # of the open phase, not of the issuing one
    assert row["tick_us"] == 600_000_000
    assert row["total_weight_validator_faucet"] == 697
    assert row["total_weight_sv"] == 2_647_000
    assert (row["validator_faucet_cap_usd"], row["development_fund_percentage"]) == (570, None)
    assert row["issuance_per_featured_app"] == Decimal("3.4959069921")
    assert row["whole"]
    events.attrs["complete"] = False
    assert not lf.round_history(events).whole.any()  # a gap may have held a part of the round


@pytest.mark.parametrize(
    ("rounds", "verdicts"),
    [
        # 20e9 x 600 s / 365 d = 380,517.503805175; less 12 % and 40 %: 182,648.401826484; / 2,647,000 = 0.0690020407.
        # 380,517.503805175 x (1 - 0.05) x (1 - 0.12 - 0.40) / 2,647,000: the fund takes its share before the others.
        # Where neither the round nor any rules state it, it is not 0.
        ([("0.0", "0.0690020407"), ("0.05", "0.0655519387"), (None, "0.0690020407")], {"equal": 2, "unknown": 1}),
        ([("0.0", "0.0690020408"), ("0.05", "0.0690020407")], {"different": 2}),
    ],
    ids=["stated", "of other shares"],
)
def test_the_issuance_of_super_validators_follows_from_the_configuration(rounds, verdicts):
    made = [create(OPEN, f"r{n}", opened(n, optDevelopmentFundPercentage=fund)) for n, (fund, _) in enumerate(rounds)]
    items = [update("made", 0, *made), *(started(number, sv=sv) for number, (_, sv) in enumerate(rounds))]

    checks = lf.round_history(frame_of(items)).attrs["checks"]["issuance_per_sv"]

    assert checks == {"equal": 0, "different": 0, "unknown": 0} | verdicts


def test_what_a_confirmation_proposes_is_counted_and_not_taken():
    proposal = {
        "action": {"tag": "ARC_AmuletRules", "value": {"amuletRulesAction": {
            "tag": "CRARC_MiningRound_StartIssuing", "value": {"summary": {"totalSvRewardWeight": "1"}},
        }}},
    }  # fmt: skip
    other = {"action": {"tag": "ARC_DsoRules", "value": {}}}
    events = frame_of([
        update("u0", 0, create(OPEN, "open", opened(5))),
        *(
            update(f"u{number}", number, exercise(DSO_RULES, "dso", "DsoRules_ConfirmAction", arguments))
            for number, arguments in enumerate([proposal, proposal, other], 1)
        ),
    ])  # fmt: skip

    rounds = lf.round_history(events)

    assert rounds.attrs["not_understood"] == {"Splice.DsoRules:DsoRules/DsoRules_ConfirmAction": 2}
    assert rounds.total_weight_sv.isna().all()


def test_what_cannot_be_read_of_a_round_is_counted_and_null():
    bad = [
        {"round": None}, {"round": {"number": "x"}}, opened(2**70), {},
        opened(5) | {"amuletPrice": "NaN"}, opened(6) | {"amuletPrice": "1e40"},
        opened(7) | {"amuletPrice": "0.12345678901"}, opened(8) | {"opensAt": "soon"},
    ]  # fmt: skip
    made = [create(OPEN, f"c{number}", arguments) for number, arguments in enumerate([*bad, opened(9)])]

    rounds = lf.round_history(frame_of([update("u1", 0, *made), started(10, cid="another")]))

    rounds = rounds[rounds["round"] < 10]
    assert rounds["round"].tolist() == [5, 6, 7, 8, 9]
    assert rounds.amulet_price_usd.isna().tolist() == [True, True, True, False, False]
    assert rounds.opens_at.isna().tolist() == [False, False, False, True, False]
    counts = {f"{OPEN}: {name}": count for name, count in (("round.number", 4), ("amuletPrice", 3), ("opensAt", 1))}
    totals = {f"{RULES}/AmuletRules_MiningRound_StartIssuing": 1}  # of a round that is not known
    assert rounds.attrs["not_understood"] == counts | totals


def test_what_was_stated_last_counts_and_a_phase_begins_once():
    again = opened(5) | {"amuletPrice": "0.0800000000", "opensAt": None}
    events = frame_of(
        [update("u1", 0, create(OPEN, "open", opened(5))), update("u2", 10, create(OPEN, "again", again))]
    )

    rounds = lf.round_history(events, opening=opening_of([("before", OPEN, opened(4))]))

    assert rounds["round"].tolist() == [4, 5]  # the first of the opening
    assert rounds.amulet_price_usd.tolist() == [Decimal("0.0729300000"), Decimal("0.0800000000")]
    # What the later one leaves out stays as the earlier one stated it.
    assert rounds.opens_at[1] == pd.Timestamp("2026-01-01T12:00:00.1234Z")
    assert pd.isna(rounds.opened_at[0])
    assert rounds.opened_at[1] == pd.Timestamp("2026-01-01T12:00:00Z")
