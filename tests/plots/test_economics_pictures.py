"""Pictures of supply, rewards, burned coin, balances and transfers: what is drawn are the frame's sums."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from tests.plots import frames
from tests.plots.seen import drawn, legend, overlapping, second_line, words


def steps(ax):
    """The height of every series, bin by bin."""
    data = {patch.get_label(): patch.get_data() for patch in drawn(ax, "series")}
    return {name: (one.values - one.baseline).tolist() for name, one in data.items()}


def sums(ax):
    """The sum of every series."""
    return {name: pytest.approx(sum(heights)) for name, heights in steps(ax).items()}


def ribbons(ax):
    """The heights of the ribbons' left ends, the largest first."""
    heights = []
    for patch in drawn(ax, "ribbon"):
        corners = patch.get_path().vertices
        heights.append(abs(corners[0][1] - corners[7][1]))
    return sorted(heights, reverse=True)


@pytest.fixture(scope="module")
def history():
    with lf.sandbox(updates=1500) as net:
        yield lf.load_history(net, progress=False)


def test_minted_coin_goes_up_and_burned_coin_down():
    ax = lf.plot_supply_per_round(frames.rounds(3))

    assert steps(ax) == {"minted": [1000, 1400, 1800], "burned": [-410, -610, -810]}
    assert legend(ax) == ["minted  4,200", "burned  1,830"]
    assert second_line(ax) == "3 rounds, 100 to 102"


def test_many_rounds_are_put_together_without_losing_coin():
    rounds = frames.rounds(1234, first=7)

    ax = lf.plot_supply_per_round(rounds)

    assert ax.get_ylabel() == "coin per 20 rounds"
    assert sum(steps(ax)["minted"]) == pytest.approx(float(rounds.minted.sum()))
    assert len(steps(ax)["minted"]) <= 120


def test_a_round_without_a_row_is_a_gap():
    ax = lf.plot_supply_per_round(frames.rounds(4).iloc[[0, 3]])

    assert steps(ax)["minted"] == [1000, 0, 0, 2200]


def test_rounds_in_no_order_are_drawn_in_order():
    rows = frames.rounds(9)

    assert steps(lf.plot_supply_per_round(rows.iloc[::-1])) == steps(lf.plot_supply_per_round(rows))


@pytest.mark.parametrize(("burned", "scale"), [("900", "linear"), ("0.005", "symlog"), ("0", "linear")])
def test_burned_coin_is_seen_beside_much_more_minted_coin(burned, scale):
    ax = lf.plot_supply_per_round(frames.rounds(3).assign(burned=Decimal(burned)))

    assert ax.get_yscale() == scale
    assert ("logarithmic" in ax.get_ylabel()) == (scale == "symlog")
    assert overlapping(words(ax)) == []


def test_what_is_not_known_of_rounds_is_counted():
    rounds = frames.rounds(4)
    rounds.loc[1, ["burned", "net_change", "unexplained"]] = None
    rounds.loc[2, "unexplained"] = Decimal("-0.0000000001")

    line = second_line(lf.plot_supply_per_round(rounds))

    assert "what was burned is not known in 1" in line
    assert "changes unexplained in 1" in line


def test_the_supply_is_a_line_of_the_totals_with_the_last_at_its_end():
    rounds = frames.rounds(5)

    ax = lf.plot_supply_per_round(rounds, show="total")

    (line,) = drawn(ax, "series")
    assert line.get_ydata()[:5].tolist() == [float(total) for total in rounds.total]
    assert [text.get_text() for text in drawn(ax, "total")] == ["14.9k"]


def test_a_supply_that_is_not_known_is_no_line():
    ax = lf.plot_supply_per_round(frames.rounds(3).assign(total=None), show="total")

    assert "give opening=" in drawn(ax, "nothing")[0].get_text()


def test_rewards_are_summed_by_kind_in_each_interval():
    ax = lf.plot_rewards(frames.rewards(12, parties=1), every="1h")

    assert steps(ax) == {
        "sv": [24, 12], "app": [24, 12], "validator": [12, 24], "validator_faucet": [12, 24],
    }  # fmt: skip
    assert legend(ax)[0] == "sv  36"
    assert ax.get_ylabel() == "coin per hour"


def test_rewards_by_party_put_the_rest_together():
    ax = lf.plot_rewards(frames.rewards(400, parties=5), by="provider", top=2)

    assert [round(sum(heights), 2) for heights in steps(ax).values()] == [960.0, 480.0, 752.0]
    assert legend(ax)[-1].startswith("3 others  752")


def test_a_kind_has_one_colour_whichever_kinds_there_are():
    rewards = frames.rewards(40)

    def hue(rows):
        one = next(patch for patch in drawn(lf.plot_rewards(rows), "series") if patch.get_label() == "validator")
        return one.get_facecolor()

    assert hue(rewards) == hue(rewards[rewards.kind == "validator"])


def test_coupons_of_unknown_worth_or_outcome_are_counted_and_never_guessed():
    rewards = frames.rewards(8, parties=1)
    rewards.loc[0, "amount"] = None
    rewards["outcome"] = [None, None, *["claimed"] * 6]

    ax = lf.plot_rewards(rewards, by="outcome")

    assert sums(ax) == {"claimed": 72, "unknown": 12}
    assert "1 other of unknown worth" in second_line(ax)


def test_rewards_that_all_are_of_unknown_worth_are_no_picture():
    ax = lf.plot_rewards(frames.rewards(3).assign(amount=None))

    assert drawn(ax, "nothing")[0].get_text() == "none of 3 coupons here has a known worth"


def test_burned_coin_is_summed_by_cause_and_causes_without_any_are_left_out():
    ax = lf.plot_burn(frames.burns(6), every="3h")

    assert steps(ax) == {"traffic": [20, 20], "names": [8, 8], "fees": [2, 2]}
    assert legend(ax) == ["traffic  40", "names  16", "fees  4"]
    assert second_line(ax).startswith("60 coin burned by 4 updates, ")


def test_updates_whose_burn_is_not_known_are_counted():
    flows = frames.burns(6)
    flows.loc[1, "burned_expiry"] = None

    ax = lf.plot_burn(flows)

    assert "not known of 1 update" in second_line(ax)
    assert sums(ax)["traffic"] == 40


def test_updates_that_burn_nothing_are_no_picture():
    ax = lf.plot_burn(frames.burns(9).iloc[[2, 5]])

    assert drawn(ax, "nothing")[0].get_text() == "no coin was burned in this range"


@pytest.mark.parametrize(("show", "first"), [("holdings", 1000), ("unlocked", 999), ("locked", 1), ("available", 998)])
def test_a_party_s_line_is_what_it_holds(show, first):
    ax = lf.plot_balances(frames.balances(1, days=3), show=show)

    (line,) = drawn(ax, "series")
    rise = 0 if show == "locked" else 10
    assert line.get_ydata().tolist() == [first, first + rise, first + 2 * rise]


def test_the_largest_balances_at_the_end_are_drawn_and_the_others_counted():
    ax = lf.plot_balances(frames.balances(30, days=4), top=3)

    names = {text.get_text().split("  ")[0] for text in drawn(ax, "series name")}
    assert names == {"party-1", "party-2", "party-3"}
    assert second_line(ax).startswith("the 3 largest of 30 parties, ")


def test_a_party_has_one_colour_whoever_else_is_drawn():
    balances = frames.balances(9, days=3)
    second = {frames.party(2)}

    first = {line.get_label(): line.get_color() for line in drawn(lf.plot_balances(balances, top=3), "series")}
    (alone,) = drawn(lf.plot_balances(balances[balances.party_id.isin(second)]), "series")

    assert alone.get_color() == first["party-2"]


@pytest.mark.parametrize(("hours", "cut"), [(72, False), (60, True)])
def test_a_last_day_that_is_cut_is_drawn_as_cut(hours, cut):
    rewards = frames.rewards(6 * hours)

    ax = lf.plot_rewards(rewards, every="1D")

    (patch, *_), paler = drawn(ax, "series"), drawn(ax, "cut")
    edges = patch.get_data().edges
    assert edges[-1] - edges[-2] == pytest.approx(0.5 if cut else 1, abs=0.01)
    assert len(paler) == cut
    assert second_line(ax).endswith("; the last bar is incomplete") == cut
    assert sum(map(sum, steps(ax).values())) == pytest.approx(float(rewards.amount.sum()))


def test_balances_far_apart_have_a_logarithmic_scale_unless_one_is_zero():
    rows = frames.balances(2, days=2)
    rows["total_coin_holdings"] = [Decimal(10) ** 9, Decimal(1)] * 2

    assert lf.plot_balances(rows).get_yscale() == "log"
    rows.loc[1, "total_coin_holdings"] = Decimal(0)
    assert lf.plot_balances(rows).get_yscale() == "linear"


def test_a_column_without_any_amount_is_named():
    ax = lf.plot_balances(frames.balances(2).assign(total_available_coin=None), show="available")

    assert drawn(ax, "nothing")[0].get_text() == "total_available_coin is null in all rows here"


def test_ribbons_are_as_wide_as_the_sums_of_the_transfers():
    rows = [("a", "b", 60), ("a", "b", 20), ("b", "c", 40), ("c", "a", 10), ("c", "c", 500)]
    transfers = pd.DataFrame(rows, columns=["sender", "receiver", "amount"])

    ax = lf.plot_transfers(transfers)

    widths = ribbons(ax)
    assert np.array(widths) / widths[-1] == pytest.approx([8, 4, 1])
    assert sorted(text.get_text() for text in drawn(ax, "count")) == sorted(["80", "40", "10", "80", "40", "10"])
    assert second_line(ax) == "130 coin in 4 transfers, 3 parties; 1 payment of a party to itself left out"


def test_transfers_without_an_amount_or_a_party_are_shown_as_such():
    rows = [("a", None, 60), (None, "a", 20), ("b", "a", None), ("b", "a", -3)]
    transfers = pd.DataFrame(rows, columns=["sender", "receiver", "amount"])

    ax = lf.plot_transfers(transfers)

    assert {text.get_text() for text in drawn(ax, "name")} == {"a", "unknown"}
    assert second_line(ax).endswith("; 1 other without an amount; 1 other of 0 or less")


@pytest.mark.parametrize("column", ["instrument_id", "step"])
def test_transfers_that_cannot_be_added_up_are_refused(column):
    transfers = frames.transfers(3, 4).assign(**{column: ["x", "x", "y", "x"]})

    with pytest.raises(lf.errors.InputError, match=f"column {column} holds 2: choose one"):
        lf.plot_transfers(transfers)
    assert drawn(lf.plot_transfers(transfers[transfers[column] == "x"]), "ribbon")


@pytest.mark.parametrize(("name", "most"), [("plot_rewards", 7), ("plot_balances", 40)])
def test_more_categories_than_can_be_read_are_refused(name, most):
    rows = {"plot_rewards": frames.rewards(9), "plot_balances": frames.balances(2)}[name]

    with pytest.raises(lf.errors.InputError, match=f"top={most + 1}"):
        getattr(lf, name)(rows, top=most + 1)


@pytest.mark.long
def test_tables_of_the_embedded_ledger_are_drawn(history):
    rounds, flows, rewards = lf.supply_per_round(history), lf.mint_burn(history), lf.rewards(history)
    known = rewards[rewards.amount.notna()]

    minted = steps(lf.plot_supply_per_round(rounds))["minted"]
    burned = steps(lf.plot_burn(flows))

    assert sum(minted) == pytest.approx(float(rounds.minted.sum()))
    assert sums(lf.plot_rewards(rewards)) == {
        kind: float(amounts.sum()) for kind, amounts in known.groupby("kind")["amount"]
    }
    for cause, heights in burned.items():
        assert sum(heights) == pytest.approx(float(flows[f"burned_{cause}"].sum()))
    assert drawn(lf.plot_balances(lf.balances_over_time(history, every="1h")), "series")
    assert drawn(lf.plot_transfers(lf.transfers(history)), "ribbon")


@pytest.mark.parametrize(
    ("first", "count", "cut", "said"),
    [
        (100, 60, 0, ""),
        (100, 400, 0, ""),
        (100, 402, 1, "; the last bar is incomplete"),
        (102, 398, 1, "; the first bar is incomplete"),
        (102, 401, 2, "; the first and the last bar are incomplete"),
    ],
)
def test_groups_of_rounds_that_are_cut_are_drawn_as_cut(first, count, cut, said):
    ax = lf.plot_supply_per_round(frames.rounds(count, first=first))

    (patch, *_), paler = drawn(ax, "series"), drawn(ax, "cut")
    edges = patch.get_data().edges
    assert (edges[0], edges[-1]) == (first - 0.5, first + count - 0.5)
    assert len(paler) == cut
    assert second_line(ax).endswith(f"{first} to {first + count - 1}{said}")


def test_supplies_far_apart_say_that_their_axis_is_logarithmic():
    rows = frames.instruments(2, loads=3)
    rows.loc[rows["symbol"] == "S1", "total_supply"] *= 1000

    assert lf.plot_supply(rows).get_ylabel() == "supply, each in its own unit (logarithmic)"


@pytest.mark.parametrize("dpi", [72, 100, 200])
def test_a_name_and_its_amount_do_not_run_together(dpi):
    ax = lf.plot_transfers(frames.transfers(6, 200))
    figure = ax.figure
    figure.set_dpi(dpi)
    figure.draw_without_rendering()

    boxes = {gid: [text.get_window_extent() for text in drawn(ax, gid)] for gid in ("name", "count")}
    gaps = [
        max(name.x0 - count.x1, count.x0 - name.x1) * 72 / dpi
        for name, count in zip(boxes["name"], boxes["count"], strict=True)
    ]
    assert min(gaps) > 3
