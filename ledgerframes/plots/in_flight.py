"""`plot_reassignment_in_flight`: how long contracts are between two synchronizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.plots.drawing.columns import Floats, one_of, seconds, texts
from ledgerframes.plots.drawing.counts import COMPLETED, STATUSES, flow_rows
from ledgerframes.plots.drawing.layout import Key, axes, finish, measured, nothing, picture, plain, text_size
from ledgerframes.plots.drawing.number_format import count_text, duration_text, plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.stacks import count_axis
from ledgerframes.plots.drawing.status_styles import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_reassignment_in_flight"
_TITLE: Final = "Time in flight"
_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0
_TICKS: Final = (
    1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, _MINUTE, 2 * _MINUTE, 5 * _MINUTE,
    10 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 30 * _DAY,
    100 * _DAY, 1_000 * _DAY, 10_000 * _DAY, 100_000 * _DAY, 1_000_000 * _DAY,
)  # fmt: skip
_POINTS: Final = 2_000


@picture
def plot_reassignment_in_flight(
    flows: Any, *, kind: Literal["histogram", "ecdf"] = "histogram", ax: Axes | None = None
) -> Axes:
    """Draw how long reassignments took, on a logarithmic axis, with the median and the 95th percentile marked.

    Durations of zero or less (the clocks of two synchronizers differ) have a bin of their own at the left end of the
    axis; they count for the median and the percentile.

    Args:
        flows: one row per reassignment, from `reassignment_flows`.
        kind: counts by duration, or the share that took no longer than that.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, or `kind` is unknown.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     flows = lf.reassignment_flows(lf.load_reassignments(net))
        >>> lf.plot_reassignment_in_flight(flows, kind="ecdf").get_xscale()
        'log'
    """
    one_of(kind, "kind", ("histogram", "ecdf"))
    frame = flow_rows(flows, _PICTURE, ("in_flight",))
    ax = axes(ax, size=(7.4, 4.2))
    durations = seconds(frame, "in_flight")
    taken = durations[~np.isnan(durations)]
    second = _second(taken, texts(frame, "status"))
    if not len(taken):
        return nothing(ax, _TITLE, second or "no reassignments in this range")
    plain(ax)
    keys: list[Key] = []
    scale = _Scale.of(taken)
    if kind == "histogram":
        keys = _histogram(ax, durations, texts(frame, "status"), scale)
    else:
        _shares(ax, taken, scale)
    _duration_axis(ax, scale)
    _mark(ax, taken, scale)
    return finish(ax, _TITLE, second, keys if len(keys) > 1 else ())


def _second(taken: Floats, status: pd.Series) -> str:
    parts = [f"{plural(len(taken), 'reassignment')} with both legs"] if len(status) else []
    still, early = int((status == "in flight").sum()), int((taken <= 0).sum())
    parts += [f"{count_text(still)} still in flight"] if still else []
    parts += [f"{count_text(early)} took 0 s or less"] if early else []
    return ", ".join(parts)


@dataclass(frozen=True)
class _Scale:
    """The logarithmic axis, and left of it the bin of what has no place there.

    Attributes:
        low: where positive durations begin.
        high: where they end.
        early: the ends of the bin for durations of 0 or less; None where there are none.
    """

    low: float
    high: float
    early: tuple[float, float] | None

    @classmethod
    def of(cls, taken: Floats) -> _Scale:
        positive = taken[taken > 0]
        low, high = _reach(positive) if len(positive) else (1.0, 10.0)
        wide = (high / low) ** 0.08
        return cls(low, high, (low / wide**1.6, low / wide**0.6) if (taken <= 0).any() else None)

    def place(self, seconds: Floats) -> Floats:
        """Where durations are drawn."""
        return seconds if self.early is None else np.where(seconds > 0, seconds, (self.early[0] * self.early[1]) ** 0.5)

    @property
    def start(self) -> float:
        """Where the axis begins."""
        return self.low if self.early is None else self.early[0] / (self.high / self.low) ** 0.02

    def edges(self, count: int) -> Floats:
        """Edges of bins: so many for positive durations, with an empty gap before them where others have theirs."""
        positive = np.geomspace(self.low, self.high, count + 1)
        return positive if self.early is None else np.concatenate((self.early, positive))


def _histogram(ax: Axes, durations: Floats, status: pd.Series, scale: _Scale) -> list[Key]:
    tones = inside(ax)
    shown = ~np.isnan(durations)
    edges = scale.edges(int(np.clip(2 * np.sqrt((durations > 0).sum()), 9, 48)))
    base: Floats = np.zeros(len(edges) - 1)
    there = set(status[shown])
    keys: list[Key] = []
    for name in [*(name for name in STATUSES if name in there), *sorted(there - set(STATUSES))]:
        counts, _ = np.histogram(scale.place(durations[shown & (status == name).to_numpy()]), edges)
        style = look(name, tones.hues[0] if name == COMPLETED else tones.hues[1], tones, strength=0.8)
        patch = ax.stairs(base + counts, edges, baseline=base, fill=True, gid="series", label=name, **style)
        keys.append((patch, f"{name} ({count_text(int(counts.sum()))})"))
        base = base + counts
    count_axis(ax, float(base.max()) * 1.2)
    ax.set_ylabel("reassignments")
    return keys


def _shares(ax: Axes, taken: Floats, scale: _Scale) -> None:
    """The share of all durations up to each; thinned where there are more points than a line can show."""
    from matplotlib.ticker import PercentFormatter

    ordered = np.sort(taken)
    rank = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _POINTS)).round().astype(np.int64))
    rank = rank[ordered[rank] > 0]
    before = float((ordered <= 0).mean())
    early = [] if scale.early is None else [scale.place(np.zeros(1))[0]]
    x = np.concatenate(([scale.start], early or [scale.low], ordered[rank], [scale.high]))
    y = np.concatenate(([0.0], [before], (rank + 1) / len(ordered), [1.0]))
    ax.step(x, y, where="post", color=inside(ax).hues[0], linewidth=2, gid="series")
    ax.set_ylim(0, 1.22)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.set_ylabel("reassignments that took no longer")


def _reach(positive: Floats) -> tuple[float, float]:
    """The ends of the axis: those of the data, at least a factor of ten apart."""
    low, high = float(positive.min()), float(positive.max())
    middle = np.sqrt(low) * np.sqrt(high)
    return min(low / 1.02, middle / 10**0.5), max(high * 1.02, middle * 10**0.5)


def _duration_axis(ax: Axes, scale: _Scale) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = scale.low, scale.high
    ax.set_xscale("log")
    ax.set_xlim(scale.start, high)
    apart = np.log(high / low) / 8
    ticks: list[float] = []
    for tick in _TICKS:
        if low <= tick <= high and (not ticks or np.log(tick / ticks[-1]) >= apart):
            ticks.append(tick)
    labels = [duration_text(tick) for tick in ticks]
    if scale.early is not None:
        first = float(scale.place(np.zeros(1))[0])
        near = [number for number, tick in enumerate(ticks) if np.log(tick / first) < apart]
        ticks, labels = [first, *ticks[len(near) :]], ["≤ 0 s", *labels[len(near) :]]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ticks, labels)
    ax.set_xlabel("from unassignment to assignment (logarithmic)")


def _mark(ax: Axes, taken: Floats, scale: _Scale) -> None:
    """Lines at the median and the 95th percentile, each with its label on a line of its own above the data."""
    from matplotlib.transforms import blended_transform_factory

    tones = inside(ax)
    low, high = ax.get_xlim()
    width = measured(ax)[0]
    place = blended_transform_factory(ax.transData, ax.transAxes)
    for name, share, line, at in (("95th percentile", 0.95, (0, (4, 2)), 0.96), ("median", 0.5, "-", 0.885)):
        value = float(np.quantile(taken, share))
        place_of = float(np.clip(scale.place(np.array([value]))[0], scale.start, scale.high))
        ax.axvline(place_of, ymax=at, color=tones.text, linewidth=1.1, linestyle=line, gid=name)
        label = ax.annotate(
            f"{name} {duration_text(value)}", (place_of, at), xycoords=place, xytext=(-5, 0), ha="right", va="center",
            textcoords="offset points", color=tones.text, gid="mark",
            bbox={"facecolor": tones.ground, "edgecolor": "none", "pad": 1},
        )  # fmt: skip
        if text_size([label])[0] + 8 > width * np.log(place_of / low) / np.log(high / low):
            label.set_horizontalalignment("left")
            label.xyann = (5, 0)
