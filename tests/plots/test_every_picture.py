"""What all pictures have in common: the Axes, empty and tiny frames, wrong frames, any ground, readable labels."""

import inspect

import matplotlib.pyplot as plt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.colors import to_rgb

import ledgerframes as lf
from ledgerframes.plots.drawing.palette import luminance
from tests.plots import frames
from tests.plots.seen import drawn, outside_of_the_figure, overlapping, words

FEW = {
    "plot_reassignment_flows": frames.flows(2, 300),
    "plot_reassignment_matrix": frames.flows(2, 300),
    "plot_reassignment_timeline": frames.flows(2, 300),
    "plot_reassignment_in_flight": frames.flows(2, 300),
    "plot_holding_fees": frames.holdings(2),
    "plot_holding_fees_over_time": frames.holdings(2, snapshots=4),
    "plot_update_rate": frames.updates(300),
    "plot_license_growth": frames.licenses(2),
    "plot_supply": frames.instruments(2, loads=3),
    "plot_supply_per_round": frames.rounds(3),
    "plot_rewards": frames.rewards(40),
    "plot_burn": frames.burns(9),
    "plot_balances": frames.balances(2, days=4),
    "plot_transfers": frames.transfers(2, 30),
}
MANY = {
    "plot_reassignment_flows": frames.flows(20, 3000),
    "plot_reassignment_matrix": frames.flows(20, 3000),
    "plot_reassignment_timeline": frames.flows(20, 3000),
    "plot_reassignment_in_flight": frames.flows(20, 3000),
    "plot_holding_fees": frames.holdings(40),
    "plot_holding_fees_over_time": frames.holdings(40, snapshots=9),
    "plot_update_rate": frames.updates(3000),
    "plot_license_growth": frames.licenses(300),
    "plot_supply": frames.instruments(30, loads=9),
    "plot_supply_per_round": frames.rounds(3000),
    "plot_rewards": frames.rewards(3000, parties=40),
    "plot_burn": frames.burns(3000),
    "plot_balances": frames.balances(40, days=90),
    "plot_transfers": frames.transfers(40, 3000),
}
GIVERS = {
    "plot_holding_fees": "load_holdings_summary", "plot_holding_fees_over_time": "load_holdings_summary",
    "plot_update_rate": "load_updates", "plot_license_growth": "load_licenses", "plot_supply": "load_instruments",
    "plot_supply_per_round": r"lf\.supply_per_round", "plot_rewards": r"lf\.rewards", "plot_burn": r"lf\.mint_burn",
    "plot_balances": r"lf\.balances_over_time", "plot_transfers": r"lf\.transfers",
}  # fmt: skip
each = pytest.mark.parametrize("name", FEW)


def draw(name, frame, **options):
    return getattr(lf, name)(frame, **options)


@pytest.mark.long(quick=4)
@each
def test_the_axes_given_is_the_axes_returned_and_no_figure_is_made(name):
    figure, ax = plt.subplots()

    assert draw(name, FEW[name], ax=ax) is ax
    assert plt.get_fignums() == [figure.number]


@pytest.mark.long(quick=4)
@each
def test_without_axes_a_figure_that_a_notebook_shows_is_made(name):
    ax = draw(name, FEW[name])

    assert plt.get_fignums() == [ax.figure.number]


@each
def test_only_the_frame_is_positional(name):
    parameters = list(inspect.signature(getattr(lf, name)).parameters.values())

    assert [one.kind for one in parameters[1:]] == [inspect.Parameter.KEYWORD_ONLY] * (len(parameters) - 1)
    assert parameters[-1].name == "ax"


@each
@pytest.mark.parametrize("columns", [True, False], ids=["with columns", "without any"])
def test_an_empty_frame_is_a_quiet_picture(name, columns):
    ax = draw(name, FEW[name].iloc[:0] if columns else pd.DataFrame())

    assert [text.get_text() for text in drawn(ax, "nothing")]
    assert ax._left_title.get_text()


@pytest.mark.long(quick=5)
@each
def test_one_row_is_a_picture(name):
    ax = draw(name, FEW[name].iloc[[0]])

    assert not drawn(ax, "nothing")
    assert overlapping(words(ax)) == []


@pytest.mark.long(quick=6)
@each
@pytest.mark.parametrize("rows", [FEW, MANY], ids=["few", "many"])
def test_labels_lie_apart_and_within_the_figure(name, rows):
    ax = draw(name, rows[name])

    assert overlapping(words(ax)) == []
    assert outside_of_the_figure(ax, words(ax)) == []


@pytest.mark.long(quick=8)
@each
@pytest.mark.parametrize("rows", [FEW, MANY], ids=["few", "many"])
def test_labels_lie_within_a_figure_that_lays_nothing_out(name, rows):
    _, ax = plt.subplots(figsize=(7.5, 5.6))

    draw(name, rows[name], ax=ax)

    assert overlapping(words(ax)) == []
    assert outside_of_the_figure(ax, words(ax)) == []


@pytest.mark.long(quick=4)
@each
@pytest.mark.parametrize("ground", ["#101418", "#f4ecd8"], ids=["dark", "sepia"])
def test_every_word_can_be_read_on_its_ground(name, ground):
    figure, ax = plt.subplots(layout="constrained", facecolor=ground)
    ax.set_facecolor(ground)

    draw(name, FEW[name], ax=ax)

    paper = luminance(to_rgb(ground))
    for text in words(ax):
        if name == "plot_reassignment_matrix" and text.get_gid() == "count":
            continue  # these lie on cells of their own colour
        ink = luminance(to_rgb(text.get_color()))
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 2.8, text.get_text()
    assert figure.get_facecolor()[:3] == to_rgb(ground)


@pytest.mark.long(quick=5)
@each
def test_a_transparent_figure_follows_the_colour_of_text(name):
    with plt.rc_context({"figure.facecolor": "none", "axes.facecolor": "none", "text.color": "white"}):
        ax = draw(name, FEW[name])

    assert luminance(to_rgb(ax._left_title.get_color())) > 0.8


@each
def test_missing_columns_are_named_with_what_gives_them(name):
    with pytest.raises(lf.errors.InputError, match=GIVERS.get(name, "reassignment_flows")) as caught:
        draw(name, pd.DataFrame({"apple": [1]}))

    assert name in str(caught.value)
    assert "apple" in str(caught.value)


@each
def test_what_is_no_frame_is_refused(name):
    with pytest.raises(lf.errors.InputError, match="needs a DataFrame, not list"):
        draw(name, [1, 2])


@each
def test_what_is_no_axes_is_refused(name):
    with pytest.raises(lf.errors.InputError, match="not a matplotlib Axes"):
        draw(name, FEW[name], ax=plt.figure())


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("plot_reassignment_flows", pa.Table.from_pandas), ("plot_reassignment_in_flight", pl.from_pandas),
        ("plot_holding_fees", pa.Table.from_pandas), ("plot_holding_fees", pl.from_pandas),
        ("plot_update_rate", pl.from_pandas), ("plot_supply", pa.Table.from_pandas),
        ("plot_supply_per_round", pl.from_pandas), ("plot_rewards", pa.Table.from_pandas),
        ("plot_burn", pl.from_pandas), ("plot_balances", pa.Table.from_pandas), ("plot_transfers", pl.from_pandas),
    ],
)  # fmt: skip
def test_arrow_and_polars_frames_give_the_same_picture(name, form):
    same, ax = draw(name, FEW[name]), draw(name, form(FEW[name]))

    assert [text.get_text() for text in words(ax)] == [text.get_text() for text in words(same)]


@pytest.mark.parametrize("name", [name for name in FEW if "top" in inspect.signature(getattr(lf, name)).parameters])
@pytest.mark.parametrize("top", [0, -1, 2.5, True])
def test_a_top_that_is_no_number_of_categories_is_refused(name, top):
    with pytest.raises(lf.errors.InputError, match=f"top={top}"):
        draw(name, FEW[name], top=top)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("plot_reassignment_timeline", "by"), ("plot_update_rate", "by"), ("plot_holding_fees", "show"),
        ("plot_holding_fees_over_time", "by"), ("plot_holding_fees_over_time", "over"),
        ("plot_reassignment_in_flight", "kind"), ("plot_supply_per_round", "show"), ("plot_rewards", "by"),
        ("plot_balances", "show"),
    ],
)  # fmt: skip
def test_an_unknown_word_is_refused_with_the_known_ones(name, option):
    with pytest.raises(lf.errors.InputError, match=f"{option}='pear' is not valid: give one of '"):
        draw(name, FEW[name], **{option: "pear"})


@pytest.mark.long
def test_four_pictures_share_a_figure_without_their_words_colliding():
    _, grid = plt.subplots(2, 2, figsize=(14, 11), layout="constrained")
    names = ["plot_reassignment_flows", "plot_reassignment_matrix", "plot_holding_fees", "plot_holding_fees_over_time"]

    for name, ax, rows in zip(names, grid.flat, [FEW, FEW, MANY, MANY], strict=True):
        draw(name, rows[name], ax=ax)

    assert [overlapping(words(ax)) for ax in grid.flat] == [[], [], [], []]
