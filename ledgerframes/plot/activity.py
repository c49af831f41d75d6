"""Charts of what happens: updates, payments between parties, votes on proposals and for the coin's price."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.models.coin_flows import transfers as transfers_of
from ledgerframes.models.governance import price_votes as prices_of
from ledgerframes.models.governance import votes as votes_of
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.bins import QUARTER, between, bins, rounds_between
from ledgerframes.plot.contents import Axis, Content, Flows, Nothing, Series, Steps
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.ranking import fixed, in_and_out, ranked
from ledgerframes.plot.reading import ChartInput, floats, held, micros, part, texts

_KINDS: Final = {"transaction": "transactions", "assignment": "assignments", "unassignment": "unassignments"}
_PAIRS: Final = 14
_OUTCOMES: Final = {
    "accepted": "accepted", "rejected": "rejected", "expired": "expired",
    "accepted_but_failed": "accepted, but failed", "open": "open",
}  # fmt: skip
_SPREAD: Final = ("highest", "median", "lowest")


@chart(part("updates"), giver="lf.load_updates(net, ...)", over_time=True)
def updates(
    x: ChartInput, *, by: Literal["kind", "synchronizer_id"] = "kind", every: str | None = None, top: int = 6
) -> Content:
    """Draw the number of updates in each interval of record time, stacked.

    Args:
        x: one row per update, from `load_updates`; or a History or Store.
        by: colour by the kind of update or by the synchronizer.
        top: how many synchronizers to show by name; the others are combined. Kinds are all shown.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot.updates(lf.load_updates(net), every="1min").get_ylabel()
        'updates per minute'
    """
    frame = x.frame("record_time", by)
    times, known = micros(frame, "record_time")
    if not known.any():
        return Nothing("Updates over time", "no updates in this range")
    times, categories = times[known], texts(frame, by)[known]
    ranking = fixed(categories, _KINDS) if by == "kind" else ranked(categories.value_counts(), top)
    binned = bins(times, every=every, held=held(frame))
    table = binned.sums(times, ranking.codes(categories), len(ranking.names))
    subtitle = f"{plural(len(times), 'update')}, {between(times)}{binned.note()}"
    return binned.stack(
        "Updates over time", subtitle, ranking.series(table, counts=True), "updates", "count", "updates"
    )


@chart(transfers_of)
def transfers(x: ChartInput, *, top: int | None = None) -> Content:
    """Draw which parties paid (left) and which they paid (right).

    The width of a ribbon is the sum of its transfers, its colour that of the sender; parties have the same order on
    both sides, those with the largest sums first. A party's payments to itself are left out and counted in the
    subtitle, as are transfers whose amount is null. A party that the events do not state is called unknown.

    Args:
        x: one row per output, from `transfers`; of `token_transfers`, choose one instrument and one step; or a History
            or Store.
        top: the number of parties to show by name; the others are combined. Defaults to as many as fit, at
            most 14.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     transfers = lf.transfers(lf.load_events(net))
        >>> lf.plot.transfers(transfers, top=8).get_title(loc="left")
        'Who paid whom'
    """
    frame = x.frame("sender", "receiver", "amount")
    for name in ("instrument_admin", "instrument_id", "step"):
        if name in frame and frame[name].nunique(dropna=False) > 1:
            raise InputError(
                f"transfers needs those of one {name.partition('_')[0]}; column {name} holds "
                f'{frame[name].nunique(dropna=False)}: choose one, such as frame.query("{name} == …")'
            )
    rows = pd.DataFrame({"source": texts(frame, "sender"), "target": texts(frame, "receiver")})
    rows["size"] = floats(frame, "amount")
    between_parties = rows[rows["source"] != rows["target"]]
    paid = between_parties[between_parties["size"] > 0]
    own, unknown = len(rows) - len(between_parties), int(between_parties["size"].isna().sum())
    low = len(between_parties) - unknown - len(paid)
    left_out = [f"{plural(own, 'payment')} of a party to itself left out"] if own else []
    left_out += [f"{plural(unknown, 'other')} without an amount"] if unknown else []
    left_out += [f"{plural(low, 'other')} of 0 or less"] if low else []
    if paid.empty:
        return Nothing("Who paid whom", "; ".join(["no transfers between parties here", *left_out]))
    sizes = in_and_out(paid)
    ranking = ranked(sizes, top or x.rows(_PAIRS))
    unit = "units" if "instrument_id" in frame else "CC"
    total = f"{amount_text(float(paid['size'].sum()))} {unit} in {plural(len(paid), 'transfer')}"
    parts = [total, plural(len(sizes), "party", "parties"), *_range(frame)]
    return Flows(
        "Who paid whom", "; ".join([", ".join(parts), *left_out]), ("paid by", "paid to"), unit, ranking.names,
        ranking.lengths(), ranking.hues(), ranking.ribbons(paid.assign(status="completed")), {},
    )  # fmt: skip


def _range(frame: pd.DataFrame) -> list[str]:
    """The times of the transfers, else their rounds, in words, if the frame states them."""
    if "record_time" in frame:
        times, known = micros(frame, "record_time")
        return [between(times[known])] if known.any() else []
    numbers = floats(frame, "round") if "round" in frame else np.zeros(0)
    numbers = numbers[~np.isnan(numbers)]
    return [rounds_between(numbers.min(), numbers.max())] if len(numbers) else []


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
    ranking, binned = fixed(outcomes, _OUTCOMES), bins(times, every=every, most=QUARTER, held=held(frame))
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
        Axis("USD per coin", "amount", "USD", limits=(max(low - room, 0.0), high + room)), series, end=held(frame)[1],
    )  # fmt: skip
