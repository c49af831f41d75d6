"""Charts of the network's governance: the votes on proposals, and the votes for the coin's price."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from ledgerframes.models.governance import price_votes as prices_of
from ledgerframes.models.governance import votes as votes_of
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.bins import between, bins
from ledgerframes.plot.contents import Axis, Content, Nothing, Series, Steps
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.ranking import fixed
from ledgerframes.plot.reading import ChartInput, begins, floats, micros, texts

_OUTCOMES: Final = {
    "accepted": "accepted", "rejected": "rejected", "expired": "expired",
    "accepted_but_failed": "accepted, but failed", "open": "open",
}  # fmt: skip
_MOST_BINS: Final = 100
_SPREAD: Final = ("highest", "median", "lowest")


@chart(votes_of, over_time=True)
def votes(x: ChartInput, *, every: str | None = None) -> Content:
    """Draw a timeline of governance: the number of votes opened in each interval, by outcome.

    Args:
        x: from `votes`; or a History or Store. Votes that were opened before the events are only counted.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=800) as net:
        ...     lf.plot.votes(lf.votes(lf.load_events(net)), every="1h").get_ylabel()
        'votes opened per hour'
    """
    frame = x.frame("opened_at", "outcome")
    title, (times, known) = "Votes on governance by outcome", micros(frame, "opened_at")
    earlier = int((~known).sum())
    left_out = f"; {plural(earlier, 'vote')} opened before" if earlier else ""
    if not known.any():
        return Nothing(title, f"no votes were opened in this range{left_out}")
    times, outcomes = times[known], texts(frame, "outcome")[known]
    ranking, binned = fixed(outcomes, _OUTCOMES), bins(times, every=every, most=_MOST_BINS, begins=begins(frame))
    table = binned.sums(times, ranking.codes(outcomes), len(ranking.names))
    subtitle, series = f"{plural(len(times), 'vote')}, {between(times)}{left_out}", ranking.series(table, counts=True)
    along = "time of the request (UTC)"
    return binned.stack(title, subtitle + binned.note(), series, "votes opened", "count", "votes", along=along)


@chart(prices_of, over_time=True)
def price_votes(x: ChartInput) -> Content:
    """Draw the median, the highest and the lowest of the super validators' votes for the coin's price, over time.

    Args:
        x: from `price_votes`; or a History or Store. If some votes are unknown, nothing is drawn.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=800) as net:
        ...     lf.plot.price_votes(lf.price_votes(lf.load_events(net))).get_ylabel()
        'USD per coin'
    """
    frame = x.frame("record_time", *(f"{word}_usd" for word in _SPREAD))
    title, (times, timed) = "Votes for the price of the coin", micros(frame, "record_time")
    rows = pd.DataFrame({word: floats(frame, f"{word}_usd") for word in _SPREAD}).assign(time=times)
    rows = rows[timed & rows["median"].notna().to_numpy()]
    if rows.empty:
        why = "the current votes are not known: give opening=" if len(frame) else "no votes in this range"
        return Nothing(title, why)
    # Of several votes at one time the last counts.
    steps = rows.drop_duplicates("time", keep="last").sort_values("time", kind="stable")
    moments, low, high = steps["time"].to_numpy(), float(steps["lowest"].min()), float(steps["highest"].max())
    series = tuple(
        Series(word, word, steps[word].to_numpy(np.float64), hue, moments, amount_text(float(steps[word].iloc[-1])))
        for hue, word in enumerate(_SPREAD)
    )
    room = (high - low) / 10 or high / 10 or 1.0
    return Steps(
        title, f"{plural(len(rows), 'vote')}, {between(moments)}", Axis("record time (UTC)", "time"),
        Axis("USD per coin", "amount", "USD", limits=(max(low - room, 0.0), high + room)), series,
    )  # fmt: skip
