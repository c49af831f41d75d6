"""`plot_balances`: what parties hold, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.arguments import whole_number
from ledgerframes.plots.drawing.amount_scale import amount_scale
from ledgerframes.plots.drawing.columns import checked, floats, micros, one_of, texts
from ledgerframes.plots.drawing.contents import Line, Lines, Nothing
from ledgerframes.plots.drawing.end_labels import End, finish_with_names
from ledgerframes.plots.drawing.layout import axes, nothing, picture, plain
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.session_hues import SESSION
from ledgerframes.plots.drawing.short_ids import short_names, shown
from ledgerframes.plots.drawing.time_axis import between, dates, time_axis
from ledgerframes.plots.interactive.backend import Backend, wants_plotly
from ledgerframes.plots.interactive.series import lines_figure

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
    backend: Backend = "matplotlib",
    ax: Axes | None = None,
) -> Any:
    """Draw one line per party: what it holds at each time.

    The parties with the largest balance at the last time of theirs are drawn, the others only counted. The scale is
    logarithmic where the largest balance is more than a hundred times the smallest and none is 0.

    Args:
        balances: one row per time and party, from `balances_over_time`.
        show: all that a party holds, its unlocked or its locked coin, or what is available of the unlocked.
        top: how many parties to show, 40 at most; those after the seventh are grey.
        backend: `"plotly"` for a figure to zoom into, with whole ids under the pointer; it needs the extra
            `interactive`.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on, in coin; `ax.figure` is the picture. With `backend="plotly"` a figure of plotly, which a
        notebook shows and `figure.write_html(path)` saves. Nothing is shown or saved here.

    Raises:
        InputError: the frame lacks the columns, or an argument breaks a rule.
        ConfigurationError: `backend="plotly"` without plotly.

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
    interactive = wants_plotly(backend, ax)
    content = _content(checked(balances, ("time", "party_id", name), picture=_PICTURE, giver=_GIVER), show, top)
    if interactive:
        return lines_figure(content)
    count = 0 if isinstance(content, Nothing) else len(content.lines)
    ax = axes(ax, size=(9.2, max(4.4, 1.2 + 0.18 * count)))
    if isinstance(content, Nothing):
        return nothing(ax, content.title, content.why)
    ends = _draw(ax, content.lines)
    held = pd.Series(np.concatenate([line.values for line in content.lines]))
    moments = np.concatenate([line.moments for line in content.lines])
    amount_scale(ax, held, "y", floor=0.85)
    ax.set_ylabel(content.of + (" (logarithmic)" if ax.get_yscale() == "log" else ""))
    time_axis(ax, int(moments.min()), int(moments.max()), label="time (UTC)", margin=0.02)
    return finish_with_names(ax, ends, content.title, content.second)


def _content(frame: pd.DataFrame, show: str, top: int) -> Lines | Nothing:
    name = _COLUMNS[show]
    rows = _rows(frame, name)
    if rows.empty:
        why = f"{name} is null in all rows here" if len(frame) else "no balances in this range"
        return Nothing(_TITLES[show], why)
    last = rows.drop_duplicates("party", keep="last").set_index("party")["held"]
    largest = last.sort_index().sort_values(ascending=False, kind="stable").head(top)
    rows = rows[rows["party"].isin(largest.index)]
    labels, by_party = short_names(map(str, largest.index)), dict(list(rows.groupby("party")))
    parties = plural(len(last), "party", "parties")
    of = parties if len(largest) == len(last) else f"the {len(largest)} largest of {parties}"
    return Lines(
        title=_TITLES[show], second=f"{of}, {between(rows['moment'].to_numpy())}", of=_UNITS[show], unit="coin",
        kind="party", lines=tuple(
            Line(party, labels[party], line["moment"].to_numpy(), line["held"].to_numpy(np.float64))
            for party, line in ((party, by_party[party]) for party in largest.index)
        ),
    )  # fmt: skip


def _rows(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """One row per party and time, by time; without those whose amount is null."""
    moments, known = micros(frame, "time")
    parties = texts(frame, "party_id").to_numpy()
    rows = pd.DataFrame({"party": parties, "moment": moments, "held": floats(frame, name)})
    rows = rows[known & rows["held"].notna().to_numpy()].sort_values("moment", kind="stable")
    return rows.drop_duplicates(["party", "moment"], keep="last")


def _draw(ax: Axes, lines: Sequence[Line]) -> list[End]:
    """Draw the lines, and return where each ends on the right."""
    hues = SESSION.of("party", [line.name for line in lines], inside(ax))
    ends = []
    # The largest is drawn last, on top of the others.
    for line in reversed(lines):
        ax.plot(
            dates(line.moments), line.values, color=hues[line.name], linewidth=2, marker="o", gid="series",
            markersize=5 if len(line.values) < 25 else 0, label=shown(line.label), solid_joinstyle="round",
        )  # fmt: skip
        end = float(line.values[-1])
        ends.append((end, f"{line.label}  {amount_text(end)}", hues[line.name]))
    plain(ax)
    return ends[::-1]
