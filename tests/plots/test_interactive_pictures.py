"""Pictures drawn by plotly: what their traces hold, at one row, at normal size and at 40 categories."""

import builtins
import inspect
import json
import re
from decimal import Decimal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.plots.interactive.figures import exact
from tests.plots import frames
from tests.plots.seen import drawn

go = pytest.importorskip("plotly.graph_objects")
pio = pytest.importorskip("plotly.io")

ONE = {
    "plot_reassignment_flows": frames.flows(2, 1),
    "plot_reassignment_matrix": frames.flows(2, 1),
    "plot_update_rate": frames.updates(1),
    "plot_rewards": frames.rewards(1),
    "plot_balances": frames.balances(1),
    "plot_supply": frames.instruments(1),
    "plot_supply_per_round": frames.rounds(1),
}
NORMAL = {
    "plot_reassignment_flows": frames.flows(6, 300),
    "plot_reassignment_matrix": frames.flows(6, 300),
    "plot_update_rate": frames.updates(600),
    "plot_rewards": frames.rewards(400),
    "plot_balances": frames.balances(5, days=30),
    "plot_supply": frames.instruments(5, loads=3),
    "plot_supply_per_round": frames.rounds(60),
}
MANY = {
    "plot_reassignment_flows": frames.flows(40, 3000),
    "plot_reassignment_matrix": frames.flows(40, 3000),
    "plot_update_rate": frames.updates(3000),
    "plot_rewards": frames.rewards(3000, parties=40),
    "plot_balances": frames.balances(40, days=90),
    "plot_supply": frames.instruments(40),
    "plot_supply_per_round": frames.rounds(3000),
}
each = pytest.mark.parametrize("name", ONE)


def draw(name, frame, **options):
    return getattr(lf, name)(frame, backend="plotly", **options)


def hovered(figure):
    """Every text that is shown under the pointer."""
    texts = []
    for trace in figure.data:
        if trace.type == "sankey":
            texts += [*trace.node.customdata, *trace.link.customdata]
        else:
            texts += np.ravel(trace.hovertext).tolist()
    return [text for text in texts if text]


@each
@pytest.mark.parametrize("rows", [ONE, NORMAL, MANY], ids=["one row", "normal", "many"])
def test_a_figure_of_plotly_is_returned_and_matplotlib_draws_nothing(name, rows):
    figure = draw(name, rows[name])

    assert isinstance(figure, go.Figure)
    assert plt.get_fignums() == []
    assert len(figure.data) >= 1
    assert hovered(figure)
    assert json.loads(figure.to_json())["data"]


@each
def test_the_words_are_those_of_the_other_backend(name):
    figure, ax = draw(name, NORMAL[name]), getattr(lf, name)(NORMAL[name])

    title = figure.layout.title.text
    assert ax._left_title.get_text() in title
    assert " ".join(drawn(ax, "second line")[0].get_text().split())[:40] in title.replace("<br>", " ")


@each
def test_an_empty_frame_is_a_quiet_figure(name):
    figure = draw(name, ONE[name].iloc[:0])

    assert [note.name for note in figure.layout.annotations] == ["nothing"]
    assert figure.data == ()


@each
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_ground_and_hues_are_those_of_the_style(name, theme):
    with lf.style(theme) as look:
        figure = draw(name, NORMAL[name])
        hues = {value.lower() for value in look.rc["axes.prop_cycle"].by_key()["color"]}

    ground = figure.layout.paper_bgcolor
    assert ground == {"light": "rgba(255,255,255,1)", "dark": "rgba(20,24,29,1)"}[theme]
    if name != "plot_reassignment_matrix":
        assert used_hues(figure) <= {*hues, "#a3acb5", "#717c88"}


def used_hues(figure):
    found = set()
    for trace in figure.data:
        if trace.type == "sankey":
            found |= set(trace.node.color)
        else:
            found.add((trace.line if trace.type == "scatter" else trace.marker).color)
    return found


def test_a_name_has_the_colour_that_the_other_backend_gave_it():
    ax = lf.plot_update_rate(NORMAL["plot_update_rate"], by="synchronizer_id")
    static = {patch.get_label(): patch.get_facecolor() for patch in drawn(ax, "series")}
    figure = draw("plot_update_rate", NORMAL["plot_update_rate"].iloc[3:], by="synchronizer_id")
    nodes = draw("plot_reassignment_flows", NORMAL["plot_reassignment_flows"]).data[0].node

    from matplotlib.colors import to_rgba

    for trace in figure.data:
        assert to_rgba(trace.marker.color) == static[trace.name.rpartition("  ")[0]]
    by_label = dict(zip(nodes.label, nodes.color, strict=True))
    assert to_rgba(by_label["sync-0"]) == static["sync-0"]


def test_bars_hold_the_counts_of_their_bins_and_whole_ids():
    rows = frames.updates(600)
    figure = draw("plot_update_rate", rows, by="synchronizer_id", every="1min")

    assert sum(sum(trace.y) for trace in figure.data) == 600
    assert figure.layout.barmode == "relative"
    for identifier in rows["synchronizer_id"].unique():
        assert any(identifier in text for text in hovered(figure))
    first = figure.data[0]
    assert (first.x[0], first.width[0], first.offset) == ("2026-11-01T00:00:00.000", 60_000, 0)
    assert "2026-11-01 00:00:00 to 2026-11-01 00:01:00 UTC" in first.hovertext[0]
    assert first.hovertext[0].endswith("15 updates")


def test_a_last_bin_that_is_cut_is_pale_and_ends_where_the_data_does():
    rows = frames.updates(100)
    figure = draw("plot_update_rate", rows, every="1min")

    assert [trace.marker.opacity[-1] for trace in figure.data] == [0.45] * 3
    assert figure.data[0].width[-1] == 39_000
    assert "incomplete" in figure.layout.title.text


def test_rewards_are_summed_by_kind_with_the_sum_in_the_legend():
    rows = frames.rewards(40)
    figure = draw("plot_rewards", rows)

    sums = {trace.name.partition("  ")[0]: sum(trace.y) for trace in figure.data}
    assert sums == pytest.approx(rows.groupby("kind")["amount"].sum().astype(float).to_dict())


def test_forty_providers_are_six_and_the_others():
    figure = draw("plot_rewards", MANY["plot_rewards"], by="provider")

    assert len(figure.data) == 7
    assert "34 others" in figure.data[-1].name


def test_forty_parties_are_forty_lines_with_whole_ids():
    rows = MANY["plot_balances"]
    figure = draw("plot_balances", rows, top=40)

    assert len(figure.data) == 40
    assert all(len(trace.x) == 90 for trace in figure.data)
    assert [text for text in rows["party_id"].unique() if not any(text in one for one in hovered(figure))] == []
    last = rows[rows["party_id"] == frames.party(1)].iloc[-1]
    assert figure.data[0].y[-1] == float(last["total_coin_holdings"])
    assert f"{exact(float(last['total_coin_holdings']))} coin" in figure.data[0].hovertext[-1]


def test_far_apart_balances_have_a_logarithmic_axis():
    rows = pd.concat([frames.balances(2, days=3), frames.balances(1, days=3).assign(party_id="whale::1220")])
    rows.loc[rows["party_id"] == "whale::1220", "total_coin_holdings"] = Decimal(10**6)

    figure = draw("plot_balances", rows)

    assert figure.layout.yaxis.type == "log"
    assert figure.layout.yaxis.title.text.endswith("(logarithmic)")


def test_ribbons_join_their_nodes_and_add_up_to_the_reassignments():
    rows = NORMAL["plot_reassignment_flows"]
    trace = draw("plot_reassignment_flows", rows).data[0]

    routes = rows.groupby(["source_synchronizer", "target_synchronizer"]).size()
    assert sum(trace.link.value) == len(rows)
    assert len({*zip(trace.link.source, trace.link.target, strict=True)}) == len(routes)
    assert max(trace.link.source) < min(trace.link.target)
    for source, target in routes.index:
        assert any(f"from {source}<br>to {target}" in text for text in trace.link.customdata)
    odd = {hue[-5:] for text, hue in zip(trace.link.customdata, trace.link.color, strict=True) if "flight" in text}
    assert odd == {",0.2)"}
    assert trace.link.line.width == 0  # plotly.js draws black outlines where it is given several colours


def test_cells_of_the_matrix_are_the_counts_and_what_is_none_is_empty():
    rows = NORMAL["plot_reassignment_matrix"]
    figure = draw("plot_reassignment_matrix", rows)
    trace = figure.data[0]

    counts = pd.DataFrame(trace.z)
    assert counts.sum().sum() == len(rows)
    assert (counts == 0).sum().sum() == 0
    assert trace.zmax == counts.max().max()
    assert len(figure.layout.xaxis.ticktext) == len(trace.z) == 6
    assert f"{int(trace.z[0][1])} reassignments" in trace.hovertext[0][1]


def test_counts_far_apart_have_a_logarithmic_scale_with_counts_on_it():
    rows = pd.DataFrame([frames.flow("a::1220", "b::1220")] * 200 + [frames.flow("b::1220", "a::1220")])
    trace = draw("plot_reassignment_matrix", rows).data[0]

    assert trace.zmax == pytest.approx(np.log10(200))
    assert trace.colorbar.ticktext == ("1", "10", "100")
    assert "200 reassignments" in trace.hovertext[0][1]


def test_forty_synchronizers_are_forty_rows_of_the_matrix():
    figure = draw("plot_reassignment_matrix", MANY["plot_reassignment_matrix"], top=40)

    assert np.shape(figure.data[0].z) == (40, 40)
    assert figure.data[0].texttemplate is None


def test_supply_at_one_time_is_bars_and_over_time_lines():
    bars, lines = draw("plot_supply", frames.instruments(3)), draw("plot_supply", frames.instruments(3, loads=4))

    assert [trace.type for trace in bars.data] == ["bar"]
    assert list(bars.data[0].x) == [3000, 2000, 1000]
    assert [trace.type for trace in lines.data] == ["scatter"] * 3
    assert "instrument-2" in lines.data[0].hovertext[0]


def test_rounds_mint_upwards_and_burn_downwards():
    rows = frames.rounds(5)
    minted, burned = draw("plot_supply_per_round", rows).data

    assert list(minted.y) == [float(value) for value in rows["minted"]]
    assert list(burned.y) == [-float(value) for value in rows["burned"]]
    assert "round 100" in minted.hovertext[0]
    total = draw("plot_supply_per_round", rows, show="total").data[0]
    assert (list(total.y), total.line.shape) == ([float(value) for value in rows["total"]], "hv")


def test_names_from_a_ledger_stay_text():
    rows = frames.updates(9).assign(synchronizer_id="<a href='x'>%{y}</a><b>::1220")

    figure = draw("plot_update_rate", rows, by="synchronizer_id")

    assert not any("<a" in text for text in [*hovered(figure), figure.data[0].name])
    assert "&lt;a href=" in figure.data[0].name
    assert figure.data[0].hovertemplate is None


def test_aliases_are_labels_and_the_whole_id_is_under_the_pointer():
    with lf.aliases({frames.party(1): "Alice"}):
        figure = draw("plot_balances", frames.balances(2, days=2))

    assert figure.data[0].name.startswith("Alice  ")
    assert figure.data[0].hovertext[0].startswith(f"<b>Alice</b><br>{frames.party(1)}<br>")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.5, "1.5"), (1e-10, "0.0000000001"), (1234567.25, "1,234,567.25"), (-12.0, "-12")],
)
def test_amounts_under_the_pointer_are_as_exact_as_a_double(value, text):
    assert exact(value) == text


@each
def test_without_plotly_the_error_says_what_to_install(name, monkeypatch):
    there = builtins.__import__

    def missing(module, *rest, **named):
        if module.partition(".")[0] == "plotly":
            raise ImportError("No module named 'plotly'")
        return there(module, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)

    with pytest.raises(lf.errors.ConfigurationError, match=r"pip install 'ledgerframes\[interactive\]'"):
        draw(name, ONE[name])


@each
def test_an_axes_for_plotly_and_an_unknown_backend_are_refused(name):
    _, ax = plt.subplots()

    with pytest.raises(lf.errors.InputError, match="ax= is for matplotlib"):
        draw(name, ONE[name], ax=ax)
    with pytest.raises(lf.errors.InputError, match="backend='bokeh' is not valid: give one of 'matplotlib', 'plotly'"):
        getattr(lf, name)(ONE[name], backend="bokeh")


def test_pictures_that_have_one_backend_take_none():
    both = {name for name in dir(lf) if name.startswith("plot_") and "backend" in parameters(name)}

    assert both == set(ONE)


def parameters(name):
    return inspect.signature(getattr(lf, name)).parameters


def test_forty_nodes_and_the_space_between_them_fit_the_height():
    figure = lf.plot_reassignment_flows(frames.flows(40, 3000), top=40, backend="plotly")
    trace = figure.data[0]
    most = max(len(set(trace.link.source)), len(set(trace.link.target)))
    assert most > 30
    assert trace.node.pad * (most - 1) < figure.layout.height / 4


def test_no_line_crosses_the_amount_of_the_largest_bar():
    figure = lf.plot_supply(frames.instruments(3), backend="plotly")
    assert figure.layout.yaxis.zeroline is False


@pytest.mark.parametrize("way", ["to_html", "write_html", "notebook", "plotly.io"])
def test_a_figure_offers_no_upload_no_link_and_no_idle_button(way, tmp_path, monkeypatch):
    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")  # as in JupyterLab
    figure = draw("plot_rewards", ONE["plot_rewards"])

    if way == "write_html":
        figure.write_html(tmp_path / "figure.html", include_plotlyjs=False)
        html = (tmp_path / "figure.html").read_text(encoding="utf-8")
    elif way == "notebook":
        html = json.dumps(figure._repr_mimebundle_()["application/vnd.plotly.v1+json"])
    else:
        html = (
            pio.to_html(figure, include_plotlyjs=False)
            if way == "plotly.io"
            else figure.to_html(include_plotlyjs=False)
        )

    # plotly.io's own functions know the layout alone: there the button is gone, and the logo stays.
    removed = json.loads(re.search(r'"modebar": ?\{"remove": ?(\[.*?\])', html)[1])
    assert {"sendChartToCloud", "lasso2d", "select2d"} <= set(removed)
    if way != "plotly.io":
        assert re.search(r'"displaylogo": ?false, ?"showSendToCloud": ?false', html)


def test_a_caller_may_set_what_a_figure_is_shown_with():
    html = draw("plot_rewards", ONE["plot_rewards"]).to_html({"displaylogo": True, "scrollZoom": True})

    assert re.search(r'"displaylogo": ?true, ?"showSendToCloud": ?false', html)
    assert '"scrollZoom": true' in html
