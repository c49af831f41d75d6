"""Stacks over time, lines and bars for a browser; called by the pictures of rates, rewards, balances and supply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ledgerframes.plots.drawing.amount_scale import far_apart
from ledgerframes.plots.drawing.contents import Bars, Lines, Nothing, RoundFlows, RoundTotals, Stack
from ledgerframes.plots.drawing.number_format import amount_text, count_text
from ledgerframes.plots.drawing.palette import Tones, mixed, of_settings
from ledgerframes.plots.drawing.session_hues import SESSION
from ledgerframes.plots.interactive.figures import (
    axis_title,
    colour,
    exact,
    figure,
    hover,
    moment_words,
    moments,
    nothing,
    said,
)

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_SEVERAL = 25  # points of a line that are still marked


def stack_figure(content: Stack | Nothing) -> Figure:
    """Series in bins of time, one upon the other; a bin in which the data ends is pale."""
    tones = of_settings()
    if isinstance(content, Nothing):
        return nothing(content, tones)
    from plotly.graph_objects import Bar

    made = figure(content.title, content.second, tones)
    labels, hues = content.ranking.labels(), content.hues(tones)
    starts, ends = content.cut.drawn[:-1], content.cut.drawn[1:]
    spans = [
        f"{moment_words(start)} to {moment_words(end)} UTC"
        for start, end in zip(content.cut.edges[:-1], content.cut.edges[1:], strict=True)
    ]
    pale = np.ones(len(starts))
    pale[-1] = 0.45 if content.cut.known_to is not None else 1.0
    for name, values in zip(content.ranking.names, content.table, strict=True):
        there = np.flatnonzero(values)
        words = [hover(labels[name], name, spans[at], f"{exact(values[at])} {content.unit}") for at in there]
        made.add_trace(
            Bar(
                x=moments(starts[there]), y=values[there], width=(ends - starts)[there] / 1000, offset=0,
                name=said(f"{labels[name]}  {_total(values, content.unit)}"), hovertext=words, hoverinfo="text",
                marker={"color": hues[name], "opacity": pale[there], "line": {"width": 0}},
            )
        )  # fmt: skip
    made.update_layout(barmode="relative", bargap=0, showlegend=True)
    made.update_xaxes(
        type="date", range=moments(content.cut.drawn[[0, -1]]), title=axis_title(content.over),
    )  # fmt: skip
    made.update_yaxes(title=axis_title(content.per))
    return made


def _total(values: Any, unit: str) -> str:
    return amount_text(float(values.sum())) if unit == "coin" else count_text(int(values.sum()))


def lines_figure(content: Lines | Nothing) -> Figure:
    """One line per name over time, with the whole id under the pointer."""
    tones = of_settings()
    if isinstance(content, Nothing):
        return nothing(content, tones)
    from plotly.graph_objects import Scatter

    made = figure(content.title, content.second, tones, height=480)
    hues = SESSION.of(content.kind, [line.name for line in content.lines], tones)
    values = np.concatenate([line.values for line in content.lines])
    for rank, line in enumerate(content.lines):
        words = [
            hover(line.label, line.name, f"{moment_words(at)} UTC", f"{exact(value)} {content.unit}")
            for at, value in zip(line.moments.tolist(), line.values.tolist(), strict=True)
        ]
        made.add_trace(
            Scatter(
                x=moments(line.moments), y=line.values, hovertext=words, hoverinfo="text", legendrank=rank,
                mode="lines+markers" if len(line.values) < _SEVERAL else "lines", zorder=-rank,
                name=said(f"{line.label}  {amount_text(float(line.values[-1]))}"),
                line={"color": hues[line.name], "width": 2}, marker={"size": 6},
            )
        )  # fmt: skip
    logarithmic = far_apart(float(values.min()), float(values.max()))
    made.update_layout(showlegend=True)
    made.update_xaxes(type="date", title=axis_title("time (UTC)"))
    made.update_yaxes(**_scale(content.of, logarithmic=logarithmic))
    return made


def _scale(label: str, *, logarithmic: bool) -> dict[str, Any]:
    if logarithmic:
        return {"type": "log", "dtick": 1, "title": axis_title(f"{label} (logarithmic)")}
    return {"type": "linear", "rangemode": "tozero", "title": axis_title(label)}


def bars_figure(content: Bars | Nothing) -> Figure:
    """One bar per name, the largest at the top."""
    tones = of_settings()
    if isinstance(content, Nothing):
        return nothing(content, tones)
    from plotly.graph_objects import Bar

    values = content.values
    made = figure(content.title, content.second, tones, height=150 + 26 * len(values))
    words = [
        hover(label, name, exact(value))
        for label, name, value in zip(content.labels, content.names, values.tolist(), strict=True)
    ]
    made.add_trace(
        Bar(
            y=list(range(len(values))), x=values, orientation="h", hovertext=words, hoverinfo="text",
            text=[said(amount_text(value)) for value in values.tolist()], textposition="outside", cliponaxis=False,
            marker={"color": tones.hues[0], "line": {"width": 0}}, textfont={"color": tones.text},
        )
    )  # fmt: skip
    logarithmic = far_apart(float(values.min()), float(values.max()))
    made.update_layout(showlegend=False, bargap=0.28)
    made.update_xaxes(exponentformat="B", **_scale(content.of, logarithmic=logarithmic))
    made.update_yaxes(
        showgrid=False,
        zeroline=False,
        autorange="reversed",
        tickvals=list(range(len(values))),
        ticktext=list(map(said, content.labels)),
    )
    return made


def rounds_figure(content: RoundFlows | RoundTotals | Nothing) -> Figure:
    """What rounds minted, upwards, and burned, downwards; or the supply after each."""
    tones = of_settings()
    if isinstance(content, Nothing):
        return nothing(content, tones)
    made = figure(content.title, content.second, tones)
    made.update_xaxes(title=axis_title("round"), tickformat="d")
    if isinstance(content, RoundTotals):
        _totals(made, content, tones)
    else:
        _flows(made, content, tones)
    return made


def _flows(made: Figure, content: RoundFlows, tones: Tones) -> None:
    from plotly.graph_objects import Bar

    last = content.first + content.size - 1
    rounds = [
        f"round {low:.0f}" if low == high else f"rounds {low:.0f} to {high:.0f}"
        for low, high in zip(content.first, last, strict=True)
    ]
    series = (("minted", content.minted, 1), ("burned", content.burned, -1))
    for (name, values, sign), hue in zip(series, tones.hues, strict=False):
        pale = [0.45 if place in content.cut else 1.0 for place in range(len(values))]
        look = {"color": hue, "opacity": pale, "line": {"width": 0}}
        words = [hover(name, None, at, f"{exact(value)} coin") for at, value in zip(rounds, values, strict=True)]
        made.add_trace(
            Bar(
                x=content.edges[:-1], y=sign * values, width=np.diff(content.edges), offset=0, hoverinfo="text",
                hovertext=words, name=f"{name}  {amount_text(float(values.sum()))}", marker=look,
            )
        )  # fmt: skip
    made.update_layout(barmode="relative", bargap=0, showlegend=True)
    made.update_yaxes(title=axis_title(content.per))


def _totals(made: Figure, content: RoundTotals, tones: Tones) -> None:
    from plotly.graph_objects import Scatter

    made.add_trace(
        Scatter(
            x=content.numbers, y=content.totals, mode="lines+markers" if len(content.totals) < _SEVERAL else "lines",
            line={"color": tones.hues[0], "width": 2, "shape": "hv"}, hoverinfo="text", name="total",
            fill=None if content.near else "tozeroy", fillcolor=colour(mixed(tones.hues[0], tones.ground, 0.16)),
            hovertext=[
                hover(f"after round {number:.0f}", None, f"{exact(total)} coin")
                for number, total in zip(content.numbers, content.totals, strict=True)
            ],
        )
    )  # fmt: skip
    made.update_layout(showlegend=False)
    made.update_yaxes(title=axis_title(content.of), rangemode="normal" if content.near else "tozero")
