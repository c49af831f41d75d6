"""Draws an alluvial picture: nodes on two sides and ribbons between them; called by the pictures of flows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ledgerframes.plots.drawing.counts import COMPLETED, Ranking
from ledgerframes.plots.drawing.label_layout import spread
from ledgerframes.plots.drawing.layout import base_size, measured, text_size
from ledgerframes.plots.drawing.palette import Tones, inside, mixed
from ledgerframes.plots.drawing.ribbons import Alluvial, Node, Ribbon
from ledgerframes.plots.drawing.session_hues import Kind
from ledgerframes.plots.drawing.short_ids import NORMAL, shown
from ledgerframes.plots.drawing.status_styles import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch
    from matplotlib.text import Text

_BAR: Final = 7.0  # points
_GAP: Final = 5.0
_HEAD: Final = 22.0
_SMALLEST: Final = 6.5
_LAST_SIZE: Final = 5.5
_LINE: Final = 1.4


@dataclass(frozen=True)
class Words:
    """What is written in the picture.

    Attributes:
        left: over the sources.
        right: over the targets.
        size: the text of a node's size.
        kind: what the nodes are, for their colours.
    """

    left: str
    right: str
    size: Callable[[float], str]
    kind: Kind


def room(ax: Axes) -> int:
    """How many labels of the smallest size fit beside one another."""
    return max(2, int((measured(ax)[1] - 66) / (_SMALLEST * _LINE)) - 1)


@dataclass(frozen=True)
class _Side:
    """The labels of one side: -1 is left, 1 is right."""

    sign: int
    nodes: tuple[Node, ...]
    counts: list[Text]
    names: list[Text]

    @property
    def need(self) -> float:
        """Points that node and labels take."""
        return 1.05 * text_size(self.counts)[0] + text_size(self.names)[0] + _BAR + 5 * _GAP


def foot_of(ax: Axes) -> float:
    """Points for the legend: a row of it, two where the axes are narrow."""
    return base_size() * (2.6 if measured(ax)[0] > 460 else 4.2)


def draw_alluvial(ax: Axes, picture: Alluvial, ranking: Ranking, words: Words, foot: float) -> None:
    """Draw the nodes of both sides with their sizes and names, and the ribbons between them.

    Args:
        ax: the axes.
        picture: where everything lies.
        ranking: the nodes' order and labels.
        words: what stands over the sides, and how sizes read.
        foot: points that the legend needs below.
    """
    ax.set_axis_off()
    width, height = measured(ax)
    ax.set_xlim(0, 1)
    height = max(height - foot - _HEAD, height / 2)
    ax.set_ylim(-foot / height, 1 + _HEAD / height)
    tones = inside(ax)
    hues = ranking.hues(words.kind, tones)
    sides = _sides(ax, picture, ranking, words, (width, height))
    edges = (sides[0].need / width, 1 - sides[1].need / width)
    for side, edge in zip(sides, edges, strict=True):
        _place(ax, side, edge, words, (width, height))
        _bars(ax, side, hues, edge, width)
    for ribbon in sorted(picture.ribbons, key=lambda ribbon: (hues[ribbon.source] != tones.rest, -ribbon.width)):
        ax.add_patch(_band(ribbon, edges, _fill(ribbon, hues[ribbon.source], tones, height)))


def _sides(
    ax: Axes, picture: Alluvial, ranking: Ranking, words: Words, box: tuple[float, float]
) -> tuple[_Side, _Side]:
    """Labels of both sides, as large and as long as leaves the ribbons a third of the width."""
    most = max(len(picture.sources), len(picture.targets))
    largest = min(base_size() * 0.95, max(_SMALLEST, box[1] / (most * _LINE)))
    smaller = max(_SMALLEST, largest * 0.85)
    for size, level in ((largest, NORMAL), (smaller, NORMAL), (smaller, 1), (smaller, 0), (_LAST_SIZE, 0)):
        left = _labels(ax, picture.sources, -1, ranking.labels(level=level), words, size)
        right = _labels(ax, picture.targets, 1, ranking.labels(level=level), words, size)
        if max(left.need, right.need) <= box[0] * 0.34:
            break
        if size > _LAST_SIZE:
            for text in (*left.counts, *left.names, *right.counts, *right.names):
                text.remove()
    return left, right


def _labels(ax: Axes, nodes: tuple[Node, ...], sign: int, names: dict[str, str], words: Words, size: float) -> _Side:
    """Sizes and names of one side, not yet in their place."""
    style: dict[str, Any] = {"va": "center_baseline", "fontsize": size, "color": inside(ax).text}
    outer = "right" if sign < 0 else "left"
    counts = [ax.text(0, 0, words.size(node.size), weight="bold", ha="right", gid="count", **style) for node in nodes]
    labels = [ax.text(0, 0, shown(names[node.name]), ha=outer, gid="name", **style) for node in nodes]
    return _Side(sign, nodes, counts, labels)


def _place(ax: Axes, side: _Side, edge: float, words: Words, box: tuple[float, float]) -> None:
    """Put each label beside its node, moved just enough to be read, with a line to a node it had to leave."""
    width, height = box
    tones = inside(ax)
    line = max(text_size(side.counts)[1], text_size(side.names)[1]) * 1.12 / height
    upward = spread([node.middle for node in reversed(side.nodes)], line, low=-line / 3, high=1 + line / 3)
    # Texts are up to a twentieth wider where a figure is saved with fewer dots per inch than it was laid out with.
    column = 1.05 * text_size(side.counts)[0] + _GAP
    first = edge + side.sign * (_BAR + 3.2 * _GAP) / width
    second = first + side.sign * column / width
    for node, at, count, name in zip(side.nodes, reversed(upward), side.counts, side.names, strict=True):
        count.set_position((first if side.sign < 0 else second - _GAP / width, at))
        name.set_position((second, at))
        x = [edge + side.sign * (_BAR + space) / width for space in (1, 2.6 * _GAP)]
        ax.plot(x, [node.middle, at], color=tones.quiet, linewidth=0.6, gid="leader")
    ax.text(
        edge + side.sign * _BAR / width, 1 + 6 / height, words.left if side.sign < 0 else words.right,
        ha="right" if side.sign < 0 else "left", va="bottom", color=tones.quiet, gid="head",
        fontsize=max(side.counts[0].get_fontsize(), 7.5), style="italic",
    )  # fmt: skip


def _bars(ax: Axes, side: _Side, hues: dict[Hashable, str], edge: float, width: float) -> None:
    from matplotlib.patches import Rectangle

    bar = _BAR / width
    for node in side.nodes:
        corner = (edge - (bar if side.sign < 0 else 0), node.bottom)
        ax.add_patch(Rectangle(corner, bar, node.top - node.bottom, facecolor=hues[node.name], linewidth=0, gid="node"))


def _fill(ribbon: Ribbon, hue: str, tones: Tones, height: float) -> dict[str, Any]:
    """How a ribbon looks; one too thin for an outline or a hatch is only paler."""
    strength = 0.42 if hue == tones.rest else 0.64
    if ribbon.status != COMPLETED and ribbon.width * height < 2.5:
        return {"facecolor": mixed(hue, tones.ground, strength * 0.4), "linewidth": 0}
    return look(ribbon.status, hue, tones, strength=strength)


def _band(ribbon: Ribbon, edges: tuple[float, float], patch: dict[str, Any]) -> PathPatch:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    x0, x1 = edges
    bend = (x0 + x1) / 2
    up = [(x0, ribbon.left), (bend, ribbon.left), (bend, ribbon.right), (x1, ribbon.right)]
    down = [(x, y - ribbon.width) for x, y in reversed(up)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return PathPatch(Path([*up, *down, up[0]], codes), gid="ribbon", zorder=1.5, **patch)
