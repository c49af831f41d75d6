"""What charts say: sums, ranks, bins, panels and words, read from the content that both libraries draw."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.plot.bins import grouped
from ledgerframes.plot.contents import Nothing
from tests.plots import frames
from tests.plots.seen import drawn, legend, outside_of_the_figure, words


def content(name, frame, **options):
    return getattr(lf.plot, name).__wrapped__(frame, **options)


def sums(made):
    return {series.name: float(series.values.sum()) for series in made.series}


def test_bars_hold_the_counts_of_their_bins_and_a_cut_last_one_is_hatched():
    made = content("updates", frames.updates(100), every="1min")

    assert sums(made) == {"transaction": 34, "assignment": 33, "unassignment": 33}
    assert made.partial == {1}
    assert made.subtitle.endswith("; the last bar is incomplete")
    assert made.spans[0] == "2026-11-01 00:00:00 to 2026-11-01 00:01:00 UTC"
    assert len(drawn(lf.plot.updates(frames.updates(100), every="1min"), "partial")) == 1
    figure = lf.plot.updates(frames.updates(100), every="1min", backend="plotly")
    patterns = [trace.marker.pattern for trace in figure.data]
    assert [list(pattern.shape) for pattern in patterns] == [["", "/"]] * 3
    assert {pattern.fillmode for pattern in patterns} == {"overlay"}  # else there is no ground, and no bar is seen
    # A first bin that the data covers in part is hatched, too, unless the ledger begins there.
    rows = frames.updates(100).iloc[30:]
    assert content("updates", rows, every="1min").partial == {0, 1}
    rows.attrs["from_beginning"] = True
    assert content("updates", rows, every="1min").partial == {1}
    made = content("updates", frames.updates(9).query("kind != 'transaction'"))
    assert [(one.label, one.hue) for one in made.series] == [("assignments", 1), ("unassignments", 2)], "fixed hues"


def test_bars_are_cut_where_the_range_is_even_if_little_happened_in_it():
    rows = frames.votes(3).iloc[:2]  # at midnight and at six
    assert content("votes", rows, every="1D").partial == frozenset()

    rows.attrs = {"start": "2026-10-31T18:00:00Z", "end": "2026-11-01T12:00:00Z", "complete": True}
    made = content("votes", rows, every="1D")
    assert (made.partial, made.subtitle.rpartition("; ")[2]) == ({0}, "the only bar is incomplete")
    rows.attrs |= {"start": "2026-11-01T00:00:00Z", "end": "2026-11-02T00:00:00Z"}
    assert content("votes", rows, every="1D").partial == frozenset()
    assert content("votes", rows, every="1h").partial == frozenset()


def test_a_range_with_a_hole_is_told_from_one_in_which_nothing_happened():
    rows = frames.votes(40)
    none = rows.head(0)
    assert "missing" not in content("votes", rows).subtitle + content("votes", none).why

    rows.attrs["complete"] = none.attrs["complete"] = False

    assert content("votes", rows).subtitle.endswith("; a part of the range is missing")
    assert content("votes", none).why.endswith("; a part of the range is missing")


@pytest.mark.parametrize("name", ["updates", "balances", "supply_by_purpose"])
def test_a_history_in_arrow_is_drawn_as_one_in_pandas(name, ledger, history):
    made = content(name, lf.load_history(ledger, as_="arrow"))

    assert (made.subtitle, sums(made)) == (content(name, history).subtitle, sums(content(name, history)))


def test_rewards_are_drawn_by_when_they_were_claimed_or_expired():
    rows = frames.rewards(400)
    made = content("rewards", rows)

    by_event = rows.groupby("event")["amount"].sum().astype(float)
    assert sums(made) == pytest.approx(by_event.drop("created").to_dict())
    assert [series.label for series in made.series] == ["claimed", "expired"]
    assert f"{by_event['created']:,.0f} created" in made.subtitle
    kinds = content("rewards", rows, by="kind")
    assert sum(sums(kinds).values()) == pytest.approx(by_event["claimed"])
    assert "super validators" in [series.label for series in kinds.series]


def test_open_coupons_are_counted_where_all_were_seen():
    rows = frames.rewards(400)
    assert "open" not in content("rewards", rows).subtitle
    rows.attrs["from_beginning"] = True
    more = pd.concat(
        [rows, rows[rows["event"] == "created"], rows[rows["event"] == "created"], rows[rows["event"] == "created"]]
    )
    more.attrs["from_beginning"] = True
    assert "100 coupons open" in content("rewards", more).subtitle


def test_a_selection_of_rows_is_not_drawn_as_if_it_began_with_the_ledger(history):
    flows, coupons = lf.reward_flows(history), lf.rewards(history)
    for rows in (flows, coupons):
        assert "coupons open" in content("rewards", rows).subtitle
    cut = history.updates.record_time.iloc[len(history.updates) // 2]
    for rows in (flows[flows.event != "expired"], flows[flows.record_time >= cut], coupons[coupons.created_at >= cut]):
        assert "open" not in content("rewards", rows).subtitle
    begun = history.updates  # from 9 to 10 o'clock and a minute
    for rows, named in ((begun, "the last bar is"), (begun.iloc[1:], "the first and the last bar are")):
        assert content("updates", rows, every="2h").subtitle.endswith(f"{named} incomplete")


def test_coupons_are_drawn_as_what_happened_to_them_in_the_range(ledger, history):
    flows, coupons = content("rewards", lf.reward_flows(history)), content("rewards", lf.rewards(history))
    assert sums(coupons)["claimed"] == pytest.approx(sums(flows)["claimed"])

    later = lf.load_history(ledger, start=history.updates.record_time[150])
    with pytest.warns(lf.errors.IncompleteFiguresWarning):
        flows, coupons = content("rewards", lf.reward_flows(later)), content("rewards", lf.rewards(later))
    # What a claim was worth is not known of each coupon; what expired and was created is.
    told = [made.subtitle.partition(" claimed, ")[2].partition(";")[0] for made in (flows, coupons)]
    assert told[0] == told[1]


def test_burned_coin_that_is_not_known_is_not_called_none():
    rows = frames.burns(5)
    amounts = [name for name in rows if name.startswith("burned_")]

    unknown = content("burn", rows.assign(**dict.fromkeys(amounts)))
    assert unknown.why == "no coin is known to have been burned in this range; not known of 5 updates"
    assert content("burn", rows.assign(**dict.fromkeys(amounts, 0))).why == "no coin was burned in this range"


def test_minted_and_burned_have_panels_and_linear_scales_of_their_own():
    rows = frames.rounds(60)
    made = content("coin_supply", rows.assign(minted=rows["minted"] * 1000))

    total, minted, burned = made.panels
    assert list(total.series[0].values) == [float(value) for value in rows["total"]]
    assert (minted.y.logarithmic, burned.y.logarithmic) == (False, False)
    assert (burned.series[0].values >= 0).all()
    assert minted.title == "minted  768 M CC"
    assert [panel.title.partition("  ")[0] for panel in made.panels] == ["supply", "minted", "burned"]


def test_rounds_in_part_are_hatched():
    rows = frames.rounds(131, first=101)

    assert content("coin_supply", rows).panels[1].partial == {0}
    whole = frames.rounds(5).assign(whole=[True, True, False, True, False])
    assert content("coin_supply", whole).panels[1].partial == {2, 4}
    unknown = whole.assign(whole=pd.array([None, True, False, True, None], dtype="boolean"))
    assert content("coin_supply", unknown).panels[1].partial == {2}


def test_what_is_not_known_of_the_supply_is_said():
    rows = frames.rounds(5).assign(total=None, unexplained=Decimal(1))

    made = content("coin_supply", rows)
    assert "changes unexplained in 5, the supply is not known" in made.subtitle
    assert len(made.panels) == 2


def test_balances_are_steps_with_a_marker_shape_each_from_five_lines_on():
    ax = lf.plot.balances(frames.balances(6, days=40), top=6)

    assert {line.get_drawstyle() for line in drawn(ax, "series")} == {"steps-post"}
    assert len({line.get_marker() for line in drawn(ax, "series")}) == 6
    figure = lf.plot.balances(frames.balances(6, days=40), top=6, backend="plotly")
    assert {trace.line.shape for trace in figure.data} == {"hv"}
    assert len({trace.marker.symbol for trace in figure.data}) == 6


def test_far_apart_balances_have_a_logarithmic_axis():
    rows = pd.concat([frames.balances(2, days=3), frames.balances(1, days=3).assign(party_id="whale::1220")])
    rows.loc[rows["party_id"] == "whale::1220", "total_coin_holdings"] = Decimal(10**6)

    assert content("balances", rows).y.logarithmic
    assert content("balances", frames.balances(9, days=2)).subtitle.startswith("the 7 largest of 9 parties")
    rows.attrs["holders"] = 59
    assert "of 59 parties" in content("balances", rows).subtitle, "the frame holds the largest"
    assert lf.plot.balances(rows).get_yscale() == "log"
    assert {"1 M", "1,000"} <= set(lf.plot.balances(rows, backend="plotly").layout.yaxis.ticktext)


def test_holdings_are_ranked_and_the_others_are_one_bar_that_is_cut():
    made = content("holdings", frames.holdings(20), top=3)

    assert [made.labels[0][name] for name in made.names] == ["party-1", "party-2", "party-3", "17 others"]
    named = content(
        "holdings", frames.holdings(20).replace({frames.party(1): "zoe::1220", frames.party(2): "amy::1220"})
    )
    first = [named.labels[0][name] for name in named.names[:3]]
    assert first == ["zoe", "amy", "party-3"]  # by what they hold, and not by name
    assert made.rest
    assert made.totals[0] == "110"
    unstated = dict.fromkeys(("accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked"))
    assert "fees not served for 3 parties" in content("holding_fees", frames.holdings(3).assign(**unstated)).why
    assert "//" in drawn(lf.plot.holdings(frames.holdings(60), top=3), "total")[-1].get_text()


def test_ribbons_add_up_and_both_libraries_write_counts_and_headings():
    rows = frames.flows(6, 300)
    made = content("reassignment_flows", rows)

    assert sum(ribbon.size for ribbon in made.ribbons) == 300
    assert made.sizes(0) == rows["source_synchronizer"].value_counts().reindex(made.names).dropna().to_dict()
    trace = lf.plot.reassignment_flows(rows, backend="plotly")
    heads = [note.text for note in trace.layout.annotations if note.name == "head"]
    assert heads == ["<i>unassigned from</i>", "<i>assigned to</i>"]
    assert any(label.endswith(f"  {int(made.sizes(0)[made.names[0]])}") for label in trace.data[0].node.label)
    assert legend(lf.plot.reassignment_flows(rows))[0] == f"completed  {int((rows.status == 'completed').sum())}"


def test_counts_of_a_flow_matrix_are_drawn_as_the_flows_they_count():
    rows = frames.flows(4, 200)
    made, counted = content("reassignment_matrix", rows), content("reassignment_matrix", lf.flow_matrix(rows))

    assert made.names == counted.names
    assert np.array_equal(made.grid, counted.grid)
    assert made.grid.sum() == 200
    with pytest.raises(lf.errors.InputError, match="are legs and would count twice"):
        lf.plot.reassignment_matrix(rows.drop(columns="status"))


def test_status_is_words_in_the_timeline_and_not_another_stack():
    made = content("reassignment_timeline", frames.flows(3, 300))

    assert sum(sums(made).values()) == 300
    assert "in flight" in made.subtitle
    assert len(made.series) == 3


def test_durations_of_zero_or_less_lie_at_the_left_end():
    rows = pd.DataFrame([frames.flow(seconds=seconds) for seconds in (-3, 0, 5, 10, 600)])
    made = content("in_flight", rows)

    assert made.series[0].values[0] >= 3
    assert "2 took 0 s or less, drawn at the left end" in made.subtitle
    assert made.marks[0][1].startswith("median")


def test_what_a_party_pays_itself_or_without_an_amount_is_counted_and_left_out():
    rows = pd.concat([frames.transfers(3, 30), frames.transfers(2, 2).assign(amount=None, receiver="x::1220")])
    made = content("transfers", rows)

    assert "payments of a party to itself left out" in made.subtitle
    assert "2 others without an amount" in made.subtitle
    assert "CC in" in made.subtitle


def test_amounts_of_an_instrument_keep_their_digits_in_both_libraries_and_several_are_refused():
    rows = frames.transfers(2, 2).assign(instrument_id="gold", amount=Decimal("0.25"))

    ax, figure = lf.plot.transfers(rows), lf.plot.transfers(rows, backend="plotly")

    counts = {text.get_text() for text in drawn(ax, "count")}
    assert counts == {label.rpartition("  ")[2] for label in figure.data[0].node.label}
    assert not counts & {"0"}
    with pytest.raises(lf.errors.InputError, match="column instrument_id holds 2: choose one"):
        lf.plot.transfers(frames.transfers(3, 30).assign(instrument_id=["a", "b"] * 15))


def test_instruments_are_small_multiples_with_scales_of_their_own():
    made = content("instrument_supply", frames.instruments(9, loads=3), top=4)

    assert [panel.title for panel in made.panels] == ["S8  10.8 k", "S7  9,600", "S6  8,400", "S5  7,200"]
    assert "the 4 largest of 9 instruments, each in its own unit" in made.subtitle
    assert len(lf.plot.instrument_supply(frames.instruments(9, loads=3), top=4).child_axes) == 4


def test_validators_by_first_round_and_by_time():
    rounds = content("validators", frames.licenses(20))
    assert (rounds.x.scale, rounds.series[0].total) == ("round", "20")
    timed = content("validators", frames.growth(20))
    assert (timed.x.scale, timed.series[0].values[-1]) == ("time", 20)
    assert sums(content("license_growth", frames.growth(20))) == {"new": 20}


@pytest.mark.parametrize(
    ("period", "name", "end"),
    [
        (3_600_000_000, "hour", "11-01 01:00:00"),
        ("week", "week", "11-08 00:00:00"),
        ("month", "month", "12-01 00:00:00"),
    ],
)
def test_new_validators_are_counted_per_period_even_if_there_is_one(period, name, end):
    rows = frames.growth(1)
    rows.attrs["period"] = period

    made = content("license_growth", rows)

    assert (made.y.label, made.spans) == (f"new validators per {name}", (f"2026-11-01 00:00:00 to 2026-{end} UTC",))
    rows.attrs["end"] = "2026-11-01T00:30:00Z"
    assert content("license_growth", rows).subtitle.endswith("; the only bar is incomplete")
    quarters = frames.growth(2).assign(time=pd.to_datetime(["2026-10-01", "2027-01-01"], utc=True))
    assert content("license_growth", quarters).y.label == "new validators per quarter"
    assert content("license_growth", quarters).spans[-1].endswith(" to 2027-04-01 00:00:00 UTC")


def test_amounts_on_both_axes_are_written_alike():
    figure = lf.plot.coin_supply(frames.rounds(60), backend="plotly")
    ax = lf.plot.coin_supply(frames.rounds(60))

    assert [figure.layout.yaxis2.labelalias[tick] for tick in ("15k", "20k", "25k")] == ["15 k", "20 k", "25 k"]
    ax.figure.draw_without_rendering()
    assert any(tick.get_text().endswith(" k") for tick in ax.child_axes[1].get_yticklabels())


def test_votes_are_counted_by_outcome_and_those_opened_before_are_told():
    made = content("votes", frames.votes(40), every="1D")

    sums = {one.name: sum(one.values) for one in made.series}
    assert sums == {"accepted": 17, "rejected": 6, "expired": 6, "accepted_but_failed": 5, "open": 5}
    assert made.subtitle.startswith("39 votes, ")
    assert "1 vote opened before" in made.subtitle
    assert lf.plot.votes(frames.votes(9), every="1D", backend="plotly").layout.yaxis.dtick == 1  # there is no half


def test_price_votes_have_a_line_for_the_median_and_each_end_of_the_spread():
    rows = frames.price_votes(9)
    made = content("price_votes", pd.concat([rows, rows.tail(1).assign(median_usd=Decimal("0.0051"))]))

    assert [one.name for one in made.series] == ["highest", "median", "lowest"]
    assert made.series[1].values[-1] == 0.0051
    assert [len(one.values) for one in made.series] == [9, 9, 9]
    assert isinstance(content("price_votes", rows.assign(median_usd=None)), Nothing)


@pytest.mark.parametrize(
    ("cut", "note"),
    [({9}, "; the last bar is incomplete"), ({0, 9}, "; the first and the last bar are incomplete"),
     ({3}, "; 1 bar incomplete"), ({3, 9}, "; 2 bars incomplete"), (set(), "")],
)  # fmt: skip
def test_bars_are_said_to_be_incomplete_where_they_are(cut, note):
    whole = pd.Series([int(place not in cut) for place in range(10)])

    assert grouped(np.arange(10.0, 20.0), whole).note() == note


def test_a_bar_of_the_issuance_is_as_high_as_the_schedule_and_says_what_became_of_it():
    rows = frames.issuance(60)
    made = content("issuance", rows)

    assert sums(made) == {"minted": 22_500, "open": 4_500, "fund": 9_000, "expired": 4_500, "nobody": 4_500}
    assert sum(series.values for series in made.series).tolist() == [1000] * 30 + [500] * 30
    assert made.marks == ((129.5, "5 bn CC a year"),)
    assert made.subtitle == "60 rounds, 100 to 159; 45 k CC allowed, 22.5 k minted"
    figure = lf.plot.issuance(rows, backend="plotly")
    assert figure.layout.xaxis.range == (99.5, 159.5)
    assert [note.x for note in figure.layout.annotations if note.name == "mark"] == [129.5]
    later = content("issuance", rows.assign(open=[*rows["open"][:-1], None], whole=[True] * 59 + [False]))
    assert sums(later)["pending"] == 100
    assert later.series[-1].hue is None
    assert (later.partial, later.subtitle.rpartition("; ")[2]) == ({59}, "1 bar incomplete")
    more = content("issuance", rows.assign(minted=rows["allowed"] * 2))
    assert "nobody" not in sums(more)
    unknown = content("issuance", rows.assign(allowed=[None, *rows["allowed"][1:]]))
    assert unknown.subtitle.endswith("; not known of 1 other")
    assert isinstance(content("issuance", rows.assign(allowed=None)), Nothing)
    assert len(content("issuance", frames.issuance(3000)).spans) <= 120


def test_supply_by_purpose_is_stacked_at_the_ends_of_its_bars():
    rows = frames.supply_by_purpose(60)
    made = content("supply_by_purpose", rows)

    assert [series.values[-1] for series in made.series] == [12_950, *[1_000] * 5]
    assert [series.hue for series in made.series] == [*range(6)]
    assert made.subtitle.startswith("17.9 k CC at the end, 15.9 k circulating; 2026-11-01 00:00 to ")
    assert made.spans[0] == "at 2026-11-01 00:00:00 UTC"
    assert (np.diff(made.edges) == 7_200_000_000).all()
    assert sum(sums(content("supply_by_purpose", rows, show="pools")).values()) == 60 * 1_500
    many = content("supply_by_purpose", frames.supply_by_purpose(3000))
    assert (len(many.spans), many.series[0].values[-1]) == (375, 10_000 + 50 * 2999)
    unknown = content("supply_by_purpose", rows.assign(unlocked=[None, *rows["unlocked"][1:]]))
    assert unknown.subtitle.endswith("; not known at 1 other time")
    assert isinstance(content("supply_by_purpose", rows.assign(unlocked=None)), Nothing)


def test_shares_of_apps_are_those_of_each_interval_and_the_rest_is_told():
    made = content("app_shares", frames.apps(9, 30), every="1D", top=3)

    assert [one.name for one in made.series][3] == "6 others"
    table = np.array([one.values for one in made.series])
    assert table.sum(axis=0) == pytest.approx(1)
    assert table[0, 0] == pytest.approx(1 / sum(1 / number for number in range(1, 10)))
    assert made.subtitle.startswith("9 applications, ")
    assert "of 1 day of an app not known" in made.subtitle
    assert made.partial == frozenset()
    days = frames.apps(9, 30)
    cut = content("app_shares", days.assign(whole=days.time < days.time.max()), every="1D", top=3)
    assert (cut.partial, cut.subtitle.endswith("; the last bar is incomplete")) == ({29}, True)


def test_a_scorecard_sums_a_validators_days_and_says_what_is_left():
    made = content("validator_scorecard", frames.scorecards(9, 20), top=3)

    sums = {one.name: list(one.values[:2]) for one in made.series}
    assert sums == {
        "apps": [8000, 4000], "users' traffic": [1800, 900], "being alive": [11400, 5700],
        "traffic bought": [-1500, -750],
    }  # fmt: skip
    assert made.totals[:2] == ("19.7 k left, 86% of rounds", "9,850 left, 72% of rounds")
    assert made.rest


def test_a_scorecards_axis_begins_where_the_bars_do_and_ends_behind_their_totals_if_there_are_any():
    frame = frames.scorecards(9, 20)

    ax, figure = lf.plot.validator_scorecard(frame), lf.plot.validator_scorecard(frame, backend="plotly")

    for low, high in (ax.get_xlim(), figure.layout.xaxis.range):
        assert -2_200 < low < -1_500  # of 21,200 in all
        assert high > 1.25 * 21_200
    assert outside_of_the_figure(ax, words(ax)) == []
    frame[[name for name in frame if name.startswith(("rewards_", "traffic_paid"))]] = 0.0
    assert isinstance(content("validator_scorecard", frame), Nothing)


def test_retention_is_a_share_of_each_weeks_parties():
    made = content("retention", frames.cohorts(4))

    assert made.grid.tolist() == [[80.0, 60.0, 0.0], [81.8, 63.6, 0.0], [83.3, 0.0, 0.0]]
    assert made.sides == (["2026-10-26 (10)", "2026-11-02 (11)", "2026-11-09 (12)"], ["1", "2", "3"])
    assert made.subtitle == "46 parties of 4 weeks, in % of those of the week; the last week is incomplete"
    over = content("retention", frames.cohorts(4).assign(whole=True))
    assert over.subtitle == "46 parties of 4 weeks, in % of those of the week"
    assert isinstance(content("retention", frames.cohorts(1)), Nothing)
