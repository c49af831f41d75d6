"""Events on charts over time: which lines, which words, in both libraries, and what is refused."""

import matplotlib.pyplot as plt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ledgerframes as lf
from tests.plots import frames
from tests.plots.seen import drawn, outside_of_the_figure, overlapping, subtitle, words
from tests.plots.test_charts import USUAL

go = pytest.importorskip("plotly.graph_objects")

#: The charts over time with the column that says when.
TIMED = {
    "updates": "record_time", "license_growth": "time", "validators": "time", "rewards": "record_time",
    "burn": "record_time", "instrument_supply": "loaded_at", "votes": "opened_at", "price_votes": "record_time",
    "balances": "time", "reassignment_timeline": "unassigned_at", "app_shares": "time", "supply_by_purpose": "time",
}  # fmt: skip


def frame(name):
    return frames.growth(20) if name == "validators" else USUAL[name]


def events_in(name):
    """Six moments within the chart's range, of which two lie close together, and one long after it."""
    times = frame(name)[TIMED[name]].dropna()
    low, high = times.min(), times.max()
    places = (0.1, 0.3, 0.31, 0.5, 0.7, 0.9, 99.0)
    texts = ["one", "two", "three", "a vote with an exceedingly long name", "$x^2$ <b>", "six", "outside"]
    return pd.DataFrame({"time": [low + (high - low) * place for place in places], "text": texts})


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("name", TIMED)
def test_events_are_lines_with_labels_that_neighbours_share_in_both_libraries(name):
    chart, events = getattr(lf.plot, name), events_in(name)
    ax, figure = chart(frame(name), events=events), chart(frame(name), events=events, backend="plotly")

    axes = [ax] if drawn(ax, "event line") else ax.child_axes
    assert {len(drawn(one, "event line")) for one in axes} == {6}
    labels = [text.get_text() for one in axes for text in drawn(one, "event")]
    expected = ["one", "two +1", "a vote with an exceedingly …", r"\$x^2\$ <b>", "six"]
    assert labels == expected or (name == "instrument_supply" and not labels)
    notes = [note for note in figure.layout.annotations if note.name == "event"]
    assert [note.text for note in notes] == [*expected[:3], "$x^2$ &lt;b&gt;", "six"]
    assert notes[1].hovertext.endswith("UTC<br>two")
    assert {note.xanchor for note in notes} == {"right"}
    (first,) = chart(frame(name), events=events.assign(time=frame(name)[TIMED[name]].min()).head(1), backend="plotly"
                     ).layout.annotations[-1:]  # fmt: skip
    assert first.xanchor == "left"  # before the axis stand its ticks
    assert "6 lines for 6 of 7 events" in subtitle(ax)
    assert overlapping(words(ax)) == []
    assert outside_of_the_figure(ax, words(ax)) == []


def test_every_chart_over_time_takes_events_and_no_other_does():
    takes = {
        name for name in lf.plot.__all__ if (name != "style" and "events=" in (getattr(lf.plot, name).__doc__ or ""))
        or "events:" in (getattr(lf.plot, name).__doc__ or "")
    }  # fmt: skip
    assert takes == set(TIMED)
    with pytest.raises(lf.errors.InputError, match="holdings is not over time"):
        lf.plot.holdings(USUAL["holdings"], events=events_in("updates"))
    with pytest.raises(lf.errors.InputError, match="this chart is not over time"):
        lf.plot.validators(USUAL["validators"], events=events_in("updates"))


def content(events):
    return lf.plot.updates(USUAL["updates"], events=events)


def test_votes_stand_at_their_effect_with_what_became_of_them():
    times = USUAL["updates"].record_time
    early, middle, late = (times.quantile(part) for part in (0.2, 0.5, 0.8))
    votes = pd.DataFrame(
        {
            "opened_at": [early] * 3, "completed_at": [middle, middle, pd.NaT], "effective_at": [late, pd.NaT, pd.NaT],
            "action": ["SRARC_GrantFeaturedAppRight", "CRARC_SetConfig", "SRARC_OffboardSv"],
            "outcome": ["accepted", "rejected", "open"],
        }
    )  # fmt: skip

    labels = [text.get_text() for text in drawn(content(votes), "event")]

    assert labels == ["OffboardSv, open", "SetConfig, rejected", "GrantFeaturedAppRight"]


@pytest.mark.parametrize("form", [pd.DataFrame, pa.table, pl.DataFrame], ids=["pandas", "Arrow", "polars"])
def test_changes_of_configuration_are_called_by_their_member_and_its_new_value(form):
    when = USUAL["updates"].record_time.median()
    rows = {"record_time": [when], "member": ["transferConfig.createFee.fee"], "before": ["0.03"], "after": ["0.02"]}

    assert [text.get_text() for text in drawn(content(form(rows)), "event")] == ["fee 0.02"]


def test_small_axes_have_the_lines_alone_and_an_empty_frame_has_none():
    _, ax = plt.subplots(figsize=(3, 2))
    lf.plot.updates(USUAL["updates"], events=events_in("updates"), ax=ax)

    assert len(drawn(ax, "event line")) == 6
    assert drawn(ax, "event") == []
    none = content(events_in("updates").iloc[:0])
    assert drawn(none, "event line") == []
    assert "0 lines for 0 of 0 events" in subtitle(none)
    nothing = lf.plot.updates(USUAL["updates"].iloc[:0], events=events_in("updates"))
    assert len(drawn(nothing, "nothing")) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [(5, "needs a DataFrame, not int"), (pd.DataFrame({"text": ["a"]}), "needs a column time and a column text"),
     (pd.DataFrame({"time": [pd.Timestamp("2026-01-01", tz="UTC")]}), "needs a column time and a column text")],
    ids=["number", "no time", "no text"],
)  # fmt: skip
def test_what_is_no_frame_of_times_and_texts_is_refused(given, said):
    with pytest.raises(lf.errors.InputError, match=said) as caught:
        content(given)
    assert "lf.votes(events)" in str(caught.value)
