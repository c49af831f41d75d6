"""What a range cuts: `attrs["edges"]`, and one warning of what the figures lack."""

import warnings
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import IncompleteFiguresWarning
from ledgerframes.frames import attrs_of
from ledgerframes.models.computing import together
from tests.economics.histories import WHOLE, frame_of
from tests.economics.items import archive, create, exercise, update
from tests.economics.payments import coin

SV, AMULET, RULES = "Splice.Amulet:SvRewardCoupon", "Splice.Amulet:Amulet", "Splice.AmuletRules:AmuletRules"


@pytest.fixture(scope="module")
def part(net, exact_history):
    start = exact_history.updates["record_time"][1200].as_py()
    return lf.load_history(net, start=start, progress=False, decimals="exact"), lf.load_opening(net, at=start)


@pytest.fixture(scope="module")
def opened(part):
    with together(part[0], opening=part[1]) as inputs:
        yield inputs


def test_edges_sum_what_began_before_and_what_is_open(part, opened, exact_history):
    whole, start = lf.rewards(exact_history), part[0].updates.record_time.min()
    before = whole[(whole.created_at < start) & (whole.ended_at >= start)]
    left = whole[whole.outcome == "open"]

    edges = lf.rewards(opened).attrs["edges"]

    assert edges["began_before"] == {
        "rows": len(before), "coin": format(before.amount.sum(), "f"), "not_known": 0, "without_create": 0,
    }  # fmt: skip
    assert (edges["open_at_end"]["rows"], edges["open_at_end"]["not_known"]) == (len(left), left.amount.isna().sum())
    assert Decimal(edges["open_at_end"]["coin"]) == left.amount.dropna().sum()
    total = lf.supply(opened)
    assert Decimal(total.attrs["edges"]["open_at_end"]["coin"]) == total.total[0]


def test_rounds_that_a_range_cuts_are_marked_and_the_others_are_those_of_the_whole_history(switched, switched_history):
    """Without an opening; `test_every_economics_table.py` has parts with theirs."""
    times, whole = switched_history.updates["record_time"].to_pandas(), lf.sv_rewards(switched_history)
    start, end = times.iloc[[len(times) // 3, 2 * len(times) // 3]]
    with pytest.warns(IncompleteFiguresWarning, match="describes all of them, though each one's coin is known;"):
        rows = lf.sv_rewards(lf.load_history(switched, start=start, end=end, progress=False))

    held, key = rows[rows.whole], ["round", "opened_at", "sv", "beneficiary", "weight"]

    assert 0 < held["round"].nunique() < rows["round"].nunique()
    assert held.opened_at.notna().all()
    assert held[key].to_numpy().tolist() == whole[whole["round"].isin(held["round"])][key].to_numpy().tolist()


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
def test_what_a_round_minted_and_burned_is_that_of_the_whole_history_or_not_known(part, opened, exact_history):
    whole, names = lf.issuance(exact_history).set_index("round"), ["minted", "expired", "open", "burned"]
    for events, known in ((part[0], []), (opened, names[2:3])):
        rows = lf.issuance(events).set_index("round")[names]
        same = rows == whole.loc[rows.index, names]
        assert (same | rows.isna()).all(axis=None)
        assert rows.iloc[0].dropna().index.to_list() == known
        assert (same.minted & same.burned).iloc[-1]


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
def test_an_apps_whole_day_is_that_of_the_whole_history_or_not_known(switched, switched_history):
    """A day on which coupons expired that began before the range: they can be any provider's."""
    whole, key = lf.app_daily(switched_history).set_index(["time", "provider"]), ["time", "provider"]
    starts = whole[whole.coupons_expired > 0].index.get_level_values("time").unique()[1::3] - pd.Timedelta("2h")
    unknown = 0
    for start in starts:
        rows = lf.app_daily(lf.load_history(switched, start=start, progress=False, decimals="exact"))
        rows = rows[rows.whole].drop(columns="whole").set_index(key)
        same = (rows == whole.loc[rows.index, rows.columns]) | rows.isna()
        assert same.all(axis=None)
        unknown += rows.coupons_expired.isna().sum()
        assert (rows.coupons_expired.isna() == rows.rewards_expired.isna()).all()
    assert len(starts) > 1 < unknown


def test_one_warning_names_what_began_before_and_the_line_to_type(part, opened):
    with together(part[0]) as alone:
        for table in (lf.rewards, lf.reward_flows, lf.mint_burn):
            with pytest.warns(IncompleteFiguresWarning, match=r"before it.*=lf\.load_opening\(net, at='") as caught:
                found = table(alone)
            assert [one.filename for one in caught] == [__file__]
            assert found.attrs["edges"]["began_before"]["without_create"] > 0
            assert table(opened).attrs["edges"]["began_before"]["without_create"] == 0
    for table in (lf.supply, lf.balances_over_time, lf.holdings_from_events):
        with pytest.warns(IncompleteFiguresWarning, match=f"{table.__name__}: .* began before it"):
            table(part[0], opening="nothing")


def test_names_that_only_rows_left_out_explain_are_not_called_unknown_to_this_version(exact_history):
    events = exact_history.events.to_pandas(types_mapper=pd.ArrowDtype)
    events.attrs = attrs_of(exact_history.events)
    with pytest.warns(IncompleteFiguresWarning, match=r"rewards: these are not all .* explains .*RewardCoupon/Archive"):
        lf.rewards(events[events.template_name.str.contains("Coupon|Round")])


@pytest.mark.parametrize(("table", "template"), [(lf.rewards, SV), (lf.mint_burn, AMULET)], ids=["coupon", "coin"])
def test_a_contract_whose_create_cannot_be_read_did_not_begin_before_the_range(table, template):
    events = frame_of([update("a", 0, create(template, "c", {"owner": 5})), update("b", 1, archive(template, "c"))])

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IncompleteFiguresWarning)
        found = table(events)

    assert not any("began before" in str(one.message) for one in caught)
    assert found.attrs["edges"]["began_before"] == {"rows": 0, "coin": "0", "not_known": 0, "without_create": 0}
    assert any(name.startswith(template) for name in found.attrs["not_understood"])


COUPON, BURN, MELT = "Splice.Amulet:RewardCouponV3", f"{RULES}/AmuletRules_Burn", f"{AMULET}/Amulet_Melt"
#: What each table needs of these.
CONCERNED = {
    lf.rewards: (COUPON,), lf.featured_app_history: (COUPON,), lf.coin_history: (MELT,), lf.traffic_purchases: (BURN,),
    lf.mint_burn: (MELT, BURN), lf.supply_by_purpose: (MELT, BURN),
    **dict.fromkeys((lf.network_daily, lf.issuance, lf.app_daily, lf.validator_daily), (MELT, COUPON, BURN)),
}  # fmt: skip


def test_what_is_like_a_reward_or_moves_coin_and_is_not_known_is_a_warning():
    strange = (
        create(COUPON, "x", {}), archive(AMULET, "c", "Amulet_Melt"), exercise(RULES, "r", "AmuletRules_Burn", {}, {}),
    )  # fmt: skip
    coins = create(AMULET, "c", coin("alice", "1.0"))

    with together(frame_of([update("a", 0, coins), update("b", 1, *strange)], **WHOLE)) as events:
        for table, names in CONCERNED.items():
            said = f"does not know {', '.join(names)}, which are like rewards or may move coin"
            with pytest.warns(IncompleteFiguresWarning, match=said):
                table(events)


def test_parts_that_overlap_are_refused_until_each_event_is_there_once(part, net, exact_history):
    history, _ = part
    cut = history.updates.record_time[400]
    earlier = lf.load_events(net, start="begin", end=cut, progress=False, decimals="exact")
    joined = pd.concat([earlier, history.events], ignore_index=True)
    once = joined.drop_duplicates(["update_id", "event_id"])
    below = once[once.choice == "AmuletRules_Transfer"].query("node_index > 0").head(1)

    for table in (lf.mint_burn, lf.template_activity):
        for twice in (joined, pd.concat([once, below])):
            with pytest.raises(lf.errors.InputError, match=r"twice.*events\.drop_duplicates\("):
                table(twice)
    assert len(lf.template_activity(once)) == len(lf.template_activity(exact_history))


def test_two_networks_are_refused_as_one_history_and_as_opening_of_the_other(part):
    history, _ = part
    start = history.updates.record_time.min()
    with lf.sandbox(seed=8, updates=1600) as other:
        joined = pd.concat([history.events, lf.load_events(other, decimals="exact")], ignore_index=True)
        opening, theirs = lf.load_opening(other, at=start), lf.load_history(other, start=start)

    for table in (lf.mint_burn, lf.rewards, lf.network_daily):
        with pytest.raises(lf.errors.InputError, match="events are of two networks"):
            table(joined)
    for table in (lf.supply, lf.transfers, lf.holdings_from_events):
        with pytest.raises(lf.errors.InputError, match="events and opening= are of two networks"):
            table(history, opening=opening)
    assert lf.supply(theirs, opening=opening).total.notna().all()
