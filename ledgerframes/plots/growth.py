"""`plot_license_growth`: how many validators there are, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from ledgerframes.plots.drawing.columns import Floats, Micros, checked, floats, micros
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture, plain
from ledgerframes.plots.drawing.number_format import count_text, plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.stacks import count_axis
from ledgerframes.plots.drawing.time_axis import DAY, dates, moment_text, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_license_growth"
_TITLE: Final = "Validators with a license"
_GIVER: Final = "lf.load_licenses(net), or for times lf.license_growth(licenses, rounds=rounds)"


@picture
def plot_license_growth(licenses: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the number of validators as steps: over time, or over the rounds in which they first received a coupon.

    A license contract is made anew at every change, so `created_at` is not when a validator began: growth from
    `license_growth` has times, a single load of licenses has first rounds.

    Args:
        licenses: growth (columns time and validators), or licenses (validator and first_round).
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot_license_growth(lf.load_licenses(net)).get_title(loc="left")
        'Validators with a license'
    """
    ax = axes(ax, size=(8.4, 4.2))
    frame = checked(licenses, (), picture=_PICTURE, giver=_GIVER)
    timed = {"time", "validators"} <= set(frame.columns)
    places, counts, silent = _growth(frame) if timed else _first_rounds(frame)
    left_out = f"; {plural(silent, 'other')} never received a coupon" if silent else ""
    if not len(places):
        return nothing(ax, _TITLE, f"no licenses in this range{left_out}")
    _steps(ax, places, counts, timed=timed)
    began = f"the first at {moment_text(int(places[0]))} UTC" if timed else f"the first in round {places[0]}"
    basis = ", some times interpolated between known rounds" if timed and frame.attrs.get("interpolated") else ""
    return finish(ax, _TITLE, f"{plural(int(counts[-1]), 'validator')}, {began}{basis}{left_out}")


def _growth(frame: pd.DataFrame) -> tuple[Micros, Floats, int]:
    times, known = micros(frame, "time")
    counts = floats(frame, "validators")
    known = known & ~np.isnan(counts)
    order = np.argsort(times[known], kind="stable")
    return times[known][order], counts[known][order], int(frame.attrs.get("never_received", 0))


def _first_rounds(frame: pd.DataFrame) -> tuple[Micros, Floats, int]:
    """The rounds in which validators first received, how many had by then, and how many never did."""
    frame = checked(frame, ("validator", "first_round"), picture=_PICTURE, giver=_GIVER)
    first = pd.Series(floats(frame, "first_round")).groupby(frame["validator"].to_numpy()).min()
    rounds = first.dropna().astype("int64").value_counts().sort_index()
    return rounds.index.to_numpy(np.int64), rounds.cumsum().to_numpy(np.float64), int(first.isna().sum())


def _steps(ax: Axes, places: Micros, counts: Floats, *, timed: bool) -> None:
    tones = inside(ax)
    low, high = int(places[0]), int(places[-1])
    room = max((high - low) // 16, (DAY // 2 if low == high else 1) if timed else 1)
    ends = np.append(places, high + room)
    x = dates(ends) if timed else ends.astype(np.float64)
    y = np.append(counts, counts[-1])
    ax.fill_between(x, y, step="post", color=tones.hues[0], alpha=0.16, linewidth=0)
    ax.step(x, y, where="post", color=tones.hues[0], linewidth=2, gid="series")
    ax.plot(x[-1], y[-1], marker="o", color=tones.hues[0], markersize=6, clip_on=False)
    ax.annotate(
        count_text(int(y[-1])), (x[-1], y[-1]), xytext=(8, 0), textcoords="offset points", va="center", weight="bold",
        color=tones.text, gid="total", annotation_clip=False,
    )  # fmt: skip
    plain(ax)
    count_axis(ax, float(y.max()) * 1.06)
    ax.set_ylabel("validators")
    if timed:
        time_axis(ax, low - room // 2, high + room + 1, label="time (UTC)")
    else:
        _round_axis(ax, low - room // 2, high + room)


def _round_axis(ax: Axes, low: int, high: int) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    ax.set_xlabel("round of the first coupon")
