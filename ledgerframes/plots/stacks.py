"""Counts in bins of time, stacked; called by the pictures of rates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.plots.canvas import measured, plain
from ledgerframes.plots.clock import Bins, dates, time_axis
from ledgerframes.plots.columns import Floats, Micros

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def stack_in_bins(
    ax: Axes, times: Micros, series: pd.Series, cut: Bins, looks: Mapping[Hashable, dict[str, Any]]
) -> None:
    """Draw how many of each series fall into each bin, one series upon the other.

    Args:
        ax: where.
        times: microseconds since 1970.
        series: which series each belongs to.
        cut: the bins.
        looks: how each series looks, from the lowest to the highest.
    """
    edges = dates(cut.edges)
    base: Floats = np.zeros(len(edges) - 1)
    numbers = cut.of(times)
    most = float(np.bincount(numbers, minlength=1).max())
    thin = 3 * most / measured(ax)[1]  # a box of less than three points has no room for an outline
    for name, look in looks.items():
        counts = np.bincount(numbers[(series == name).to_numpy()], minlength=len(base)).astype(np.float64)
        if look.get("edgecolor", "none") == "none":
            ax.stairs(base + counts, edges, baseline=base, fill=True, label=str(name), gid="series", **look)
        else:
            _boxes(ax, counts, edges, base, look, thin)
        base = base + counts
    plain(ax)
    count_axis(ax, most)
    time_axis(ax, int(cut.edges[0]), int(cut.edges[-1]))


def _boxes(ax: Axes, counts: Floats, edges: Floats, base: Floats, look: dict[str, Any], thin: float) -> None:
    """Outlined or hatched counts, a box each, so that empty bins have no outline."""
    there = np.flatnonzero(counts)
    wide = np.diff(edges)[there]
    boxes = ax.bar(edges[there], counts[there], wide, base[there], align="edge", **look)
    for box in boxes:
        box.set_gid("box")
        if box.get_height() < thin:
            box.set_linewidth(0)


def count_axis(ax: Axes, most: float) -> None:
    """A y axis of counts from zero, in whole numbers, with a little air above."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.set_ylim(0, most * 1.06 if most else 1)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
