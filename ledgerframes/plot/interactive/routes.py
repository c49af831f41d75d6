"""Flows and the matrix of them drawn by plotly; called by `figures`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ledgerframes.number_format import amount_text, count_text, plural
from ledgerframes.plot.contents import Flows, Matrix, Ribbon
from ledgerframes.plot.interactive.words import axis_title, colour, escaped, hover, with_unit
from ledgerframes.plot.palette import Tones, heat_colours, mixed

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_READABLE: Final = 20  # names of a side whose counts still fit into their cells
_EDGES: Final = (0.001, 0.999)  # plotly takes 0 for "choose yourself"
_ODD: Final = 0.2  # how strong ribbons are that are not completed


def flows(made: Figure, content: Flows, tones: Tones) -> None:
    """Ribbons from the left to the right, with sizes next to the names and a heading over each side."""
    from plotly.graph_objects import Sankey

    labels, sides = content.labels[0], (content.sizes(0), content.sizes(1))
    nodes = [(name, size, words, x) for side, words, x in zip(sides, content.heads, _EDGES, strict=True)
             for name, size in side.items()]  # fmt: skip
    most = max(map(len, sides))
    made.add_trace(
        Sankey(
            arrangement="snap", textfont={"color": tones.text, "size": 12},
            node={
                "label": [f"{escaped(labels[name])}  {content.text(size)}" for name, size, _, _ in nodes],
                "color": [tones.hue(content.hues[name]) for name, _, _, _ in nodes],
                "customdata": [hover(labels[name], name, f"{with_unit(size, content.unit)} {words} here")
                               for name, size, words, _ in nodes],
                "x": [x for _, _, _, x in nodes],
                "y": [at for side in sides for at in _middles(side)],
                "hovertemplate": "%{customdata}<extra></extra>", "line": {"width": 0}, "pad": min(10, 120 / most),
                "thickness": 12,
            },
            link=_links(content, sides, tones),
        )
    )  # fmt: skip
    for x, anchor, words in zip((0, 1), ("left", "right"), content.heads, strict=True):
        made.add_annotation(
            x=x, y=1, xref="paper", yref="paper", xanchor=anchor, yanchor="bottom", text=f"<i>{escaped(words)}</i>",
            showarrow=False, font={"color": tones.quiet}, name="head",
        )  # fmt: skip
    odd = [f"{status} {count_text(count)}" for status, count in content.statuses.items() if status != "completed"]
    if odd:
        made.add_annotation(
            x=0.5, y=0, xref="paper", yref="paper", yanchor="top", text=escaped("pale: " + ", ".join(odd)),
            showarrow=False, font={"color": tones.quiet}, name="status",
        )  # fmt: skip


def _middles(sizes: dict[str, float]) -> list[float]:
    """Where the nodes of a side lie, from 0 at the top to 1."""
    ends = np.cumsum(list(sizes.values())) / sum(sizes.values())
    return list(np.clip((np.concatenate(([0.0], ends[:-1])) + ends) / 2, *_EDGES))


def _links(content: Flows, sides: tuple[dict[str, float], dict[str, float]], tones: Tones) -> dict[str, Any]:
    left = {name: place for place, name in enumerate(sides[0])}
    right = {name: len(left) + place for place, name in enumerate(sides[1])}
    return {
        "source": [left[ribbon.source] for ribbon in content.ribbons],
        "target": [right[ribbon.target] for ribbon in content.ribbons],
        "value": [ribbon.size for ribbon in content.ribbons],
        "color": [colour(tones.hue(content.hues[ribbon.source]), 0.55 if ribbon.status == "completed" else _ODD)
                  for ribbon in content.ribbons],
        "line": {"width": 0},  # plotly.js takes one colour for all outlines
        "customdata": [_route(ribbon, content) for ribbon in content.ribbons],
        "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip


def _route(ribbon: Ribbon, content: Flows) -> str:
    labels = content.labels[0]
    status = f", {ribbon.status}" if content.statuses else ""
    return hover(
        f"{labels[ribbon.source]} → {labels[ribbon.target]}", None, f"from {ribbon.source}", f"to {ribbon.target}",
        with_unit(ribbon.size, content.unit) + status,
    )  # fmt: skip


def matrix(made: Figure, content: Matrix, tones: Tones) -> None:
    """A heat map with a cell per row and column, such as a source and a target."""
    from plotly.graph_objects import Heatmap

    (rows, columns), grid = content.sides, content.grid
    filled = np.where(grid > 0, grid, np.nan)
    low, high = np.log10([content.low, content.high]) if content.logarithmic else (0.0, content.high)
    stops = heat_colours(tones)
    made.add_trace(
        Heatmap(
            z=np.log10(filled) if content.logarithmic else filled, zmin=low, zmax=high if high > low else low + 1,
            colorscale=[[at, colour(stops(at)[:3])] for at in np.linspace(0, 1, 9).tolist()], xgap=1.5, ygap=1.5,
            text=[[amount_text(count) if count else "" for count in row] for row in grid.tolist()],
            texttemplate="%{text}" if max(grid.shape) <= _READABLE else None,
            hovertext=[[_cell(content, row, column) for column in range(len(columns))] for row in range(len(rows))],
            hoverinfo="text", hoverongaps=True, colorbar=_scale(content, float(low), float(high)),
        )
    )  # fmt: skip
    made.update_layout(plot_bgcolor=colour(mixed(tones.faint, tones.ground, 0.55)))
    made.update_xaxes(
        title=axis_title(content.heads[1]), constrain="domain", showline=False, ticks="", **_ticks(columns)
    )
    made.update_yaxes(
        autorange="reversed", scaleanchor=None if content.columns else "x", constrain="domain", zeroline=False,
        title=axis_title(content.heads[0]) | {"standoff": 16}, ticklabelstandoff=6, **_ticks(rows),
    )  # fmt: skip


def _ticks(labels: list[str]) -> dict[str, Any]:
    return {"tickvals": list(range(len(labels))), "ticktext": list(map(escaped, labels)), "showgrid": False}


def _cell(content: Matrix, row: int, column: int) -> str:
    if content.columns:
        number = with_unit(float(content.grid[row, column]), content.unit)
        return hover(content.sides[0][row], None, f"{content.heads[1]}: {content.columns[column]}", number)
    source, target = content.names[row], content.names[column]
    head = f"{content.labels[source]} → {content.labels[target]}"
    count = plural(int(content.grid[row, column]), content.unit.removesuffix("s"))
    return hover(head, None, f"from {source}", f"to {target}", count)


def _scale(content: Matrix, low: float, high: float) -> dict[str, Any]:
    bar: dict[str, Any] = {"title": axis_title(content.unit), "outlinewidth": 0, "thickness": 12}
    if content.logarithmic:
        powers = np.arange(np.ceil(low), np.floor(high) + 1)
        ticks = powers.tolist() if len(powers) > 1 else [low, high]
        bar |= {"tickvals": ticks, "ticktext": [amount_text(10.0**power) for power in ticks]}
    return bar
