"""`plot_reassignment_matrix`: a heat map of reassignments from each synchronizer to each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from ledgerframes.plots.drawing.columns import Floats, at_least_one
from ledgerframes.plots.drawing.contents import Matrix, Nothing
from ledgerframes.plots.drawing.counts import (
    COMPLETED,
    Ranking,
    counted_routes,
    ranked,
    route_rows,
    span,
    statuses,
    traffic,
)
from ledgerframes.plots.drawing.heat_colours import heat_colours
from ledgerframes.plots.drawing.layout import axes, finish, measured, nothing, picture, plain, settle, text_size
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.palette import inside, luminance, mixed
from ledgerframes.plots.drawing.short_ids import shown
from ledgerframes.plots.interactive.backend import Backend, wants_plotly
from ledgerframes.plots.interactive.routes import matrix_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Normalize

_PICTURE: Final = "plot_reassignment_matrix"
_TITLE: Final = "Reassignments by source and target"


@picture
def plot_reassignment_matrix(
    flows: Any, *, top: int = 20, backend: Backend = "matplotlib", ax: Axes | None = None
) -> Any:
    """Draw a heat map with a row per source, a column per target and the number of reassignments in each cell.

    The colour scale is logarithmic where the largest count is more than fifty times the smallest. On the diagonal lie
    repairs, whose source and target are the same.

    Args:
        flows: one row per reassignment, from `reassignment_flows`, or counts from `flow_matrix`; counts of several
            periods are added up.
        top: how many synchronizers to show by name; the others are combined.
        backend: `"plotly"` for a figure to zoom into, with whole ids under the pointer; it needs the extra
            `interactive`.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. With `backend="plotly"` a figure of plotly, which a notebook
        shows and `figure.write_html(path)` saves. Nothing is shown or saved here.

    Raises:
        InputError: the frame lacks the columns, or `top` is not 1 or more.
        ConfigurationError: `backend="plotly"` without plotly.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     flows = lf.reassignment_flows(lf.load_reassignments(net))
        >>> lf.plot_reassignment_matrix(flows).get_ylabel()
        'unassigned from'
    """
    at_least_one(top, "top")
    interactive = wants_plotly(backend, ax)
    frame = route_rows(flows, _PICTURE)
    content = _content(frame, counted_routes(frame, _PICTURE), top)
    if interactive:
        return matrix_figure(content)
    if isinstance(content, Nothing):
        return nothing(axes(ax, size=(6.4, 4.2)), content.title, content.why)
    grid = content.grid
    side = min(2.6 + 0.32 * len(grid), 8.4)
    ax = axes(ax, size=(side + 2.6, side + 0.9))
    tones = inside(ax)
    plain(ax, grid=None)
    for spine in ax.spines.values():
        spine.set_visible(False)
    mesh = ax.pcolormesh(
        np.ma.masked_equal(grid, 0), cmap=heat_colours(tones), norm=_norm(content), edgecolors=[tones.ground],
        linewidth=1.5, gid="cells",
    )  # fmt: skip
    ax.set(xlim=(0, len(grid)), ylim=(len(grid), 0), facecolor=mixed(tones.faint, tones.ground, 0.55))
    _name_axes(ax, content.ranking)
    _write_counts(ax, grid, mesh)
    return finish(ax, content.title, content.second)


def _content(frame: pd.DataFrame, counted: pd.DataFrame, top: int) -> Matrix | Nothing:
    if counted.empty:
        return Nothing(_TITLE, "no reassignments in this range")
    ranking = ranked(traffic(counted), top)
    grid = _grid(counted, ranking)
    low, high = _range(grid, ranking)
    return Matrix(_TITLE, _second(counted, frame), grid, ranking, low, high, logarithmic=high > 50 * low)


def _grid(counted: pd.DataFrame, ranking: Ranking) -> Floats:
    folded = pd.DataFrame(
        {
            "source": ranking.folded(counted["source"]),
            "target": ranking.folded(counted["target"]),
            "count": counted["count"],
        }
    )
    table = folded.pivot_table(index="source", columns="target", values="count", aggfunc="sum", fill_value=0)
    names = list(ranking.names)
    return np.asarray(table.reindex(index=names, columns=names, fill_value=0), dtype=np.float64)


def _range(grid: Floats, ranking: Ranking) -> tuple[float, float]:
    """From the counts between named synchronizers, where there are any: what the others sum up to is no measure."""
    named = grid[:-1, :-1] if ranking.rest else grid
    filled = named[named > 0] if named.any() else grid[grid > 0]
    return float(filled.min()), float(filled.max())


def _norm(content: Matrix) -> Normalize:
    from matplotlib.colors import LogNorm, Normalize

    if content.logarithmic:
        return LogNorm(content.low, content.high, clip=True)
    return Normalize(0, content.high, clip=True)


def _name_axes(ax: Axes, ranking: Ranking) -> None:
    labels = ranking.labels()
    names = [shown(labels[name]) for name in ranking.names]
    centres = np.arange(len(names)) + 0.5
    size = 9.5 if len(names) <= 12 else 8
    ax.set_yticks(centres, names, fontsize=size)
    ax.set_xticks(centres, names, fontsize=size)
    ax.tick_params(length=0)
    settle(ax)
    if text_size(ax.get_xticklabels())[0] + 8 > measured(ax)[0] / len(names):
        ax.set_xticks(centres, names, fontsize=size, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_xlabel("assigned to")
    ax.set_ylabel("unassigned from")


def _write_counts(ax: Axes, grid: Floats, mesh: QuadMesh) -> None:
    """Write each count into its cell, where it can be read there."""
    settle(ax)
    width, height = measured(ax)
    cell = width / len(grid)
    longest = max(len(amount_text(value)) for value in grid.flat)
    size = min(10.0, cell / (longest * 0.68), height / len(grid) * 0.6)
    if size < 6.5:
        _add_scale(ax, mesh)
        return
    colours = np.asarray(mesh.to_rgba(grid))
    for (row, column), value in np.ndenumerate(grid):
        if value:
            red, green, blue, _ = colours[row, column]
            light = luminance((red, green, blue)) > 0.3
            ax.text(
                column + 0.5, row + 0.5, amount_text(value), ha="center", va="center_baseline", gid="count",
                fontsize=size, color="#10151a" if light else "#ffffff",
            )  # fmt: skip


def _add_scale(ax: Axes, mesh: QuadMesh) -> None:
    from matplotlib.pyplot import colorbar

    place = ax.inset_axes((1.02, 0, 0.025, 1))
    bar = colorbar(mesh, cax=place, label="reassignments", format=lambda value, _: amount_text(value))
    bar.outline.set_visible(False)
    plain(place, grid=None)


def _second(counted: pd.DataFrame, flows: pd.DataFrame) -> str:
    parts = [plural(int(counted["count"].sum()), "reassignment"), span(flows)]
    parts += [f"{count:,} {name}" for name, count in statuses(counted).items() if name != COMPLETED]
    return ", ".join(filter(None, parts))
