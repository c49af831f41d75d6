"""Contents drawn by plotly, one function per kind; called by `figures`."""

from __future__ import annotations

from math import floor, log10
from typing import Any, Final

import numpy as np
from plotly.graph_objects import Bar, Figure, Heatmap, Sankey, Scatter

from ledgerframes.number_format import amount_text, count_text, plural
from ledgerframes.plot.bins import duration_ticks, moment_words
from ledgerframes.plot.contents import ROUNDS, Axis, Bars, Flows, Matrix, Ribbon, Series, Stack, Steps
from ledgerframes.plot.interactive.words import TIMES, along, amounts, axis_title, colour, escaped, hover, with_unit
from ledgerframes.plot.palette import Tones, heat_colours, mixed

_FIRST: Final = {"row": 1, "col": 1}  # of several plots
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x")
_EDGE: Final = 0.03  # of an axis: nearer to its start a label has no room before its line
_CHARACTER: Final = 0.0155  # of the width of the axes of a narrow page, as totals and marks are written
_FEW: Final = 5  # up to so many things, an axis counts each
_READABLE: Final = 20  # names of a side whose counts still fit into their cells
_MARK: Final = 15  # pixels of the words of a mark
_EDGES: Final = (0.001, 0.999)  # plotly takes 0 for "choose yourself"
_GAP: Final = 13.0  # pixels between nodes, as high as their names
_ODD: Final = 0.2  # how strong ribbons are that are not completed


def stack(made: Figure, content: Stack, tones: Tones, **place: int) -> None:
    """Series in bins, one upon the other; bins that are covered in part are hatched."""
    starts, wide = content.edges[:-1], np.diff(content.edges) / (1000 if content.x.scale == "time" else 1)
    if content.x.scale == "duration":  # a bar of a logarithmic axis is as wide as its bounds, around its middle
        starts, wide = np.sqrt(content.edges[:-1] * content.edges[1:]), np.diff(content.edges)
    hatched = np.array(["/" if at in content.partial else "" for at in range(len(starts))])
    order = np.argsort(hatched, kind="stable")  # the legend is hatched as the first bar is
    for series in content.series:
        there = order[series.values[order] != 0]
        hue = tones.hue(series.hue)
        made.add_trace(
            Bar(
                x=along(content.x, starts[there]), y=series.values[there], width=wide[there],
                offset=None if content.x.scale == "duration" else 0, name=escaped(series.key), hoverinfo="text",
                hovertext=[hover(series.label, series.name, content.spans[at],
                                 _value(content.y, series.values[at])) for at in there],
                marker={"color": hue, "line": {"width": 0},
                        "pattern": {"shape": hatched[there], "fillmode": "overlay", "fgcolor": colour(tones.ground),
                                    "fgopacity": 1, "size": 6}},
            ), **place,
        )  # fmt: skip
    made.update_layout(barmode="relative", bargap=0, showlegend=len(content.series) > 1)
    made.update_xaxes(**across(content.x, *content.across), **place)
    made.update_yaxes(**_upward(content.y, *content.upward), **place)
    _mark(made, content, tones)
    _event_lines(made, content, tones, **place)


def steps(made: Figure, content: Steps, tones: Tones, **place: int) -> None:
    """Lines of values that are valid until the next one, with the whole id in the tooltip."""
    alone = len(content.series) == 1
    for rank, series in enumerate(content.series):
        x, y = series.at, series.values
        words = [_moment(content, series, at, value) for at, value in zip(x.tolist(), y.tolist(), strict=True)]
        if content.end is not None:
            x, y, words = np.append(x, content.end), np.append(y, y[-1]), [*words, words[-1]]
        sparse, hue = content.sparse(series), tones.hue(series.hue)
        made.add_trace(
            Scatter(
                x=along(content.x, x), y=y, hovertext=words, hoverinfo="text", legendrank=rank, zorder=-rank,
                mode="lines+markers" if sparse or content.shaped else "lines", name=escaped(series.key),
                line={"color": hue, "width": 2, "shape": "hv"}, fill="tozeroy" if content.filled else None,
                fillcolor=colour(mixed(hue, tones.ground, 0.16)),
                marker={"size": [6] * len(series.values) + [0] * (content.end is not None), "opacity": 1,
                        "line": {"width": 0}, "maxdisplayed": 0 if sparse else 8,
                        "symbol": _SHAPES[rank % len(_SHAPES)] if content.shaped else "circle"},
            ), **place,
        )  # fmt: skip
    made.update_layout(showlegend=not alone)
    made.update_xaxes(**across(content.x, *content.across), **place)
    made.update_yaxes(**_upward(content.y, *content.upward), **place)
    _event_lines(made, content, tones, **place)


def _moment(content: Steps, series: Series, at: float, value: float) -> str:
    words = f"{moment_words(int(at))} UTC" if content.x.scale == "time" else f"{content.words} {at:.0f}".strip()
    return hover(series.label, series.name, words, _value(content.y, value))


def _value(axis: Axis, value: float) -> str:
    return f"{value:.1%}" if axis.scale == "percent" else with_unit(value, axis.unit)


def across(axis: Axis, low: float, high: float) -> dict[str, Any]:
    """An x axis from where to where."""
    title = {"title": axis_title(axis.label)}
    if axis.scale == "time":
        return title | {"type": "date", "tickformatstops": TIMES, "range": along(axis, np.array([low, high]))}
    if axis.scale == "duration":
        ticks, words = duration_ticks(low, high, 8)
        return title | {"type": "log", "tickvals": ticks, "ticktext": words, "range": [log10(low), log10(high)]}
    each = {"dtick": 1} if high - low <= ROUNDS else {}
    return title | {"type": "linear", "tickformat": "d", "range": [low, high], **each}


def _upward(axis: Axis, low: float, high: float) -> dict[str, Any]:
    title = {"title": axis_title(axis.label + (" (logarithmic)" if axis.logarithmic else ""))}
    if axis.logarithmic:
        powers = [10.0**power for power in range(floor(log10(low)), floor(log10(high)) + 1)]
        powers = powers[:: 1 + len(powers) // 10]
        words = [amount_text(power) for power in powers]
        return title | {"type": "log", "tickvals": powers, "ticktext": words, "range": [log10(low), log10(high)]}
    ticks = {"tickformat": ".0%"} if axis.scale == "percent" else amounts(low, high)
    steps = {"dtick": 1} if axis.scale == "count" and high <= _FEW + 1 else {}
    return title | {"type": "linear", "range": [low, high], **ticks, **steps}


def _mark(made: Figure, content: Stack, tones: Tones) -> None:
    """Lines at places to point out, each with its words on a line of its own above the data."""
    for number, (at, words) in enumerate(content.marks):
        made.add_vline(x=at, line={"color": tones.text, "width": 1.1, "dash": ("solid", "dash")[number % 2]})
        place = np.log10(at) if content.x.scale == "duration" else at  # of a logarithmic axis, for words alone
        low, high = made.layout.xaxis.range
        before = place - low > _CHARACTER * len(words) * (high - low)
        made.add_annotation(
            x=place, y=1, yref="paper", text=escaped(words), showarrow=False, font={"color": tones.text},
            xanchor="right" if before else "left", yanchor="bottom", yshift=_MARK * number, name="mark",
        )  # fmt: skip
    made.layout.margin.t += _MARK * max(len(content.marks) - 1, 0)


def _event_lines(made: Figure, content: Stack | Steps, tones: Tones, **place: int) -> None:
    """A thin line for each event, its label along it, with all that happened then under the pointer."""
    start, end = content.ends if content.events else (0.0, 0.0)
    for line in content.events:
        at = along(content.x, np.array([line.at]))[0]
        made.add_vline(x=at, line={"color": tones.quiet, "width": 1, "dash": "dash"}, **place)
        if line.label and (place or _FIRST) == _FIRST:
            side = "left" if line.at - start < _EDGE * (end - start) else "right"
            made.add_annotation(
                x=at, y=1, yref="y domain", text=escaped(line.label), textangle=-90, showarrow=False, xanchor=side,
                yanchor="top", font={"color": tones.text, "size": 10}, bgcolor=colour(tones.ground, 0.75), name="event",
                hovertext="<br>".join([f"{moment_words(line.at)} UTC", *map(escaped, line.whole)]),
            )  # fmt: skip


def bars(made: Figure, content: Bars, tones: Tones) -> None:
    """One bar per name, the largest at the top; that of the others is cut where the axis ends."""
    rows, labels = list(range(len(content.names))), content.labels[0]
    for series, (start, length) in zip(content.series, content.spans, strict=True):
        hue = tones.hue(series.hue)
        of_others = [colour(tones.of_others(hue, cut=content.cut))] * content.rest
        made.add_trace(
            Bar(
                y=rows, x=length, base=start, orientation="h", hoverinfo="text", name=escaped(series.key),
                hovertext=[hover(labels[name], name, with_unit(value, content.x.unit), series.label)
                           for name, value in zip(content.names, series.values.tolist(), strict=True)],
                marker={"color": [hue] * (len(rows) - content.rest) + of_others, "line": {"width": 0}},
            )
        )  # fmt: skip
    for row, (words, tip, left) in enumerate(zip(content.words, content.tips, content.leftward, strict=True)):
        made.add_annotation(
            x=tip, y=row, text=escaped(words), showarrow=False, xanchor="right" if left else "left",
            font={"color": tones.text, "size": 11}, name="total",
        )  # fmt: skip
    made.update_layout(showlegend=len(content.series) > 1, barmode="overlay", bargap=0.28)
    low, high = content.across(min(_CHARACTER * max(map(len, content.words)), 0.35))
    made.update_xaxes(
        title=axis_title(content.x.label), showgrid=True, zeroline=low < 0, **amounts(*content.reach), range=[low, high]
    )
    made.update_yaxes(
        showgrid=False, zeroline=False, range=[len(rows) - 0.4, -0.6], tickvals=rows,
        ticktext=[escaped(labels[name]) for name in content.names],
    )  # fmt: skip


def flows(made: Figure, content: Flows, tones: Tones) -> None:
    """Ribbons from the left to the right, with sizes next to the names and a heading over each side."""
    labels, sides = content.labels[0], (content.sizes(0), content.sizes(1))
    nodes = [(name, size, words, x) for side, words, x in zip(sides, content.heads, _EDGES, strict=True)
             for name, size in side.items()]  # fmt: skip
    room = made.layout.height - made.layout.margin.t - made.layout.margin.b
    gap = min(_GAP / room, 0.5 / max(map(len, sides)))
    made.add_trace(
        Sankey(
            arrangement="snap", textfont={"color": tones.text, "size": 12},
            node={
                "label": [f"{escaped(labels[name])}  {content.text(size)}" for name, size, _, _ in nodes],
                "color": [tones.hue(content.hues[name]) for name, _, _, _ in nodes],
                "customdata": [hover(labels[name], name, f"{with_unit(size, content.unit)} {words} here")
                               for name, size, words, _ in nodes],
                "x": [x for _, _, _, x in nodes],
                "y": [1 - (top + bottom) / 2 for side in (0, 1)
                      for top, bottom in content.places(side, gap)],
                "hovertemplate": "%{customdata}<extra></extra>", "line": {"width": 0}, "pad": gap * room,
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
            yshift=-20, showarrow=False, font={"color": tones.quiet}, name="status",
        )  # fmt: skip


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
    (rows, columns), grid = content.sides, content.grid
    filled = np.where(content.blank, np.nan, grid)
    low, high = np.log10([content.low, content.high]) if content.logarithmic else (0.0, content.high)
    stops = heat_colours(tones)
    made.add_trace(
        Heatmap(
            z=np.log10(filled) if content.logarithmic else filled, zmin=low, zmax=high if high > low else low + 1,
            colorscale=[[at, colour(stops(at)[:3])] for at in np.linspace(0, 1, 9).tolist()], xgap=1.5, ygap=1.5,
            text=[["" if count != count else amount_text(count) for count in row] for row in filled.tolist()],
            texttemplate="%{text}" if max(grid.shape) <= _READABLE else None,
            hovertext=[[_cell(content, row, column) for column in range(len(columns))] for row in range(len(rows))],
            hoverinfo="text", hoverongaps=True, colorbar=_scale(content, float(low), float(high)),
        )
    )  # fmt: skip
    made.update_layout(plot_bgcolor=colour(mixed(tones.faint, tones.ground, 0.55)))
    made.update_xaxes(
        title=axis_title(content.heads[1]),
        constrain="domain",
        showline=False,
        ticks="",
        tickangle=0 if content.columns else -40,
        **_ticks(columns),
    )
    made.update_yaxes(
        autorange="reversed", scaleanchor=None if content.columns else "x", constrain="domain", zeroline=False,
        title=axis_title(content.heads[0]) | {"standoff": 16}, ticklabelstandoff=6, **_ticks(rows),
    )  # fmt: skip


def _ticks(labels: list[str]) -> dict[str, Any]:
    return {"tickvals": list(range(len(labels))), "ticktext": list(map(escaped, labels)), "showgrid": False}


def _cell(content: Matrix, row: int, column: int) -> str:
    if content.columns:
        blank = content.blank[row, column]
        number = "not known" if blank else with_unit(float(content.grid[row, column]), content.unit)
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
