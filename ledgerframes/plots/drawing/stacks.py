"""Counts in bins of time, stacked; called by the pictures of rates."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ledgerframes.plots.drawing.columns import Floats, Micros
from ledgerframes.plots.drawing.layout import Key, measured, plain
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.time_axis import Bins, dates, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Codes = npt.NDArray[np.int64]


def stack_in_bins(ax: Axes, times: Micros, series: Codes, cut: Bins, looks: Sequence[dict[str, Any]]) -> None:
    """Draw how many of each series fall into each bin, one series upon the other.

    Args:
        ax: where.
        times: microseconds since 1970.
        series: which series each belongs to, as a position in `looks`.
        cut: the bins.
        looks: how each series looks, from the lowest to the highest.
    """
    stack_counts(ax, counts_in_bins(times, series, cut, len(looks)), cut, looks)


def counts_in_bins(times: Micros, series: Codes, cut: Bins, count: int) -> Floats:
    """How many of each series fall into each bin: one row per series.

    Args:
        times: microseconds since 1970.
        series: which series each belongs to, from 0.
        cut: the bins.
        count: how many series there are.
    """
    wide = len(cut.edges) - 1
    table = np.bincount(series * wide + cut.of(times), minlength=count * wide)
    return table.reshape(count, wide).astype(np.float64)


def stack_counts(ax: Axes, table: Floats, cut: Bins, looks: Sequence[dict[str, Any]]) -> None:
    """Draw counts in bins, as `counts_in_bins` gives them, one series upon the other."""
    edges = dates(cut.drawn)
    wide = len(edges) - 1
    most = float(table.sum(axis=0).max())
    thin = 3 * most / measured(ax)[1]  # a box of less than three points has no room for an outline
    base: Floats = np.zeros(wide)
    for counts, look in zip(table, looks, strict=True):
        if look.get("edgecolor", "none") == "none":
            ax.stairs(base + counts, edges, baseline=base, fill=True, gid="series", **look)
        else:
            _boxes(ax, counts, edges, base, look, thin)
        base = base + counts
    plain(ax)
    count_axis(ax, most)
    pale_where_cut(ax, cut)
    time_axis(ax, int(cut.drawn[0]), int(cut.drawn[-1]))


def pale_where_cut(ax: Axes, cut: Bins) -> None:
    """Lay the ground over a bin in which the data ends, so that it does not look like a fall."""
    if cut.known_to is not None:
        pale_between(ax, *dates(cut.drawn[-2:]))


def pale_between(ax: Axes, begin: float, end: float) -> None:
    """Lay the ground over a part of what is drawn."""
    ax.axvspan(begin, end, facecolor=inside(ax).ground, alpha=0.55, linewidth=0, zorder=2.5, gid="cut")


def swatches(names: Iterable[str], labels: Mapping[str, str], hues: Mapping[Hashable, str]) -> list[Key]:
    """Legend entries of categories."""
    from matplotlib.patches import Patch

    return [(Patch(facecolor=hues[name]), labels[name]) for name in names]


def _boxes(ax: Axes, counts: Floats, edges: Floats, base: Floats, look: dict[str, Any], thin: float) -> None:
    """Outlined or hatched counts, a box each, so that empty bins have no outline."""
    there = np.flatnonzero(counts)
    wide = np.diff(edges)[there]
    boxes = ax.bar(edges[there], counts[there], wide, base[there], align="edge", **look)
    for box in boxes:
        box.set_gid("box")
        if box.get_height() < thin:
            box.set_linewidth(0)
            box.set_linestyle("solid")  # a dashed line without width is an error for matplotlib 3.10


def count_axis(ax: Axes, most: float) -> None:
    """A y axis of counts from zero, in whole numbers, with a little air above."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.set_ylim(0, most * 1.06 if most else 1)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
