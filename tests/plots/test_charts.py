"""Every chart in both libraries: many rows, one, none, negative, null, extreme, long names, small, dark, events."""

import copy
import inspect
import json
import re
import sys
from decimal import Decimal
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.colors import to_rgb

import ledgerframes as lf
from ledgerframes.plot.contents import Bars, Flows, Matrix, Nothing, Panels, Stack, Steps
from ledgerframes.plot.palette import in_dark, luminance
from ledgerframes.plot.static.vectors import vectors
from tests.plots import frames
from tests.plots.seen import drawn, outside_of_the_figure, overlapping, subtitle, words

go = pytest.importorskip("plotly.graph_objects")

LEGS = "reassignment_flows", frames.flows(6, 300), frames.flows(40, 3000)
#: Of each chart: what it is drawn as, what returns its frame, a usual frame, and one of many rows.
CHARTS = {
    "reassignment_flows": (Flows, *LEGS),
    "reassignment_matrix": (Matrix, *LEGS),
    "reassignment_timeline": (Stack, *LEGS),
    "in_flight": (Stack, *LEGS),
    "holdings": (Bars, "load_holdings_summary", frames.holdings(9), frames.holdings(60)),
    "holding_fees": (Bars, "load_holdings_summary", frames.holdings(9), frames.holdings(60, snapshots=3)),
    "updates": (Stack, "load_updates", frames.updates(600), frames.updates(3000)),
    "validators": (Steps, "license_growth", frames.licenses(20), frames.licenses(300)),
    "license_growth": (Stack, "license_growth", frames.growth(20), frames.growth(400)),
    "instrument_supply": (Panels, "load_instruments", frames.instruments(5, loads=4), frames.instruments(30, loads=9)),
    "coin_supply": (Panels, "supply_per_round", frames.rounds(60), frames.rounds(3000)),
    "rewards": (Stack, "reward_flows", frames.rewards(400), frames.rewards(3000, parties=40)),
    "burn": (Stack, "mint_burn", frames.burns(90), frames.burns(3000)),
    "balances": (Steps, "balances_over_time", frames.balances(9, days=30), frames.balances(40, days=90)),
    "transfers": (Flows, r"lf\.transfers", frames.transfers(9, 300), frames.transfers(40, 3000)),
    "votes": (Stack, r"lf\.votes", frames.votes(40), frames.votes(900)),
    "price_votes": (Steps, r"lf\.price_votes", frames.price_votes(60), frames.price_votes(3000)),
    "issuance": (Stack, r"lf\.issuance", frames.issuance(60), frames.issuance(3000)),
    "supply_by_purpose": (Stack, r"lf\.supply_by_purpose", frames.supply_by_purpose(60),
                          frames.supply_by_purpose(3000)),
    "app_shares": (Stack, r"lf\.app_daily", frames.apps(9, 30), frames.apps(60, 300)),
    "validator_scorecard": (Bars, r"lf\.validator_daily", frames.scorecards(9, 20), frames.scorecards(300, 9)),
    "retention": (Matrix, r"lf\.retention", frames.cohorts(6), frames.cohorts(60)),
}  # fmt: skip
KINDS, GIVERS, USUAL, MANY = (dict(zip(CHARTS, column, strict=True)) for column in zip(*CHARTS.values(), strict=True))
COLOUR = re.compile('(?<=[ "])#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})')
LONG = "a-validator-of-a-consortium-with-an-exceedingly-long-name-that-does-not-end-"
IDS = {"source_synchronizer", "target_synchronizer", "party_id", "party", "sender", "receiver", "synchronizer_id"}
IDS |= {"provider", "validator"}

AMOUNTS = "^(amount|minted|burned|expired|open|unlocked|total|(burned|locked|total|accumulated)_.*)$"


def changed(frame, change):
    """The frame with its amounts changed by place and value."""
    amounts = frame.filter(regex=AMOUNTS).select_dtypes(exclude="datetimetz")
    return frame.assign(**{name: [change(*pair) for pair in enumerate(cells)] for name, cells in amounts.items()})


CASES = {
    "one row": lambda frame: frame.iloc[:1],
    "negative": lambda frame: changed(frame, lambda place, value: value if place % 3 else -value),
    "null": lambda frame: changed(frame, lambda place, value: value if place % 3 else None),
    "extreme": lambda frame: changed(frame, lambda place, value: value * Decimal("1e-4" if place % 7 else "1e9")),
    "long names": lambda frame: frame.assign(**{name: LONG + frame[name] for name in IDS & set(frame.columns)}),
    "all null": lambda frame: changed(frame, lambda *_: None),
    "empty": lambda frame: frame.iloc[:0],
    "no columns": lambda _: pd.DataFrame(),
}
#: How a chart is drawn: into axes of a size or a figure of its own, and in which theme.
LOOKS = {
    "dark": ({"figsize": (7.5, 5.6), "layout": "constrained"}, "dark"), "3 by 2 inches": ({"figsize": (3, 2)}, "light"),
    "own figure": (None, "light"),
}  # fmt: skip


def series_of(content):
    """All series of a content, of its panels too."""
    return [one for part in getattr(content, "panels", (content,)) for one in getattr(part, "series", ())]


def every_chart_with(kinds):
    """Every chart with every one of some kinds of cases; at first both change from each to the next."""
    pairs = sorted(product(enumerate(USUAL), enumerate(kinds)), key=lambda pair: (pair[0][0] - pair[1][0]) % len(kinds))
    return pytest.mark.parametrize(("name", "case"), [(name, case) for (_, name), (_, case) in pairs])


@pytest.mark.long(quick=9)
@every_chart_with(CASES)
def test_a_case_is_one_content_that_both_libraries_draw(name, case):
    chart, frame = getattr(lf.plot, name), CASES[case](USUAL[name])

    content = chart.__wrapped__(frame)
    ax, figure = chart(frame), chart(frame, backend="plotly")

    if case in {"empty", "no columns"}:
        assert isinstance(content, Nothing)
        assert [text.get_text() for text in drawn(ax, "nothing")] == [content.why]
        assert [note.name for note in figure.layout.annotations] == ["nothing"]
    elif case != "all null":
        assert isinstance(content, KINDS[name])
        assert np.isfinite([value for series in series_of(content) for value in series.values]).all()
    assert ax._left_title.get_text().replace("\n", " ") == content.title
    assert content.title in figure.layout.title.text
    if isinstance(content, Stack | Steps):
        upward = figure.layout.yaxis.range
        assert [10**end for end in upward] if content.y.logarithmic else upward == pytest.approx(ax.get_ylim())
    assert overlapping(words(ax)) == []
    assert outside_of_the_figure(ax, words(ax)) == []


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("name", USUAL)
def test_a_dark_chart_follows_from_a_light_one_but_for_heat_maps(name):
    light, dark = (vectors(getattr(lf.plot, name).__wrapped__(USUAL[name]), theme) for theme in ("light", "dark"))

    followed = in_dark(light)

    assert (followed is None) == (KINDS[name] is Matrix)
    if followed is not None:
        assert outline(followed) == outline(dark)
        assert np.abs(colours(followed) - colours(dark)).max() <= 1  # of 255: mixes are rounded twice


def outline(svg):
    """The drawing without its colours, and without the ids that are made of them."""
    return re.sub(r"\b[mh][0-9a-f]{10}\b", "", COLOUR.sub("", svg))


def colours(svg):
    return np.array([[int(part, 16) for part in found] for found in COLOUR.findall(svg)])


@pytest.mark.long(quick=6)
@every_chart_with(LOOKS)
def test_labels_lie_apart_and_can_be_read_within_the_axes_and_title_given_however_many_there_are(name, case):
    chart, (figure, theme) = getattr(lf.plot, name), LOOKS[case]
    with lf.plot.style(theme) as look:
        given = None if figure is None else plt.subplots(**figure)[1]
        few = case == "3 by 2 inches" and KINDS[name] is not Matrix
        ax = chart((USUAL if few else MANY)[name], ax=given, title="Mine")
        drawn_by_plotly = chart(USUAL[name], backend="plotly", title="Mine")

    assert given in (None, ax)
    assert len(plt.get_fignums()) == 1
    assert ax._left_title.get_text() == "Mine"
    assert "<b>Mine</b>" in drawn_by_plotly.layout.title.text
    assert overlapping(words(ax)) == []
    assert outside_of_the_figure(ax, words(ax)) == []
    ground = luminance(to_rgb(look.rc["figure.facecolor"]))
    for text in words(ax):
        if text.get_gid() != "count" or KINDS[name] is not Matrix:  # those lie on cells of their own colour
            ink = luminance(to_rgb(text.get_color()))
            assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) > 2.8, text.get_text()
    assert drawn_by_plotly.layout.paper_bgcolor == {"light": "rgba(255,255,255,1)", "dark": "rgba(20,24,29,1)"}[theme]


def test_every_chart_takes_its_frame_alone_by_position_events_over_time_and_says_what_gives_one():
    for name in sorted({*lf.plot.__all__} - {"style"}):
        chart = getattr(lf.plot, name)
        assert "return" not in chart.__annotations__, "it returns no content"
        parameters = list(inspect.signature(chart).parameters.values())
        assert {one.kind for one in parameters[1:]} == {inspect.Parameter.KEYWORD_ONLY}, name
        assert [one.name for one in parameters[-3:]] == ["backend", "ax", "title"], name
        assert ("events" in {one.name for one in parameters}) == (name in TIMED)
        with pytest.raises(lf.errors.InputError, match=GIVERS[name]) as caught:
            chart(pd.DataFrame({"apple": [1]}))
        assert name in str(caught.value)
        assert "apple" in str(caught.value)


EVENTS = pd.DataFrame({"time": [frames.START], "text": ["a"]})
ASKED = r"needs a column time and a column text.*lf\.votes\(events\)"
#: A chart, what it is given instead of a usual frame, options, and what is said.
REFUSED = {
    "a list": ("updates", [1, 2], {}, "needs a DataFrame, not list"),
    "a figure": ("updates", None, {"ax": plt.Figure()}, "not a matplotlib Axes"),
    "axes in plotly": ("updates", None, {"ax": plt.Figure().add_subplot(), "backend": "plotly"}, "is for matplotlib"),
    "backend": ("updates", None, {"backend": "bokeh"}, "backend='bokeh' is not valid: give 'matplotlib' or 'plotly'"),
    "title": ("updates", None, {"title": 3}, "title=3 is not valid"),
    "hours of days": ("app_shares", None, {"every": "1h"}, "every='1h': .* give whole days"),
    **{f"{option} of {name}": (name, None, {option: "pear"}, f"{option}='pear' is not valid: give '")
       for name, option in (("updates", "by"), ("rewards", "by"), ("supply_by_purpose", "show"))},
    "events as a number": ("updates", None, {"events": 5}, r"needs a DataFrame, not int.*lf\.votes\(events\)"),
    "events without times": ("updates", None, {"events": EVENTS[["text"]]}, ASKED),
    "events without texts": ("updates", None, {"events": EVENTS[["time"]]}, ASKED),
    "events of what is not over time": ("holdings", None, {"events": EVENTS}, "holdings is not over time"),
    "events over rounds": ("validators", None, {"events": EVENTS}, "this chart is not over time"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "frame", "options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_drawn_is_refused_with_the_remedy(name, frame, options, said):
    with pytest.raises(lf.errors.InputError, match=f"(?s){said}"):
        getattr(lf.plot, name)(USUAL[name] if frame is None else frame, **options)


def test_what_is_missing_for_interactive_charts_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(lf.errors.ConfigurationError, match=r"pip install 'ledgerframes\[interactive\]'"):
        lf.plot.updates(USUAL["updates"], backend="plotly")


@pytest.fixture(scope="module")
def arrow(hour):
    """The whole history in Arrow."""
    return lf.load_history(hour, as_="arrow")


#: What computes the frame of a chart from a history.
COMPUTED = {
    "updates": lambda history: history.updates,
    "in_flight": lambda history: lf.reassignment_flows(history.reassignments),
    "votes": lf.votes,
    "holdings": lambda history: lf.holdings_from_events(history.events, history.reassignments),
    "license_growth": lambda history: lf.license_growth(history.events),
    "coin_supply": lf.supply_per_round,
    "rewards": lf.reward_flows,
}


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", COMPUTED)
def test_a_history_a_store_and_frames_of_other_libraries_are_drawn_as_frames_computed_from_a_history(
    name, hour_history, arrow, filled
):
    chart, frame = getattr(lf.plot, name).__wrapped__, COMPUTED[name](hour_history)
    from_frame = chart(frame)
    for source in (hour_history, arrow, filled, pa.Table.from_pandas(frame), pl.from_pandas(frame)):
        content = chart(source)
        lost = isinstance(source, pa.Table | pl.DataFrame)  # what a frame of pandas says of its range
        assert lost or content.subtitle == from_frame.subtitle
        for one, other in zip(series_of(content), series_of(from_frame), strict=True):
            assert one.values == pytest.approx(other.values, rel=1e-12)


def test_balances_are_ranked_among_all_parties_and_instruments_are_drawn_from_a_store_alone(hour_history, filled):
    holders = lf.holdings_from_events(*hour_history[1:])["party_id"].nunique()
    assert f"the 7 largest of {holders} parties" in lf.plot.balances.__wrapped__(hour_history).subtitle
    assert isinstance(lf.plot.instrument_supply.__wrapped__(filled), Panels)
    with pytest.raises(lf.errors.InputError, match="cannot be drawn from a History"):
        lf.plot.instrument_supply(hour_history)


def test_a_range_is_drawn_with_what_was_active_before_it():
    with lf.sandbox(updates=300, migrations=1) as net:
        middle = lf.load_updates(net, columns=["record_time"])["record_time"].iloc[150]
        opening, history = lf.load_opening(net, at=middle), lf.load_history(net, start=middle)
    tables = {"burn": lf.mint_burn, "holdings": lf.holdings_from_events}
    for name, computed in tables.items():
        chart, frame = getattr(lf.plot, name), computed(history, opening=opening)
        assert chart.__wrapped__(history, opening=opening).subtitle == chart.__wrapped__(frame).subtitle
        with pytest.raises(lf.errors.InputError, match="a frame is computed with it"):
            chart(frame, opening=opening)
    assert "parties" in lf.plot.balances.__wrapped__(history, opening=opening).subtitle
    with pytest.raises(lf.errors.InputError, match="opening= does not change updates"):
        lf.plot.updates(history, opening=opening)


def test_names_from_a_ledger_stay_text_and_aliases_are_labels_with_the_whole_id_under_the_pointer():
    figure = lf.plot.updates(
        frames.updates(9).assign(synchronizer_id="<a href='x'>%{y}</a>::1220"), by="synchronizer_id", backend="plotly"
    )

    assert "<a" not in json.dumps(json.loads(figure.to_json()), ensure_ascii=False)
    assert "&lt;a href=" in figure.data[0].name
    assert figure.data[0].hovertemplate is None
    with lf.aliases({frames.party(1): "Alice"}):
        figure = lf.plot.balances(frames.balances(2, days=2), backend="plotly")
    assert figure.data[0].name.startswith("Alice  ")
    assert figure.data[0].hovertext[0].startswith(f"<b>Alice</b><br>{frames.party(1)}<br>")


@pytest.mark.parametrize("way", ["write_html", "notebook", "plotly.io"])
def test_a_figure_offers_no_upload_no_link_and_no_idle_button(way, tmp_path, monkeypatch):
    import plotly.io as pio

    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")  # as in JupyterLab
    figure = lf.plot.rewards(USUAL["rewards"], backend="plotly")
    figure.write_html(tmp_path / "figure.html", include_plotlyjs=False)
    page = {
        "write_html": lambda: (tmp_path / "figure.html").read_text(encoding="utf-8"),
        "notebook": lambda: json.dumps(figure._repr_mimebundle_()["application/vnd.plotly.v1+json"]),
        "plotly.io": lambda: pio.to_html(figure, include_plotlyjs=False),
    }[way]().replace(" ", "")

    # plotly.io's own functions know the layout alone: there the buttons are gone, and the logo stays.
    assert '"modebar":{"remove":["sendChartToCloud","sendDataToCloud","editInChartStudio","select2d","lasso2d"' in page
    assert way == "plotly.io" or '"displaylogo":false,"showSendToCloud":false' in page
    own = figure.to_html({"displaylogo": True}).replace(" ", "")
    assert '"displaylogo":true,"showSendToCloud":false' in own, "a caller may say so"


def test_a_long_subtitle_fits_into_the_narrowest_page_however_long_the_names_at_its_axis_are():
    layout = lf.plot.reassignment_matrix(MANY["reassignment_matrix"], backend="plotly").layout
    title = layout.title

    lines = [re.sub("<.*?>", "", line) for line in title.text.split("<br>")]
    assert title.xref == "container"
    assert title.pad.l + 6.2 * max(map(len, lines)) < 672  # letters of 12 px in the report's narrowest chart
    assert title.pad.t > title.font.size  # from the edge to the line on which it stands
    assert layout.xaxis.tickangle < 0  # names end at their columns, clear of the scale of colours


@pytest.mark.parametrize("name", USUAL)
def test_a_small_figure_gives_its_room_to_the_data_and_a_copy_may_be_large_again(name):
    figure = getattr(lf.plot, name)(USUAL[name], backend="plotly").update_layout(width=300, height=200)
    small, larger = figure.to_dict()["layout"], copy.deepcopy(figure).update_layout(width=900, height=440)

    assert {axis["title"]["text"] for key, axis in small.items() if key.startswith(("xaxis", "yaxis"))} == {""}
    assert (small["showlegend"], "<span" in small["title"]["text"]) == (False, False), "legend and subtitle"
    assert larger == figure.update_layout(width=900, height=440)


@pytest.mark.parametrize(
    "node", [None, {"x": None}, {"x": []}, {"label": None}, {"label": ["a"]}, {"pad": None}], ids=str
)
def test_a_small_figure_is_drawn_whatever_its_nodes_have_become(node):
    figure = lf.plot.transfers(USUAL["transfers"], backend="plotly").update_layout(width=300, modebar_remove="pan")

    drawn = figure.update_traces(node=node).to_dict()

    assert drawn["data"][0]["node"].get("label") != [""]
    assert drawn["layout"]["modebar"]["remove"][0] == "pan"


def test_one_bar_round_or_time_has_an_axis_around_it_with_ticks_that_tell_apart():
    duration, rounds, first, time = (
        getattr(lf.plot, name)(USUAL[name].iloc[:1], backend="plotly").layout.xaxis
        for name in ("in_flight", "issuance", "validators", "balances")
    )

    assert len(duration.tickvals) > 2
    assert duration.range[0] < np.log10(duration.tickvals[0]) < np.log10(duration.tickvals[-1]) < duration.range[1]
    assert (rounds.range, rounds.dtick, first.dtick) == ((96, 104), 1, 1)
    assert time.range == ("2026-10-31T23:30:00.000", "2026-11-01T00:30:00.000")


def test_a_chart_that_fails_leaves_no_figure(monkeypatch):
    def failing(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("ledgerframes.plot.static.charts.finish", failing)
    with pytest.raises(ZeroDivisionError):
        lf.plot.updates(USUAL["updates"])

    assert plt.get_fignums() == []


#: The charts over time with the column that says when.
TIMED = {
    "updates": "record_time", "validators": "time", "rewards": "record_time", "license_growth": "time",
    "burn": "record_time", "instrument_supply": "loaded_at", "votes": "opened_at", "price_votes": "record_time",
    "balances": "time", "reassignment_timeline": "unassigned_at", "app_shares": "time", "supply_by_purpose": "time",
}  # fmt: skip
OVER_TIME = {**USUAL, "validators": frames.growth(20)}


def events_in(name):
    """Six moments within the chart's range, of which two lie close together, and one long after it."""
    times = OVER_TIME[name][TIMED[name]].dropna()
    low, high = times.min(), times.max()
    places = (0.1, 0.3, 0.31, 0.5, 0.7, 0.9, 99.0)
    texts = ["one", "two", "three", "a vote with an exceedingly long name", "$x^2$ <b>", "six", "outside"]
    return pd.DataFrame({"time": [low + (high - low) * place for place in places], "text": texts})


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", TIMED)
def test_events_are_lines_with_labels_that_neighbours_share_in_both_libraries(name):
    chart, frame, events = getattr(lf.plot, name), OVER_TIME[name], events_in(name)
    ax, figure = chart(frame, events=events), chart(frame, events=events, backend="plotly")

    axes = [ax] if drawn(ax, "event line") else ax.child_axes
    assert {len(drawn(one, "event line")) for one in axes} == {6}
    labels = [text.get_text() for one in axes for text in drawn(one, "event")]
    expected = ["one", "two +1", "a vote with an exceedingly …", r"\$x^2\$ <b>", "six"]
    assert labels == expected or (name == "instrument_supply" and not labels)
    notes = [note for note in figure.layout.annotations if note.name == "event"]
    assert [note.text for note in notes] == [*expected[:3], "$x^2$ &lt;b&gt;", "six"]
    assert notes[1].hovertext.endswith("UTC<br>two")
    assert {note.xanchor for note in notes} == {"right"}
    earliest = events.assign(time=frame[TIMED[name]].min()).head(1)
    assert chart(frame, events=earliest, backend="plotly").layout.annotations[-1].xanchor == "left"  # of its ticks
    assert "6 lines for 6 of 7 events" in subtitle(ax)
    assert overlapping(words(ax)) == []
    assert outside_of_the_figure(ax, words(ax)) == []


def with_events(events):
    return lf.plot.updates(USUAL["updates"], events=events)


def test_votes_stand_at_their_effect_with_what_became_of_them_and_changes_are_called_by_member_and_new_value():
    times = USUAL["updates"].record_time
    early, middle, late = (times.quantile(part) for part in (0.2, 0.5, 0.8))
    votes = pd.DataFrame(
        {
            "opened_at": [early] * 3, "completed_at": [middle, middle, pd.NaT], "effective_at": [late, pd.NaT, pd.NaT],
            "action": ["SRARC_GrantFeaturedAppRight", "CRARC_SetConfig", "SRARC_OffboardSv"],
            "outcome": ["accepted", "rejected", "open"],
        }
    )  # fmt: skip

    labels = [text.get_text() for text in drawn(with_events(votes), "event")]

    assert labels == ["OffboardSv, open", "SetConfig, rejected", "GrantFeaturedAppRight"]
    rows = {"record_time": [middle], "member": ["transferConfig.createFee.fee"], "before": ["0.03"], "after": ["0.02"]}
    for form in (pd.DataFrame, pa.table, pl.DataFrame):
        assert [text.get_text() for text in drawn(with_events(form(rows)), "event")] == ["fee 0.02"]


def test_small_axes_have_the_lines_alone_and_an_empty_frame_has_none():
    _, ax = plt.subplots(figsize=(3, 2))
    lf.plot.updates(USUAL["updates"], events=events_in("updates"), ax=ax)

    assert len(drawn(ax, "event line")) == 6
    assert drawn(ax, "event") == []
    none = with_events(events_in("updates").iloc[:0])
    assert drawn(none, "event line") == []
    assert "0 lines for 0 of 0 events" in subtitle(none)
    nothing = lf.plot.updates(USUAL["updates"].iloc[:0], events=events_in("updates"))
    assert len(drawn(nothing, "nothing")) == 1
