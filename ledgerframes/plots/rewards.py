"""`plot_rewards`: what reward coupons are worth, over time, by kind, outcome or party."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.arguments import whole_number
from ledgerframes.plots.drawing.amount_stacks import MOST_BINS, keys_with_sums, stack_amounts, sums_in_bins
from ledgerframes.plots.drawing.columns import checked, floats, micros, one_of, texts
from ledgerframes.plots.drawing.contents import Nothing, Stack
from ledgerframes.plots.drawing.counts import Ranking, ranked
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.palette import Tones, inside
from ledgerframes.plots.drawing.time_axis import between, bins
from ledgerframes.plots.interactive.backend import Backend, wants_plotly
from ledgerframes.plots.interactive.series import stack_figure

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
    backend: Backend = "matplotlib",
    ax: Axes | None = None,
) -> Any:
    """Draw what the coupons created in each interval are worth, stacked, regardless of outcome.

    Only claimed coupons were paid: the second line has their sum, and `rewards[rewards.outcome == "claimed"]` draws
    them alone. Coupons whose amount is null are not drawn; the second line counts them. The legend has each sum.

    Args:
        rewards: one row per coupon, from `rewards`: created_at, amount, and the column of `by`.
        by: colour by kind, outcome, provider or beneficiary.
        every: length of an interval, such as `"1h"`, `"1D"`; chosen from the range by default.
        top: how many providers or beneficiaries to show by name, 7 at most; the others are combined. Kinds and
            outcomes are all shown.
        backend: `"plotly"` for a figure to zoom into, with whole ids under the pointer; it needs the extra
            `interactive`.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on, in coin; `ax.figure` is the picture. With `backend="plotly"` a figure of plotly, which a
        notebook shows and `figure.write_html(path)` saves. Nothing is shown or saved here.

    Raises:
        InputError: the frame lacks the columns, or an argument breaks a rule.
        ConfigurationError: `backend="plotly"` without plotly.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     rewards = lf.rewards(lf.load_events(net))
        >>> lf.plot_rewards(rewards, every="1min").get_ylabel()
        'coin per minute'
    """
    whole_number(top, "top", least=1, most=_MOST)
    one_of(by, "by", tuple(_TITLES))
    interactive = wants_plotly(backend, ax)
    frame = checked(rewards, ("created_at", "amount", by), picture=_PICTURE, giver=_GIVER)
    outcomes = texts(frame, "outcome") if "outcome" in frame.columns else None
    content = _content(frame, by, every, top, outcomes)
    if interactive:
        return stack_figure(content)
    ax = axes(ax, size=(9.2, 4.4))
    if isinstance(content, Nothing):
        return nothing(ax, content.title, content.why)
    names, hues = content.ranking.names, content.hues(inside(ax))
    stack_amounts(ax, content.table, content.cut, names, hues, label=content.over)
    ax.set_ylabel(content.per)
    keys = keys_with_sums(names, content.ranking.labels(), content.table, hues)
    return finish(ax, content.title, content.second, keys)


def _content(frame: pd.DataFrame, by: str, every: str | None, top: int, outcomes: pd.Series | None) -> Stack | Nothing:
    times, timed = micros(frame, "created_at")
    values = floats(frame, "amount")
    known = timed & ~np.isnan(values)
    unknown = int((~known).sum())
    left_out = f"; {plural(unknown, 'other')} of unknown worth" if unknown else ""
    if not known.any():
        why = f"none of {plural(unknown, 'coupon')} here has a known worth" if unknown else "no rewards in this range"
        return Nothing(_TITLES[by], why)
    times, values = times[known], values[known]
    categories = texts(frame, by).reset_index(drop=True)[known].reset_index(drop=True)
    ranking = _ranking(categories, values, by, top)
    cut = bins(times, every=every, most=MOST_BINS)
    codes = pd.Categorical(ranking.folded(categories), ranking.names).codes.astype(np.int64)
    worth = f"worth {amount_text(float(values.sum()))} coin"
    if outcomes is not None and by != "outcome":
        claimed = values[outcomes.to_numpy()[known] == "claimed"].sum()
        worth += f", of which {amount_text(float(claimed))} were claimed"
    return Stack(
        title=_TITLES[by],
        second=f"{plural(len(times), 'coupon')} {worth}, {between(times)}{left_out}{cut.note()}",
        per=f"coin per {cut.name}", over="creation of the coupon (UTC)", unit="coin", ranking=ranking,
        table=sums_in_bins(times, codes, values, cut, len(ranking.names)), cut=cut, hues=partial(_hues, by, ranking),
    )  # fmt: skip


def _ranking(categories: pd.Series, values: Any, by: str, top: int) -> Ranking:
    """Which categories are shown, from the lowest to the highest."""
    if by in _FIXED:
        there = set(categories)
        known = _FIXED[by]
        return Ranking((*(name for name in known if name in there), *sorted(there - set(known))), None)
    return ranked(pd.Series(values).groupby(categories.to_numpy()).sum(), top)


def _hues(by: str, ranking: Ranking, tones: Tones) -> dict[Hashable, str]:
    if by not in _FIXED:
        return ranking.hues("party", tones)
    known = _FIXED[by]
    return {**tones.by_rank([*known, *(name for name in ranking.names if name not in known)]), "unknown": tones.rest}
