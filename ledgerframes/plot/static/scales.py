"""The two axes of a chart as its content describes them: places, ticks, labels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ledgerframes.number_format import amount_text, duration_text, scale_text
from ledgerframes.plot.bins import within_years
from ledgerframes.plot.contents import Axis, Floats, Micros, Stack, Steps
from ledgerframes.plot.static.layout import measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import Formatter

Ends = tuple[float, float]

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0
DURATIONS: Final = (
    1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, _MINUTE, 2 * _MINUTE, 5 * _MINUTE,
    10 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 30 * _DAY,
    100 * _DAY, 1_000 * _DAY, 10_000 * _DAY, 100_000 * _DAY, 1_000_000 * _DAY,
)  # fmt: skip


def positions(axis: Axis, values: Floats | Micros) -> Floats:
    """Values as matplotlib places them: times as its dates, kept within the years that it can write."""
    if axis.scale != "time":
        return np.asarray(values, dtype=np.float64)
    from matplotlib.dates import date2num

    return np.asarray(date2num(within_years(np.asarray(values, dtype=np.int64))), dtype=np.float64)  # type: ignore[no-untyped-call]


def scaled(ax: Axes, content: Stack | Steps, x: Ends, y: Ends, size: float) -> None:
    """Make both axes those of the content, from where to where each, with texts of this size."""
    width, height = measured(ax)
    _upward(ax, content.y, *y, int(min(max(height / (2.6 * size), 2), 6)))
    _across(ax, content.x, *x, int(min(max(width / (6.4 * size), 2), 8)))


def _across(ax: Axes, axis: Axis, low: float, high: float, few: int) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    if axis.scale == "time":
        first, last = positions(axis, np.array([-(2**62), 2**62]))  # the years that matplotlib can write
        _time(ax, max(low, float(first)), min(high, float(last)), few)
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
    if axis.scale == "percent":
        from matplotlib.ticker import PercentFormatter

        ax.set_ylim(0, high)
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1] if few > 3 else [0, 0.5, 1])
        ax.yaxis.set_major_formatter(PercentFormatter(1))
    else:
        room = 0.0 if axis.logarithmic else 0.05 * (high - low)  # no bar touches the frame
        _amounts(ax, axis, low - room if low < 0 else low, high + room, few)
    ax.set_ylabel(axis.label + (" (logarithmic)" if axis.logarithmic else ""))


def _amounts(ax: Axes, axis: Axis, low: float, high: float, few: int) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    ax.set_yscale("log" if axis.logarithmic else "linear")
    ax.set_ylim(*(axis.limits or (low, high)))
    most = max(abs(low), abs(high))
    if axis.logarithmic:
        ax.yaxis.set_major_locator(LogLocator(numticks=few + 1))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: amount_text(value)))
    else:
        ax.yaxis.set_major_locator(MaxNLocator(nbins=few, integer=axis.scale == "count"))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scale_text(value, most)))
    ax.yaxis.set_minor_locator(NullLocator())


def duration_ticks(low: float, high: float, most: int) -> tuple[list[float], list[str]]:
    """Durations that people count in, evenly apart on a logarithmic axis, with their words."""
    apart = np.log(high / low) / most
    ticks: list[float] = []
    for tick in DURATIONS:
        if low <= tick <= high and (not ticks or np.log(tick / ticks[-1]) >= apart):
            ticks.append(tick)
    return ticks, [duration_text(tick) for tick in ticks]


def _time(ax: Axes, low: float, high: float, few: int) -> None:
    from matplotlib.dates import AutoDateLocator

    # With fewer ticks than these the locator looks for a longer step than it knows: half a day, half a year.
    locator = AutoDateLocator(tz="UTC", minticks=3 if few >= 7 else 2, maxticks=max(few, 5))  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(_formatter(few))
    ax.set_xlim(low, high)


def _formatter(few: int) -> Formatter:
    from matplotlib.dates import num2date
    from matplotlib.ticker import Formatter

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
