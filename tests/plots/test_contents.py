"""What charts say: sums, ranks, bins, panels and words, read from the content that both libraries draw."""

from decimal import Decimal
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.plot.contents import Nothing
from ledgerframes.plot.palette import hues_of
from tests.plots import frames
from tests.plots.seen import drawn, outside_of_the_figure, overlapping, words


def content(name, frame, **options):
    return getattr(lf.plot, name).__wrapped__(frame, **options)


def sums(made):
    return {series.name: float(series.values.sum()) for series in made.series}


def marked(frame, **attrs):
    """A frame that says more of itself."""
    frame.attrs |= attrs
    return frame


def parts(made):
    return [(one.label, one.hue) for one in made.series]


def ranks(made):
    return [made.labels[0][name] for name in made.names]


def ends(made):
    return [one.values[-1] for one in made.series]


WHALE = pd.concat([frames.balances(2, days=3), frames.balances(1, days=3).assign(party_id="whale::1220")])
WHALE.loc[WHALE["party_id"] == "whale::1220", "total_coin_holdings"] = Decimal(10**6)
REWARDED = frames.rewards(400).groupby("event").amount.sum().astype(float)
CREATED = frames.rewards(400).query("event == 'created'")
BURNED = [name for name in frames.burns(1) if name.startswith("burned_")]
FEES = ("accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked")
PAID = pd.concat([frames.transfers(3, 30), frames.transfers(2, 2).assign(amount=None, receiver="x::1220")])
SHORT = frames.flows(2, 5).assign(status="completed", in_flight=pd.to_timedelta([-3, 0, 5, 10, 600], unit="s"))
ISSUED, PURPOSES, APPS = frames.issuance(60), frames.supply_by_purpose(60), frames.apps(9, 30)
PAYING = [name for name in frames.scorecards(1, 1) if name.startswith(("rewards_", "traffic_paid"))]
VOTED = marked(frames.votes(3).iloc[:2], start="2026-10-31T18:00:00Z", end="2026-11-01T12:00:00Z", complete=True)
NAMED = frames.holdings(20).replace({frames.party(1): "zoe::1220", frames.party(2): "amy::1220"})
QUARTERS = frames.growth(2).assign(time=pd.to_datetime(["2026-10-01", "2027-01-01"], utc=True))
DAY, MINUTE = {"every": "1D"}, {"every": "1min"}
PARTIAL, BARS = attrgetter("partial"), lambda made: len(made.spans)
Y_LABEL, SPANS, NEW_DAY = attrgetter("y.label"), attrgetter("spans"), "2026-11-01T00:30:00Z"
HUES = hues_of(map(frames.synchronizer, range(4)))
SHARE = 1 / sum(1 / number for number in range(1, 10))
#: A chart, its frame and options, what the subtitle or the reason says, and what else can be read from the content.
SAID = {
    "a cut last bin": ("updates", frames.updates(100), MINUTE, "; the last bar is incomplete", (PARTIAL, {1}),
                       (sums, {"transaction": 34, "assignment": 33, "unassignment": 33}),
                       (lambda made: made.spans[0], "2026-11-01 00:00:00 to 2026-11-01 00:01:00 UTC")),
    "a cut first bin": ("updates", frames.updates(100).iloc[30:], MINUTE, "; the first and the last bar are incomplete",
                        (PARTIAL, {0, 1})),
    "a ledger's beginning": ("updates", marked(frames.updates(100).iloc[30:], from_beginning=True), MINUTE,
                             "; the last bar is incomplete", (PARTIAL, {1})),
    "fixed hues": ("updates", frames.updates(9).query("kind != 'transaction'"), {}, "",
                   (parts, [("assignments", 1), ("unassignments", 2)])),
    "hues by id": ("updates", frames.updates(9), {"by": "synchronizer_id"}, "",
                   (lambda made: {one.name: one.hue for one in made.series}, HUES)),
    "days by their times": ("votes", frames.votes(3).iloc[:2], DAY, "", (PARTIAL, set())),
    "a day by its range": ("votes", VOTED, DAY, "; the only bar is incomplete", (PARTIAL, {0})),
    "a hole": ("votes", marked(frames.votes(40), complete=False), {}, "; a part of the range is missing"),
    "nothing and a hole": ("votes", marked(frames.votes(9).head(0), complete=False), {}, "a part of the range is miss"),
    "creates of unknown worth": ("rewards", frames.rewards(400).assign(
        amount=lambda rows: rows.amount.mask(rows.event == "created")), {}, " coupons of unknown worth created; "),
    "outcomes of rewards": ("rewards", frames.rewards(400), {}, f"{float(CREATED.amount.sum()):,.0f} created",
                            (parts, [("claimed", 0), ("expired", 1)]),
                            (sums, pytest.approx(REWARDED.drop("created").to_dict()))),
    "kinds of rewards": ("rewards", frames.rewards(400), {"by": "kind"}, "",
                         (lambda made: sum(sums(made).values()), pytest.approx(REWARDED["claimed"])),
                         (lambda made: "super validators" in dict(parts(made)), True)),
    # Not those created less those ended: of one that is shared there are several.
    "open coupons": ("rewards", marked(frames.rewards(400), from_beginning=True,
                                       edges={"open_at_end": {"rows": 47}}), {}, "47 coupons open"),
    "burned, not known": ("burn", frames.burns(5).assign(**dict.fromkeys(BURNED)), {},
                          "no coin is known to have been burned in this range; not known of 5 updates"),
    "burned, none": ("burn", frames.burns(5).assign(**dict.fromkeys(BURNED, 0)), {}, "no coin was burned"),
    "supply not known": ("coin_supply", frames.rounds(5).assign(total=None, unexplained=Decimal(1)), {},
                         "changes unexplained in 5, the supply is not known", (lambda made: len(made.panels), 2)),
    "balances of the frame": ("balances", frames.balances(9, days=2), {}, "the 7 largest of 9 parties",
                              (attrgetter("y.logarithmic"), False)),
    "far apart balances": ("balances", marked(WHALE, holders=59), {}, "of 59 parties",
                           (attrgetter("y.logarithmic"), True)),
    "the largest holdings": ("holdings", frames.holdings(20), {"top": 3}, "", (attrgetter("rest"), True),
                             (ranks, ["party-1", "party-2", "party-3", "17 others"]),
                             (lambda made: made.totals[0], "110")),
    "holdings by size, not name": ("holdings", NAMED, {"top": 3}, "",
                                   (ranks, ["zoe", "amy", "party-3", "17 others"])),
    "fees not served": ("holding_fees", frames.holdings(3).assign(**dict.fromkeys(FEES)), {},
                        "fees not served for 3 parties"),
    "status in a timeline": ("reassignment_timeline", frames.flows(3, 300), {},
                             "8 repaired, 6 assigned without unassignment, 12 in flight",
                             (lambda made: sum(sums(made).values()), 300), (lambda made: len(made.series), 3)),
    "durations of 0 or less": ("in_flight", SHORT, {}, "2 took 0 s or less, drawn at the left end",
                               (lambda made: made.series[0].values[0] >= 3, True),
                               (lambda made: made.marks[0][1].partition(" ")[0], "median")),
    "payments to oneself": ("transfers", PAID, {}, "payments of a party to itself left out"),
    "payments without an amount": ("transfers", PAID, {}, "2 others without an amount"),
    "instruments": ("instrument_supply", frames.instruments(9, loads=3), {"top": 4},
                    "the 4 largest of 9 instruments, each in its own unit",
                    (lambda made: [panel.title for panel in made.panels],
                     ["S8  10.8 k", "S7  9,600", "S6  8,400", "S5  7,200"])),
    "validators by round": ("validators", frames.licenses(20), {}, "", (attrgetter("x.scale"), "round"), (ends, [20])),
    "validators by time": ("validators", marked(frames.growth(20), end="2026-12-24T00:00:00Z"), {}, "",
                           (attrgetter("x.scale", "end"), ("time", 1_798_070_400_000_000)), (ends, [20])),
    "new validators": ("license_growth", frames.growth(20), {}, "", (sums, {"new": 20})),
    **{f"a {word}": ("license_growth", marked(frames.growth(1), period=period, end=NEW_DAY), {},
                     "; the only bar is incomplete", (Y_LABEL, f"new validators per {word}"),
                     (SPANS, (f"2026-11-01 00:00:00 to 2026-{end} UTC",)))
       for word, period, end in (("hour", 3_600_000_000, "11-01 01:00:00"), ("week", "week", "11-08 00:00:00"),
                                 ("month", "month", "12-01 00:00:00"))},
    "quarters": ("license_growth", QUARTERS, {}, "", (Y_LABEL, "new validators per quarter"),
                 (lambda made: made.spans[-1].partition(" to ")[2], "2027-04-01 00:00:00 UTC")),
    **{f"every {length}": ("updates", frames.updates(20), {"every": length}, "", (Y_LABEL, f"updates per {words}"))
       for length, words in (("7D", "week"), ("90min", "90 minutes"), ("1500ms", "1.5 seconds"))},
    "outcomes of votes": ("votes", frames.votes(40), DAY, "39 votes, "),
    "votes of before": ("votes", frames.votes(40), DAY, "1 vote opened before",
                        (sums, {"accepted": 17, "rejected": 6, "expired": 6, "accepted_but_failed": 5, "open": 5})),
    "price votes": ("price_votes", pd.concat([frames.price_votes(9), frames.price_votes(9).tail(1).assign(
                    median_usd=Decimal("0.0051"))]), {}, "10 votes", (lambda made: ends(made)[1], 0.0051),
                    (lambda made: {one.name: len(one.values) for one in made.series},
                     {"highest": 9, "median": 9, "lowest": 9})),
    "no price votes": ("price_votes", frames.price_votes(9).assign(median_usd=None), {}, "not known", (type, Nothing)),
    "the schedule": ("issuance", ISSUED, {}, "60 rounds, 100 to 159; 45 k CC allowed, 22.5 k minted",
                     (sums, {"minted": 22_500, "open": 4_500, "fund": 9_000, "expired": 4_500, "nobody": 4_500}),
                     (lambda made: sum(one.values for one in made.series).tolist(), [1000] * 30 + [500] * 30),
                     (attrgetter("marks"), ((129.5, "5 bn CC a year"),))),
    "a round not over": ("issuance", ISSUED.assign(open=[*ISSUED["open"][:-1], None], whole=[True] * 59 + [False]), {},
                         "; 1 bar incomplete", (PARTIAL, {59}), (lambda made: sums(made)["pending"], 100),
                         (lambda made: made.series[-1].hue, None)),
    "more than the schedule": ("issuance", ISSUED.assign(minted=ISSUED["allowed"] * 2), {}, "",
                               (lambda made: "nobody" in sums(made), False)),
    "an unknown round": ("issuance", ISSUED.assign(allowed=[None, *ISSUED["allowed"][1:]]), {},
                         "; not known of 1 other"),
    "purposes": ("supply_by_purpose", PURPOSES, {}, "17.9 k CC at the end, 15.9 k circulating; 2026-11-01 00:00 to ",
                 (ends, [12_950, *[1_000] * 5]), (lambda made: [one.hue for one in made.series], [*range(6)]),
                 (lambda made: made.spans[0], "at 2026-11-01 00:00:00 UTC"),
                 (lambda made: {*np.diff(made.edges).tolist()}, {7_200_000_000})),
    "pools": ("supply_by_purpose", PURPOSES, {"show": "pools"}, "",
              (lambda made: sum(sums(made).values()), 60 * 1_500)),
    "purposes of many times": ("supply_by_purpose", frames.supply_by_purpose(3000), {}, "", (BARS, 375),
                               (lambda made: ends(made)[0], 10_000 + 50 * 2999)),
    "an unknown time": ("supply_by_purpose", PURPOSES.assign(unlocked=[None, *PURPOSES["unlocked"][1:]]), {},
                        "; not known at 1 other time"),
    "all apps": ("app_shares", APPS, {"every": "1D", "top": 3}, "9 applications, ", (PARTIAL, set()),
                 (lambda made: made.series[3].name, "6 others"),
                 (lambda made: sum(one.values for one in made.series).tolist(), pytest.approx([1] * 30)),
                 (lambda made: made.series[0].values[0], pytest.approx(SHARE))),
    "an app's unknown day": ("app_shares", APPS, {"every": "1D", "top": 3}, "of 1 day of an app not known"),
    "it and the last day": ("app_shares", APPS.assign(whole=~APPS.time.dt.day.isin([4, 30])), DAY,
                            "; 2 bars incomplete", (PARTIAL, {3, 29})),
    "a scorecard": ("validator_scorecard", frames.scorecards(9, 20), {"top": 3}, "", (attrgetter("rest"), True),
                    (lambda made: {one.name: list(one.values[:2]) for one in made.series},
                     {"apps": [8000, 4000], "users' traffic": [1800, 900], "being alive": [11400, 5700],
                      "traffic bought": [-1500, -750]}),
                    (lambda made: made.totals[:2], ("19.7 k left, 86% of rounds", "9,850 left, 72% of rounds"))),
    "an empty scorecard": ("validator_scorecard", frames.scorecards(9, 20).assign(**dict.fromkeys(PAYING, 0.0)), {}, "",
                           (type, Nothing)),
    "cohorts": ("retention", frames.cohorts(4), {},
                "46 parties of 4 weeks, in % of those of the week; the last week is incomplete",
                (lambda made: np.nan_to_num(made.grid, nan=-1).tolist(),
                 [[80, 60, 0], [81.8, 63.6, -1], [83.3, -1, -1]]),
                (lambda made: made.sides[0], ["2026-10-26 (10)", "2026-11-02 (11)", "2026-11-09 (12)"]),
                (lambda made: made.sides[1], ["1", "2", "3"])),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_a_chart_says_what_it_shows_and_what_is_left_out(case):
    name, frame, options, said, *looks = SAID[case]

    made = content(name, frame, **options)

    assert said in (made.why if isinstance(made, Nothing) else made.subtitle)
    for look, expected in looks:
        assert look(made) == expected


def test_hatched_bars_are_seen_in_both_libraries():
    rows = frames.updates(200).iloc[30:]
    assert len(drawn(lf.plot.updates(rows, every="1min"), "partial")) == 2
    patterns = [trace.marker.pattern for trace in lf.plot.updates(rows, every="1min", backend="plotly").data]
    assert [list(pattern.shape) for pattern in patterns] == [["", "", "/", "/"]] * 3  # as the first one is the legend
    assert {pattern.fillmode for pattern in patterns} == {"overlay"}  # else there is no ground, and no bar is seen


def test_coupons_are_drawn_as_what_happened_to_them_and_a_selection_not_as_if_it_began_with_the_ledger(
    hour, hour_history
):
    flows, coupons = lf.reward_flows(hour_history), lf.rewards(hour_history)
    for rows in (flows, coupons):
        assert "coupons open" in content("rewards", rows).subtitle
    cut = hour_history.updates.record_time.iloc[len(hour_history.updates) // 2]
    for rows in (flows[flows.event != "expired"], flows[flows.record_time >= cut], coupons[coupons.created_at >= cut]):
        assert "open" not in content("rewards", rows).subtitle
    begun = hour_history.updates  # from 9 to 10 o'clock and a minute
    for rows, named in ((begun, "the last bar is"), (begun.iloc[1:], "the first and the last bar are")):
        assert content("updates", rows, every="2h").subtitle.endswith(f"{named} incomplete")

    assert sums(content("rewards", coupons))["claimed"] == pytest.approx(sums(content("rewards", flows))["claimed"])
    later = lf.load_history(hour, start=hour_history.updates.record_time[150])
    with pytest.warns(lf.errors.IncompleteFiguresWarning):
        flows, coupons = content("rewards", lf.reward_flows(later)), content("rewards", lf.rewards(later))
    # What a claim was worth is not known of each coupon; what expired and was created is.
    told = [made.subtitle.partition(" claimed, ")[2].partition(";")[0] for made in (flows, coupons)]
    assert told[0] == told[1]


def test_minted_and_burned_have_panels_and_linear_scales_of_their_own_and_rounds_in_part_are_hatched():
    rows = frames.rounds(60)
    made = content("coin_supply", rows.assign(minted=rows["minted"] * 1000))

    total, minted, _ = made.panels
    assert list(total.series[0].values) == [float(value) for value in rows["total"]]
    assert minted.title == "minted  768 M CC"
    assert [panel.title.partition("  ")[0] for panel in made.panels] == ["supply", "minted", "burned"]
    assert content("coin_supply", frames.rounds(131, first=101)).panels[1].partial == {0}
    for whole, partial in (([True, True, False, True, False], {2, 4}), ([None, True, False, True, None], {2})):
        made = content("coin_supply", frames.rounds(5).assign(whole=pd.array(whole, dtype="boolean")))
        assert made.panels[1].partial == partial


def test_holdings_are_of_what_is_known_and_not_of_the_time_asked_for(hour, hour_history):
    at = lf.holdings_from_events(hour_history, at=hour_history.updates.record_time[99], as_of_round=1)
    assert content("holdings", at).subtitle == f"{len(at)} parties, at {str(at.record_time[0])[:16]} UTC, round 1"
    with pytest.warns(lf.errors.IncompleteFiguresWarning, match="is later"):
        ahead = lf.holdings_from_events(hour_history, at="2030-01-01", as_of_round=1)
    ends = str(hour_history.updates.record_time.max())[:16]
    assert (
        content("holdings", ahead).subtitle == f"{len(ahead)} parties, at {ends} UTC, where the history ends, round 1"
    )
    asked = lf.load_holdings_summary(hour, list(ahead.party_id[:3]), record_time="2030-01-01", migration_id=2)
    assert asked.attrs["snapshot_time"].startswith("as asked")
    assert "parties, asked for at 2030-01-01 00:00 UTC" in content("holdings", asked).subtitle


def test_balances_are_steps_with_a_marker_shape_each_from_five_lines_on():
    ax = lf.plot.balances(frames.balances(6, days=40), top=6)

    assert {line.get_drawstyle() for line in drawn(ax, "series")} == {"steps-post"}
    assert len({line.get_marker() for line in drawn(ax, "series")}) == 6
    figure = lf.plot.balances(frames.balances(6, days=40), top=6, backend="plotly")
    assert {trace.line.shape for trace in figure.data} == {"hv"}
    assert len({trace.marker.symbol for trace in figure.data}) == 6
    until = marked(frames.price_votes(3), end="2026-12-24T00:00:00Z")  # when nobody votes: no marker
    assert drawn(lf.plot.price_votes(until), "series")[0].get_markevery() == slice(0, 3)
    assert lf.plot.price_votes(until, backend="plotly").data[0].marker.size == (6, 6, 6, 0)


def test_amounts_on_axes_are_written_alike_in_both_libraries():
    assert lf.plot.balances(WHALE).get_yscale() == "log"
    assert {"1 M", "1,000"} <= set(lf.plot.balances(WHALE, backend="plotly").layout.yaxis.ticktext)
    figure, ax = lf.plot.coin_supply(frames.rounds(60), backend="plotly"), lf.plot.coin_supply(frames.rounds(60))
    assert [figure.layout.yaxis2.labelalias[tick] for tick in ("15k", "20k", "25k")] == ["15 k", "20 k", "25 k"]
    ax.figure.draw_without_rendering()
    figure = lf.plot.coin_supply(frames.rounds(9).assign(total=Decimal(1_700_000)), backend="plotly")
    assert figure.layout.yaxis.labelalias["500k"] == "0.5 M"
    assert figure.layout.yaxis2.tickformat == ",.10~f"  # plotly's own would be 5k, and 2n of tiny amounts
    near = frames.rounds(9).assign(total=lambda rows: rows.total + 229_600_000)
    assert lf.plot.coin_supply(near, backend="plotly").layout.yaxis.labelalias["229.615M"] == "229.615 M"
    assert any(tick.get_text().endswith(" k") for tick in ax.child_axes[1].get_yticklabels())
    ax, figure = (lf.plot.holdings(frames.holdings(60), top=3, backend=name) for name in ("matplotlib", "plotly"))
    assert drawn(ax, "total")[-1].get_text() == figure.layout.annotations[-1].text == "// 855", "the others are cut"
    assert max(np.add(bar.base, bar.x).max() for bar in figure.data) == 110
    assert len(drawn(lf.plot.burn(frames.burns(5).assign(burned_fees=-9)), "zero")) == 1
    assert len(lf.plot.instrument_supply(frames.instruments(9, loads=3), top=4).child_axes) == 4
    assert lf.plot.votes(frames.votes(9), every="1D", backend="plotly").layout.yaxis.dtick == 1  # there is no half
    figure = lf.plot.issuance(ISSUED, backend="plotly")
    assert figure.layout.xaxis.range == (99.5, 159.5)
    assert [note.x for note in figure.layout.annotations if note.name == "mark"] == [129.5]
    ax = lf.plot.validator_scorecard(frames.scorecards(9, 20))
    figure = lf.plot.validator_scorecard(frames.scorecards(9, 20), backend="plotly")
    for low, high in (ax.get_xlim(), figure.layout.xaxis.range):  # from the bars to behind their totals
        assert -2_200 < low < -1_500  # of 21,200 in all
        assert high > 1.25 * 21_200
    rows = frames.scorecards(9, 4)
    others = rows["validator"].isin([frames.party(8), frames.party(9)])
    rows.loc[others, PAYING[:-1]] = rows.loc[~others, "traffic_paid"] = Decimal(0)
    assert overlapping(words(lf.plot.validator_scorecard(rows, top=7))) == []  # of others that only pay
    assert outside_of_the_figure(ax, words(ax)) == []


def test_a_legend_of_several_lines_is_read_in_the_order_of_its_series():
    ax, places = lf.plot.supply_by_purpose(PURPOSES), {}
    ax.figure.draw_without_rendering()
    for text, box in ((text.get_text(), text.get_window_extent()) for text in ax.get_legend().get_texts()):
        places[text] = -round(box.y0), box.x0
    assert sorted(places, key=places.get) == [one.key for one in content("supply_by_purpose", PURPOSES).series]


def test_ribbons_add_up_and_both_libraries_write_counts_and_headings():
    rows = frames.flows(6, 300)
    made = content("reassignment_flows", rows)

    assert sum(ribbon.size for ribbon in made.ribbons) == 300
    assert made.sizes(0) == rows["source_synchronizer"].value_counts().reindex(made.names).dropna().to_dict()
    trace = lf.plot.reassignment_flows(rows, backend="plotly")
    heads = [note.text for note in trace.layout.annotations if note.name == "head"]
    assert heads == ["<i>unassigned from</i>", "<i>assigned to</i>"]
    assert any(label.endswith(f"  {int(made.sizes(0)[made.names[0]])}") for label in trace.data[0].node.label)
    legend = lf.plot.reassignment_flows(rows).get_legend().get_texts()
    assert legend[0].get_text() == f"completed  {int((rows.status == 'completed').sum())}"


def test_counts_of_a_flow_matrix_are_drawn_as_the_flows_they_count():
    rows = frames.flows(4, 200)
    made, counted = content("reassignment_matrix", rows), content("reassignment_matrix", lf.flow_matrix(rows))

    assert made.names == counted.names
    assert np.array_equal(made.grid, counted.grid)
    assert made.grid.sum() == 200
    with pytest.raises(lf.errors.InputError, match="are legs and would count twice"):
        lf.plot.reassignment_matrix(rows.drop(columns="status"))


def test_amounts_of_an_instrument_keep_their_digits_in_both_libraries_and_several_are_refused():
    rows = frames.transfers(2, 2).assign(instrument_id="gold", amount=Decimal("0.25"))

    ax, figure = lf.plot.transfers(rows), lf.plot.transfers(rows, backend="plotly")

    counts = {text.get_text() for text in drawn(ax, "count")}
    assert counts == {label.rpartition("  ")[2] for label in figure.data[0].node.label}
    assert not counts & {"0"}
    with pytest.raises(lf.errors.InputError, match="column instrument_id holds 2: choose one"):
        lf.plot.transfers(frames.transfers(3, 30).assign(instrument_id=["a", "b"] * 15))
