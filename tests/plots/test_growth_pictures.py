"""Pictures of updates, licenses and supply: steps, lines and bars are the counts and amounts."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.plots import frames
from tests.plots.seen import drawn, legend, overlapping, second_line, words


def steps(ax):
    """Counts of every series, bin by bin."""
    data = {patch.get_label(): patch.get_data() for patch in drawn(ax, "series")}
    return {name: (one.values - one.baseline).tolist() for name, one in data.items()}


def test_updates_are_counted_by_kind_in_each_interval():
    ax = lf.plot_update_rate(frames.updates(150), every="1min")

    assert steps(ax) == {"transaction": [20, 20, 10], "assignment": [20, 20, 10], "unassignment": [20, 20, 10]}
    assert legend(ax) == ["transaction", "assignment", "unassignment"]
    assert ax.get_ylabel() == "updates per minute"


def test_updates_by_synchronizer_put_the_rest_together():
    ax = lf.plot_update_rate(frames.updates(400), by="synchronizer_id", top=2)

    assert [sum(counts) for counts in steps(ax).values()] == [100, 100, 200]
    assert legend(ax)[-1] == "2 others"


@pytest.mark.parametrize(
    ("rows", "name"),
    [(1, "minute"), (20, "second"), (600, "15 seconds"), (5_000, "5 minutes"), (90_000, "hour")],
)
def test_intervals_suit_the_range(rows, name):
    ax = lf.plot_update_rate(frames.updates(rows))

    assert ax.get_ylabel() == f"updates per {name}"
    assert sum(map(sum, steps(ax).values())) == rows


@pytest.mark.parametrize("every", ["soon", "0s", "-1h", "1ns", "1us"])
def test_an_interval_that_cannot_be_drawn_is_refused(every):
    with pytest.raises(lf.errors.InputError, match=f"every='{every}'"):
        lf.plot_update_rate(frames.updates(300), every=every)


def test_times_of_the_years_1_and_9999_are_drawn():
    times = ["0001-01-01T00:00:00Z", "2025-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]
    updates = pd.DataFrame({"record_time": times, "kind": "transaction"})

    ax = lf.plot_update_rate(updates)

    ax.figure.draw_without_rendering()
    assert sum(steps(ax)["transaction"]) == 3


def test_a_column_of_words_is_no_column_of_times():
    with pytest.raises(lf.errors.InputError, match="column record_time holds a value that is not a time"):
        lf.plot_update_rate(frames.updates(2).assign(record_time="yesterday evening"))


def test_real_updates_of_the_embedded_ledger_are_drawn(net):
    updates = lf.load_updates(net, progress=False)

    ax = lf.plot_update_rate(updates)

    assert {name: sum(counts) for name, counts in steps(ax).items()} == updates["kind"].value_counts().to_dict()


def test_a_validator_counts_from_its_first_round_and_not_from_its_last_license():
    licenses = pd.concat([frames.licenses(3), frames.licenses(3).assign(created_at=frames.START + pd.Timedelta("9D"))])

    ax = lf.plot_license_growth(licenses)

    (line,) = drawn(ax, "series")
    assert line.get_ydata().tolist() == [1, 2, 3, 3]
    assert line.get_xdata()[:3].tolist() == [1000, 1010, 1020]
    assert "round" in ax.get_xlabel()
    assert [text.get_text() for text in drawn(ax, "total")] == ["3"]
    assert second_line(ax) == "3 validators, the first in round 1000"


def test_validators_that_never_received_are_told_and_not_drawn():
    licenses = frames.licenses(4)
    licenses.loc[2, "first_round"] = pd.NA
    growth = pd.DataFrame({"time": [frames.START], "validators": [3]})
    growth.attrs.update({"never_received": 2, "interpolated": 1})

    assert second_line(lf.plot_license_growth(licenses)).endswith("; 1 other never received a coupon")
    words = second_line(lf.plot_license_growth(growth))
    assert "interpolated between known rounds; 2 others never received" in words
    none = lf.plot_license_growth(licenses.assign(first_round=pd.NA))
    assert "4 others never received a coupon" in drawn(none, "nothing")[0].get_text()


def test_licenses_that_tell_only_their_last_change_are_refused():
    with pytest.raises(lf.errors.InputError, match=r"first_round.*license_growth\(licenses, rounds=rounds\)"):
        lf.plot_license_growth(frames.licenses(2).drop(columns="first_round"))


def test_dates_fit_a_single_day_of_growth():
    growth = pd.DataFrame({"time": [frames.START], "validators": [4]})

    ax = lf.plot_license_growth(growth)
    ax.figure.draw_without_rendering()

    low, high = ax.get_xlim()
    assert 0.5 < high - low < 2
    assert not [label.get_text() for label in ax.get_xticklabels() if label.get_text().count(":") > 1]


def test_supplies_are_never_added_up():
    ax = lf.plot_supply(frames.instruments(10), top=3)

    assert [text.get_text() for text in drawn(ax, "total")] == ["10k", "9,000", "8,000"]
    assert not [text for text in words(ax) if "other" in text.get_text()]


def test_a_negative_supply_is_labelled_where_it_ends():
    ax = lf.plot_supply(frames.instruments(2).assign(total_supply=[Decimal(-500), Decimal(1000)]))

    label = drawn(ax, "total")[1]
    assert (label.get_text(), label.xy[0], label.get_horizontalalignment()) == ("-500", -500, "right")
    assert overlapping(words(ax)) == []


def test_a_kind_of_update_has_one_colour_whichever_kinds_there_are():
    updates = frames.updates(60)

    def hue(rows):
        one = next(patch for patch in drawn(lf.plot_update_rate(rows), "series") if patch.get_label() == "assignment")
        return one.get_facecolor()

    assert hue(updates) == hue(updates[updates.kind == "assignment"])


def test_growth_is_drawn_as_it_is():
    growth = pd.DataFrame({"time": [frames.START + pd.Timedelta("1D"), frames.START], "validators": [7, 4]})

    (line,) = drawn(lf.plot_license_growth(growth), "series")

    assert line.get_ydata().tolist() == [4, 7, 7]


def test_licenses_of_the_embedded_ledger_are_drawn(net):
    licenses = lf.load_licenses(net)

    ax = lf.plot_license_growth(licenses)
    timed = lf.plot_license_growth(lf.license_growth(lf.load_events(net, progress=False), period="h"))

    received = licenses[licenses.first_round.notna()].validator.nunique()
    assert second_line(ax).startswith(f"{received} validators, the first in round ")
    assert "the first at 2025-03-03" in second_line(timed)


def test_supply_of_one_load_is_bars_of_the_largest():
    ax = lf.plot_supply(frames.instruments(10), top=3)

    assert [bar.get_width() for bar in drawn(ax, "supply")] == [10_000, 9_000, 8_000]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["S9", "S8", "S7"]
    assert "the 3 largest of 10 instruments" in second_line(ax)


def test_supply_of_several_loads_is_a_line_each():
    ax = lf.plot_supply(frames.instruments(2, loads=3))

    assert [line.get_ydata().tolist() for line in drawn(ax, "series")] == [[2000, 2200, 2400], [1000, 1100, 1200]]
    assert {text.get_text() for text in drawn(ax, "series name")} == {"S1  2,400", "S0  1,200"}


def test_supplies_far_apart_stand_on_a_logarithmic_axis():
    rows = frames.instruments(2).assign(total_supply=[Decimal(3), Decimal(10) ** 12])

    assert lf.plot_supply(rows).get_xscale() == "log"
    assert lf.plot_supply(rows.assign(total_supply=[Decimal(0), Decimal(10) ** 12])).get_xscale() == "linear"


def test_instruments_of_one_symbol_are_named_with_their_ids():
    ax = lf.plot_supply(frames.instruments(2).assign(symbol="$COIN$"))

    assert [label.get_text() for label in ax.get_yticklabels()] == [
        r"\$COIN\$ instrument-1",
        r"\$COIN\$ instrument-0",
    ]


def test_instruments_of_the_embedded_ledger_without_a_supply_are_told(net):
    ax = lf.plot_supply(lf.load_instruments(net))

    assert "2 others without a supply" in second_line(ax)


def test_a_frame_without_any_time_is_refused():
    rows = frames.instruments(2).drop(columns=["loaded_at", "total_supply_as_of"])

    with pytest.raises(lf.errors.InputError, match="loaded_at or total_supply_as_of"):
        lf.plot_supply(rows)
