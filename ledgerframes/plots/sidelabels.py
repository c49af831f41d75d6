"""Names beside the right ends of lines and areas, in their colours; called by pictures whose series end there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledgerframes.plots.canvas import measured
from ledgerframes.plots.naming import shown
from ledgerframes.plots.palette import inside, mixed
from ledgerframes.plots.spreading import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 12.5  # points


def name_ends(ax: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names to the right of the axes, moved apart where the ends lie close.

    Args:
        ax: the axes, with its final limits and scale.
        ends: height in data, name and colour of each series.
    """
    _, height = measured(ax)
    low, high = ax.transAxes.transform((0, 0))[1], ax.transAxes.transform((0, 1))[1]
    placed = sorted(((ax.transData.transform((0, at))[1] - low) / (high - low), name, hue) for at, name, hue in ends)
    wanted = [min(max(at, 0.0), 1.0) for at, _, _ in placed]
    centres = spread(wanted, _LINE / height, low=-_LINE / 2 / height, high=1 + _LINE / 2 / height)
    tones = inside(ax)
    for at, centre, (_, name, hue) in zip(wanted, centres, placed, strict=True):
        ax.annotate(
            shown(name), (1, at), (14, (centre - at) * height), xycoords="axes fraction", textcoords="offset points",
            va="center", ha="left", color=mixed(hue, tones.text, 0.72), fontsize="small", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": hue, "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0,
                        "relpos": (0, 0.5)}, gid="series name",
        )  # fmt: skip
