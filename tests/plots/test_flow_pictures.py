"""Pictures of reassignments: what is drawn is what the frame counts."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.plots.drawing.palette import mixed
from ledgerframes.plots.drawing.ribbons import lay_out
from tests.plots import frames
from tests.plots.frames import flow
from tests.plots.seen import drawn, legend, overlapping, second_line, words


def ribbon_widths(ax):
    """Widths at the left and the right end of every ribbon."""
    corners = [patch.get_path().vertices for patch in drawn(ax, "ribbon")]
    return [(path[0][1] - path[7][1], path[3][1] - path[4][1]) for path in corners]


def total_height(ax, count):
    """How high so many reassignments are, from a node and its label."""
    node, label = drawn(ax, "node")[0], drawn(ax, "count")[0]
    return node.get_height() * count / int(label.get_text().replace(",", ""))


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("synchronizers", [2, 5, 20])
def test_ribbons_are_as_wide_as_their_share_at_both_ends(synchronizers):
    flows = frames.flows(synchronizers, 1000)

    ax = lf.plot_reassignment_flows(flows)

    left, right = np.array(ribbon_widths(ax)).T
    wanted = flows.groupby(["source_synchronizer", "target_synchronizer", "status"]).size().to_numpy()
    assert left == pytest.approx(right)
    assert sorted(left / total_height(ax, 1)) == pytest.approx(sorted(wanted))


def test_every_synchronizer_stands_on_both_sides_with_its_counts():
    flows = frames.flows(20, 2000)

    ax = lf.plot_reassignment_flows(flows)

    shown = sorted(int(text.get_text().replace(",", "")) for text in drawn(ax, "count"))
    out, into = flows["source_synchronizer"].value_counts(), flows["target_synchronizer"].value_counts()
    assert shown == sorted([*out, *into])
    assert len(drawn(ax, "name")) == 40


def test_a_route_and_its_return_are_two_ribbons_that_cross():
    there, back = [flow("a::1", "b::2")] * 3, [flow("b::2", "a::1")] * 2

    ax = lf.plot_reassignment_flows(pd.DataFrame(there + back))

    (down, up) = sorted((patch.get_path().vertices for patch in drawn(ax, "ribbon")), key=lambda path: -path[0][1])
    assert down[0][1] > down[3][1]
    assert up[0][1] < up[3][1]


@pytest.mark.long
def test_the_rest_is_put_together_and_nothing_is_lost():
    flows = frames.flows(20, 2000)

    ax = lf.plot_reassignment_flows(flows, top=4)

    assert [text.get_text() for text in drawn(ax, "name")].count("16 others") == 2
    assert sum(int(text.get_text().replace(",", "")) for text in drawn(ax, "count")) == 2 * len(flows)


def test_more_synchronizers_than_fit_are_put_together():
    _, ax = plt.subplots(figsize=(5, 3))

    lf.plot_reassignment_flows(frames.flows(40, 4000), ax=ax)

    names = [text.get_text() for text in drawn(ax, "name")]
    assert any(name.endswith("others") for name in names)
    assert len(names) < 40


def test_statuses_look_different_and_are_explained():
    every = ("completed", "repaired", "assigned without unassignment", "in flight")
    rows = [flow("a::1", f"b{number}::2", status) for number, status in enumerate(every)]

    ax = lf.plot_reassignment_flows(pd.DataFrame(rows))

    looks = {(patch.get_hatch(), patch.get_linewidth() > 0) for patch in drawn(ax, "ribbon")}
    assert looks == {(None, False), ("/////", False), (".....", False), (None, True)}
    assert legend(ax) == [f"{status} (1)" for status in every]


def test_completed_flows_alone_need_no_legend():
    assert legend(lf.plot_reassignment_flows(pd.DataFrame([flow()] * 3))) == []


def test_counts_of_a_matrix_give_the_same_ribbons():
    flows = frames.flows(4, 500).assign(status="completed")
    counts = flows.groupby(["source_synchronizer", "target_synchronizer"]).size().rename("count").reset_index()

    one, other = lf.plot_reassignment_flows(flows), lf.plot_reassignment_flows(counts)

    assert ribbon_widths(one) == ribbon_widths(other)


@pytest.mark.parametrize("picture", [lf.plot_reassignment_flows, lf.plot_reassignment_matrix])
def test_halves_of_reassignments_are_not_counted_twice(net, picture):
    halves = lf.load_reassignments(net, progress=False)

    with pytest.raises(lf.errors.InputError, match="legs"):
        picture(halves)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")), st.integers(1, 10**6), min_size=1)
)
def test_stacked_ribbons_fill_their_nodes_exactly(counts):
    rows = [(source, target, "completed", count) for (source, target), count in counts.items()]
    counted = pd.DataFrame(rows, columns=["source", "target", "status", "size"])

    picture = lay_out(counted, list("abcde"), ["completed"])

    for nodes, side in ((picture.sources, "source"), (picture.targets, "target")):
        for node in nodes:
            ribbons = [ribbon for ribbon in picture.ribbons if getattr(ribbon, side) == node.name]
            assert sum(ribbon.size for ribbon in ribbons) == node.size
            assert sum(ribbon.width for ribbon in ribbons) == pytest.approx(node.top - node.bottom)
            tops = [ribbon.left if side == "source" else ribbon.right for ribbon in ribbons]
            ends = [top - ribbon.width for top, ribbon in zip(tops, ribbons, strict=True)]
            assert [*tops, node.bottom] == pytest.approx([node.top, *ends])
        assert all(above.bottom > below.top for above, below in pairwise(nodes))
        assert nodes[0].top <= 1 + 1e-9
        assert nodes[-1].bottom >= -1e-9


def test_the_matrix_holds_a_row_a_source_and_a_column_a_target():
    rows = [flow("a::1", "b::2")] * 3 + [flow("b::2", "a::1")] * 2 + [flow("a::1", "a::1", "repaired")]

    ax = lf.plot_reassignment_matrix(pd.DataFrame(rows))

    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert np.ma.filled(ax.collections[0].get_array(), 0).tolist() == [[1, 3], [2, 0]]
    assert sorted(text.get_text() for text in drawn(ax, "count")) == ["1", "2", "3"]
    assert second_line(ax).endswith("1 repaired")


def test_the_matrix_has_a_scale_where_its_cells_are_too_small_for_numbers():
    _, ax = plt.subplots(figsize=(4, 3))

    lf.plot_reassignment_matrix(frames.flows(20, 2000), ax=ax)

    assert drawn(ax, "count") == []
    assert [inset.get_ylabel() for inset in ax.child_axes] == ["reassignments"]


@pytest.mark.parametrize("by", ["source", "target"])
def test_the_timeline_stacks_up_to_every_reassignment(by):
    flows = frames.flows(9, 800)

    ax = lf.plot_reassignment_timeline(flows, by=by, every="3h", top=3)

    steps = sum(float(np.sum(patch.get_data().values - patch.get_data().baseline)) for patch in drawn(ax, "series"))
    assert steps + sum(box.get_height() for box in drawn(ax, "box")) == len(flows)
    tops = [patch.get_data().values.max() for patch in drawn(ax, "series")]
    tops += [box.get_y() + box.get_height() for box in drawn(ax, "box")]
    first = flows["unassigned_at"].fillna(flows["assigned_at"])
    assert max(tops) == first.dt.floor("3h").value_counts().max()
    assert ax.get_ylabel() == "reassignments per 3 hours"
    assert "6 others" in legend(ax)


def test_a_reassignment_without_unassignment_counts_at_its_assignment():
    row = flow(status="assigned without unassignment") | {"unassigned_at": pd.NaT, "in_flight": pd.NaT}

    ax = lf.plot_reassignment_timeline(pd.DataFrame([row]), every="1min")

    assert [box.get_height() for box in drawn(ax, "box")] == [1]
    assert "2026-11-01 10:00 UTC" in second_line(ax)


def test_reassignments_all_in_flight_are_explained():
    rows = [flow(status="in flight") | {"assigned_at": pd.NaT, "in_flight": pd.NaT}] * 4

    ax = lf.plot_reassignment_timeline(pd.DataFrame(rows))

    assert legend(ax) == ["b", "in flight (4)"]


def test_median_and_percentile_stand_where_they_are():
    flows = pd.DataFrame([flow(seconds=seconds) for seconds in range(1, 101)])

    ax = lf.plot_reassignment_in_flight(flows)

    assert drawn(ax, "median")[0].get_xdata()[0] == pytest.approx(50.5)
    assert drawn(ax, "95th percentile")[0].get_xdata()[0] == pytest.approx(95.05)
    assert [text.get_text() for text in drawn(ax, "mark")] == ["95th percentile 1 min 35 s", "median 50.5 s"]
    assert ax.get_xscale() == "log"
    assert sum(patch.get_data().values.sum() for patch in drawn(ax, "series")) == 100


def test_durations_of_zero_or_less_have_a_bin_of_their_own():
    rows = [flow(seconds=5), flow(seconds=0), flow(seconds=-3), flow(status="in flight") | {"in_flight": pd.NaT}]

    ax = lf.plot_reassignment_in_flight(pd.DataFrame(rows))

    assert second_line(ax) == "3 reassignments with both legs, 1 still in flight, 2 took 0 s or less"
    (patch,) = drawn(ax, "series")
    assert patch.get_data().values[0] == 2
    assert patch.get_data().values.sum() == 3
    place = dict(zip([label.get_text() for label in ax.get_xticklabels()], ax.get_xticks(), strict=True))["≤ 0 s"]
    assert patch.get_data().edges[0] < place < patch.get_data().edges[1]


@pytest.mark.parametrize("kind", ["histogram", "ecdf"])
@pytest.mark.parametrize("seconds", [(0,), (-3, 0, -1), (-3, 5), (-3, 0, 0, 9_000_000)])
def test_durations_around_zero_are_a_picture_with_both_marks(kind, seconds):
    ax = lf.plot_reassignment_in_flight(pd.DataFrame([flow(seconds=one) for one in seconds]), kind=kind)

    low, high = ax.get_xlim()
    assert all(low <= drawn(ax, name)[0].get_xdata()[0] <= high for name in ("median", "95th percentile"))
    assert overlapping(words(ax)) == []


def test_a_synchronizer_has_one_colour_in_all_pictures_of_a_session():
    routes = [("a", "b")] * 9 + [("b", "c")] * 5 + [("c", "d")] * 3 + [("d", "c")] * 2
    flows = pd.DataFrame([flow(f"{source}::1", f"{target}::1") for source, target in routes])

    whole = node_colours(lf.plot_reassignment_flows(flows))
    part = flows[flows["source_synchronizer"] != "a::1"]
    fewer = node_colours(lf.plot_reassignment_flows(part))
    bars = drawn(lf.plot_reassignment_timeline(part, by="source", every="3h"), "series")

    assert len(set(whole.values())) == 4
    assert fewer == {name: whole[name] for name in "bcd"}
    # over time the same hues are a little paler
    paler = {bar.get_label(): mixed(whole[bar.get_label()], "white", 0.85) for bar in bars}
    assert {bar.get_label(): pytest.approx(bar.get_facecolor()[:3]) for bar in bars} == paler


def node_colours(ax):
    """The colour of each source."""
    names, nodes = drawn(ax, "name"), drawn(ax, "node")
    return {name.get_text(): node.get_facecolor()[:3] for name, node in zip(names, nodes, strict=True)}


@pytest.mark.long
def test_colours_stay_apart_in_a_picture_however_many_names_the_session_knows():
    for numbers in (*(range(first, first + 7) for first in range(0, 30, 6)), range(0, 28, 4), range(3, 31, 4)):
        rows = [flow(f"s{number}::1", f"s{number}::1", "repaired") for number in numbers]
        assert len(set(node_colours(lf.plot_reassignment_flows(pd.DataFrame(rows))).values())) == 7


def test_the_colour_scale_is_that_of_the_named_synchronizers():
    many = [flow(f"a{number}::1", f"b{number}::1") for number in range(300)]
    named = [flow("x::1", "y::1")] * 200 + [flow("y::1", "x::1")] * 150

    ax = lf.plot_reassignment_matrix(pd.DataFrame(many + named), top=2)

    assert ax.collections[0].norm.vmax == 200
    assert np.ma.filled(ax.collections[0].get_array(), 0)[2, 2] == 300


def test_the_share_of_reassignments_rises_to_one():
    flows = pd.DataFrame([flow(seconds=seconds) for seconds in (1, 2, 4, 8)])

    (line,) = drawn(lf.plot_reassignment_in_flight(flows, kind="ecdf"), "series")

    heights = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
    assert [heights[second] for second in (1, 2, 4, 8)] == [0.25, 0.5, 0.75, 1]


def test_real_reassignments_of_the_embedded_ledger_are_drawn(net):
    halves = lf.load_reassignments(net, progress=False)
    flows = halves.drop_duplicates(["source_synchronizer", "unassign_id", "contract_id"])

    ax = lf.plot_reassignment_flows(flows.assign(status="completed"))

    assert sum(int(text.get_text()) for text in drawn(ax, "count")) == 2 * len(flows)
