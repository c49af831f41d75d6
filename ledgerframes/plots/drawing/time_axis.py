"""Times on an axis, in bins and in words, all in UTC; called by pictures over time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.plots.drawing.columns import Floats, Micros

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DAY: Final = 86_400_000_000
_SECOND: Final = 1_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = -62_135_510_400 * _SECOND  # the second day of year 1: matplotlib writes no earlier date
_LAST: Final = 253_402_214_400 * _SECOND  # the last day of year 9999
_MONDAY: Final = 4 * DAY  # 1970 began on a Thursday
_MOST: Final = 20_000

_STEPS: Final = (
    (100_000, "100 milliseconds"), (_SECOND, "second"),
    (5 * _SECOND, "5 seconds"), (15 * _SECOND, "15 seconds"), (60 * _SECOND, "minute"), (300 * _SECOND, "5 minutes"),
    (900 * _SECOND, "15 minutes"), (3600 * _SECOND, "hour"), (3 * 3600 * _SECOND, "3 hours"),
    (6 * 3600 * _SECOND, "6 hours"), (DAY, "day"), (7 * DAY, "week"),
)  # fmt: skip
_MONTHS: Final = ((1, "month"), (3, "quarter"), (12, "year"), (120, "decade"), (1200, "century"), (12000, "millennium"))


@dataclass(frozen=True)
class Bins:
    """Intervals of time, each inclusive of its start.

    Attributes:
        edges: microseconds since 1970, one more than there are bins.
        name: what one bin is: minute, 5 minutes, day.
        known_to: where the data ends, if that is inside the last bin: this one is cut.
    """

    edges: Micros
    name: str
    known_to: int | None = None

    @property
    def drawn(self) -> Micros:
        """The edges to draw: a cut bin ends where the data does, and is never thinner than a tenth."""
        if self.known_to is None:
            return self.edges
        least = self.edges[-2] + (self.edges[-1] - self.edges[-2]) // 10
        return np.append(self.edges[:-1], max(self.known_to, least))

    def note(self) -> str:
        """What the second line says of a cut bin; empty where none is."""
        return "; the last bar is incomplete" if self.known_to is not None else ""

    def of(self, times: Micros) -> Micros:
        """The bin of each time."""
        return np.searchsorted(self.edges, times, side="right").astype(np.int64) - 1


def bins(times: Micros, *, every: str | None = None, most: int = 72) -> Bins:
    """Intervals that cover these times, of a length that people count in.

    Args:
        times: at least one.
        every: the length, as pandas writes it (`"5min"`, `"1h"`); chosen from the times by default.
        most: how many intervals to choose at most.

    Raises:
        InputError: `every` is not a duration, or would give too many intervals.
    """
    low, high = int(times.min()), int(times.max())
    if every is not None:
        length = _length(every, high - low)
        return _cut(_fixed(low, high, length, _name(length)), times)
    if high - low < _SECOND:
        return _fixed(low - 300 * _SECOND, high + 300 * _SECOND, 60 * _SECOND, "minute")
    for step, name in _STEPS:
        if (high - low) // step < most:
            return _cut(_fixed(low, high, step, name), times)
    return _cut(_calendar(low, high, most), times)


def dates(times: Micros) -> Floats:
    """Times as matplotlib counts them, kept within the years it can write."""
    from matplotlib.dates import date2num

    return np.asarray(date2num(within_years(times)), dtype=np.float64)  # type: ignore[no-untyped-call]


def within_years(times: Micros) -> npt.NDArray[np.datetime64]:
    """Times kept within the years that a picture can write."""
    return np.clip(times, _FIRST, _LAST).astype("M8[us]")


def time_axis(
    ax: Axes, low: int, high: int, *, label: str = "record time (UTC)", margin: float = 0.0, least: int = 3600 * _SECOND
) -> None:
    """Make the x axis one of time in UTC from `low` to `high`, in microseconds.

    Args:
        ax: the axes.
        low: the first instant shown.
        high: the last.
        label: the axis label.
        margin: share of the range to add on both sides.
        least: what to show of time where there is a single instant.
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    room = max(int((high - low) * margin), 0 if high > low else least // 2)
    locator = AutoDateLocator(tz="UTC", minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz="UTC"))  # type: ignore[no-untyped-call]
    ax.set_xlim(
        *dates(np.array([low - room, high + room - 1], dtype=np.int64))
    )  # a tick at the very end would name the next month
    ax.set_xlabel(label, loc="left")  # at the right stands the day


def moment_text(micros: int) -> str:
    """An instant to the minute: 2025-03-03 09:30."""
    moment = _EPOCH + timedelta(microseconds=int(np.clip(micros, _FIRST, _LAST)))
    return f"{moment.year:04}-{moment:%m-%d %H:%M}"


def between(times: Micros) -> str:
    """From when to when, in words; empty for no times."""
    if not len(times):
        return ""
    first, last = moment_text(int(times.min())), moment_text(int(times.max()))
    if first == last:
        return f"{first} UTC"
    return f"{first} to {last[11:] if first[:10] == last[:10] else last} UTC"


def _cut(whole: Bins, times: Micros) -> Bins:
    """The bins with where the data ends, if much of the last one is missing and not by chance.

    Times say nothing of what was asked for, so the usual distance between them decides: one of three times the mean
    has, where times are random, a probability of 5 %.
    """
    low, high = int(times.min()), int(times.max())
    missing = int(whole.edges[-1]) - high
    usual = (high - low) / max(len(times) - 1, 1)
    last = int(whole.edges[-1] - whole.edges[-2])
    return replace(whole, known_to=high) if high > low and missing > max(3 * usual, last / 10) else whole


def _calendar(low: int, high: int, most: int) -> Bins:
    first, last = np.array([low, high]).astype("M8[us]").astype("M8[M]").astype(np.int64)
    count, name = next((step for step in _MONTHS if (last - first) // step[0] + 2 <= most), _MONTHS[-1])
    edges = np.arange(first // count * count, last + count + 1, count)
    return Bins(edges.astype("M8[M]").astype("M8[us]").astype(np.int64), name)


def _fixed(low: int, high: int, step: int, name: str) -> Bins:
    origin = _MONDAY if step % (7 * DAY) == 0 else 0
    start = (low - origin) // step * step + origin
    return Bins(np.arange(start, high + step + 1, step, dtype=np.int64)[: (high - start) // step + 2], name)


def _name(length: int) -> str:
    """A length in words, to be read after "per": day, 2 weeks, 90 minutes, 1.5 seconds."""
    known = dict(_STEPS)
    if length in known:
        return known[length]
    unit = next((unit for unit in (7 * DAY, DAY, 3600 * _SECOND, 60 * _SECOND) if length % unit == 0), _SECOND)
    return f"{length / unit:g} {known[unit]}s"


def _length(every: str, span: int) -> int:
    if every != every:  # not a number, of whichever library
        raise InputError(f'every={every!r} is not a duration; write for example "5min", "1h" or "1D"')
    try:
        step = int(pd.Timedelta(every) / pd.Timedelta("1us"))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f'every={every!r} is not a duration: {error}; write for example "5min", "1h" or "1D"'
        ) from error
    if step < 1:
        raise InputError(f"every={every!r} is not above 0; leave it out to let the picture choose")
    if span // step >= _MOST:
        raise InputError(f"every={every!r} cuts this range into {span // step:,} intervals; give at most {_MOST:,}")
    return step
