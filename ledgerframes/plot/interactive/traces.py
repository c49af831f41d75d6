"""Stacks, steps and bars drawn by plotly; called by `figures`."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ledgerframes.number_format import amount_text
from ledgerframes.plot.bins import moment_words
from ledgerframes.plot.contents import Axis, Bars, Series, Stack, Steps
from ledgerframes.plot.interactive.words import along, amounts, axis_title, colour, escaped, hover, with_unit
from ledgerframes.plot.palette import Tones, mixed

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Place = tuple[int, int]
_ALONE: Final = (1, 1)
_MARKED: Final = 25  # lines of fewer values have a marker at each
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x")
_EDGE: Final = 0.03  # of an axis: nearer to its start a label has no room before its line
_CHARACTER: Final = 0.0105  # of the width of the bars of a narrow page, as totals are written
_FEW: Final = 5  # from so many lines on, shapes tell them apart too


def stack(made: Figure, content: Stack, tones: Tones, *, place: Place | None = None) -> None:
    """Series in bins, one upon the other; bins that are covered in part are hatched."""
    from plotly.graph_objects import Bar

    starts, wide = content.edges[:-1], np.diff(content.edges) / (1000 if content.x.scale == "time" else 1)
    if content.x.scale == "duration":  # a bar of a logarithmic axis is as wide as its bounds, around its middle
        starts, wide = np.sqrt(content.edges[:-1] * content.edges[1:]), np.diff(content.edges)
    hatched = np.array(["/" if at in content.partial else "" for at in range(len(starts))])
    for series in content.series:
        there = np.flatnonzero(series.values)
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
            ), **_at(place),
        )  # fmt: skip
    table = np.array([series.values for series in content.series])
    low, high = (float(one(table, 0).sum(axis=0).min()) for one in (np.minimum, np.maximum))
    high = float(np.maximum(table, 0).sum(axis=0).max())
    made.update_layout(barmode="relative", bargap=0, showlegend=len(content.series) > 1)
    # The words of a mark would widen an axis of rounds.
    fixed = content.x.scale == "time" or content.marks
    ends = along(content.x, content.edges[[0, -1]]) if fixed else None
    made.update_xaxes(**_across(content.x, ends, content.edges), **_at(place))
    made.update_yaxes(**_upward(content.y, low, high), **_at(place))
    _mark(made, content, tones)
    _event_lines(made, content, tones, place)


def steps(made: Figure, content: Steps, tones: Tones, *, place: Place | None = None) -> None:
    """Lines of values that are valid until the next one, with the whole id in the tooltip."""
    from plotly.graph_objects import Scatter

    values = np.concatenate([series.values for series in content.series])
    alone = len(content.series) == 1
    for rank, series in enumerate(content.series):
        x, y = series.at, series.values
        words = [_moment(content, series, at, value) for at, value in zip(x.tolist(), y.tolist(), strict=True)]
        if content.end is not None:
            x, y, words = np.append(x, content.end), np.append(y, y[-1]), [*words, words[-1]]
        marked = len(series.values) < _MARKED or len(content.series) >= _FEW
        hue = tones.hue(series.hue)
        filled = alone and content.y.limits is None and not content.y.logarithmic
        made.add_trace(
            Scatter(
                x=along(content.x, x), y=y, hovertext=words, hoverinfo="text", legendrank=rank, zorder=-rank,
                mode="lines+markers" if marked else "lines", name=escaped(series.key),
                line={"color": hue, "width": 2, "shape": "hv"}, fill="tozeroy" if filled else None,
                fillcolor=colour(mixed(hue, tones.ground, 0.16)),
                marker={"size": 6, "symbol": _SHAPES[rank % len(_SHAPES)] if len(content.series) >= _FEW else "circle",
                        "maxdisplayed": 0 if len(series.values) < _MARKED else 8},
            ), **_at(place),
        )  # fmt: skip
    made.update_layout(showlegend=not alone)
    at = np.concatenate([series.at for series in content.series])
    made.update_xaxes(**_across(content.x, None, at), **_at(place))
    made.update_yaxes(**_upward(content.y, float(values.min()), float(values.max())), **_at(place))
    _event_lines(made, content, tones, place)


def _moment(content: Steps, series: Series, at: float, value: float) -> str:
    words = f"{moment_words(int(at))} UTC" if content.x.scale == "time" else f"{content.words} {at:.0f}".strip()
    return hover(series.label, series.name, words, _value(content.y, value))


def _value(axis: Axis, value: float) -> str:
    return f"{value:.1%}" if axis.scale == "percent" else with_unit(value, axis.unit)


def _at(place: Place | None) -> dict[str, int]:
    return {} if place is None else {"row": place[0], "col": place[1]}


def _across(axis: Axis, ends: Any, values: Any) -> dict[str, Any]:
    title = {"title": axis_title(axis.label)}
    if axis.scale == "time":
        return title | {"type": "date"} | ({} if ends is None else {"range": list(ends)})
    if axis.scale == "duration":
        from ledgerframes.plot.static.scales import duration_ticks

        ticks, words = duration_ticks(float(values[0]), float(values[-1]), 8)
        return title | {"type": "log", "tickvals": ticks, "ticktext": words}
    return title | {"type": "linear", "tickformat": "d"} | ({} if ends is None else {"range": list(ends)})


def _power(value: float) -> int:
    return floor(log10(max(value, 1e-10)))


def _upward(axis: Axis, low: float, high: float) -> dict[str, Any]:
    title = {"title": axis_title(axis.label + (" (logarithmic)" if axis.logarithmic else ""))}
    if axis.logarithmic:
        powers = [10.0**power for power in range(_power(low), _power(high) + 2)]
        powers = powers[:: 1 + len(powers) // 10]
        return title | {"type": "log", "tickvals": powers, "ticktext": [amount_text(power) for power in powers]}
    if axis.scale == "percent":
        return title | {"tickformat": ".0%", "range": [0, 1.05]}
    whole = {"rangemode": "tozero"} if axis.limits is None else {"range": list(axis.limits)}
    steps = {"dtick": 1} if axis.scale == "count" and high <= _FEW else {}
    return title | {"type": "linear", **whole, **amounts(low, high), **steps}


def _mark(made: Figure, content: Stack, tones: Tones) -> None:
    for number, (at, words) in enumerate(content.marks):
        made.add_vline(x=at, line={"color": tones.text, "width": 1.1, "dash": ("solid", "dash")[number % 2]})
        place = np.log10(at) if content.x.scale == "duration" else at  # of a logarithmic axis, for words alone
        made.add_annotation(
            x=place, y=1, yref="paper", text=escaped(words), showarrow=False, font={"color": tones.text},
            xanchor=("right", "left")[number % 2], yanchor="bottom", name="mark",
        )  # fmt: skip


def _event_lines(made: Figure, content: Stack | Steps, tones: Tones, place: Place | None) -> None:
    """A thin line for each event, its label along it, with all that happened then under the pointer."""
    start, end = content.ends if content.events else (0.0, 0.0)
    for line in content.events:
        at = along(content.x, np.array([line.at]))[0]
        made.add_vline(x=at, line={"color": tones.quiet, "width": 1, "dash": "dash"}, **_at(place or _ALONE))
        if line.label and place in {None, _ALONE}:
            side = "left" if line.at - start < _EDGE * (end - start) else "right"
            made.add_annotation(
                x=at, y=1, yref="y domain", text=escaped(line.label), textangle=-90, showarrow=False, xanchor=side,
                yanchor="top", font={"color": tones.text, "size": 10}, bgcolor=colour(tones.ground, 0.75), name="event",
                hovertext="<br>".join([f"{moment_words(line.at)} UTC", *map(escaped, line.whole)]),
            )  # fmt: skip


def bars(made: Figure, content: Bars, tones: Tones) -> None:
    """One bar per name, the largest at the top; that of the others is cut where the axis ends."""
    from plotly.graph_objects import Bar

    rows, labels = list(range(len(content.names))), content.labels[0]
    named = len(rows) - content.rest
    for series in content.series:
        made.add_trace(
            Bar(
                y=rows, x=series.values, orientation="h", hoverinfo="text", name=escaped(series.key),
                hovertext=[hover(labels[name], name, with_unit(value, content.x.unit), series.label)
                           for name, value in zip(content.names, series.values.tolist(), strict=True)],
                marker={"color": tones.hue(series.hue), "line": {"width": 0},
                        "opacity": [1.0] * named + [0.5] * content.rest},
            )
        )  # fmt: skip
    table = np.array([series.values for series in content.series])
    up, down = np.maximum(table, 0).sum(axis=0), np.minimum(table, 0).sum(axis=0)
    low, high = content.reach
    wide = (high - low) or 1.0
    taken = min(_CHARACTER * max(map(len, content.totals)), 0.4)
    room = wide * taken / (1 - taken)
    for row, total in enumerate(content.totals):
        left = content.leftward[row]
        made.add_annotation(
            x=max(down[row], low) if left else min(up[row], high), y=row, text=escaped(total), showarrow=False,
            xanchor="right" if left else "left", font={"color": tones.text, "size": 11}, name="total",
        )  # fmt: skip
    made.update_layout(showlegend=len(content.series) > 1, barmode="relative", bargap=0.28)
    made.update_xaxes(
        title=axis_title(content.x.label),
        showgrid=True,
        **amounts(low, high + room),
        range=[low - (room if content.leftward.any() else 0.02 * wide if low < 0 else 0), high + room],
    )
    made.update_yaxes(
        showgrid=False, zeroline=False, range=[len(rows) - 0.4, -0.6], tickvals=rows,
        ticktext=[escaped(labels[name]) for name in content.names],
    )  # fmt: skip
