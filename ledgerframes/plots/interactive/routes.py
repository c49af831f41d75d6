"""Ribbons between synchronizers and the matrix of them for a browser; called by the pictures of reassignments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ledgerframes.plots.drawing.contents import Flows, Matrix, Nothing
from ledgerframes.plots.drawing.counts import COMPLETED
from ledgerframes.plots.drawing.heat_colours import heat_colours
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.palette import mixed, of_settings
from ledgerframes.plots.drawing.ribbons import Ribbon
from ledgerframes.plots.interactive.figures import axis_title, colour, figure, hover, nothing, said

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_READABLE: Final = 20  # names of a side whose counts still fit into their cells
_EDGES: Final = (0.001, 0.999)  # plotly takes 0 for "choose yourself"


def flows_figure(content: Flows | Nothing) -> Figure:
    """Ribbons from the sources on the left to the targets on the right."""
    tones = of_settings()
    if isinstance(content, Nothing):
        return nothing(content, tones)
    from plotly.graph_objects import Sankey

    alluvial, labels = content.alluvial, content.ranking.labels()
    hues = content.ranking.hues("synchronizer", tones)
    sides = ((alluvial.sources, "unassigned from"), (alluvial.targets, "assigned to"))
    nodes = [(node, words, x) for (side, words), x in zip(sides, _EDGES, strict=True) for node in side]
    most = max(len(alluvial.sources), len(alluvial.targets))
    made = figure(content.title, content.second, tones, height=min(max(420, 160 + 24 * most), 1200))
    made.add_trace(
        Sankey(
            arrangement="snap", textfont={"color": tones.text, "size": 12},
            node={
                "label": [said(labels[node.name]) for node, _, _ in nodes],
                "color": [hues[node.name] for node, _, _ in nodes],
                "customdata": [
                    hover(labels[node.name], node.name, f"{plural(int(node.size), 'reassignment')} {words} here")
                    for node, words, _ in nodes
                ],
                "x": [x for _, _, x in nodes], "y": [min(max(1 - node.middle, 0.001), 0.999) for node, _, _ in nodes],
                "hovertemplate": "%{customdata}<extra></extra>", "line": {"width": 0}, "pad": min(10, 120 / most),
                "thickness": 12,
            },
            link=_links(content, labels, hues),
        )
    )  # fmt: skip
    return made


def _links(content: Flows, labels: dict[str, str], hues: Any) -> dict[str, Any]:
    alluvial = content.alluvial
    left = {node.name: place for place, node in enumerate(alluvial.sources)}
    right = {node.name: len(left) + place for place, node in enumerate(alluvial.targets)}
    ribbons = alluvial.ribbons
    odd = [ribbon.status != COMPLETED for ribbon in ribbons]
    own = [hues[ribbon.source] for ribbon in ribbons]
    return {
        "source": [left[ribbon.source] for ribbon in ribbons],
        "target": [right[ribbon.target] for ribbon in ribbons],
        "value": [ribbon.size for ribbon in ribbons],
        "color": [colour(hue, 0.2 if is_odd else 0.55) for hue, is_odd in zip(own, odd, strict=True)],
        "line": {"width": 0},  # plotly.js takes one colour for all outlines
        "customdata": [_route(ribbon, labels) for ribbon in ribbons],
        "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip


def _route(ribbon: Ribbon, labels: dict[str, str]) -> str:
    head = f"{labels[ribbon.source]} → {labels[ribbon.target]}"
    return hover(
        head, None, f"from {ribbon.source}", f"to {ribbon.target}",
        f"{plural(int(ribbon.size), 'reassignment')}, {ribbon.status}",
    )  # fmt: skip


def matrix_figure(content: Matrix | Nothing) -> Figure:
    """A heat map with a row per source and a column per target."""
    tones = of_settings()
    if isinstance(content, Nothing):
        return nothing(content, tones)
    from plotly.graph_objects import Heatmap

    names, labels, grid = content.ranking.names, content.ranking.labels(), content.grid
    side = min(max(360, 26 * len(names)), 820)
    made = figure(content.title, content.second, tones, height=side + 190)
    filled = np.where(grid > 0, grid, np.nan)
    low, high = np.log10([content.low, content.high]) if content.logarithmic else (0.0, content.high)
    stops = heat_colours(tones)
    made.add_trace(
        Heatmap(
            z=np.log10(filled) if content.logarithmic else filled, zmin=low, zmax=high if high > low else low + 1,
            colorscale=[[at, colour(stops(at)[:3])] for at in np.linspace(0, 1, 9).tolist()], xgap=1.5, ygap=1.5,
            text=[[amount_text(count) if count else "" for count in row] for row in grid.tolist()],
            texttemplate="%{text}" if len(names) <= _READABLE else None,
            hovertext=[[_cell(names[row], names[column], labels, grid[row, column]) for column in range(len(names))]
                       for row in range(len(names))],
            hoverinfo="text", hoverongaps=True, colorbar=_scale(content, low, high),
        )
    )  # fmt: skip
    ticks = {"tickvals": list(range(len(names))), "ticktext": [said(labels[name]) for name in names], "showgrid": False}
    made.update_layout(plot_bgcolor=colour(mixed(tones.faint, tones.ground, 0.55)))
    made.update_xaxes(title=axis_title("assigned to"), constrain="domain", showline=False, ticks="", **ticks)
    made.update_yaxes(
        title=axis_title("unassigned from"), autorange="reversed", scaleanchor="x", constrain="domain", zeroline=False,
        **ticks,
    )  # fmt: skip
    return made


def _cell(source: str, target: str, labels: dict[str, str], count: float) -> str:
    head = f"{labels[source]} → {labels[target]}"
    return hover(head, None, f"from {source}", f"to {target}", plural(int(count), "reassignment"))


def _scale(content: Matrix, low: float, high: float) -> dict[str, Any]:
    bar: dict[str, Any] = {"title": axis_title("reassignments"), "outlinewidth": 0, "thickness": 12}
    if content.logarithmic:
        powers = np.arange(np.ceil(low), np.floor(high) + 1)
        ticks = powers.tolist() if len(powers) > 1 else [low, high]
        bar |= {"tickvals": ticks, "ticktext": [amount_text(10.0**power) for power in ticks]}
    return bar
