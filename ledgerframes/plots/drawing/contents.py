"""What a picture shows, worked out once for whichever library draws it; pictures with two backends make it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from ledgerframes.plots.drawing.columns import Floats, Micros
from ledgerframes.plots.drawing.counts import Ranking
from ledgerframes.plots.drawing.palette import Tones
from ledgerframes.plots.drawing.ribbons import Alluvial
from ledgerframes.plots.drawing.session_hues import Kind
from ledgerframes.plots.drawing.time_axis import Bins


@dataclass(frozen=True)
class Nothing:
    """A picture without data, and the reason."""

    title: str
    why: str


@dataclass(frozen=True)
class Stack:
    """Series in bins of time, one upon the other.

    Attributes:
        title: what the picture shows.
        second: what it counts, over which range, what is left out.
        per: the label of the values' axis.
        over: the label of the axis of time.
        unit: what the values count, for one bar: updates, coin.
        ranking: the series, from the lowest to the highest.
        table: one row per series, one column per bin.
        cut: the bins.
        hues: the colours of the series on a ground.
    """

    title: str
    second: str
    per: str
    over: str
    unit: str
    ranking: Ranking
    table: Floats
    cut: Bins
    hues: Callable[[Tones], dict[Hashable, str]]


@dataclass(frozen=True)
class Line:
    """One line: the id of what it shows, its short label, and its points."""

    name: str
    label: str
    moments: Micros
    values: Floats


@dataclass(frozen=True)
class Lines:
    """Lines over time, the largest first, and what colours their names; `of` is the label of the values' axis."""

    title: str
    second: str
    of: str
    unit: str
    kind: Kind
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Bars:
    """One bar per name, the largest first."""

    title: str
    second: str
    of: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    values: Floats


@dataclass(frozen=True)
class Flows:
    """Ribbons between the nodes of two sides."""

    title: str
    second: str
    alluvial: Alluvial
    ranking: Ranking
    statuses: dict[str, int]


@dataclass(frozen=True)
class Matrix:
    """Counts from each name to each; where they are far apart, the scale from `low` to `high` is logarithmic."""

    title: str
    second: str
    grid: Floats
    ranking: Ranking
    low: float
    high: float
    logarithmic: bool


@dataclass(frozen=True)
class RoundFlows:
    """What groups of `size` consecutive rounds minted and burned, by the first round of each.

    Attributes:
        title: what the picture shows.
        second: over which rounds, and what is not known.
        per: the label of the values' axis.
        numbers: all rounds.
        first: the first round of each group.
        size: how many rounds a group has.
        minted: by group.
        burned: by group.
    """

    title: str
    second: str
    per: str
    numbers: Floats
    first: Floats
    size: int
    minted: Floats
    burned: Floats

    @property
    def edges(self) -> Floats:
        """Where the bars begin and end: each has its rounds in the middle, a cut one ends where the rounds do."""
        whole = np.append(self.first, self.first[-1] + self.size) - 0.5
        return np.clip(whole, self.numbers[0] - 0.5, self.numbers[-1] + 0.5)

    @property
    def cut(self) -> tuple[int, ...]:
        """The first group and the last, where rounds of them are missing at the ends."""
        last = len(self.first) - 1
        begun = {0} if self.numbers[0] > self.first[0] else set()
        ended = {last} if self.numbers[-1] < self.first[-1] + self.size - 1 else set()
        return tuple(sorted(begun | ended))


@dataclass(frozen=True)
class RoundTotals:
    """The supply after each round; `near` where it changes so little that the axis does not begin at 0."""

    title: str
    second: str
    of: str
    numbers: Floats
    totals: Floats
    near: bool
