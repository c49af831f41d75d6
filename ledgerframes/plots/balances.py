"""`plot_balances`: what parties hold, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.arguments import whole_number
from ledgerframes.plots.drawing.amount_scale import amount_scale
from ledgerframes.plots.drawing.columns import checked, floats, micros, one_of, texts
from ledgerframes.plots.drawing.end_labels import End, finish_with_names
from ledgerframes.plots.drawing.layout import axes, nothing, picture, plain
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.session_hues import SESSION
from ledgerframes.plots.drawing.short_ids import short_names, shown
from ledgerframes.plots.drawing.time_axis import between, dates, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_balances"
_GIVER: Final = "lf.balances_over_time(events)"
_MOST: Final = 40
_COLUMNS: Final = {
    "holdings": "total_coin_holdings",
    "unlocked": "total_unlocked_coin",
    "locked": "total_locked_coin",
    "available": "total_available_coin",
}
_TITLES: Final = {
    "holdings": "Balances over time",
    "unlocked": "Unlocked coin over time",
    "locked": "Locked coin over time",
    "available": "Available coin over time",
}
_UNITS: Final = {
    "holdings": "coin, notional fees not taken off",
    "unlocked": "coin, notional fees not taken off",
    "locked": "coin, notional fees not taken off",
    "available": "unlocked coin less notional fees",
}


@picture
def plot_balances(
    balances: Any,
    *,
    show: Literal["holdings", "unlocked", "locked", "available"] = "holdings",
    top: int = 7,
    ax: Axes | None = None,
) -> Axes:
    """Draw one line per party: what it holds at each time.

    The parties with the largest balance at the last time of theirs are drawn, the others only counted. The scale is
    logarithmic where the largest balance is more than a hundred times the smallest and none is 0.

    Args:
        balances: one row per time and party, from `balances_over_time`.
        show: all that a party holds, its unlocked or its locked coin, or what is available of the unlocked.
        top: how many parties to show, 40 at most; those after the seventh are grey.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on, in coin; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, or an argument breaks a rule.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     balances = lf.balances_over_time(lf.load_events(net), every="1min")
        >>> lf.plot_balances(balances, top=5).get_ylabel()
        'coin, notional fees not taken off'
    """
    whole_number(top, "top", least=1, most=_MOST)
    one_of(show, "show", tuple(_COLUMNS))
    name = _COLUMNS[show]
    frame = checked(balances, ("time", "party_id", name), picture=_PICTURE, giver=_GIVER)
    rows = _rows(frame, name)
    count = min(top, rows["party"].nunique())
    ax = axes(ax, size=(9.2, max(4.4, 1.2 + 0.18 * count)))
    if rows.empty:
        why = f"{name} is null in all rows here" if len(frame) else "no balances in this range"
        return nothing(ax, _TITLES[show], why)
    last = rows.drop_duplicates("party", keep="last").set_index("party")["held"]
    largest = last.sort_index().sort_values(ascending=False, kind="stable").head(top)
    rows = rows[rows["party"].isin(largest.index)]
    ends = _lines(ax, rows, short_names(map(str, largest.index)), list(largest.index))
    amount_scale(ax, rows["held"], "y", floor=0.85)
    ax.set_ylabel(_UNITS[show] + (" (logarithmic)" if ax.get_yscale() == "log" else ""))
    time_axis(ax, int(rows["moment"].min()), int(rows["moment"].max()), label="time (UTC)", margin=0.02)
    parties = plural(len(last), "party", "parties")
    of = parties if count == len(last) else f"the {count} largest of {parties}"
    return finish_with_names(ax, ends, _TITLES[show], f"{of}, {between(rows['moment'].to_numpy())}")


def _rows(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """One row per party and time, by time; without those whose amount is null."""
    moments, known = micros(frame, "time")
    parties = texts(frame, "party_id").to_numpy()
    rows = pd.DataFrame({"party": parties, "moment": moments, "held": floats(frame, name)})
    rows = rows[known & rows["held"].notna().to_numpy()].sort_values("moment", kind="stable")
    return rows.drop_duplicates(["party", "moment"], keep="last")


def _lines(ax: Axes, rows: pd.DataFrame, labels: dict[str, str], order: list[str]) -> list[End]:
    """Draw the lines, and return where each ends on the right."""
    hues = SESSION.of("party", order, inside(ax))
    by_party = dict(list(rows.groupby("party")))
    ends = []
    # The largest is drawn last, on top of the others.
    for party in reversed(order):
        line = by_party[party]
        held = line["held"].to_numpy(np.float64)
        ax.plot(
            dates(line["moment"].to_numpy()), held, color=hues[party], linewidth=2, marker="o", gid="series",
            markersize=5 if len(line) < 25 else 0, label=shown(labels[party]), solid_joinstyle="round",
        )  # fmt: skip
        ends.append((float(held[-1]), f"{labels[party]}  {amount_text(held[-1])}", hues[party]))
    plain(ax)
    return ends[::-1]
