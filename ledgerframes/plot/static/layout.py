"""The frame of every chart: title, subtitle, legend, quiet axes, in the available space and type size."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import product
from typing import Final, cast

import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from ledgerframes.plot.palette import inside, outside
from ledgerframes.short_ids import plain_text

Key = tuple["Artist", str]
#: Inches around the axes of a figure of their own.
PAD: Final = 0.12


def shown(text: str) -> str:
    """A label as matplotlib should take it: no formulas, and never left out for its first character."""
    return plain_text(text).replace("$", r"\$")


def type_size(ax: Axes, *, own: bool) -> float:
    """The size of text in points: that of the settings, smaller on small axes of the caller's."""
    if own:
        return float(rcParams["font.size"])
    width, height = extent(ax)
    return float(rcParams["font.size"]) * min(max(min(width / 300, height / 160), 0.6), 1.0)


def finish(ax: Axes, title: str, subtitle: str, keys: Sequence[Key], size: float) -> Axes:
    """Write title, subtitle and legend above the axes; call it last, when the rest is drawn.

    On small axes the subtitle gives way first, then the legend: the data keeps half of the height.

    Args:
        ax: the axes.
        title: the title of the chart.
        subtitle: what is counted, over which range, and what is left out; wrapped to the width.
        keys: the entries of the legend, in order.
        size: the type size.
    """
    tones = outside(ax)
    settle(ax)
    hang = _overhang(ax)
    across, height = measured(ax)
    width, room, rise = across + hang, height * 0.55, 0.6 * size
    points = size * FontProperties(size=rcParams["axes.titlesize"]).get_size_in_points() / float(rcParams["font.size"])
    heading = ax.set_title(shown(title), loc="left", color=tones.text, x=-hang / across, fontsize=points)
    _wrap(heading, title, width)
    room -= extent(heading)[1] + rise
    legend = _legend(ax, keys, width, 0.92 * size, room) if keys else None
    if legend is not None:
        _place(legend, ax, -hang, rise)
        taken = extent(legend)[1] + 0.5 * size
        rise, room = rise + taken, room - taken
    line = ax.annotate(
        "", (0, 1), xytext=(-hang, rise), xycoords="axes fraction", textcoords="offset points", fontsize=0.92 * size,
        color=tones.quiet, ha="left", va="bottom", annotation_clip=False, gid="subtitle",
    )  # fmt: skip
    line.set_in_layout(False)  # a wide line must not narrow the axes; the title's padding keeps its height free
    _fill(line, subtitle, width, int(room / (1.3 * 0.92 * size)))
    if line.get_text():
        rise += extent(line)[1] + 0.5 * size
    ax.set_title(heading.get_text(), loc="left", color=tones.text, pad=rise, x=-hang / across, fontsize=points)
    settle(ax)
    measured(ax)
    for part in (ax, *ax.child_axes):
        _fit(cast("Axes", part))
    return ax


def _fit(ax: Axes) -> None:
    """Shorten a label that is longer than the axis next to it: to its first words, else to nothing."""
    label, room = ax.yaxis.label, 1.1 * extent(ax)[1]
    for words in (label.get_text().partition(",")[0], ""):
        if extent(label)[1] > room:
            label.set_text(words)


def plain(ax: Axes, size: float, *, grid: str | None = "y") -> None:
    """Quiet axes: no frame, a faint grid along one axis, colours that the ground lets one read."""
    tones = outside(ax)
    for side in ("top", "right", "left" if grid != "x" else "bottom"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(tones.quiet)
    ax.tick_params(which="both", colors=tones.quiet, length=0, labelsize=0.9 * size)
    ax.tick_params(axis="y" if grid == "x" else "x", which="major", length=3)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_color(tones.quiet)
        label.set_fontsize(0.95 * size)
    ax.set_axisbelow(True)
    ax.grid(visible=False, which="both")
    if grid in {"x", "y"}:
        ax.grid(visible=True, axis="x" if grid == "x" else "y", which="major", color=inside(ax).faint, linewidth=0.8)


def measured(ax: Axes) -> tuple[float, float]:
    """Width and height in points that can be counted on, after the figure's layout has settled.

    A layout engine may narrow the axes again when their neighbours are drawn, so next to neighbours less counts.
    """
    paper = figure_of(ax)
    engine = paper.get_layout_engine()
    if engine is not None and paper.stale:  # most of the time that a chart takes
        alone = paper.axes == [ax] and not (paper.texts or paper.legends)
        if engine.get().get("w_pad") == PAD and alone:
            _within(ax, PAD, grow=True)
        else:
            engine.execute(paper)
        paper.stale = False
    width, height = extent(ax)
    return (width * 0.66, height * 0.85) if _crowded(ax) else (width, height)


def settle(ax: Axes) -> None:
    """Shrink axes whose labels reach over the figure's edge, where no layout engine does."""
    if figure_of(ax).get_layout_engine() is None:
        _within(ax, 0.06, least=0.15)


def _within(ax: Axes, pad: float, *, least: float = 0.0, grow: bool = False) -> None:
    """Move the edges of axes whose labels come nearer to those of the figure than so many inches.

    Args:
        ax: the axes.
        pad: the inches.
        least: the part of the figure that has to be left for the axes, else nothing is moved.
        grow: whether to move the other edges, too: for the only axes of a figure of their own, where a constrained
            layout would take more than twice as long.
    """
    drawn, place = ax.get_tightbbox(for_layout_only=grow), ax.get_position(original=grow)
    if drawn is None:
        return
    paper = figure_of(ax)
    wide, high, pad = paper.bbox.width, paper.bbox.height, pad * paper.dpi
    lacking = np.array([pad - drawn.x0, pad - drawn.y0, drawn.x1 + pad - wide, drawn.y1 + pad - high])
    moves = (lacking if grow else np.maximum(lacking, 0)) / (wide, high, wide, high)
    x0, y0, x1, y1 = place.extents + moves * (1, 1, -1, -1)
    if x1 - x0 > least and y1 - y0 > least:
        ax.set_position((x0, y0, x1 - x0, y1 - y0))
        ax.set_in_layout(True)  # a later tight_layout may place it again


def text_size(texts: Sequence[Text]) -> tuple[float, float]:
    """Greatest width and height of these texts, in points."""
    widths, heights = zip((0.0, 0.0), *map(extent, texts), strict=True)
    return max(widths), max(heights)


def spread(wanted: Sequence[float], height: float, *, low: float, high: float) -> list[float]:
    """Centres for labels of one height, in the order given, without overlap.

    Labels that together are higher than the room are spaced evenly over it and overlap.

    Args:
        wanted: the centres they should have, ascending.
        height: of one label, with the space it wants.
        low: lower end of the room.
        high: upper end of the room.
    """
    step = min(height, (high - low) / max(len(wanted), 1))
    stacked = step * np.arange(len(wanted))  # less these, labels without overlap ascend
    least, most = low + step / 2, high - step * (len(wanted) - 0.5)
    up = np.maximum.accumulate(np.maximum(wanted - stacked, least))
    down = np.minimum.accumulate(np.minimum(wanted - stacked, most)[::-1])[::-1]
    # Half way between pushed up and pushed down they lie close to where they should, and still apart.
    middle: list[float] = (np.clip((up + down) / 2, least, most) + stacked).tolist()
    return middle


def figure_of(ax: Axes) -> Figure:
    """The figure, also from an Axes in a part of one."""
    paper = ax.get_figure(root=True)
    assert paper is not None, "the Axes was removed from its figure"
    return paper


def _crowded(ax: Axes) -> bool:
    paper = figure_of(ax)
    return paper.get_layout_engine() is not None and len(paper.axes) > 1


def _overhang(ax: Axes) -> float:
    """Points that long category names reach left of the axes, which the title then starts above; 0 for short ones."""
    drawn = ax.yaxis.get_tightbbox() if ax.axison and not _crowded(ax) else None
    if drawn is None:
        return 0.0
    reach = (ax.get_window_extent().x0 - drawn.x0) * 72 / figure_of(ax).dpi
    return reach if reach > 72 else 0.0


def _legend(ax: Axes, keys: Sequence[Key], width: float, size: float, room: float) -> Legend | None:
    """The legend with as few rows as fit the width; smaller where it would take more than three; None if none fits."""
    for points, columns in product((size, size * 0.84, size * 0.7), range(len(keys), 0, -1)):
        # matplotlib fills columns; one reads lines.
        lined = [key for column in range(columns) for key in keys[column::columns]]
        legend = ax.legend(
            handles=[artist for artist, _ in lined], labels=[shown(label) for _, label in lined], ncols=columns,
            loc="upper left", frameon=False, labelcolor=outside(ax).quiet, fontsize=points, borderpad=0,
            borderaxespad=0, handlelength=1.1, handleheight=0.9, handletextpad=0.5, columnspacing=1.3,
            labelspacing=0.35,
        )  # fmt: skip
        wide, high = extent(legend)
        if wide <= width and high <= room and (len(keys) <= 3 * columns or points < size):
            return legend
    legend.remove()
    return None


def _place(legend: Legend, ax: Axes, x: float, y: float) -> None:
    moved = ScaledTranslation(x / 72, y / 72, figure_of(ax).dpi_scale_trans)
    legend.set_in_layout(False)
    legend.set_loc("lower left")
    legend.set_bbox_to_anchor((0, 1), ax.transAxes + moved)


def _wrap(line: Text, words: str, width: float) -> list[str]:
    """The lines of a text that is not wider than this."""
    line.set_text(shown(words))
    long = extent(line)[0]
    lines = textwrap.wrap(words, max(int(0.97 * len(words) * width / long), 12)) if long > width > 0 else [words]
    line.set_text("\n".join(map(shown, lines)))
    return lines


def _fill(line: Text, words: str, width: float, most: int) -> None:
    """The text in as many lines as there is room for, with dots if it is cut."""
    lines = _wrap(line, words, width) if words else []
    if len(lines) > most:
        shortened = [*lines[: most - 1], lines[most - 1].rstrip(" ,;") + " …"] if most > 0 else []
        line.set_text("\n".join(map(shown, shortened)))


def extent(artist: Artist) -> tuple[float, float]:
    """Width and height in points, as they are now."""
    paper = artist.get_figure(root=True)
    assert paper is not None, "measured before it was drawn on a figure"
    box = artist.get_window_extent()
    return box.width * 72 / paper.dpi, box.height * 72 / paper.dpi
