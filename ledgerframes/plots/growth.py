"""`plot_license_growth`: how many validators there are, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from ledgerframes.plots.canvas import axes, finish, nothing, plain
from ledgerframes.plots.clock import dates, moment_text, time_axis
from ledgerframes.plots.columns import Floats, Micros, checked, floats, micros
from ledgerframes.plots.numerals import count_text, plural
from ledgerframes.plots.palette import inside
from ledgerframes.plots.stacks import count_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_license_growth"
_TITLE: Final = "Validators with a license"


def plot_license_growth(licenses: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the number of validators over time, as steps.

    A license contract is made anew at every change, so a single load knows only when each present contract was made;
    a growth frame, or licenses of several loads put together, tells when each validator first appeared.

    Args:
        licenses: from `load_licenses` (validator, created_at), or growth: columns time and validators.
        ax: where to draw; a new figure by default.

    Raises:
        InputError: the frame is another one.
    """
    ax = axes(ax, size=(8.4, 4.2))
    frame = checked(licenses, (), picture=_PICTURE, giver="lf.load_licenses(net)")
    ready = {"time", "validators"} <= set(frame.columns)
    times, counts = _growth(frame) if ready else _first_seen(frame)
    if not len(times):
        return nothing(ax, _TITLE, "no licenses in this range")
    _steps(ax, times, counts)
    basis = "" if ready else ", by each one's earliest license contract in this frame"
    since = moment_text(int(times[0]))
    return finish(ax, _TITLE, f"{plural(int(counts[-1]), 'validator')}, the first at {since} UTC{basis}")


def _growth(frame: pd.DataFrame) -> tuple[Micros, Floats]:
    times, known = micros(frame, "time")
    counts = floats(frame, "validators")
    known = known & ~np.isnan(counts)
    order = np.argsort(times[known], kind="stable")
    return times[known][order], counts[known][order]


def _first_seen(frame: pd.DataFrame) -> tuple[Micros, Floats]:
    frame = checked(frame, ("validator", "created_at"), picture=_PICTURE, giver="lf.load_licenses(net)")
    made, known = micros(frame, "created_at")
    first = pd.Series(made[known]).groupby(frame["validator"].to_numpy()[known]).min()
    times = np.sort(first.to_numpy(np.int64))
    return times, np.arange(1, len(times) + 1, dtype=np.float64)


def _steps(ax: Axes, times: Micros, counts: Floats) -> None:
    tones = inside(ax)
    low, high = int(times[0]), int(times[-1])
    room = max((high - low) // 16, 30_000_000)
    x = dates(np.append(times, high + room))
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
    time_axis(ax, low - room // 2, high + room + 1, label="time (UTC)")
