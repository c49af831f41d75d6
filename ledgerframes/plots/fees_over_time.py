"""`plot_holding_fees_over_time`: notional holding fees over rounds or record times, as areas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.plots.drawing.amount_stacks import amount_axis
from ledgerframes.plots.drawing.columns import Floats, at_least_one, one_of
from ledgerframes.plots.drawing.counts import ranked
from ledgerframes.plots.drawing.end_labels import End, finish_with_names
from ledgerframes.plots.drawing.layout import axes, nothing, picture, plain
from ledgerframes.plots.drawing.number_format import plural
from ledgerframes.plots.drawing.palette import Tones, inside
from ledgerframes.plots.drawing.time_axis import between, dates, time_axis
from ledgerframes.plots.snapshots import FEES, Amounts, amounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Series = tuple[str, str]  # its label and its colour
_PICTURE: Final = "plot_holding_fees_over_time"
_TITLE: Final = "Notional holding fees over time"


@picture
def plot_holding_fees_over_time(
    holdings: Any,
    *,
    by: Literal["party", "lock"] = "party",
    over: Literal["record_time", "round"] | None = None,
    top: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """Draw notional holding fees over time as stacked areas.

    Where a party has several rows at one place of the axis, the last by record time and round counts; a party without
    a row there has no fees there. Snapshots without fees are left out and counted in the second line.

    Args:
        holdings: summaries at several record times or rounds, from one `load_holdings_summary` with a round for each
            time (`as_of_round=`), or put together.
        by: one area per party, or one for unlocked and one for locked amounts.
        over: what the axis counts; by default record times where there are several, else rounds.
        top: how many parties to show by name; the others are combined.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, an argument breaks a rule, or rounds are asked for and there are none.

    Example:
        >>> import ledgerframes as lf, pandas as pd
        >>> with lf.sandbox(updates=50) as net:
        ...     _, events, reassignments = lf.load_history(net)
        >>> rounds = [lf.holdings_from_events(events, reassignments, as_of_round=number) for number in (3, 4)]
        >>> lf.plot_holding_fees_over_time(pd.concat(rounds), over="round").get_xlabel()
        'round that fees are computed for'
    """
    at_least_one(top, "top")
    one_of(by, "by", ("party", "lock"))
    one_of(over, "over", ("record_time", "round", None))  # type: ignore[arg-type]
    read = amounts(holdings, FEES, _PICTURE)
    names = min(top, read.rows["party"].nunique()) if by == "party" else 0
    ax = axes(ax, size=(9.2, max(4.4, 1.2 + 0.18 * names)))
    withheld = _withheld(read)
    if read.rows.empty:
        return nothing(ax, _TITLE, withheld or "no holding fees in this range")
    key = _key(read.rows, over)
    rows = read.rows.sort_values(["moment", "round"], kind="stable").drop_duplicates(["party", key], keep="last")
    places, series, table = _table(rows[rows[key].notna()], key, by, top, inside(ax))
    ends = _areas(ax, places, series, table, key)
    parties = plural(read.rows["party"].nunique(), "party", "parties")
    spans = between(places.astype(np.int64)) if key == "moment" else _rounds(places)
    notes = ["nothing is charged before expiry", *_one_round(rows, key), *([withheld] if withheld else [])]
    return finish_with_names(
        ax, ends, _TITLE, f"{parties}, {plural(len(places), 'snapshot')}, {spans}; {'; '.join(notes)}"
    )


def _withheld(read: Amounts) -> str:
    """Which snapshots state holdings and no fees at all, in words; empty if all state them."""
    silent = set(read.unstated["moment"]) - set(read.rows["moment"])
    return f"fees not served in {plural(len(silent), 'snapshot')}" if silent else ""


def _one_round(rows: pd.DataFrame, key: str) -> list[str]:
    """A server computes fees for the round that is open when it is asked, also for past snapshots."""
    numbers = rows["round"].dropna().unique()
    several = key == "moment" and rows["moment"].nunique() > 1
    return [f"all fees are of round {numbers[0]:.0f}"] if several and len(numbers) == 1 else []


def _rounds(places: Floats) -> str:
    first, last = f"{places[0]:.0f}", f"{places[-1]:.0f}"
    return f"round {first}" if first == last else f"rounds {first} to {last}"


def _key(rows: pd.DataFrame, over: str | None) -> str:
    if over is None:
        return "moment" if rows["moment"].nunique() > 1 or rows["round"].isna().all() else "round"
    if over == "round" and rows["round"].isna().all():
        raise InputError(
            "over='round' needs computed_as_of_round, which is null everywhere here (a server without fees); "
            "use over='record_time'"
        )
    return "round" if over == "round" else "moment"


def _table(rows: pd.DataFrame, key: str, by: str, top: int, tones: Tones) -> tuple[Floats, list[Series], Floats]:
    """The places on the axis, the series with their colours, and a row of fees a series."""
    if by == "lock":
        sums = rows.groupby(key)[["unlocked", "locked"]].sum()
        return sums.index.to_numpy(float), list(zip(sums.columns, tones.hues, strict=False)), sums.to_numpy().T
    rows = rows.assign(fees=rows["unlocked"] + rows["locked"])
    ranking = ranked(rows.groupby("party")["fees"].max(), top)
    rows = rows.assign(party=ranking.folded(rows["party"]))
    sums = rows.pivot_table(index=key, columns="party", values="fees", aggfunc="sum", fill_value=0.0)
    labels = ranking.labels()
    hues = ranking.hues("party", tones)
    series = [(labels[name], hues[name]) for name in ranking.names]
    return sums.index.to_numpy(float), series, sums.reindex(columns=list(ranking.names)).to_numpy().T


def _areas(ax: Axes, places: Floats, series: list[Series], table: Floats, key: str) -> list[End]:
    """Draw the areas, negative amounts downwards from 0, and return where each ends on the right."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    over_time = key == "moment"
    x = dates(places.astype(np.int64)) if over_time else places
    if len(x) == 1:
        # A single snapshot has no width of its own: it is drawn as a bar of one round, or of two minutes.
        half = 1 / 1440 if over_time else 0.5
        x, table = np.array([x[0] - half, x[0] + half]), np.repeat(table, 2, axis=1)
    up: Floats = np.zeros(len(x))
    down: Floats = np.zeros(len(x))
    ends = []
    for (name, hue), values in zip(series, table, strict=True):
        base = np.where(values < 0, down, up)
        ax.fill_between(x, base, base + values, color=hue, linewidth=0, label=name, gid="series")
        ends.append((float(base[-1] + values[-1] / 2), name, hue))
        up, down = up + np.maximum(values, 0), down + np.minimum(values, 0)
    plain(ax)
    amount_axis(ax, float(down.min()), float(up.max()))
    ax.set_ylabel("notional fees, coin")
    if over_time:
        time_axis(ax, int(places[0]), int(places[-1]), margin=0.0)
    else:
        ax.set_xlim(x[0], x[-1])
        ax.xaxis.set_major_locator(
            MaxNLocator(nbins=8, integer=True) if len(places) > 1 else FixedLocator(places.tolist())
        )
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
        ax.set_xlabel("round that fees are computed for")
    return ends
