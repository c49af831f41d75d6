"""Pictures of holdings and notional fees: bars and areas are the amounts, whatever their form."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from tests.plots import frames
from tests.plots.seen import drawn, legend, outside_of_the_figure, overlapping, second_line, words


def widths(ax, part):
    return [bar.get_width() for bar in drawn(ax, part)]


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.mark.parametrize("decimals", ["float", "exact", "arrow", "string"])
def test_bars_are_the_fees_in_every_form_of_decimals(decimals):
    ax = lf.plot_holding_fees(frames.holdings(3, decimals=decimals))

    assert widths(ax, "unlocked") == pytest.approx([1, 1 / 2, 1 / 3])
    assert widths(ax, "locked") == pytest.approx([0.1] * 3)
    assert [bar.get_x() for bar in drawn(ax, "locked")] == pytest.approx(widths(ax, "unlocked"))
    assert names(ax)[0] == "party-1"
    assert legend(ax) == ["unlocked", "locked"]
    assert "notional" in ax._left_title.get_text().lower()
    assert "coin" in ax.get_xlabel()


def test_parties_beyond_the_top_are_one_bar_and_nothing_is_lost():
    ax = lf.plot_holding_fees(frames.holdings(40), top=5)

    assert names(ax)[-1] == "35 others"
    assert sum(widths(ax, "unlocked")) == pytest.approx(sum(1 / number for number in range(1, 41)))
    assert sum(widths(ax, "locked")) == pytest.approx(4.0)


def test_one_party_beyond_the_top_is_named_rather_than_called_the_rest():
    assert len(names(lf.plot_holding_fees(frames.holdings(6), top=5))) == 6
    assert "others" not in names(lf.plot_holding_fees(frames.holdings(6), top=5))[-1]


def test_the_share_is_of_what_each_party_holds():
    ax = lf.plot_holding_fees(frames.holdings(4, snapshots=3), show="share")

    together = np.add(widths(ax, "unlocked"), widths(ax, "locked"))
    assert together == pytest.approx([3, 3, 3, 3])
    assert "%" in ax.get_xlabel()


def test_holdings_are_shown_with_no_fee_taken_off():
    ax = lf.plot_holding_fees(frames.holdings(2), show="holdings")

    assert widths(ax, "unlocked") == pytest.approx([100, 50])
    assert widths(ax, "locked") == pytest.approx([10, 10])


def test_of_several_snapshots_the_newest_is_drawn_and_named():
    ax = lf.plot_holding_fees(frames.holdings(2, snapshots=3))

    assert widths(ax, "unlocked") == pytest.approx([3, 1.5])
    assert second_line(ax) == "2 parties, at 2026-11-01 12:00 UTC, round 102, the last of 3 snapshots"


def test_parties_without_holdings_are_told_rather_than_drawn():
    rows = frames.holdings(3)
    rows.loc[1, [name for name in rows if "coin" in name or "fees" in name]] = None

    ax = lf.plot_holding_fees(rows)

    assert len(names(ax)) == 2
    assert "1 other without holdings" in second_line(ax)


def test_negative_fees_reach_left_of_zero():
    rows = pd.DataFrame([frames.summary("a::1220", 100, 10), frames.summary("b::1220", 50, 10)])
    rows.loc[1, "accumulated_holding_fees_locked"] = Decimal(-2)

    ax = lf.plot_holding_fees(rows)

    bars = {bar.get_width(): bar.get_x() for bar in drawn(ax, "locked")}
    assert bars[-2] == 0
    assert ax.get_xlim()[0] < -2


def test_the_others_are_cut_where_the_named_parties_end():
    ax = lf.plot_holding_fees(frames.holdings(400), top=5)

    assert names(ax)[-1] == "395 others"
    assert ax.get_xlim()[1] < 3
    assert drawn(ax, "total")[-1].get_text() == "43.8"
    assert len(drawn(ax, "break")) == 1
    assert drawn(ax, "unlocked")[-1].get_facecolor() == drawn(ax, "locked")[-1].get_facecolor()
    assert drawn(lf.plot_holding_fees(frames.holdings(9), top=7), "break") == []


@pytest.mark.parametrize(
    ("holding", "unit", "text"),
    [(100, "%", "1%"), (10**6, "basis points", "0.01 bp"), (10**8, "basis points", "<0.001 bp")],
)
def test_small_shares_are_in_basis_points(holding, unit, text):
    rows = pd.DataFrame([frames.summary("a::1220", holding, 0)])
    rows["accumulated_holding_fees_unlocked"] = [Decimal(1)]

    ax = lf.plot_holding_fees(rows, show="share")

    assert unit in ax.get_xlabel()
    assert [text.get_text() for text in drawn(ax, "total")] == [text]


def test_negative_totals_are_labelled_on_their_side():
    rows = pd.DataFrame([frames.summary("a::1220", 100, 10), frames.summary("b::1220", 50, 10)])
    rows.loc[1, ["accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked"]] = Decimal(-2)

    ax = lf.plot_holding_fees(rows)

    label = drawn(ax, "total")[1]
    assert (label.get_text(), label.xy[0], label.get_horizontalalignment()) == ("-4", -4, "right")
    assert overlapping(words(ax)) == []
    assert outside_of_the_figure(ax, words(ax)) == []


def test_negative_areas_lie_below_zero_and_within_the_picture():
    rows = frames.holdings(2, snapshots=3)
    last = rows["party_id"].str.startswith("party-2")
    for name in ("accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked"):
        rows.loc[last, name] = [-amount for amount in rows.loc[last, name]]

    ax = lf.plot_holding_fees_over_time(rows)

    assert ax.get_ylim()[0] < -1.8
    assert min(area.get_paths()[0].vertices[:, 1].min() for area in drawn(ax, "series")) == pytest.approx(-1.8)


def test_parties_that_share_a_name_stay_apart():
    rows = pd.DataFrame([frames.summary(f"alice::1220{'ab' * 20}{end}", 10, 1) for end in ("01", "02")])

    assert len(set(names(lf.plot_holding_fees(rows)))) == 2


def areas(ax):
    """Height of every area at the end, from the lowest."""
    paths = [area.get_paths()[0].vertices for area in drawn(ax, "series")]
    last = max(path[:, 0].max() for path in paths)
    return [float(np.ptp(path[path[:, 0] == last][:, 1])) for path in paths]


@pytest.mark.parametrize("decimals", ["float", "exact", "arrow", "string"])
def test_areas_are_the_fees_of_each_party(decimals):
    ax = lf.plot_holding_fees_over_time(frames.holdings(3, snapshots=4, decimals=decimals))

    assert areas(ax) == pytest.approx([4.4, 2.4, 4 / 3 + 0.4])
    assert "record time (UTC)" in ax.get_xlabel()
    assert "notional" in ax.get_ylabel()


def test_areas_by_lock_are_two():
    ax = lf.plot_holding_fees_over_time(frames.holdings(3, snapshots=4), by="lock")

    assert areas(ax) == pytest.approx([4 * (1 + 1 / 2 + 1 / 3), 1.2])
    assert {text.get_text() for text in drawn(ax, "series name")} == {"unlocked", "locked"}


def test_parties_beyond_the_top_are_one_area():
    ax = lf.plot_holding_fees_over_time(frames.holdings(30, snapshots=3), top=4)

    assert len(areas(ax)) == 5
    assert sum(areas(ax)) == pytest.approx(3 * (sum(1 / number for number in range(1, 31)) + 3))
    assert "26 others" in [text.get_text() for text in drawn(ax, "series name")]


def test_rounds_of_one_record_time_are_the_axis_by_themselves():
    ax = lf.plot_holding_fees_over_time(frames.holdings(2, snapshots=5, every="0s"))

    assert "round" in ax.get_xlabel()
    assert ax.get_xlim() == (100, 104)
    assert "rounds 100 to 104" in second_line(ax)


def test_rounds_that_no_server_told_cannot_be_asked_for():
    rows = frames.holdings(2, snapshots=2).assign(computed_as_of_round=pd.array([pd.NA] * 4, dtype="Int64"))

    assert "record time" in lf.plot_holding_fees_over_time(rows).get_xlabel()
    with pytest.raises(lf.errors.InputError, match="over='round' needs computed_as_of_round"):
        lf.plot_holding_fees_over_time(rows, over="round")


def without_fees(rows, which=slice(None)):
    """The rows as newer servers give them."""
    rows = rows.astype({"computed_as_of_round": "Int64"})
    gone = [name for name in rows if "fees" in name or "available" in name or "round" in name]
    rows.loc[rows.index[which], gone] = None
    return rows


@pytest.mark.parametrize("show", ["fees", "share"])
def test_fees_that_are_not_served_are_not_called_nothing(show):
    ax = lf.plot_holding_fees(without_fees(frames.holdings(3)), show=show)

    (words,) = [text.get_text() for text in drawn(ax, "nothing")]
    assert "fees not served for 3 parties at 2026-11-01 00:00 UTC" in words
    assert widths(lf.plot_holding_fees(without_fees(frames.holdings(2)), show="holdings"), "unlocked") == [100, 50]


def test_parties_whose_fees_are_not_served_do_not_count_as_without_holdings():
    ax = lf.plot_holding_fees(without_fees(frames.holdings(3), [1]))

    assert len(names(ax)) == 2
    assert second_line(ax) == "2 parties, fees not served for 1 other, at 2026-11-01 00:00 UTC, round 100"


def test_a_newest_snapshot_without_fees_is_not_passed_over():
    ax = lf.plot_holding_fees(without_fees(frames.holdings(2, snapshots=3), slice(4, 6)))

    (words,) = [text.get_text() for text in drawn(ax, "nothing")]
    assert "fees not served for 2 parties at 2026-11-01 12:00 UTC, the last of 3 snapshots" in words


def test_snapshots_without_fees_are_left_out_and_counted():
    ax = lf.plot_holding_fees_over_time(without_fees(frames.holdings(2, snapshots=4), slice(4, 6)))

    assert "3 snapshots" in second_line(ax)
    assert second_line(ax).endswith("; fees not served in 1 snapshot")
    none = lf.plot_holding_fees_over_time(without_fees(frames.holdings(2, snapshots=4)))
    assert [text.get_text() for text in drawn(none, "nothing")] == ["fees not served in 4 snapshots"]


def test_past_snapshots_with_the_fees_of_one_round_say_so():
    same = frames.holdings(2, snapshots=4).assign(computed_as_of_round=900)

    assert "all fees are of round 900" in second_line(lf.plot_holding_fees_over_time(same))
    assert "all fees" not in second_line(lf.plot_holding_fees_over_time(frames.holdings(2, snapshots=4)))


def test_small_amounts_are_written_without_an_exponent():
    rows = pd.DataFrame([frames.summary("a::1220", 2, 0), frames.summary("b::1220", 1, 0)])
    rows["accumulated_holding_fees_unlocked"] = [Decimal("0.0000002"), Decimal("0.0000001")]

    ax = lf.plot_holding_fees(rows)
    ax.figure.draw_without_rendering()

    shown = [text.get_text() for text in [*drawn(ax, "total"), *ax.get_xticklabels()]]
    assert "0.0000002" in shown
    assert not [text for text in shown if "e-" in text]


@pytest.mark.parametrize("picture", [lf.plot_holding_fees, lf.plot_holding_fees_over_time])
def test_an_amount_that_is_no_number_is_named(picture):
    rows = frames.holdings(2).assign(accumulated_holding_fees_locked="plenty")

    with pytest.raises(lf.errors.InputError, match=r"accumulated_holding_fees_locked.*plenty"):
        picture(rows)


@pytest.mark.long
def test_forty_parties_over_time_have_room_for_their_names():
    ax = lf.plot_holding_fees_over_time(frames.holdings(40, snapshots=9), top=40)

    assert len(drawn(ax, "series name")) == 40
    assert overlapping(words(ax)) == []
