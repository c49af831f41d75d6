"""`plot_transfers`: an alluvial picture of who paid whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.plots.alluvial import Words, draw_alluvial, room
from ledgerframes.plots.drawing.columns import at_least_one, checked, floats, texts
from ledgerframes.plots.drawing.counts import COMPLETED, ranked
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.ribbons import lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_transfers"
_TITLE: Final = "Who paid whom"
_GIVER: Final = "lf.transfers(events)"
_WORDS: Final = Words("paid by", "paid to", amount_text, "party")
_SHOWN: Final = 14
_FOOT: Final = 4.0  # points below the ribbons: there is no legend


@picture
def plot_transfers(transfers: Any, *, top: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw which parties paid (left) and which they paid (right).

    The width of a ribbon is the sum of its transfers, its colour that of the sender; parties have the same order on
    both sides, those with the largest sums first. What a party pays to itself is left out and counted in the second
    line, as are transfers whose amount is null. A party that the events do not state is called unknown.

    Args:
        transfers: one row per output, from `transfers`: sender, receiver and amount. Of `token_transfers`, choose one
            instrument and one step.
        top: how many parties to show by name; the others are combined. As many as the height has room for, up to 14,
            by default.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, holds several instruments or steps, or `top` is not 1 or more.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     transfers = lf.transfers(lf.load_events(net))
        >>> lf.plot_transfers(transfers, top=8).get_title(loc="left")
        'Who paid whom'
    """
    at_least_one(top, "top")
    frame = checked(transfers, ("sender", "receiver", "amount"), picture=_PICTURE, giver=_GIVER)
    _check_one_kind(frame)
    rows = _rows(frame)
    paid = rows[(rows["source"] != rows["target"]) & (rows["size"] > 0)]
    sizes = _sizes(paid)
    ax = axes(ax, size=(9.2, min(max(3.8, 1.6 + 0.3 * min(len(sizes), (top or _SHOWN) + 1)), 7.6)))
    left_out = _left_out(rows)
    if paid.empty:
        return nothing(ax, _TITLE, "; ".join(["no transfers between parties here", *left_out]))
    ranking = ranked(sizes, top or min(_SHOWN, room(ax)))
    folded = paid.assign(source=ranking.folded(paid["source"]), target=ranking.folded(paid["target"]))
    sums = folded.groupby(["source", "target"], as_index=False, sort=False)["size"].sum().assign(status=COMPLETED)
    draw_alluvial(ax, lay_out(sums, ranking.names, [COMPLETED]), ranking, _WORDS, _FOOT)
    total = f"{amount_text(float(paid['size'].sum()))} {_unit(frame)} in {plural(len(paid), 'transfer')}"
    parts = [total, f"{plural(len(sizes), 'party', 'parties')}", *_rounds(frame)]
    return finish(ax, _TITLE, "; ".join([", ".join(parts), *left_out]))


def _check_one_kind(frame: pd.DataFrame) -> None:
    """Amounts of several instruments cannot be added up, and the steps of one transfer would count it twice."""
    for name in ("instrument_admin", "instrument_id", "step"):
        if name in frame and frame[name].nunique(dropna=False) > 1:
            raise InputError(
                f"{_PICTURE} needs transfers of one {name.partition('_')[0]}; column {name} holds "
                f'{frame[name].nunique(dropna=False)}: choose one, such as frame.query("{name} == …")'
            )


def _rows(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "source": texts(frame, "sender").to_numpy(),
            "target": texts(frame, "receiver").to_numpy(),
            "size": floats(frame, "amount"),
        }
    )


def _sizes(paid: pd.DataFrame) -> pd.Series:
    """What each party paid and received."""
    out = paid.groupby("source")["size"].sum()
    return out.add(paid.groupby("target")["size"].sum(), fill_value=0.0)


def _left_out(rows: pd.DataFrame) -> list[str]:
    own = int((rows["source"] == rows["target"]).sum())
    between = rows.loc[rows["source"] != rows["target"], "size"]
    unknown, low = int(between.isna().sum()), int((between <= 0).sum())
    words = [f"{plural(own, 'payment')} of a party to itself left out"] if own else []
    words += [f"{plural(unknown, 'other')} without an amount"] if unknown else []
    return words + ([f"{plural(low, 'other')} of 0 or less"] if low else [])


def _unit(frame: pd.DataFrame) -> str:
    return "units" if "instrument_id" in frame else "coin"


def _rounds(frame: pd.DataFrame) -> list[str]:
    """The rounds of the transfers, in words, where the frame states them."""
    numbers = floats(frame, "round") if "round" in frame else np.zeros(0)
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return []
    first, last = f"{numbers.min():.0f}", f"{numbers.max():.0f}"
    return [f"round {first}" if first == last else f"rounds {first} to {last}"]
