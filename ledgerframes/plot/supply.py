"""Charts of issuance against its schedule, and of what the supply is for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.models.coin_stocks import supply_by_purpose as purposes_of
from ledgerframes.models.rounds_and_rewards import issuance as issuance_of
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.bins import DAY, between, grouped, moment_words, rounds_text
from ledgerframes.plot.contents import Axis, Content, Floats, Nothing, Series, Stack
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.holdings import interval_of
from ledgerframes.plot.reading import ChartInput, floats, micros, part

_FATES: Final = {
    "minted": "minted", "open": "may be minted yet", "fund": "development fund",
    "expired": "expired", "nobody": "earned by nobody", "pending": "not known",
}  # fmt: skip
_STOCKS: Final = {
    "supply": (
        "Supply of coin by purpose",
        {
            "unlocked": "unlocked", "locked_transfer": "locked for transfers",
            "locked_allocation": "locked for settlements", "locked_payment": "locked for payments",
            "locked_governance": "locked for governance", "locked_vesting": "vesting",
            "locked_other": "locked otherwise",
        },
    ),
    "pools": (
        "Pools of coin that may be minted",
        {
            "unclaimed_rewards": "unclaimed rewards", "development_fund_unallocated": "development fund, not granted",
            "development_fund_allocated": "development fund, granted",
        },
    ),
}  # fmt: skip
_MOST_TIMES: Final = 400
#: Shares that differ by no more than rounding, of what the schedule allows.
_ROUNDING: Final = 1e-6
_MOST_MARKS: Final = 3


@chart(issuance_of)
def issuance(x: ChartInput) -> Content:
    """Draw what the issuance curve allows each round, by outcome: minted, expired, or still open.

    The height of a bar is what the schedule of emission (inflation) allows; where more was minted, the bar is higher.
    Lines mark where the coin per year changes. More than 120 rounds are combined; bars with rounds that are not
    whole are hatched.

    Args:
        x: one row per round, from `issuance`; or a History or Store.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     rounds = lf.issuance(lf.load_events(net))
        >>> lf.plot.issuance(rounds).get_ylabel()
        'CC per round'
    """
    names = ("allowed", "allowed_development_fund", "minted", "expired", "open", "amulet_to_issue_per_year")
    frame = x.frame("round", *names)
    title = "Issuance against the schedule"
    rows = pd.DataFrame({name: floats(frame, name) for name in ("round", *names)}, index=frame.index)
    rows = rows[rows["round"].notna()].sort_values("round", kind="stable")
    known = rows[rows["allowed"].notna()]
    if known.empty:
        return Nothing(title, "what the curve allows is not known" if len(rows) else "no rounds in this range")
    fates, numbers = _fates(known), known["round"].to_numpy(np.float64)
    whole = frame["whole"].loc[known.index] if "whole" in frame else None
    groups = grouped(numbers, whole)
    shown = {name: groups.total(numbers, values) for name, values in fates.items() if values.any()}
    allowed, minted = float(known["allowed"].sum()), float(known["minted"].sum())
    parts = [rounds_text(numbers), f"{amount_text(allowed)} CC allowed, {amount_text(minted)} minted"]
    parts += [f"not known of {plural(len(rows) - len(known), 'other')}"] if len(rows) > len(known) else []
    parts += [f"{plural(len(groups.partial), 'bar')} incomplete"] if groups.partial else []
    hues = list(_FATES)
    series = tuple(
        Series(name, words, shown[name], hues.index(name) if name != "pending" else None,
               total=amount_text(float(shown[name].sum())))
        for name, words in _FATES.items() if name in shown
    )  # fmt: skip
    series = series or (Series("minted", "minted", groups.total(numbers, fates["minted"]), 0),)
    made = groups.stack(title, "; ".join(parts), series, "CC", "amount", "CC", along="round")
    return replace(made, marks=_steps(numbers, known["amulet_to_issue_per_year"].to_numpy(np.float64)))


def _fates(rows: pd.DataFrame) -> dict[str, Floats]:
    """The outcome of each round's allowance; if one part is unknown, so is the rest."""
    known = rows[["minted", "expired", "open"]].notna().all(axis=1).to_numpy()
    parts = rows[["minted", "open", "expired"]].fillna(0).assign(fund=rows["allowed_development_fund"].fillna(0))
    rest = (rows["allowed"] - parts.sum(axis=1)).to_numpy(np.float64)
    rest = np.where(np.abs(rest) <= _ROUNDING * np.abs(rows["allowed"]), 0.0, np.maximum(rest, 0.0))
    found = {name: parts[name].to_numpy(np.float64) for name in parts}
    return {**found, "nobody": np.where(known, rest, 0.0), "pending": np.where(known, 0.0, rest)}


def _steps(numbers: Floats, yearly: Floats) -> tuple[tuple[float, str], ...]:
    """The places where the coin per year changes, the last few of these."""
    steps = [
        (number - 0.5, f"{amount_text(now)} CC a year")
        for (_, before), (number, now) in pairwise(zip(numbers.tolist(), yearly.tolist(), strict=True))
        if before != now and not np.isnan(before) and not np.isnan(now)
    ]
    return tuple(steps[-_MOST_MARKS:])


def _purposes(source: Any) -> pd.DataFrame:
    every = interval_of(part("updates")(source)["record_time"])
    rows: pd.DataFrame = purposes_of(source, every=every, decimals="float")
    return rows


@chart(_purposes, giver="lf.supply_by_purpose(events)", over_time=True, whole=True)
def supply_by_purpose(x: ChartInput, *, show: Literal["supply", "pools"] = "supply") -> Content:
    """Draw the coin that exists over time, unlocked and locked by purpose; or the pools that may still be minted.

    Each bar is the state at its end; the legend has the last sums, the subtitle the circulating supply.

    Args:
        x: one row per time, from `supply_by_purpose`; or a History or Store that begins with the ledger.
        show: the supply, or the unclaimed rewards and the development fund, which are not part of it.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     supply = lf.supply_by_purpose(lf.load_events(net), every="10min")
        >>> lf.plot.supply_by_purpose(supply).get_title(loc="left")
        'Supply of coin by purpose'
    """
    title, words = _STOCKS[show]
    frame = x.frame("time", *words)
    times, timed = micros(frame, "time")
    rows = pd.DataFrame({name: floats(frame, name) for name in words}).assign(time=times)[timed]
    rows = rows.drop_duplicates("time", keep="last").sort_values("time", kind="stable")
    known = rows.notna().all(axis=1)
    unknown, rows = int((~known).sum()), rows[known]
    if rows.empty:
        return Nothing(title, "not known at any time" if unknown else "no times in this range")
    # Of many times every second, third … counted from the last one.
    rows = rows.iloc[(len(rows) - 1) % -(-len(rows) // _MOST_TIMES) :: -(-len(rows) // _MOST_TIMES)]
    ends = rows["time"].to_numpy(np.int64)
    edges = np.append(ends[0] - (ends[1] - ends[0] if len(ends) > 1 else DAY), ends)
    sums = rows[list(words)].sum(axis=1)
    parts = [f"{amount_text(float(sums.iloc[-1]))} CC at the end"]
    if show == "supply" and "circulating" in frame:
        circulating = float(floats(frame, "circulating")[rows.index[-1]])
        parts[0] += f", {amount_text(circulating)} circulating"
    parts += [between(ends)] + ([f"not known at {plural(unknown, 'other time')}"] if unknown else [])
    series = tuple(
        Series(name, label, rows[name].to_numpy(np.float64), hue, total=amount_text(float(rows[name].iloc[-1])))
        for hue, (name, label) in enumerate(words.items())
        if rows[name].any() or name == next(iter(words))
    )
    return Stack(
        title, "; ".join(parts), Axis("time (UTC)", "time"), Axis("CC", "amount", "CC"), edges,
        tuple(f"at {moment_words(end)} UTC" for end in ends.tolist()), series,
    )  # fmt: skip
