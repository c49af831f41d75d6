"""`plot_burn`: how much coin was burned, over time, by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ledgerframes.plots.drawing.amount_stacks import MOST_BINS, keys_with_sums, stack_amounts, sums_in_bins
from ledgerframes.plots.drawing.columns import checked, floats, micros
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.time_axis import between, bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_burn"
_TITLE: Final = "Coin burned, by cause"
_GIVER: Final = "lf.mint_burn(events)"
_CAUSES: Final = ("traffic", "names", "preapprovals", "fees", "expiry")


@picture
def plot_burn(burns: Any, *, every: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the coin burned in each interval of record time, stacked by cause; the legend gives each sum.

    Amounts that are null are not drawn; the second line counts the updates that have one.

    Args:
        burns: one row per update, from `mint_burn`: record_time and the columns that begin with `burned_`.
        every: length of an interval, such as `"1h"`, `"1D"`; chosen from the range by default.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on, in coin; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, or `every` is not a duration.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     burns = lf.mint_burn(lf.load_events(net))
        >>> lf.plot_burn(burns, every="1min").get_ylabel()
        'coin burned per minute'
    """
    columns = [f"burned_{cause}" for cause in _CAUSES]
    frame = checked(burns, ("record_time", *columns), picture=_PICTURE, giver=_GIVER)
    ax = axes(ax, size=(9.2, 4.4))
    times, known = micros(frame, "record_time")
    amounts = np.array([floats(frame, name)[known] for name in columns])
    unknown = int(np.isnan(amounts).any(axis=0).sum())
    left_out = f"; not known of {plural(unknown, 'update')}" if unknown else ""
    burning = (np.nan_to_num(amounts) != 0).any(axis=0)
    if not burning.any():
        return nothing(ax, _TITLE, f"no coin was burned in this range{left_out}")
    times, cut = times[known], bins(times[known], every=every, most=MOST_BINS)
    rows = [sums_in_bins(times, np.zeros(len(times), np.int64), values, cut, 1)[0] for values in amounts]
    tones = inside(ax)
    hues = tones.by_rank(_CAUSES)
    names = [cause for cause, row in zip(_CAUSES, rows, strict=True) if row.any()]
    table = np.array([row for row in rows if row.any()])
    stack_amounts(ax, table, cut, names, hues, label="record time (UTC)")
    ax.set_ylabel(f"coin burned per {cut.name}")
    total = amount_text(float(table.sum()))
    second = f"{total} coin burned by {plural(int(burning.sum()), 'update')}, {between(times)}{left_out}{cut.note()}"
    return finish(ax, _TITLE, second, keys_with_sums(names, {name: name for name in names}, table, hues))
