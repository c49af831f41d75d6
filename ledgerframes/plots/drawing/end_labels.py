"""Names beside the right ends of lines and areas, in their colours; called by pictures whose series end there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ledgerframes.plots.drawing.label_layout import spread
from ledgerframes.plots.drawing.layout import finish, measured, settle
from ledgerframes.plots.drawing.palette import inside, mixed
from ledgerframes.plots.drawing.short_ids import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_LINE: Final = 12.5  # points
End = tuple[float, str, str]


def finish_with_names(ax: Axes, ends: Sequence[End], title: str, second: str) -> Axes:
    """Write names beside the series and the lines above the axes; each takes room from the other.

    Args:
        ax: the axes, with its final limits and scale.
        ends: height in data, name and colour of each series.
        title: see `finish`.
        second: see `finish`.
    """
    provisional = _name_ends(ax, ends)
    finish(ax, title, second)
    for name in provisional:
        name.remove()
    _name_ends(ax, ends)
    settle(ax)
    return ax


def _name_ends(ax: Axes, ends: Sequence[End]) -> list[Annotation]:
    _, height = measured(ax)
    low, high = ax.transAxes.transform((0, 0))[1], ax.transAxes.transform((0, 1))[1]
    placed = sorted(((ax.transData.transform((0, at))[1] - low) / (high - low), name, hue) for at, name, hue in ends)
    wanted = [min(max(at, 0.0), 1.0) for at, _, _ in placed]
    centres = spread(wanted, _LINE / height, low=-_LINE / 2 / height, high=1 + _LINE / 2 / height)
    tones = inside(ax)
    return [
        ax.annotate(
            shown(name), (1, at), (14, (centre - at) * height), xycoords="axes fraction", textcoords="offset points",
            va="center", ha="left", color=mixed(hue, tones.text, 0.72), fontsize="small", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": hue, "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0,
                        "relpos": (0, 0.5)}, gid="series name",
        )
        for at, centre, (_, name, hue) in zip(wanted, centres, placed, strict=True)
    ]  # fmt: skip
