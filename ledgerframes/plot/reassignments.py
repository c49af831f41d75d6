"""Charts of reassignments: flows between synchronizers, the matrix of them, when they were, how long they took."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.models.reassignments import reassignment_flows as joined_legs
from ledgerframes.number_format import count_text, duration_text, plural
from ledgerframes.plot.bins import between, bins
from ledgerframes.plot.contents import Axis, Content, Floats, Flows, Matrix, Nothing, Series, Stack
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.ranking import in_and_out, ranked
from ledgerframes.plot.reading import ChartInput, floats, held, micros, seconds, texts

_ROUTE: Final = ("source_synchronizer", "target_synchronizer")
#: When a reassignment happened: at its unassignment, or at its assignment where that is all there is.
_LEGS: Final = ("unassigned_at", "assigned_at")
_HEADS: Final = ("unassigned from", "assigned to")
_COMPLETED: Final = "completed"
_STATUSES: Final = (_COMPLETED, "repaired", "assigned without unassignment", "in flight")
_GIVER: Final = "lf.reassignment_flows(reassignments)"
_COUNTS: Final = f"{_GIVER} or lf.flow_matrix(flows)"
_NONE: Final = "no reassignments in this range"
_MOST: Final = 20


@chart(joined_legs, giver=_COUNTS)
def reassignment_flows(x: ChartInput, *, top: int | None = None) -> Content:
    """Draw which synchronizers contracts were reassigned from (left) and to (right).

    The width of a ribbon is its number of reassignments, its colour that of the source; synchronizers have the same
    order on both sides, so a ribbon and its return cross. Those in flight are outlined, repaired ones and those without
    an unassignment are hatched; ribbons too thin for that are only paler.

    Args:
        x: one row per reassignment, from `reassignment_flows`, or counts from `flow_matrix`; or a History or Store.
        top: how many synchronizers to show by name; the others are combined. Defaults to as many as
            fit, at most 20.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     history = lf.load_history(net)
        >>> lf.plot.reassignment_flows(history).get_title(loc="left")
        'Reassignments between synchronizers'
    """
    frame, counted = _counted(x)
    name = "Reassignments between synchronizers"
    if counted.empty:
        return Nothing(name, _NONE)
    ranking = ranked(in_and_out(counted), top or x.rows(_MOST))
    return Flows(
        name, ", ".join(filter(None, [plural(int(counted["size"].sum()), "reassignment"), _span(frame)])), _HEADS,
        "reassignments", ranking.names, ranking.lengths(), ranking.hues(), ranking.ribbons(counted),
        _by_status(counted),
    )  # fmt: skip


@chart(joined_legs, giver=_COUNTS)
def reassignment_matrix(x: ChartInput, *, top: int = _MOST) -> Content:
    """Draw a heat map with a row per source, a column per target and the number of reassignments in each cell.

    The colours are logarithmic where the largest count is more than fifty times the smallest. On the diagonal lie
    repairs, whose source and target are the same. Small axes have room for fewer names than `top`.

    Args:
        x: one row per reassignment, from `reassignment_flows`, or counts from `flow_matrix` (those of several periods
            are added up); or a History or Store.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     history = lf.load_history(net)
        >>> lf.plot.reassignment_matrix(history).get_ylabel()
        'unassigned from'
    """
    frame, counted = _counted(x)
    name = "Reassignments by source and target"
    if counted.empty:
        return Nothing(name, _NONE)
    ranking = ranked(in_and_out(counted), x.rows(top))
    grid = np.zeros((len(ranking.names), len(ranking.names)))
    np.add.at(grid, (ranking.codes(counted["source"]), ranking.codes(counted["target"])), counted["size"])
    # The cell of the others would dominate the scale.
    named = grid[:-1, :-1] if ranking.rest and grid[:-1, :-1].any() else grid
    low, high = float(named[named > 0].min()), float(named.max())
    parts = [plural(int(counted["size"].sum()), "reassignment"), _span(frame), *_odd(counted)]
    return Matrix(
        name, ", ".join(filter(None, parts)), _HEADS, "reassignments", ranking.names, ranking.labels(), grid, low, high,
        logarithmic=high > 50 * low,
    )  # fmt: skip


@chart(joined_legs, giver=_GIVER, over_time=True)
def reassignment_timeline(x: ChartInput, *, every: str | None = None, top: int = 6) -> Content:
    """Draw the number of reassignments in each interval of time, stacked by the synchronizer that they went to.

    A reassignment counts at its unassignment, or at its assignment where that is all there is. The subtitle counts
    those that are not completed.

    Args:
        x: one row per reassignment, from `reassignment_flows`; or a History or Store.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     history = lf.load_history(net)
        >>> lf.plot.reassignment_timeline(history, every="1min").get_ylabel()
        'reassignments per minute'
    """
    frame = x.frame(*_ROUTE, "status", *_LEGS)
    name = "Reassignments over time, by target"
    times, known = micros(frame, *_LEGS)
    if not known.any():
        return Nothing(name, _NONE)
    where, status, times = texts(frame, "target_synchronizer")[known], texts(frame, "status")[known], times[known]
    ranking, binned = ranked(where.value_counts(), top), bins(times, every=every, held=held(frame))
    odd = _odd(pd.DataFrame({"status": status, "size": 1}))
    second = ", ".join([plural(len(times), "reassignment"), between(times), *odd])
    table = binned.sums(times, ranking.codes(where), len(ranking.names))
    series = ranking.series(table, counts=True)
    return binned.stack(name, second + binned.note(), series, "reassignments", "count", "reassignments")


@chart(joined_legs, giver=_GIVER)
def in_flight(x: ChartInput) -> Content:
    """Draw how long reassignments took, on a logarithmic axis, with the median and the 95th percentile marked.

    Durations of zero or less (the clocks of two synchronizers differ) are drawn at the left end of the axis; they count
    for the median and the percentile.

    Args:
        x: one row per reassignment, from `reassignment_flows`; or a History or Store.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     history = lf.load_history(net)
        >>> lf.plot.in_flight(history).get_xscale()
        'log'
    """
    frame = x.frame(*_ROUTE, "status", "in_flight")
    name, durations, status = "Time in flight", seconds(frame, "in_flight"), texts(frame, "status")
    taken = np.sort(durations[~np.isnan(durations)])
    still, early = int((status == "in flight").sum()), int((taken <= 0).sum())
    words = [f"{plural(len(taken), 'reassignment')} with both legs"] if len(status) else []
    words += [f"{count_text(still)} still in flight"] if still else []
    words += [f"{count_text(early)} took 0 s or less, drawn at the left end"] if early else []
    if not len(taken):
        return Nothing(name, ", ".join(words) or _NONE)
    low, high = _ends(taken[taken > 0])
    quantiles = {word: float(np.quantile(taken, share)) for word, share in (("median", 0.5), ("95th percentile", 0.95))}
    marks = tuple((max(at, low), f"{word} {duration_text(at)}") for word, at in quantiles.items())
    along, drawn = Axis("from unassignment to assignment (logarithmic)", "duration"), np.clip(taken, low, high)
    edges = np.geomspace(low, high, int(np.clip(2 * np.sqrt(len(taken)), 9, 48)) + 1)
    counts, _ = np.histogram(drawn, edges)
    spans = tuple(f"{duration_text(a)} to {duration_text(b)}" for a, b in pairwise(edges.tolist()))
    bars = Series("reassignments", "reassignments", counts.astype(np.float64), 0)
    up = Axis("reassignments", "count", "reassignments")
    return Stack(name, ", ".join(words), along, up, edges, spans, (bars,), marks=marks)


def _ends(positive: Floats) -> tuple[float, float]:
    """The ends of the axis: those of the data, at least a factor of ten apart."""
    low, high = (float(positive[0]), float(positive[-1])) if len(positive) else (1.0, 10.0)
    middle = np.sqrt(low) * np.sqrt(high)
    return min(low / 1.02, middle / 10**0.5), max(high * 1.02, middle * 10**0.5)


def _counted(x: ChartInput) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The frame, and its counts by source, target and status.

    Raises:
        InputError: the rows are legs of reassignments.
    """
    frame = x.frame(*_ROUTE)
    if len(frame) and not {"status", "count"} & set(frame.columns):
        raise InputError(
            f"{x.chart} needs one row per reassignment with its status, or counts; this frame has neither (rows of "
            f"lf.load_reassignments are legs and would count twice); use {_GIVER}"
        )
    counts = np.nan_to_num(floats(frame, "count")) if "count" in frame else np.ones(len(frame))
    if (counts % 1).any():
        raise InputError("column count holds a value that is not a whole number; give counts")
    status = texts(frame, "status") if "status" in frame else _COMPLETED
    rows = {"source": texts(frame, _ROUTE[0]), "target": texts(frame, _ROUTE[1]), "status": status, "size": counts}
    grouped = pd.DataFrame(rows).groupby(["source", "target", "status"], as_index=False, sort=False)["size"].sum()
    return frame, grouped[grouped["size"] > 0]


def _by_status(counted: pd.DataFrame) -> dict[str, int]:
    """How many reassignments have each status; the known ones first, in their order."""
    sums = counted.groupby("status")["size"].sum()
    return {name: int(sums[name]) for name in dict.fromkeys([*_STATUSES, *sums.index]) if name in sums.index}


def _odd(counted: pd.DataFrame) -> list[str]:
    """How many reassignments are not completed, in words."""
    return [f"{count_text(count)} {status}" for status, count in _by_status(counted).items() if status != _COMPLETED]


def _span(flows: pd.DataFrame) -> str:
    """The days the reassignments happened on, for a subtitle; empty if the frame has no times."""
    if not {*_LEGS} <= set(flows.columns):
        return ""
    times, known = micros(flows, *_LEGS)
    return between(times[known])
