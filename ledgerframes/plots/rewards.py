"""`plot_rewards`: what reward coupons are worth, over time, by kind, outcome or party."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.arguments import whole_number
from ledgerframes.plots.drawing.amount_stacks import MOST_BINS, keys_with_sums, stack_amounts, sums_in_bins
from ledgerframes.plots.drawing.columns import checked, floats, micros, one_of, texts
from ledgerframes.plots.drawing.counts import Ranking, ranked
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.palette import Tones, inside
from ledgerframes.plots.drawing.time_axis import between, bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_rewards"
_GIVER: Final = "lf.rewards(events)"
_MOST: Final = 7  # more colours cannot be told apart
_TITLES: Final = {
    "kind": "Rewards by kind",
    "outcome": "Rewards by what became of them",
    "provider": "Rewards by who earned them",
    "beneficiary": "Rewards by who can mint them",
}
#: In this order, and so in the same colours in every picture, whichever of them a frame has.
_FIXED: Final = {
    "kind": ("sv", "app", "validator", "validator_faucet", "development_fund", "unclaimed_activity", "app_v2"),
    "outcome": ("claimed", "expired", "open", "withdrawn"),
}


@picture
def plot_rewards(
    rewards: Any,
    *,
    by: Literal["kind", "outcome", "provider", "beneficiary"] = "kind",
    every: str | None = None,
    top: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """Draw what the coupons created in each interval are worth, stacked, whatever became of them.

    Choose the rows for less: `rewards[rewards.outcome == "claimed"]`. Coupons whose amount is null are not drawn; the
    second line counts them. The legend gives each sum.

    Args:
        rewards: one row per coupon, from `rewards`: created_at, amount, and the column of `by`.
        by: colour by kind, outcome, provider or beneficiary.
        every: length of an interval, such as `"1h"`, `"1D"`; chosen from the range by default.
        top: how many providers or beneficiaries to show by name, 7 at most; the others are combined. Kinds and
            outcomes are all shown.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on, in coin; `ax.figure` is the picture. Nothing is shown or saved.

    Raises:
        InputError: the frame lacks the columns, or an argument breaks a rule.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     rewards = lf.rewards(lf.load_events(net))
        >>> lf.plot_rewards(rewards, every="1min").get_ylabel()
        'coin per 1min'
    """
    whole_number(top, "top", least=1, most=_MOST)
    one_of(by, "by", tuple(_TITLES))
    frame = checked(rewards, ("created_at", "amount", by), picture=_PICTURE, giver=_GIVER)
    times, timed = micros(frame, "created_at")
    values = floats(frame, "amount")
    known = timed & ~np.isnan(values)
    ax = axes(ax, size=(9.2, 4.4))
    unknown = int((~known).sum())
    left_out = f"; {plural(unknown, 'other')} of unknown worth" if unknown else ""
    if not known.any():
        why = f"none of {plural(unknown, 'coupon')} here has a known worth" if unknown else "no rewards in this range"
        return nothing(ax, _TITLES[by], why)
    times, values = times[known], values[known]
    categories = texts(frame, by).reset_index(drop=True)[known].reset_index(drop=True)
    ranking, hues = _series(categories, values, by, top, inside(ax))
    cut = bins(times, every=every, most=MOST_BINS)
    codes = pd.Categorical(ranking.folded(categories), ranking.names).codes.astype(np.int64)
    table = sums_in_bins(times, codes, values, cut, len(ranking.names))
    stack_amounts(ax, table, cut, ranking.names, hues, label="creation of the coupon (UTC)")
    ax.set_ylabel(f"coin per {cut.name}")
    worth = amount_text(float(values.sum()))
    second = f"{plural(len(times), 'coupon')} worth {worth} coin, {between(times)}{left_out}{cut.note()}"
    return finish(ax, _TITLES[by], second, keys_with_sums(ranking.names, ranking.labels(), table, hues))


def _series(categories: pd.Series, values: Any, by: str, top: int, tones: Tones) -> tuple[Ranking, dict[Hashable, str]]:
    """Which categories are shown, from the lowest to the highest, and in which colours."""
    if by in _FIXED:
        there = set(categories)
        known = _FIXED[by]
        names = (*(name for name in known if name in there), *sorted(there - set(known)))
        hues = tones.by_rank([*known, *(name for name in names if name not in known)])
        return Ranking(names, None), {**hues, "unknown": tones.rest}
    ranking = ranked(pd.Series(values).groupby(categories.to_numpy()).sum(), top)
    return ranking, ranking.hues("party", tones)
