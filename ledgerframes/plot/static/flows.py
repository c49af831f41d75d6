"""Flows drawn by matplotlib: nodes on two sides and ribbons between them, and where they lie; called by `charts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.patches import Patch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text

from ledgerframes.number_format import count_text
from ledgerframes.plot.contents import Flows, Ribbon
from ledgerframes.plot.palette import Tones, inside, mixed
from ledgerframes.plot.static.layout import Key, measured, shown, spread, text_size

COMPLETED: Final = "completed"
_BAR: Final = 7.0  # points
_GAP: Final = 5.0
_SMALLEST: Final = 6.5
_LAST_SIZE: Final = 4.8
_LINE: Final = 1.4
_AIR: Final = 0.22  # of the height, for all gaps of the fuller side


@dataclass(frozen=True)
class Node:
    """A source or a target; from `top` down to `bottom`, in 1 to 0."""

    name: str
    size: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """Its centre."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True)
class Band:
    """A ribbon: its upper end on each side, and the width they share."""

    ribbon: Ribbon
    left: float
    right: float
    width: float


Nodes = tuple[Node, ...]


def flows(ax: Axes, content: Flows, size: float) -> list[Key]:
    """Draw the nodes of both sides with their sizes and names, and the ribbons between them."""
    ax.set_axis_off()
    sources, targets, bands = lay_out(content)
    width, height = measured(ax)
    head = 2.2 * size
    ax.set_xlim(0, 1)
    height = max(height - head - 4, height / 2)
    ax.set_ylim(-4 / height, 1 + head / height)
    tones = inside(ax)
    hues = {name: tones.hue(hue) for name, hue in content.hues.items()}
    sides = _sides(ax, content, (sources, targets), (width, height), size)
    edges = (sides[0].need / width, 1 - sides[1].need / width)
    for side, edge, words in zip(sides, edges, content.heads, strict=True):
        _place(ax, side, edge, words, (width, height))
        _bars(ax, side, hues, edge, width)
    for band in sorted(bands, key=lambda band: (hues[band.ribbon.source] != tones.rest, -band.width)):
        ax.add_patch(_band(band, edges, _fill(band, hues[band.ribbon.source], tones, height)))
    return _status_keys(content.statuses, tones)


def _status_keys(found: Mapping[str, int], tones: Tones) -> list[Key]:
    """Legend entries of statuses; none where all are completed."""
    if set(found) <= {COMPLETED}:
        return []
    return [
        (Patch(**_style(status, tones.rest, tones, strength=0.75)), f"{status}  {count_text(count)}")
        for status, count in found.items()
    ]


def _style(status: str, hue: str, tones: Tones, *, strength: float) -> dict[str, Any]:
    """Properties of a patch: in flight is outlined, repaired is hatched, others are dotted."""
    strong = mixed(hue, tones.text, 0.8)
    if status == COMPLETED:
        return {"facecolor": mixed(hue, tones.ground, strength), "edgecolor": "none", "linewidth": 0}
    if status == "in flight":
        pale = mixed(hue, tones.ground, 0.12)
        return {"facecolor": pale, "edgecolor": strong, "linewidth": 0.9, "linestyle": (0, (3.2, 1.8))}
    hatch = "/////" if status == "repaired" else "..."  # a dot is 160 bytes of SVG
    return {"facecolor": mixed(hue, tones.ground, strength * 0.6), "edgecolor": strong, "linewidth": 0, "hatch": hatch}


@dataclass(frozen=True)
class _Side:
    """The labels of one side: -1 is left, 1 is right."""

    sign: int
    nodes: Nodes
    counts: list[Text]
    names: list[Text]

    @property
    def need(self) -> float:
        """Points that node and labels take."""
        return 1.05 * text_size(self.counts)[0] + text_size(self.names)[0] + _BAR + 5 * _GAP


def _sides(
    ax: Axes, content: Flows, nodes: tuple[Nodes, Nodes], box: tuple[float, float], size: float
) -> tuple[_Side, _Side]:
    """Labels of both sides, as large and as long as leaves the ribbons a third of the width."""
    most = max(map(len, nodes))
    least = min(_SMALLEST, 0.7 * size)
    largest = min(size * 0.95, max(least, box[1] / (most * _LINE)))
    smaller = max(least, largest * 0.85)
    levels = len(content.labels)  # from the usual length of labels to the shortest
    tries = [(largest, 0, True), (smaller, 0, True), *((smaller, n, True) for n in range(1, levels))]
    for points, level, counted in (*tries, (_LAST_SIZE, levels - 1, True), (_LAST_SIZE, levels - 1, False)):
        names, sizes = content.labels[level], content.text if counted else lambda _: ""
        left = _labels(ax, nodes[0], -1, names, sizes, points)
        right = _labels(ax, nodes[1], 1, names, sizes, points)
        if not counted or max(left.need, right.need) <= box[0] * 0.36:
            break
        for label in (*left.counts, *left.names, *right.counts, *right.names):
            label.remove()
    return left, right


def _labels(ax: Axes, nodes: Nodes, sign: int, names: Mapping[str, str], text: Any, points: float) -> _Side:
    """Sizes and names of one side, not yet in their place."""
    style: dict[str, Any] = {"va": "center_baseline", "fontsize": points, "color": inside(ax).text}
    outer = "right" if sign < 0 else "left"
    counts = [ax.text(0, 0, text(node.size), weight="bold", ha="right", gid="count", **style) for node in nodes]
    labels = [ax.text(0, 0, shown(names[node.name]), ha=outer, gid="name", **style) for node in nodes]
    return _Side(sign, nodes, counts, labels)


def _place(ax: Axes, side: _Side, edge: float, head: str, box: tuple[float, float]) -> None:
    """Put each label next to its node, moved just enough to be read, with a line to a node it had to leave."""
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
        edge + side.sign * _BAR / width, 1 + 6 / height, head,
        ha="right" if side.sign < 0 else "left", va="bottom", color=tones.quiet, gid="head",
        fontsize=side.counts[0].get_fontsize(), style="italic",
    )  # fmt: skip


def _bars(ax: Axes, side: _Side, hues: Mapping[str, str], edge: float, width: float) -> None:
    bar = _BAR / width
    for node in side.nodes:
        corner = (edge - (bar if side.sign < 0 else 0), node.bottom)
        ax.add_patch(Rectangle(corner, bar, node.top - node.bottom, facecolor=hues[node.name], linewidth=0, gid="node"))


def _fill(band: Band, hue: str, tones: Tones, height: float) -> dict[str, Any]:
    """How a ribbon looks; one too thin for an outline or a hatch is only paler."""
    strength = 0.42 if hue == tones.rest else 0.64
    if band.ribbon.status != COMPLETED and band.width * height < 2.5:
        return {"facecolor": mixed(hue, tones.ground, strength * 0.4), "linewidth": 0}
    return _style(band.ribbon.status, hue, tones, strength=strength)


def _band(band: Band, edges: tuple[float, float], patch: dict[str, Any]) -> PathPatch:
    x0, x1 = edges
    bend = (x0 + x1) / 2
    up = [(x0, band.left), (bend, band.left), (bend, band.right), (x1, band.right)]
    down = [(x, y - band.width) for x, y in reversed(up)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return PathPatch(Path([*up, *down, up[0]], codes), gid="ribbon", zorder=1.5, **patch)


def lay_out(content: Flows) -> tuple[Nodes, Nodes, list[Band]]:
    """Stack the nodes of both sides in one order and lead ribbons from sources to targets, in a square of side 1."""
    most = max(len(content.sizes(0)), len(content.sizes(1)))
    gap = min(0.035, _AIR / max(most - 1, 1))
    sources, targets = (
        tuple(Node(name, size, top, bottom) for (name, size), (top, bottom)
              in zip(content.sizes(side).items(), content.places(side, gap), strict=True))
        for side in (0, 1)
    )  # fmt: skip
    return sources, targets, _bands(content, sources, targets, (sources[0].top - sources[0].bottom) / sources[0].size)


def _bands(content: Flows, sources: Nodes, targets: Nodes, unit: float) -> list[Band]:
    left = {node.name: node.top for node in sources}
    right = {node.name: node.top for node in targets}
    order = {name: place for place, name in enumerate(content.names)}
    status = {name: place for place, name in enumerate(content.statuses)}
    bands = []
    for ribbon in sorted(
        content.ribbons, key=lambda one: (order[one.source], order[one.target], status.get(one.status, 0))
    ):
        bands.append(Band(ribbon, left[ribbon.source], right[ribbon.target], unit * ribbon.size))
        left[ribbon.source] -= unit * ribbon.size
        right[ribbon.target] -= unit * ribbon.size
    return bands
