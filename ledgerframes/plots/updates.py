"""`plot_update_rate`: how many updates there were, and when."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.plots.drawing.columns import at_least_one, checked, micros, one_of, texts
from ledgerframes.plots.drawing.contents import Nothing, Stack
from ledgerframes.plots.drawing.counts import Ranking, ranked
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture
from ledgerframes.plots.drawing.number_format import plural
from ledgerframes.plots.drawing.palette import Tones, inside
from ledgerframes.plots.drawing.short_ids import shown
from ledgerframes.plots.drawing.stacks import counts_in_bins, stack_counts, swatches
from ledgerframes.plots.drawing.time_axis import between, bins
from ledgerframes.plots.interactive.backend import Backend, wants_plotly
from ledgerframes.plots.interactive.series import stack_figure

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
    backend: Backend = "matplotlib",
    ax: Axes | None = None,
) -> Any:
    """Draw the number of updates in each interval of record time, stacked.

    Args:
        updates: one row per update, from `load_updates` or `load_history`.
        by: colour by the kind of update or by the synchronizer.
        every: length of an interval, such as `"5min"`, `"1h"`; chosen from the range by default.
        top: how many kinds or synchronizers to show by name; the others are combined.
        backend: `"plotly"` for a figure to zoom into, with whole ids under the pointer; it needs the extra
            `interactive`.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. With `backend="plotly"` a figure of plotly, which a notebook
        shows and `figure.write_html(path)` saves. Nothing is shown or saved here.

    Raises:
        InputError: the frame lacks the columns, or an argument breaks a rule.
        ConfigurationError: `backend="plotly"` without plotly.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot_update_rate(lf.load_updates(net), every="1min").get_ylabel()
        'updates per minute'
    """
    at_least_one(top, "top")
    one_of(by, "by", ("kind", "synchronizer_id"))
    interactive = wants_plotly(backend, ax)
    frame = checked(updates, ("record_time", by), picture=_PICTURE, giver="lf.load_updates(net, ...)")
    content = _content(frame, by, every, top)
    if interactive:
        return stack_figure(content)
    ax = axes(ax, size=(9.2, 4.2))
    if isinstance(content, Nothing):
        return nothing(ax, content.title, content.why)
    labels, hues = content.ranking.labels(), content.hues(inside(ax))
    looks = [{"color": hues[name], "linewidth": 0, "label": shown(labels[name])} for name in content.ranking.names]
    stack_counts(ax, content.table, content.cut, looks)
    ax.set_ylabel(content.per)
    return finish(ax, content.title, content.second, swatches(content.ranking.names, labels, hues))


def _content(frame: pd.DataFrame, by: str, every: str | None, top: int) -> Stack | Nothing:
    times, known = micros(frame, "record_time")
    if not known.any():
        return Nothing(_TITLE, "no updates in this range")
    times, categories = times[known], texts(frame, by)[known]
    ranking = ranked(_sizes(categories), top, others="others")
    cut = bins(times, every=every)
    codes = pd.Categorical(ranking.folded(categories), ranking.names).codes.astype(np.int64)
    return Stack(
        title=_TITLE, second=f"{plural(len(times), 'update')}, {between(times)}{cut.note()}",
        per=f"updates per {cut.name}", over="record time (UTC)", unit="updates", ranking=ranking,
        table=counts_in_bins(times, codes, cut, len(ranking.names)), cut=cut, hues=partial(_hues, by, ranking),
    )  # fmt: skip


def _hues(by: str, ranking: Ranking, tones: Tones) -> dict[Hashable, str]:
    if by == "synchronizer_id":
        return ranking.hues("synchronizer", tones)
    # A kind has one colour, whichever kinds there are.
    hues = {**tones.by_rank([*_KINDS, *(name for name in ranking.names if name not in _KINDS)])}
    hues[ranking.rest] = tones.rest
    return hues


def _sizes(categories: pd.Series) -> pd.Series:
    """Counts, the three kinds of the contract before any other whatever their number."""
    counts = categories.value_counts()
    known = {name: 3 - rank for rank, name in enumerate(_KINDS)}
    return counts + counts.index.map(lambda name: known.get(name, 0) * counts.sum()).to_numpy()
