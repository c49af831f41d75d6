"""`drawn_on`: a chart's content on an Axes; one function per kind of content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ledgerframes.number_format import amount_text, scale_text
from ledgerframes.plot.contents import Bars, Content, Flows, Matrix, Nothing, Panels, Stack, Steps
from ledgerframes.plot.palette import heat_colours, inside, luminance, mixed
from ledgerframes.plot.sizes import size_of
from ledgerframes.plot.static.flows import flows
from ledgerframes.plot.static.layout import (
    PAD,
    Key,
    figure_of,
    finish,
    measured,
    plain,
    settle,
    shown,
    text_size,
    type_size,
)
from ledgerframes.plot.static.series import bar_key, positions, stack, steps

_SMALLEST: Final = 6.5  # points: text in cells


def drawn_on(content: Content, ax: Axes | None, title: str | None) -> Axes:
    """Draw it on the caller's Axes, or on those of a new figure, which is closed again when that fails."""
    if ax is not None:
        return _drawn(content, ax, title)
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=size_of(content))
    try:
        return _filling(figure, content, title)
    except BaseException:
        plt.close(figure)  # a notebook would show it, empty
        raise


def figure_with(content: Content) -> Figure:
    """A figure that no window or notebook shows, so that any thread can draw it."""
    figure = Figure(figsize=size_of(content))
    FigureCanvasAgg(figure)  # measures text as most others do
    return figure_of(_filling(figure, content, None))


def _filling(figure: Figure, content: Content, title: str | None) -> Axes:
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD))
    ax = figure.subplots()
    ax.set_title("", y=1)  # else each layout looks for its height, which takes as long again
    return _drawn(content, ax, title, own=True)


def _drawn(content: Content, ax: Axes, title: str | None, *, own: bool = False) -> Axes:
    size = type_size(ax, own=own)
    draw: Callable[[Axes, Any, float], list[Key]] = _KINDS[type(content)]
    keys = draw(ax, content, size)
    return finish(ax, content.title if title is None else title, content.subtitle, keys, size)


def _nothing(ax: Axes, content: Nothing, size: float) -> list[Key]:
    ax.set_axis_off()
    ax.text(
        0.5, 0.5, shown(content.why), transform=ax.transAxes, ha="center", va="center", wrap=True,
        color=inside(ax).quiet, fontsize=1.05 * size, gid="nothing",
    )  # fmt: skip
    return []


def _panels(ax: Axes, content: Panels, size: float) -> list[Key]:
    """Axes within the axes, with a heading each; those below each other share the ticks of the lowest."""
    ax.set_axis_off()
    width, height = measured(ax)
    rows = -(-len(content.panels) // content.columns)
    head, foot, side = 2.0 * size / height, 3.6 * size / height, 5.0 * size / width
    shared = content.columns == 1
    tall = (1 - rows * head - (0 if shared else (rows - 1) * foot)) / rows
    wide = (1 - (content.columns - 1) * side) / content.columns
    for number, panel in enumerate(content.panels):
        row, column = divmod(number, content.columns)
        low = 1 - (row + 1) * (head + tall) - (0 if shared else row * foot)
        part = ax.inset_axes((column * (wide + side), max(low, 0.0), wide, max(tall, 0.02)))
        part.set_facecolor(ax.get_facecolor())
        if isinstance(panel, Stack):
            stack(part, panel, size)
        else:
            steps(part, panel, size, named=False)
        part.set_title(
            shown(panel.title), loc="left", y=1, fontsize=0.95 * size, color=inside(ax).text, pad=0.4 * size,
            gid="panel",
        )  # fmt: skip
        if row < rows - 1 or not shared:
            part.tick_params(labelbottom=not shared)
            part.set_xlabel("")
    for child in ax.child_axes if shared else ():
        child.set_xlim(*positions(content.panels[0].x, np.array(content.across)))
    return []


def _bars(ax: Axes, content: Bars, size: float) -> list[Key]:
    tones = inside(ax)
    at = np.arange(len(content.names))
    _name_rows(ax, content, size)
    plain(ax, size, grid="x")
    width, (low, high) = measured(ax)[0], content.reach
    ax.set_xlim(*content.across(min((max(map(len, content.words)) * 0.52 * size + 8) / width, 0.35)))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=int(min(6, max(2, width // (6.5 * size))))))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: scale_text(value, max(high, -low))))
    ax.set_xlabel(content.x.label)
    if low < 0:
        ax.axvline(0, color=tones.quiet, linewidth=0.8, gid="zero")
    for series, (start, length) in zip(content.series, content.spans, strict=True):
        hue = tones.hue(series.hue)
        bars = ax.barh(at, length, 0.72, left=start, color=hue, label=series.label)
        for bar in bars:
            bar.set_gid(series.name)
        if content.rest:
            bars[-1].set_facecolor(tones.of_others(hue, cut=content.cut))
    ax.set_ylim(len(at) - 0.4, -0.6)
    for row, (words, tip, left) in enumerate(zip(content.words, content.tips, content.leftward, strict=True)):
        ax.annotate(
            words, (tip, row), xytext=(-4 if left else 4, 0), textcoords="offset points",
            ha="right" if left else "left", va="center_baseline", color=tones.text, fontsize=0.85 * size, gid="total",
            annotation_clip=False, bbox={"facecolor": tones.ground, "edgecolor": "none", "pad": 0.6},
        )  # fmt: skip
    return [bar_key(tones.hue(series.hue), series.key) for series in content.series] if len(content.series) > 1 else []


def _name_rows(ax: Axes, content: Bars, size: float) -> None:
    """Name the bars, as long and as large as leaves the bars half of the figure."""
    paper = figure_of(ax)
    points = min(0.95 * size, max(5.0, measured(ax)[1] / len(content.names) / 1.3))
    for labels in content.labels:
        ax.set_yticks(range(len(labels)), [shown(labels[name]) for name in content.names], fontsize=points)
        if text_size(ax.get_yticklabels())[0] < paper.bbox.width * 36 / paper.dpi:
            break


def _matrix(ax: Axes, content: Matrix, size: float) -> list[Key]:
    grid, tones, (rows, columns) = content.grid, inside(ax), content.sides
    plain(ax, size, grid=None)
    for spine in ax.spines.values():
        spine.set_visible(False)
    norm = LogNorm if content.logarithmic else Normalize
    mesh = ax.pcolormesh(
        np.ma.masked_where(content.blank, grid), cmap=heat_colours(tones), edgecolors=[tones.ground], linewidth=1.5,
        gid="cells", norm=norm(content.low if content.logarithmic else 0, content.high, clip=True),
    )  # fmt: skip
    ax.set(xlim=(0, len(columns)), ylim=(len(rows), 0), facecolor=mixed(tones.faint, tones.ground, 0.55))
    points, names = size * (0.95 if len(rows) <= 12 else 0.8), list(map(shown, columns))
    centres = np.arange(len(columns)) + 0.5
    ax.set_yticks(np.arange(len(rows)) + 0.5, list(map(shown, rows)), fontsize=points)
    ax.set_xticks(centres, names, fontsize=points)
    ax.tick_params(length=0)
    settle(ax)
    if text_size(ax.get_xticklabels())[0] + 8 > measured(ax)[0] / len(columns):
        ax.set_xticks(centres, names, fontsize=points, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_ylabel(content.heads[0])
    ax.set_xlabel(content.heads[1])
    _write_counts(ax, content, mesh, size)
    return []


def _write_counts(ax: Axes, content: Matrix, mesh: QuadMesh, size: float) -> None:
    """Write each count into its cell, where it can be read there; else a scale of the colours."""
    settle(ax)
    width, height = measured(ax)
    grid = content.grid
    longest = max((len(amount_text(value)) for value in grid[~content.blank]), default=1)
    points = min(size, width / grid.shape[1] / (longest * 0.68), height / len(grid) * 0.6)
    if points < _SMALLEST:
        place = ax.inset_axes((1.02, 0, 0.025, 1))
        bar = figure_of(ax).colorbar(mesh, cax=place, label=content.unit, format=lambda value, _: amount_text(value))
        bar.outline.set_visible(False)
        plain(place, size, grid=None)
        return
    colours = np.asarray(mesh.to_rgba(grid))
    for (row, column), value in np.ndenumerate(grid):
        if not content.blank[row, column]:
            red, green, blue, _ = colours[row, column]
            ax.text(
                column + 0.5, row + 0.5, amount_text(value), ha="center", va="center_baseline", gid="count",
                fontsize=points, color="#10151a" if luminance((red, green, blue)) > 0.3 else "#ffffff",
            )  # fmt: skip


_KINDS: Final[dict[type, Any]] = {
    Nothing: _nothing, Stack: stack, Steps: steps, Bars: _bars, Flows: flows, Matrix: _matrix, Panels: _panels,
}  # fmt: skip
