"""Charts of the network's activity: updates, validators, and payments between parties."""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.models.coin_flows import transfers as transfers_of
from ledgerframes.models.licenses import license_growth as growth_of
from ledgerframes.number_format import amount_text, count_text, plural
from ledgerframes.plot.bins import DAY, between, bins, moment_text, time_bins
from ledgerframes.plot.contents import Axis, Content, Flows, Micros, Nothing, Ribbon, Series, Steps
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.ranking import fixed, ranked
from ledgerframes.plot.reading import ChartInput, begins, floats, micros, part, texts

_KINDS: Final = {"transaction": "transactions", "assignment": "assignments", "unassignment": "unassignments"}
_PAIRS: Final = 14


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
    binned = bins(times, every=every, begins=begins(frame))
    table = binned.sums(times, ranking.codes(categories), len(ranking.names))
    subtitle = f"{plural(len(times), 'update')}, {between(times)}{binned.note()}"
    return binned.stack(
        "Updates over time", subtitle, ranking.series(table, counts=True), "updates", "count", "updates"
    )


@chart(growth_of, giver="lf.license_growth(events) or lf.load_licenses(net)", over_time=True, whole=True)
def validators(x: ChartInput) -> Content:
    """Draw the number of validators with a license as steps, over time or over the rounds of their first coupons.

    A license contract is made again at every change, so `created_at` is not when a validator began: growth from
    `license_growth` has times, a single load of licenses has first rounds.

    Args:
        x: growth (columns time and validators), licenses (validator and first_round), or a History or Store that
            begins with the ledger.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot.validators(lf.load_licenses(net)).get_title(loc="left")
        'Validators with a license'
    """
    frame = x.frame()
    name, timed = "Validators with a license", {"time", "validators"} <= set(frame.columns)
    positions, counts, silent = _over_time(frame) if timed else _first_rounds(x.frame("validator", "first_round"))
    left_out = f"; {plural(silent, 'other')} never received a coupon" if silent else ""
    if not len(positions):
        return Nothing(name, f"no licenses in this range{left_out}")
    low, high = int(positions[0]), int(positions[-1])
    began = f"the first at {moment_text(low)} UTC" if timed else f"the first in round {low}"
    basis = ", some times interpolated between known rounds" if timed and frame.attrs.get("interpolated") else ""
    line = Series("validators", "validators", counts, 0, positions, count_text(int(counts[-1])))
    room = max((high - low) // 16, (DAY // 2 if low == high else 1) if timed else 1)
    return Steps(
        name, f"{plural(int(counts[-1]), 'validator')}, {began}{basis}{left_out}",
        Axis("time (UTC)", "time") if timed else Axis("round of the first coupon", "round"),
        Axis("validators", "count", "validators"), (line,), words="" if timed else "round", end=high + room,
    )  # fmt: skip


def _over_time(frame: pd.DataFrame) -> tuple[Micros, Any, int]:
    times, known = micros(frame, "time")
    counts = floats(frame, "validators")
    known = known & ~np.isnan(counts)
    order = np.argsort(times[known], kind="stable")
    return times[known][order], counts[known][order], int(frame.attrs.get("never_received", 0))


def _first_rounds(frame: pd.DataFrame) -> tuple[Micros, Any, int]:
    """The rounds in which validators first received, how many had by then, and how many never did."""
    first = pd.Series(floats(frame, "first_round")).groupby(frame["validator"].to_numpy()).min()
    rounds = first.dropna().astype("int64").value_counts().sort_index()
    return rounds.index.to_numpy(np.int64), rounds.cumsum().to_numpy(np.float64), int(first.isna().sum())


@chart(growth_of, over_time=True, whole=True)
def license_growth(x: ChartInput) -> Content:
    """Draw the number of validators that received their first license in each period.

    Args:
        x: growth, from `license_growth`, or a History or Store that begins with the ledger.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot.license_growth(lf.load_history(net)).get_ylabel()
        'new validators per day'
    """
    frame = x.frame("time", "new", "validators")
    name = "New validators"
    times, known = micros(frame, "time")
    if not known.any():
        return Nothing(name, "no licenses in this range")
    order = np.argsort(times[known], kind="stable")
    starts, new = times[known][order], np.nan_to_num(floats(frame, "new")[known][order])
    length = int(np.median(np.diff(starts))) if len(starts) > 1 else DAY
    period = {DAY: "day", 7 * DAY: "week", DAY // 24: "hour"}.get(length, "month" if length > 27 * DAY else "period")
    subtitle = f"{plural(int(new.sum()), 'validator')}, {between(starts)}"
    series = (Series("new", "new validators", new, 0),)
    binned = time_bins(np.append(starts, starts[-1] + length), period)
    return binned.stack(name, subtitle, series, "new validators", "count", "validators", along="time (UTC)")


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
    sizes = paid.groupby("source")["size"].sum().add(paid.groupby("target")["size"].sum(), fill_value=0.0)
    ranking = ranked(sizes, top or x.rows(_PAIRS))
    folded = paid.assign(source=ranking.folded(paid["source"]), target=ranking.folded(paid["target"]))
    sums = folded.groupby(["source", "target"], as_index=False, sort=False)["size"].sum()
    unit = "units" if "instrument_id" in frame else "CC"
    total = f"{amount_text(float(paid['size'].sum()))} {unit} in {plural(len(paid), 'transfer')}"
    parts = [total, plural(len(sizes), "party", "parties"), *_range(frame)]
    return Flows(
        "Who paid whom", "; ".join([", ".join(parts), *left_out]), ("paid by", "paid to"), unit, ranking.names,
        ranking.lengths(), ranking.hues(),
        tuple(Ribbon(str(one), str(other), "completed", float(size)) for one, other, size in sums.to_numpy()), {},
    )  # fmt: skip


def _range(frame: pd.DataFrame) -> list[str]:
    """The times of the transfers, else their rounds, in words, if the frame states them."""
    if "record_time" in frame:
        times, known = micros(frame, "record_time")
        return [between(times[known])] if known.any() else []
    numbers = floats(frame, "round") if "round" in frame else np.zeros(0)
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return []
    first, last = f"{numbers.min():.0f}", f"{numbers.max():.0f}"
    return [f"round {first}" if first == last else f"rounds {first} to {last}"]
