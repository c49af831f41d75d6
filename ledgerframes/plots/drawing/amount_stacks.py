"""Sums of coin in bins, stacked; called by the pictures of rewards and of burned coin."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ledgerframes.plots.drawing.columns import Floats, Micros
from ledgerframes.plots.drawing.layout import Key, plain
from ledgerframes.plots.drawing.number_format import amount_text, scale_text
from ledgerframes.plots.drawing.stacks import pale_where_cut
from ledgerframes.plots.drawing.time_axis import Bins, dates, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BINS = 100  # days of a quarter
Codes = npt.NDArray[np.int64]


def sums_in_bins(times: Micros, series: Codes, values: Floats, cut: Bins, count: int) -> Floats:
    """The sum of each series in each bin: one row per series.

    Args:
        times: microseconds since 1970.
        series: which series each value belongs to, from 0.
        values: the values; NaN counts as 0.
        cut: the bins.
        count: how many series there are.
    """
    wide = len(cut.edges) - 1
    sums = np.bincount(series * wide + cut.of(times), weights=np.nan_to_num(values), minlength=count * wide)
    return np.asarray(sums.reshape(count, wide), dtype=np.float64)


def stack_amounts(
    ax: Axes, table: Floats, cut: Bins, names: Sequence[str], hues: Mapping[Hashable, str], *, label: str
) -> None:
    """Draw sums over time, one series upon the other; negative sums go down from 0.

    Args:
        ax: where.
        table: one row per series, one column per bin.
        cut: the bins.
        names: the series, from the lowest to the highest.
        hues: their colours.
        label: the label of the axis of time.
    """
    edges = dates(cut.drawn)
    up: Floats = np.zeros(table.shape[1])
    down: Floats = np.zeros(table.shape[1])
    for name, values in zip(names, table, strict=True):
        base = np.where(values < 0, down, up)
        ax.stairs(
            base + values, edges, baseline=base, fill=True, color=hues[name], linewidth=0, label=name, gid="series"
        )
        up = up + np.maximum(values, 0)
        down = down + np.minimum(values, 0)
    plain(ax)
    amount_axis(ax, float(down.min()), float(up.max()))
    pale_where_cut(ax, cut)
    time_axis(ax, int(cut.drawn[0]), int(cut.drawn[-1]), label=label)


def amount_axis(ax: Axes, low: float, high: float) -> None:
    """A y axis of amounts from zero, or from below it where one is negative, with a little air."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    most = max(high, -low)
    ax.set_ylim(1.06 * min(low, 0.0), 1.06 * max(high, 0.0) or (0.0 if low < 0 else 1.0))
    ax.yaxis.set_major_locator(MaxNLocator(nbins=6))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scale_text(value, most)))


def keys_with_sums(
    names: Sequence[str], labels: Mapping[str, str], table: Floats, hues: Mapping[Hashable, str]
) -> list[Key]:
    """Legend entries: the series from the lowest to the highest, each with its sum."""
    from matplotlib.patches import Patch

    sums = table.sum(axis=1)
    return [
        (Patch(facecolor=hues[name]), f"{labels[name]}  {amount_text(total)}")
        for name, total in zip(names, sums, strict=True)
    ]
