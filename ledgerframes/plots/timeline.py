"""`plot_reassignment_timeline`: how many reassignments there were, and when."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.plots.drawing.columns import at_least_one, one_of, texts
from ledgerframes.plots.drawing.counts import COMPLETED, STATUSES, flow_rows, moments, ranked
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture
from ledgerframes.plots.drawing.number_format import plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.short_ids import shown
from ledgerframes.plots.drawing.stacks import stack_in_bins, swatches
from ledgerframes.plots.drawing.status_styles import look, status_keys
from ledgerframes.plots.drawing.time_axis import between, bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_reassignment_timeline"
_TITLE: Final = "Reassignments over time"


@picture
def plot_reassignment_timeline(
    flows: Any,
    *,
    by: Literal["source", "target"] = "target",
    every: str | None = None,
    top: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """Draw the number of reassignments in each interval of time, stacked by synchronizer.

    A reassignment counts at its unassignment, or at its assignment where that is all there is. Those in flight are
    outlined, repaired ones and those without an unassignment are hatched.

    Args:
        flows: one row per reassignment, from `reassignment_flows`.
        by: colour by where contracts came from or by where they went.
        every: length of an interval, such as `"5min"`, `"1h"`; chosen from the range by default.
        top: how many synchronizers to show by name; the others are combined.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, or an argument breaks a rule.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     flows = lf.reassignment_flows(lf.load_reassignments(net))
        >>> lf.plot_reassignment_timeline(flows, every="1min").get_ylabel()
        'reassignments per minute'
    """
    at_least_one(top, "top")
    one_of(by, "by", ("source", "target"))
    frame = flow_rows(flows, _PICTURE, ("unassigned_at", "assigned_at"))
    ax = axes(ax, size=(9.2, 4.2))
    times, known = moments(frame)
    if not known.any():
        return nothing(ax, _TITLE, "no reassignments in this range")
    places, status, times = texts(frame, f"{by}_synchronizer")[known], texts(frame, "status")[known], times[known]
    ranking = ranked(places.value_counts(), top)
    cut = bins(times, every=every)
    tones = inside(ax)
    hues = ranking.hues("synchronizer", tones)
    folded = ranking.folded(places)
    labels, states = ranking.labels(level=1), _ordered(status)
    looks = [
        look(state, hues[name], tones, strength=0.85) | {"label": shown(labels[name])}
        for name, state in product(ranking.names, states)
    ]
    place = pd.Categorical(folded, ranking.names).codes.astype(np.int64)
    stack_in_bins(ax, times, place * len(states) + pd.Categorical(status, states).codes, cut, looks)
    ax.set_ylabel(f"reassignments per {cut.name}")
    second = f"{plural(len(times), 'reassignment')}, {between(times)}, by {by} synchronizer{cut.note()}"
    apart = {state: int((status == state).sum()) for state in states if state != COMPLETED}
    return finish(ax, _TITLE, second, [*swatches(ranking.names, labels, hues), *status_keys(apart, tones)])


def _ordered(status: pd.Series) -> list[str]:
    there = set(status)
    return [name for name in STATUSES if name in there] + sorted(there - set(STATUSES))
