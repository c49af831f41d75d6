"""`plot_update_rate`: how many updates there were, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.plots.drawing.columns import at_least_one, checked, micros, one_of, texts
from ledgerframes.plots.drawing.counts import ranked
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture
from ledgerframes.plots.drawing.number_format import plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.short_ids import shown
from ledgerframes.plots.drawing.stacks import stack_in_bins, swatches
from ledgerframes.plots.drawing.time_axis import between, bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_update_rate"
_TITLE: Final = "Updates over time"
_KINDS: Final = ("transaction", "assignment", "unassignment")


@picture
def plot_update_rate(
    updates: Any,
    *,
    by: Literal["kind", "synchronizer_id"] = "kind",
    every: str | None = None,
    top: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """Draw the number of updates in each interval of record time, stacked.

    Args:
        updates: one row per update, from `load_updates` or `load_history`.
        by: colour by the kind of update or by the synchronizer.
        every: length of an interval, such as `"5min"`, `"1h"`; chosen from the range by default.
        top: how many kinds or synchronizers to show by name; the others are combined.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, or an argument breaks a rule.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot_update_rate(lf.load_updates(net), every="1min").get_ylabel()
        'updates per 1min'
    """
    at_least_one(top, "top")
    one_of(by, "by", ("kind", "synchronizer_id"))
    frame = checked(updates, ("record_time", by), picture=_PICTURE, giver="lf.load_updates(net, ...)")
    ax = axes(ax, size=(9.2, 4.2))
    times, known = micros(frame, "record_time")
    if not known.any():
        return nothing(ax, _TITLE, "no updates in this range")
    times, categories = times[known], texts(frame, by)[known]
    ranking = ranked(_sizes(categories), top, others="others")
    tones = inside(ax)
    if by == "kind":
        # A kind has one colour, whichever kinds there are.
        hues = {**tones.by_rank([*_KINDS, *(name for name in ranking.names if name not in _KINDS)])}
        hues[ranking.rest] = tones.rest
    else:
        hues = ranking.hues("synchronizer", tones)
    labels = ranking.labels()
    looks = [{"color": hues[name], "linewidth": 0, "label": shown(labels[name])} for name in ranking.names]
    cut = bins(times, every=every)
    codes = pd.Categorical(ranking.folded(categories), ranking.names).codes.astype(np.int64)
    stack_in_bins(ax, times, codes, cut, looks)
    ax.set_ylabel(f"updates per {cut.name}")
    second = f"{plural(len(times), 'update')}, {between(times)}{cut.note()}"
    return finish(ax, _TITLE, second, swatches(ranking.names, labels, hues))


def _sizes(categories: pd.Series) -> pd.Series:
    """Counts, the three kinds of the contract before any other whatever their number."""
    counts = categories.value_counts()
    known = {name: 3 - rank for rank, name in enumerate(_KINDS)}
    return counts + counts.index.map(lambda name: known.get(name, 0) * counts.sum()).to_numpy()
