"""`plot_holding_fees`: notional holding fees, unlocked and locked, party by party."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.plots.drawing.columns import Floats, at_least_one, one_of
from ledgerframes.plots.drawing.counts import Ranking, ranked
from ledgerframes.plots.drawing.layout import (
    axes,
    base_size,
    figure_of,
    finish,
    measured,
    nothing,
    picture,
    plain,
    text_size,
)
from ledgerframes.plots.drawing.number_format import amount_text, plural, scale_text
from ledgerframes.plots.drawing.palette import inside, mixed
from ledgerframes.plots.drawing.short_ids import NORMAL, shown
from ledgerframes.plots.snapshots import FEES, HOLDINGS, amounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

_PICTURE: Final = "plot_holding_fees"
_TITLES: Final = {
    "fees": "Notional holding fees by party",
    "share": "Notional holding fees as a share of holdings",
    "holdings": "Holdings by party",
}
_UNITS: Final = {
    "fees": "notional fees in coin; charged only when a contract expires",
    "share": "notional fees in {unit} of the party's holdings",
    "holdings": "coin, notional fees not taken off",
}


@picture
def plot_holding_fees(
    holdings: Any, *, show: Literal["fees", "share", "holdings"] = "fees", top: int = 15, ax: Axes | None = None
) -> Axes:
    """Draw one bar per party, unlocked and locked amounts stacked, the largest first and the rest combined.

    Of a frame with several snapshots the newest is drawn. Fees are notional: they are charged only when a contract
    expires, so they are never subtracted from holdings. Newer servers serve no fees: the picture states that,
    and `show="holdings"` draws the holdings.

    Args:
        holdings: from `load_holdings_summary`, with any `decimals`.
        show: the fees, the fees as a share of what each party holds, or the holdings themselves.
        top: how many parties to show by name.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, or an argument breaks a rule.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     holdings = lf.holdings_from_events(*lf.load_history(net)[1:])
        >>> lf.plot_holding_fees(holdings, top=5).get_xlabel()
        'notional fees in coin; charged only when a contract expires'
    """
    at_least_one(top, "top")
    one_of(show, "show", tuple(_TITLES))
    read = amounts(holdings, HOLDINGS if show == "holdings" else FEES, _PICTURE)
    if read.rows.empty and read.unstated.empty:
        return nothing(axes(ax, size=(8.4, 4.2)), _TITLES[show], "no party holds anything in this snapshot")
    rows, when = read.latest()
    withheld = read.withheld()
    if rows.empty:
        words = (
            f'fees not served for {plural(withheld, "party", "parties")} {when}; show="holdings" draws what they hold'
        )
        return nothing(axes(ax, size=(8.4, 4.2)), _TITLES[show], words)
    table, ranking = _table(rows, show, top)
    ax = axes(ax, size=(8.4, 1.9 + 0.29 * len(table)))
    table, unit = _in_unit(table, ranking) if show == "share" else (table, "")
    _draw(ax, table, ranking, unit)
    ax.set_xlabel(_UNITS[show].format(unit="basis points" if unit == " bp" else "%"))
    absent = f", {plural(read.absent, 'other')} without holdings" if read.absent else ""
    unstated = f", fees not served for {plural(withheld, 'other')}" if withheld else ""
    parties = plural(len(rows), "party", "parties")
    return finish(ax, _TITLES[show], f"{parties}{absent}{unstated}, {when}", _keys(ax))


def _table(rows: pd.DataFrame, show: str, top: int) -> tuple[pd.DataFrame, Ranking]:
    """Unlocked and locked of each shown party and of the rest, in the order of the bars."""
    by_party = rows.set_index("party")[["unlocked", "locked", "held"]]
    measure = _measure(by_party, show)
    ranking = ranked(measure.sum(axis=1), top)
    folded = by_party.groupby(ranking.folded(by_party.index.to_series()).to_numpy()).sum()
    return _measure(folded, show).reindex(list(ranking.names)), ranking


def _measure(amounts_of: pd.DataFrame, show: str) -> pd.DataFrame:
    parts = amounts_of[["unlocked", "locked"]]
    if show != "share":
        return parts
    held = amounts_of["held"].where(amounts_of["held"] != 0)
    return (100 * parts.div(held, axis=0)).fillna(0.0)


def _in_unit(shares: pd.DataFrame, ranking: Ranking) -> tuple[pd.DataFrame, str]:
    """Shares in percent; in basis points where the largest is under a tenth of a percent."""
    largest = shares[np.asarray(shares.index != ranking.rest)].abs().sum(axis=1).max()
    return (shares * 100, " bp") if 0 < largest < 0.1 else (shares, "%")


def _draw(ax: Axes, table: pd.DataFrame, ranking: Ranking, unit: str) -> None:
    tones = inside(ax)
    at = np.arange(len(table))
    starts = {1: np.zeros(len(table)), -1: np.zeros(len(table))}
    parts: list[BarContainer] = []
    for part, hue in zip(("unlocked", "locked"), tones.hues, strict=False):
        values: Floats = table[part].to_numpy()
        base = np.where(values < 0, starts[-1], starts[1])
        fills = [mixed(hue, tones.ground, 0.6) if name == ranking.rest else hue for name in table.index]
        parts.append(ax.barh(at, values, 0.72, left=base, color=fills, label=part))
        for bar in parts[-1]:
            bar.set_gid(part)
        starts[1] = starts[1] + np.maximum(values, 0)
        starts[-1] = starts[-1] + np.minimum(values, 0)
    _name_rows(ax, ranking)
    ax.set_ylim(len(table) - 0.4, -0.6)
    plain(ax, grid="x")
    named = np.asarray(table.index != ranking.rest)
    low, high = (float(most(starts[sign][named])) for sign, most in ((-1, np.min), (1, np.max)))
    _amount_axis(ax, low, high, unit)
    for row, total in enumerate(table.sum(axis=1)):
        left = total < 0 and not starts[1][row]
        end = max(starts[-1][row], low) if left else min(starts[1][row], high)
        ax.annotate(
            _total_text(total, unit), (end, row), xytext=(-4 if left else 4, 0), textcoords="offset points",
            ha="right" if left else "left", va="center_baseline", color=tones.text, fontsize="small", gid="total",
            bbox=None if named[row] else {"facecolor": tones.ground, "edgecolor": "none", "pad": 1},
        )  # fmt: skip
        if starts[-1][row] < low if left else starts[1][row] > high:
            _break(ax, end, row, left=left)
            for bars in parts:
                bars[row].set_facecolor(tones.rest)  # of a bar that is cut, the parts cannot be compared


def _total_text(total: float, unit: str) -> str:
    """An amount, or a share, of which no more than a thousandth of its unit is told."""
    return f"<0.001{unit}" if unit and 0 < total < 0.001 else amount_text(total) + unit


def _break(ax: Axes, end: float, row: int, *, left: bool) -> None:
    """Cut a bar that is longer than those of the named parties: its number tells how long, and two strokes that."""
    from matplotlib.patches import Rectangle

    tones = inside(ax)
    low, high = ax.get_xlim()
    ax.add_patch(
        Rectangle(
            (low if left else end, row - 0.45), end - low if left else high - end, 0.9, facecolor=tones.ground,
            linewidth=0, zorder=1.8,
        )
    )  # fmt: skip
    ax.annotate(
        "//", (end, row), xytext=(4 if left else -4, 0), textcoords="offset points", ha="left" if left else "right",
        va="center", color=tones.ground, weight="bold", gid="break",
    )  # fmt: skip


def _name_rows(ax: Axes, ranking: Ranking) -> None:
    """Name the bars, as long and as large as leaves the bars half of the figure."""
    paper = figure_of(ax)
    size = min(base_size() * 0.95, max(5.0, measured(ax)[1] / len(ranking.names) / 1.3))
    for level in range(NORMAL, -1, -1):
        labels = ranking.labels(level=level)
        ax.set_yticks(range(len(labels)), [shown(labels[name]) for name in ranking.names], fontsize=size)
        if text_size(ax.get_yticklabels())[0] < paper.bbox.width * 36 / paper.dpi:
            break


def _amount_axis(ax: Axes, low: float, high: float, unit: str) -> None:
    """From zero, or below it where an amount is negative, with room for the totals behind the bars on both sides."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    span = (high - low) or 1.0
    room = span * min(0.5, 52 / max(measured(ax)[0] - 52, 52))
    ax.set_xlim(low - (room if low < 0 else 0), high + (room if high > 0 or low >= 0 else 0.02 * span))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=int(min(6, max(2, measured(ax)[0] // 55)))))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: scale_text(value, max(high, -low)) + unit))


def _keys(ax: Axes) -> list[Any]:
    from matplotlib.patches import Patch

    return [(Patch(facecolor=hue), part) for part, hue in zip(("unlocked", "locked"), inside(ax).hues, strict=False)]
