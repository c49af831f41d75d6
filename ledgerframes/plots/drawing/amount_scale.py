"""An axis of amounts, linear or logarithmic as their spread asks; called by pictures whose amounts may be far apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pandas as pd

from ledgerframes.plots.drawing.number_format import amount_text, scale_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def far_apart(low: float, high: float) -> bool:
    """Whether amounts need a logarithmic axis, and can have one."""
    return 0 < low < high / 100


def amount_scale(ax: Axes, amounts: pd.Series, side: Literal["x", "y"], *, floor: float) -> None:
    """A linear axis from zero, or a logarithmic one where the amounts are far apart and none is zero or less.

    Args:
        ax: the axes.
        amounts: what is drawn.
        side: which axis.
        floor: where a logarithmic axis begins, as a share of the smallest amount.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = float(amounts.min()), float(amounts.max())
    logarithmic = far_apart(low, high)
    axis = ax.xaxis if side == "x" else ax.yaxis
    if side == "x":
        ax.set_xscale("log" if logarithmic else "linear")
    else:
        ax.set_yscale("log" if logarithmic else "linear")
    limits = (low * floor, high * (high / low) ** 0.14) if logarithmic else _linear(low, high)
    (ax.set_xlim if side == "x" else ax.set_ylim)(*limits)
    axis.set_major_locator(LogLocator(numticks=7) if logarithmic else MaxNLocator(nbins=6))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: amount_text(value) if logarithmic else scale_text(value, max(high, -low)))
    )


def _linear(low: float, high: float) -> tuple[float, float]:
    """From 0 to the data's ends, with room for labels behind both."""
    air = 0.14 * (max(high, 0.0) - min(low, 0.0)) or 1.0
    return (low - air if low < 0 else 0.0), (high + air if high > 0 or low >= 0 else 0.0)
