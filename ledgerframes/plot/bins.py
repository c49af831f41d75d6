"""Times and rounds in bins and in words, times in UTC; called by charts over time and over rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import numpy.typing as npt

from ledgerframes.arguments import duration
from ledgerframes.errors import InputError
from ledgerframes.number_format import count_text, duration_text, plural
from ledgerframes.plot.contents import Axis, Floats, Micros, Scale, Series, Stack

if TYPE_CHECKING:
    import pandas as pd

DAY: Final = 86_400_000_000
QUARTER: Final = 100  # bars at most, so that the days of a quarter have one each
_SECOND: Final = 1_000_000
_FIRST: Final = -62_135_510_400 * _SECOND  # the second day of year 1: matplotlib writes no earlier date
_LAST: Final = 253_402_214_400 * _SECOND  # the last day of year 9999
_MONDAY: Final = 4 * DAY  # 1970 began on a Thursday
_MOST: Final = 20_000
_MOST_ROUNDS: Final = 120

_STEPS: Final = (
    (100_000, "100 milliseconds"), (_SECOND, "second"),
    (5 * _SECOND, "5 seconds"), (15 * _SECOND, "15 seconds"), (60 * _SECOND, "minute"), (300 * _SECOND, "5 minutes"),
    (900 * _SECOND, "15 minutes"), (3600 * _SECOND, "hour"), (3 * 3600 * _SECOND, "3 hours"),
    (6 * 3600 * _SECOND, "6 hours"), (DAY, "day"), (7 * DAY, "week"),
)  # fmt: skip
_MONTHS: Final = ((1, "month"), (3, "quarter"), (12, "year"), (120, "decade"), (1200, "century"), (12000, "millennium"))
_MINUTE, _HOUR = 60.0, 3_600.0  # seconds
_DURATIONS: Final = (
    1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, _MINUTE, 2 * _MINUTE, 5 * _MINUTE,
    10 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR,
    *(days * 24 * _HOUR for days in (1, 2, 7, 30, 100, 1_000, 10_000, 100_000, 1_000_000)),
)  # fmt: skip


#: From when to when data reaches, exclusive, in microseconds; None where that is not known.
Held = tuple[int | None, int | None]


@dataclass(frozen=True)
class Bins:
    """Intervals of time, or of rounds, each inclusive of its start.

    Attributes:
        edges: microseconds since 1970, or rounds; one more than there are bins.
        name: the length of one bin: minute, 5 minutes, day.
        spans: each bin in words.
        partial: the bins that the data covers in part only, such as the last one where it ends inside of it.
    """

    edges: Floats | Micros
    name: str
    spans: tuple[str, ...]
    partial: frozenset[int] = frozenset()

    def note(self) -> str:
        """The subtitle's note on hatched bins; empty if there are none."""
        if not self.partial:
            return ""
        if len(self.spans) == 1:
            return "; the only bar is incomplete"
        if not self.partial <= {0, len(self.spans) - 1}:
            return f"; {plural(len(self.partial), 'bar')} incomplete"
        ends = ["last" if place else "first" for place in sorted(self.partial)]
        return f"; the {' and the '.join(ends)} bar {'is' if len(ends) == 1 else 'are'} incomplete"

    def with_cut(self, positions: Floats | Micros, whole: pd.Series) -> Bins:
        """The same, of which those are partial too that hold a position that is known not to be whole."""
        place = np.searchsorted(self.edges, positions, side="right") - 1
        cut = place[~whole.astype("boolean").fillna(value=True).to_numpy(bool)]
        return replace(self, partial=self.partial | {*cut.tolist()})

    def total(self, positions: Floats | Micros, values: Floats) -> Floats:
        """The sum of the values in each bin."""
        total: Floats = self.sums(positions, np.zeros(len(positions), np.int64), 1, values)[0]
        return total

    def sums(self, positions: Floats | Micros, codes: Micros, count: int, values: Floats | None = None) -> Floats:
        """How many of each series fall into each bin, or the sum of their values: one row per series."""
        wide = len(self.spans)
        place = np.searchsorted(self.edges, positions, side="right") - 1 + codes * wide
        weights = None if values is None else np.nan_to_num(values)
        return np.bincount(place, weights, count * wide).reshape(count, wide).astype(np.float64)

    def stack(
        self, title: str, subtitle: str, series: tuple[Series, ...], of: str, scale: Scale, unit: str = "",
        *, along: str = "record time (UTC)",
    ) -> Stack:  # fmt: skip
        """A chart of series in these bins; `of` is the unit of their values per bin, such as CC per day."""
        x, y = Axis(along, "round" if along == "round" else "time"), Axis(f"{of} per {self.name}", scale, unit)
        return Stack(title, subtitle, x, y, self.edges, self.spans, series, self.partial)


def time_bins(edges: Micros, name: str) -> Bins:
    """Intervals between these times."""
    words = [moment_words(edge) for edge in edges.tolist()]
    return Bins(edges, name, tuple(f"{start} to {end} UTC" for start, end in pairwise(words)))


def bins(times: Micros, *, every: str | None = None, most: int = 72, held: Held = (None, None)) -> Bins:
    """Intervals that cover these times, of a length that people count in.

    Args:
        times: at least one.
        every: the length (`"5min"`, `"1h"`); chosen from the times by default.
        most: how many intervals to choose at most.
        held: from when to when the data reaches, exclusive, where its provenance says so.

    Raises:
        InputError: `every` is not a duration, or would give too many intervals.
    """
    low, high = int(times.min()), int(times.max())
    if every is not None:
        length = _length(every, high - low)
        return _with_partial_ends(_fixed(low, high, length, length_words(length)), times, held)
    if high - low < _SECOND:
        return _fixed(low - 300 * _SECOND, high + 300 * _SECOND, 60 * _SECOND, "minute")
    for step, name in _STEPS:
        if (high - low) // step < most:
            return _with_partial_ends(_fixed(low, high, step, name), times, held)
    return _with_partial_ends(_calendar(low, high, most), times, held)


def grouped(numbers: Floats, whole: pd.Series | None) -> Bins:
    """Put rounds together, so that there are 120 bars at the most; a cut one ends where the rounds do.

    Those of which rounds are missing at the ends, and those with a round that is not whole, are partial.

    Args:
        numbers: of the rounds, in order.
        whole: whether each is whole, where that is known.
    """
    low, high = numbers[0], numbers[-1]
    sizes = (step * 10**power for power in range(18) for step in (1, 2, 5))
    size = next(size for size in sizes if high // size - low // size < _MOST_ROUNDS)
    first = np.arange(low // size * size, high + 1, size)
    last = first + size - 1
    partial = ({0} if low > first[0] else set()) | ({len(first) - 1} if high < last[-1] else set())
    spans = map(rounds_between, first, last)
    edges = np.clip(np.append(first, last[-1] + 1) - 0.5, low - 0.5, high + 0.5)
    name = "round" if size == 1 else f"{count_text(size)} rounds"
    found = Bins(edges, name, tuple(spans), frozenset(partial))
    return found if whole is None else found.with_cut(numbers, whole)


def rounds_text(numbers: Floats) -> str:
    """How many rounds, and which."""
    first, last = f"{numbers[0]:.0f}", f"{numbers[-1]:.0f}"
    return f"round {first}" if first == last else f"{plural(len(numbers), 'round')}, {first} to {last}"


def rounds_between(first: float, last: float) -> str:
    """Which rounds, the last one included."""
    return f"round {first:.0f}" if first == last else f"rounds {first:.0f} to {last:.0f}"


def within_years(times: Micros) -> npt.NDArray[np.datetime64]:
    """Times kept within the years that a chart can write."""
    return np.clip(times, _FIRST, _LAST).astype("M8[us]")


def moment_words(micros: int) -> str:
    """An instant to the second, or to the millisecond where it has those."""
    return _moment(micros, "ms").removesuffix(".000")


def moment_text(micros: int) -> str:
    """An instant to the minute: 2025-03-03 09:30."""
    return _moment(micros, "m")


def _moment(micros: int, unit: Literal["m", "ms"]) -> str:
    return str(np.datetime_as_string(within_years(np.array([micros], dtype=np.int64)), unit=unit)[0]).replace("T", " ")


def between(times: Micros) -> str:
    """From when to when, in words; the days alone if these are the times at which days begin, empty for no times."""
    if not len(times):
        return ""
    first, last = moment_text(int(times.min())), moment_text(int(times.max()))
    if not (times % DAY).any():
        return " to ".join(dict.fromkeys((first[:10], last[:10])))
    if first == last:
        return f"{first} UTC"
    return f"{first} to {last[11:] if first[:10] == last[:10] else last} UTC"


def _with_partial_ends(whole: Bins, times: Micros, held: Held) -> Bins:
    """The bins with those at the ends that the data covers in part only, if much of them is missing and not by chance.

    Where nothing says how far the data reaches, the usual distance between times decides: one of three times the mean
    has, where times are random, a probability of 5 %.
    """
    low, high = int(times.min()), int(times.max())
    chance = 3 * (high - low) / max(len(times) - 1, 1)
    widths, last = np.diff(whole.edges), len(whole.edges) - 2
    first, end = held
    ends = (
        (0, (low if first is None else min(first, low)) - int(whole.edges[0]), first),
        (last, int(whole.edges[-1]) - (high if end is None else max(end, high)), end),
    )
    partial = {
        place
        for place, gap, known in ends
        if gap > widths[place] / 10 and (known is not None or (high > low and gap > chance))
    }
    return replace(whole, partial=frozenset(partial))


def _calendar(low: int, high: int, most: int) -> Bins:
    first, last = np.array([low, high]).astype("M8[us]").astype("M8[M]").astype(np.int64)
    count, name = next((step for step in _MONTHS if (last - first) // step[0] + 2 <= most), _MONTHS[-1])
    edges = np.arange(first // count * count, last + count + 1, count)
    return time_bins(edges.astype("M8[M]").astype("M8[us]").astype(np.int64), name)


def _fixed(low: int, high: int, step: int, name: str) -> Bins:
    origin = _MONDAY if step % (7 * DAY) == 0 else 0
    start = (low - origin) // step * step + origin
    return time_bins(np.arange(start, high + step + 1, step, dtype=np.int64)[: (high - start) // step + 2], name)


def length_words(length: int) -> str:
    """A length in words, to be read after "per": day, 2 weeks, 90 minutes, 1.5 seconds."""
    known = dict(_STEPS)
    if length in known:
        return known[length]
    unit = next((unit for unit in (7 * DAY, DAY, 3600 * _SECOND, 60 * _SECOND) if length % unit == 0), _SECOND)
    return f"{length / unit:g} {known[unit]}s"


def duration_ticks(low: float, high: float, most: int) -> tuple[list[float], list[str]]:
    """Durations that people count in, evenly apart on a logarithmic axis, with their words."""
    apart = np.log(high / low) / most
    ticks: list[float] = []
    for tick in _DURATIONS:
        if low <= tick <= high and (not ticks or np.log(tick / ticks[-1]) >= apart):
            ticks.append(tick)
    return ticks, [duration_text(tick) for tick in ticks]


def _length(every: str, span: int) -> int:
    step = duration(every, "every", bare=False)
    if span // step >= _MOST:
        raise InputError(f"every={every!r} cuts this range into {span // step:,} intervals; give at most {_MOST:,}")
    return step
