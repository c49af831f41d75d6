"""Stacks and steps drawn by matplotlib, with their axes and the names of lines at their ends; called by `charts`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, date2num, num2date
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.ticker import (
    FixedLocator,
    Formatter,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
)
from matplotlib.transforms import blended_transform_factory

from ledgerframes.number_format import amount_text, scale_text
from ledgerframes.plot.bins import duration_ticks, within_years
from ledgerframes.plot.contents import Axis, Floats, Micros, Stack, Steps, stacked
from ledgerframes.plot.palette import inside, mixed
from ledgerframes.plot.static.layout import Key, extent, measured, plain, settle, shown, spread, text_size

_SHAPES: Final = ("o", "s", "^", "D", "v", "P", "X")
_NARROW: Final = 260.0  # points: no room for names next to the lines


def bar_key(hue: str, words: str) -> Key:
    """A legend entry of something filled."""
    return Patch(facecolor=hue), words


def stack(ax: Axes, content: Stack, size: float) -> list[Key]:
    """Series in bins, one upon the other, the bins that are covered in part hatched."""
    tones = inside(ax)
    edges = positions(content.x, content.edges)
    parts = stacked(content.series)
    for series, (start, end) in zip(content.series, parts, strict=True):
        ax.stairs(
            end, edges, baseline=start, fill=True, color=tones.hue(series.hue), linewidth=0,
            label=shown(series.label), gid="series",
        )  # fmt: skip
    for place in sorted(content.partial):
        for top in {float(parts[..., place].min()), float(parts[..., place].max())} - {0.0}:
            ax.stairs(
                [top], edges[place : place + 2], baseline=0, fill=True, facecolor="none", edgecolor=tones.ground,
                hatch="////", linewidth=0, gid="partial",
            )  # fmt: skip
    plain(ax, size)
    scaled(ax, content, size)
    _mark(ax, content.marks, size)
    _event_lines(ax, content, size)
    keyed = len(content.series) > 1 or any(series.total for series in content.series)
    return [bar_key(tones.hue(series.hue), series.key) for series in content.series] if keyed else []


def steps(ax: Axes, content: Steps, size: float, *, named: bool = True) -> list[Key]:
    """Lines of values that hold until the next one, each with its name and last value at its end if `named`."""
    tones, alone = inside(ax), len(content.series) == 1
    ends = []
    for number, series in reversed(list(enumerate(content.series))):  # the largest is drawn last, on top
        x, y, hue = positions(content.x, series.at), series.values, tones.hue(series.hue)
        if content.end is not None:
            x, y = np.append(x, positions(content.x, np.array([content.end]))), np.append(y, y[-1])
        if content.filled:
            ax.fill_between(x, y, step="post", color=hue, alpha=0.16, linewidth=0)
        shape, sparse = _SHAPES[number % len(_SHAPES)] if content.shaped else "o", content.sparse(series)
        ax.plot(
            x, y, color=hue, linewidth=0.2 * size, drawstyle="steps-post", gid="series", label=shown(series.label),
            marker=shape if sparse or content.shaped else "none", markersize=0.5 * size,
            markevery=slice(0, len(series.values)) if sparse else max(len(y) // 7, 1), solid_joinstyle="round",
        )  # fmt: skip
        ends.append((float(y[-1]), series.total if alone else series.key, hue, float(x[-1])))
    plain(ax, size)
    scaled(ax, content, size)
    _event_lines(ax, content, size)
    return _ends(ax, ends[::-1], _SHAPES if content.shaped else ("o",), size) if named else []


def _ends(ax: Axes, ends: list[tuple[float, str, str, float]], shapes: Sequence[str], size: float) -> list[Key]:
    """The labels of lines: words at their right ends, or a legend if there is no room next to them."""
    tones = inside(ax)
    if len(ends) == 1:
        value, words, hue, at = ends[0]
        ax.plot(at, value, marker="o", color=hue, markersize=0.6 * size, clip_on=False)
        ax.annotate(
            shown(words), (at, value), xytext=(0.7 * size, 0), textcoords="offset points", va="center", weight="bold",
            color=tones.text, gid="total", annotation_clip=False, fontsize=size,
        )  # fmt: skip
    elif measured(ax)[0] >= _NARROW:
        names = _names(ax, ends, size)
        settle(ax)
        for name in names:  # they took room from the axes
            name.remove()
        _names(ax, ends, size)
    else:
        return [
            (Line2D([], [], color=hue, marker=shapes[number % len(shapes)], markersize=0.5 * size), words)
            for number, (_, words, hue, _) in enumerate(ends)
        ]
    return []


def _names(ax: Axes, ends: list[tuple[float, str, str, float]], size: float) -> list[Annotation]:
    """Names next to the right ends, in their colours, moved apart as little as it takes."""
    height, line = measured(ax)[1], 1.15 * size
    low, high = ax.transAxes.transform((0, 0))[1], ax.transAxes.transform((0, 1))[1]
    placed = sorted(((ax.transData.transform((0, at))[1] - low) / (high - low), name, hue) for at, name, hue, _ in ends)
    wanted = [min(max(at, 0.0), 1.0) for at, _, _ in placed]
    points = min(0.85 * size, max(5.0, 0.8 * height / len(ends)))
    centres = spread(wanted, line / height, low=-line / 2 / height, high=1 + line / 2 / height)
    tones = inside(ax)
    return [
        ax.annotate(
            shown(name), (1, at), (14, (centre - at) * height), xycoords="axes fraction", textcoords="offset points",
            va="center", ha="left", color=mixed(hue, tones.text, 0.72), fontsize=points, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": hue, "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0,
                        "relpos": (0, 0.5)}, gid="series name",
        )
        for at, centre, (_, name, hue) in zip(wanted, centres, placed, strict=True)
    ]  # fmt: skip


def _mark(ax: Axes, marks: tuple[tuple[float, str], ...], size: float) -> None:
    """Lines at places to point out, each with its words on a line of its own above the data."""
    if not marks:
        return
    tones, place = inside(ax), blended_transform_factory(ax.transData, ax.transAxes)
    step = 1.35 * size / measured(ax)[1]
    for number, (at, words) in enumerate(marks):
        height = 0.985 - step * (len(marks) - number - 0.5)
        ax.axvline(
            at, ymax=height, color=tones.text, linewidth=1.1, linestyle=("-", (0, (4, 2)))[number % 2], gid="mark line"
        )
        label = ax.annotate(
            words, (at, height), xycoords=place, xytext=(-5, 0), ha="right", va="center", textcoords="offset points",
            color=tones.text, gid="mark", fontsize=0.95 * size,
            bbox={"facecolor": tones.ground, "edgecolor": "none", "pad": 1},
        )  # fmt: skip
        room = ax.transAxes.inverted().transform(ax.transData.transform((at, 0)))[0] * measured(ax)[0]
        if text_size([label])[0] + 8 > room:
            label.set_horizontalalignment("left")
            label.xyann = (5, 0)


def _event_lines(ax: Axes, content: Stack | Steps, size: float) -> None:
    """A thin line for each event, its label along it from the top, where the axes have room for words."""
    tones, place = inside(ax), blended_transform_factory(ax.transData, ax.transAxes)
    halo = [withStroke(linewidth=1.8, foreground=tones.ground)]  # seen on the ground and on what is filled
    wide, high = measured(ax) if content.events else (0.0, 0.0)
    points = 0.78 * size
    for line in content.events:
        at = float(positions(content.x, np.array([line.at]))[0])
        ax.axvline(at, color=tones.text, linewidth=0.7, linestyle=(0, (3, 2)), path_effects=halo, gid="event line")
        if not line.label or wide < _NARROW or 0.6 * points * len(line.label) > high:
            continue
        before = ax.transAxes.inverted().transform(ax.transData.transform((at, 0)))[0] * wide
        left = before > 1.6 * points
        ax.annotate(
            shown(line.label), (at, 0.99), xycoords=place, xytext=(-1.5 if left else 1.5, 0), rotation=90,
            textcoords="offset points", ha="right" if left else "left", va="top", color=tones.text, fontsize=points,
            gid="event", bbox={"facecolor": tones.ground, "edgecolor": "none", "pad": 0.4, "alpha": 0.75},
        )  # fmt: skip


def positions(axis: Axis, values: Floats | Micros) -> Floats:
    """Values as matplotlib places them: times as its dates, kept within the years that it can write."""
    if axis.scale != "time":
        return np.asarray(values, dtype=np.float64)
    return np.asarray(date2num(within_years(np.asarray(values, dtype=np.int64))), dtype=np.float64)  # type: ignore[no-untyped-call]


def scaled(ax: Axes, content: Stack | Steps, size: float) -> None:
    """Make both axes those of the content, with texts of this size."""
    width, height = extent(ax)  # near enough: a layout takes long
    low, high = positions(content.x, np.array(content.across)).tolist()
    _upward(ax, content.y, *content.upward, int(min(max(height / (2.6 * size), 2), 6)))
    _across(ax, content.x, low, high, int(min(max(width / (6.4 * size), 2), 8)))


def _across(ax: Axes, axis: Axis, low: float, high: float, few: int) -> None:
    if axis.scale == "time":
        # With fewer ticks than these the locator looks for a longer step than it knows: half a day, half a year.
        locator = AutoDateLocator(tz="UTC", minticks=3 if few >= 7 else 2, maxticks=max(few, 5))  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(_formatter(few))
        ax.set_xlim(low, high)
    elif axis.scale == "duration":
        ax.set_xscale("log")
        ax.set_xlim(low, high)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(*duration_ticks(low, high, few))
    else:
        ax.set_xlim(low, high)
        whole = np.arange(np.ceil(low), np.floor(high) + 1).tolist() if high - low <= few else None
        ax.xaxis.set_major_locator(MaxNLocator(nbins=few, integer=True) if whole is None else FixedLocator(whole))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    ax.set_xlabel(axis.label)


def _upward(ax: Axes, axis: Axis, low: float, high: float, few: int) -> None:
    ax.set_yscale("log" if axis.logarithmic else "linear")
    ax.set_ylim(low, high)
    most = max(abs(low), abs(high))
    if axis.scale == "percent":
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1] if few > 3 else [0, 0.5, 1])
        ax.yaxis.set_major_formatter(PercentFormatter(1))
    elif axis.logarithmic:
        ax.yaxis.set_major_locator(LogLocator(numticks=few + 1))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: amount_text(value)))
    else:
        ax.yaxis.set_major_locator(MaxNLocator(nbins=few, integer=axis.scale == "count"))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scale_text(value, most)))
    ax.yaxis.set_minor_locator(NullLocator())
    if low < 0:
        ax.axhline(0, color=inside(ax).quiet, linewidth=0.8, gid="zero")
    ax.set_ylabel(axis.label + (" (logarithmic)" if axis.logarithmic else ""))


def _formatter(few: int) -> Formatter:
    class Moments(Formatter):
        """Ticks with their times, as many as have room."""

        def format_ticks(self, values: Sequence[Any]) -> list[str]:
            step = -(-len(values) // few)
            words = time_words([num2date(value, tz="UTC") for value in values[::step]])  # type: ignore[no-untyped-call]
            return [words[place // step] if place % step == 0 else "" for place in range(len(values))]

        def __call__(self, x: float, pos: int | None = None) -> str:  # noqa: ARG002 - matplotlib calls it so
            return f"{num2date(x, tz='UTC'):%Y-%m-%d %H:%M:%S}"  # type: ignore[no-untyped-call]

    return Moments()


def time_words(moments: Sequence[datetime]) -> list[str]:
    """The labels of ticks: what tells neighbours apart, and under the first, and where it changes, the date or year."""
    if all((at.hour, at.minute, at.second, at.microsecond) == (0, 0, 0, 0) for at in moments):
        if all((at.month, at.day) == (1, 1) for at in moments):
            return [f"{at.year:04}" for at in moments]
        fine = [f"{at:%b}" if all(one.day == 1 for one in moments) else f"{at.day} {at:%b}" for at in moments]
        coarse = [f"{at.year:04}" for at in moments]
    else:
        fine, coarse = [_clock(at, moments) for at in moments], [f"{at.year:04}-{at:%m-%d}" for at in moments]
    before = ["", *coarse]
    return [one if two == last else f"{one}\n{two}" for one, two, last in zip(fine, coarse, before, strict=False)]


def _clock(at: datetime, among: Sequence[datetime]) -> str:
    if any(one.microsecond for one in among):
        return f"{at:%H:%M:%S}.{at.microsecond // 1000:03}"
    return f"{at:%H:%M:%S}" if any(one.second for one in among) else f"{at:%H:%M}"
