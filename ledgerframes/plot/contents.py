"""The contents of charts, computed once for every renderer: charts create these, the renderers draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from ledgerframes.number_format import amount_text, count_text

Floats = npt.NDArray[np.float64]
#: Microseconds since 1970 in UTC.
Micros = npt.NDArray[np.int64]
Scale = Literal["time", "round", "duration", "amount", "count", "percent"]
_MARKED: Final = 25  # lines of fewer values have a marker at each
ROUNDS: Final = 8  # an axis of rounds is at least so many bars wide, and names each up to then
_SHAPED: Final = 5  # from so many lines on, shapes tell them apart too
_HOUR: Final = 3.6e9  # microseconds: as long is an axis of one time
_AIR: Final = 0.12  # of an axis upward, so that no bar touches the frame
_ALONE: Final = 0.4  # of the height: the only ribbon
_AIR_FOR_WORDS: Final = 0.28  # with words above the bars

Ends = tuple[float, float]


def stacked(series: Sequence[Series]) -> Floats:
    """Where bars begin and end when they are put one upon the other: an array by series, both ends, and bar."""
    values = np.array([one.values for one in series])
    start = np.where(values < 0, np.minimum(values, 0).cumsum(axis=0), np.maximum(values, 0).cumsum(axis=0)) - values
    return np.stack([start, start + values], axis=1)


def _upward(low: float, high: float, air: float) -> Ends:
    """The ends of an axis upward, from 0 or from below the lowest value."""
    low, high = min(low, 0.0), max(high, 0.0)
    more = air * (high - low) or 1.0
    return (low - more if low < 0 else 0.0), (high + more if high > 0 or low == 0 else 0.0)


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes:
        label: the axis label.
        scale: the kind of its numbers; durations are in seconds, on a logarithmic axis.
        unit: the unit of its numbers, such as CC; for tooltips.
        limits: from where to where, if not from 0 to the largest.
        logarithmic: for amounts that are far apart.
    """

    label: str
    scale: Scale
    unit: str = ""
    limits: tuple[float, float] | None = None
    logarithmic: bool = False


@dataclass(frozen=True)
class Series:
    """Some values under one name.

    Attributes:
        name: the whole id, or a word.
        label: the text for it.
        values: one per bin, bar or place.
        hue: its place among the colours; None is grey.
        at: where its values are, if each series has its own places.
        total: a text after the label, such as a sum.
    """

    name: str
    label: str
    values: Floats
    hue: int | None
    at: Floats | Micros = field(default_factory=lambda: np.zeros(0))
    total: str = ""

    @property
    def key(self) -> str:
        """The text in the legend."""
        return f"{self.label}  {self.total}" if self.total else self.label


@dataclass(frozen=True)
class Nothing:
    """A chart without data, and the reason."""

    title: str
    why: str
    subtitle: str = ""


@dataclass(frozen=True)
class Titled:
    """The texts above a chart with data.

    Attributes:
        title: the title.
        subtitle: what is counted, over which range, and what is left out.
    """

    title: str
    subtitle: str


@dataclass(frozen=True)
class EventLine:
    """A moment to point out on a chart over time.

    Attributes:
        at: microseconds since 1970 in UTC.
        label: the text next to it; empty if an earlier one has the label of both.
        whole: the full description of the event.
    """

    at: int
    label: str
    whole: tuple[str, ...]


@dataclass(frozen=True)
class Stack(Titled):
    """Series in bins, one upon the other; negative values go down from 0.

    Attributes:
        x: along the bins.
        y: of the values.
        edges: the ends of the bins, one more than there are bins.
        spans: each bin in words.
        series: from the lowest to the highest.
        partial: the bins that the data covers in part only; they are hatched.
        marks: places to point out, with words.
        events: lines at what happened meanwhile.
    """

    x: Axis
    y: Axis
    edges: Floats | Micros
    spans: tuple[str, ...]
    series: tuple[Series, ...]
    partial: frozenset[int] = frozenset()
    marks: tuple[tuple[float, str], ...] = ()
    events: tuple[EventLine, ...] = ()

    @property
    def ends(self) -> Ends:
        """From when to when it is drawn."""
        return float(self.edges[0]), float(self.edges[-1])

    @property
    def across(self) -> Ends:
        """The ends of the x axis: a single round is not as wide as the axes."""
        low, high = self.ends
        air = max(0.0, ROUNDS * float(self.edges[1] - self.edges[0]) - (high - low)) / 2
        if self.x.scale == "round":
            return low - air, high + air
        # A tick at the very end would name the next day, or month.
        return low, high - (1e-9 * abs(high) if self.x.scale == "time" else 0.0)

    @property
    def upward(self) -> Ends:
        """The ends of the y axis."""
        parts = stacked(self.series)
        return _upward(float(parts.min()), float(parts.max()), _AIR_FOR_WORDS if self.marks else _AIR)


@dataclass(frozen=True)
class Steps(Titled):
    """Values that are valid until the next one: one line per series, the largest first.

    Attributes:
        x: along the places.
        y: of the values.
        series: each with the places of its values.
        words: the text before each place in a tooltip, such as "after round".
        end: the end of the last value; its own place if None.
        events: lines at what happened meanwhile.
    """

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    words: str = ""
    end: float | None = None
    events: tuple[EventLine, ...] = ()

    @property
    def ends(self) -> Ends:
        """From when to when it is drawn."""
        at = np.concatenate([series.at for series in self.series])
        return float(at.min()), float(at.max() if self.end is None else self.end)

    @property
    def across(self) -> Ends:
        """The ends of the x axis, around the first and the last marker."""
        low, high = self.ends
        air = 0.02 * (high - low) or (_HOUR if self.x.scale == "time" else 1.0) / 2
        return low - air, high + (air if self.end is None else 0.0)

    @property
    def upward(self) -> Ends:
        """The ends of the y axis."""
        values = np.concatenate([series.values for series in self.series])
        low, high = float(values.min()), float(values.max())
        if self.y.logarithmic:
            return low * 0.85, high * (high / low) ** 0.14
        return self.y.limits or _upward(low, high, _AIR)

    @property
    def filled(self) -> bool:
        """Whether the area below the only line is filled."""
        return len(self.series) == 1 and self.y.limits is None and not self.y.logarithmic

    @property
    def shaped(self) -> bool:
        """Whether there are so many lines that the shapes of their markers tell them apart too."""
        return len(self.series) >= _SHAPED

    def sparse(self, series: Series) -> bool:
        """Whether a line has so few values that each has a marker."""
        return len(series.values) < _MARKED


@dataclass(frozen=True)
class Bars(Titled):
    """A bar per name, the largest first, with its parts one behind the other.

    Attributes:
        x: of the values.
        names: whole ids.
        labels: of each name, for each length that a label may have.
        series: the parts, a value per name.
        totals: the texts after the bars.
        rest: whether the last bar is that of the others; it is cut where the axis ends.
    """

    x: Axis
    names: tuple[str, ...]
    labels: tuple[Mapping[str, str], ...]
    series: tuple[Series, ...]
    totals: tuple[str, ...]
    rest: bool

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """Both ends of each bar, below and above 0."""
        parts = stacked(self.series)
        return parts.min(axis=(0, 1)), parts.max(axis=(0, 1))

    @property
    def reach(self) -> Ends:
        """The ends of the axis: those of the bars, but for that of the others."""
        down, up = (ends[: len(self.names) - self.rest] for ends in self.ends)
        return float(down.min(initial=0.0)), float(up.max(initial=0.0))

    @property
    def leftward(self) -> npt.NDArray[np.bool_]:
        """Which bars lie left of 0 alone, and have their totals there."""
        down, up = self.ends
        return np.asarray((down < 0) & ~(up > 0))

    @property
    def tips(self) -> Floats:
        """Where the total of each bar stands: at its end, or where the axis cuts it."""
        (low, high), (down, up) = self.reach, self.ends
        return np.where(self.leftward, np.maximum(down, low), np.minimum(up, high))

    @property
    def cut(self) -> bool:
        """Whether the bar of the others is cut."""
        (low, high), (down, up) = self.reach, self.ends
        return bool((down < low).any() or (up > high).any())

    @property
    def words(self) -> tuple[str, ...]:
        """The texts after the bars, that of a cut one with a mark."""
        return (*self.totals[:-1], f"// {self.totals[-1]}") if self.cut else self.totals

    @property
    def spans(self) -> list[tuple[Floats, Floats]]:
        """Where each part of the bars begins, and how long it is."""
        parts = np.clip(stacked(self.series), *self.reach)
        return [(start, end - start) for start, end in parts]

    def across(self, taken: float) -> Ends:
        """The ends of the axis, with room for the texts, the longest of which takes this part of its width."""
        (low, high), left = self.reach, self.leftward
        span, sides = (high - low) or 1.0, int(left.any()) + int(not left.all())
        room, near = span * taken / (1 - sides * taken), 0.02 * span
        return low - (room if left.any() else near if low < 0 else 0.0), high + (near if left.all() else room)


@dataclass(frozen=True)
class Ribbon:
    """A flow from one name to another, with one status."""

    source: str
    target: str
    status: str
    size: float


@dataclass(frozen=True)
class Flows(Titled):
    """Ribbons between the names of two sides.

    Attributes:
        heads: the headings of the two sides.
        unit: the unit of the sizes.
        names: from top to bottom, on both sides.
        labels: of each name, for each length that a label may have.
        hues: of each name.
        ribbons: the flows between them.
        statuses: the number of each status; empty or one if there is nothing to distinguish.
    """

    heads: tuple[str, str]
    unit: str
    names: tuple[str, ...]
    labels: tuple[Mapping[str, str], ...]
    hues: Mapping[str, int | None]
    ribbons: tuple[Ribbon, ...]
    statuses: Mapping[str, int]

    def text(self, size: float) -> str:
        """A size in words: a count, or an amount of coin or of another instrument."""
        return amount_text(size) if self.unit in {"CC", "units"} else count_text(int(size))

    def sizes(self, side: int) -> dict[str, float]:
        """The total that each name of a side sends (0) or receives (1), from top to bottom."""
        sums = dict.fromkeys(self.names, 0.0)
        for ribbon in self.ribbons:
            sums[(ribbon.source, ribbon.target)[side]] += ribbon.size
        return {name: size for name, size in sums.items() if size}

    def places(self, side: int, gap: float) -> list[tuple[float, float]]:
        """The upper and lower end of each name of a side, from 1 down to 0, with these gaps between them."""
        sizes, most = self.sizes(side), max(len(self.sizes(0)), len(self.sizes(1)))
        heights = np.array(list(sizes.values())) / sum(sizes.values())
        heights *= 1 - gap * (most - 1) if most > 1 else _ALONE
        tops = 0.5 + (heights.sum() + gap * (len(heights) - 1)) / 2 - np.cumsum([0.0, *(heights[:-1] + gap)])
        return list(zip(tops.tolist(), (tops - heights).tolist(), strict=True))


@dataclass(frozen=True)
class Matrix(Titled):
    """Numbers in a grid, such as counts from each name to each; logarithmic colours from `low` to `high` if far apart.

    Attributes:
        heads: the headings of the rows and the columns.
        unit: the unit of the numbers.
        names: of the rows.
        labels: the text for each row.
        grid: the numbers by row and column; NaN if not known.
        columns: the names of the columns; those of the rows if empty.
    """

    heads: tuple[str, str]
    unit: str
    names: tuple[str, ...]
    labels: Mapping[str, str]
    grid: Floats
    low: float
    high: float
    logarithmic: bool
    columns: tuple[str, ...] = ()

    @property
    def blank(self) -> npt.NDArray[np.bool_]:
        """The cells without a number: those that are not known, and where nothing went from a name to another."""
        return np.isnan(self.grid) if self.columns else np.equal(self.grid, 0)

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The words next to the rows and under the columns."""
        rows = [self.labels[name] for name in self.names]
        return rows, list(self.columns) or rows


@dataclass(frozen=True)
class Panels(Titled):
    """Several charts with scales of their own in one: below each other with one x axis, or in a grid."""

    panels: tuple[Stack | Steps, ...]
    columns: int = 1

    @property
    def across(self) -> Ends:
        """The ends of an x axis that all share."""
        lows, highs = zip(*(panel.across for panel in self.panels), strict=True)
        return min(lows), max(highs)


Content = Nothing | Stack | Steps | Bars | Flows | Matrix | Panels
