"""Charts of the supply: issuance against its schedule, what it is for, who holds it, and balances over time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.arguments import whole_number
from ledgerframes.models.coin_stocks import balances_over_time, coin_history
from ledgerframes.models.coin_stocks import supply_by_purpose as purposes_of
from ledgerframes.models.holdings import holdings_from_events
from ledgerframes.models.rounds_and_rewards import issuance as issuance_of
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.bins import DAY, between, grouped, moment_text, moment_words, rounds_text
from ledgerframes.plot.contents import Axis, Bars, Content, Floats, Nothing, Series, Stack, Steps
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.palette import hues_of
from ledgerframes.plot.ranking import ranked
from ledgerframes.plot.reading import ChartInput, floats, held, micros, part, texts
from ledgerframes.short_ids import short_names

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
_GIVER: Final = "lf.load_holdings_summary(net, parties)"
_FEES: Final = ("accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked")
_HOLDINGS: Final = ("total_unlocked_coin", "total_locked_coin")
_PARTS: Final = ("unlocked", "locked")
_NOT_DEDUCTED: Final = "CC, notional fees not taken off"
_MOST: Final = 40
_TIMES: Final = 120
_STEPS: Final = ("1s", "10s", "1min", "10min", "1h", "6h", "1D", "7D", "28D", "91D", "364D", "3640D")


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


def _purposes(source: Any, opening: Any = None) -> pd.DataFrame:
    every = interval_of(part("updates")(source)["record_time"])
    rows: pd.DataFrame = purposes_of(source, every=every, opening=opening, decimals="float")
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


@chart(holdings_from_events, giver=_GIVER, whole=True)
def holdings(x: ChartInput, *, top: int = 15) -> Content:
    """Draw the holdings of each party as one bar, unlocked and locked coin stacked, the largest first.

    For a frame with several snapshots the newest is drawn. Notional fees are not deducted: they are charged only when
    a contract expires. The bar of the others ends where the axis does.

    Args:
        x: from `load_holdings_summary` or `holdings_from_events`; or a History or Store that begins with the ledger.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot.holdings(lf.load_history(net), top=5).get_xlabel()
        'CC, notional fees not taken off'
    """
    return _bars(x, _HOLDINGS, "Holdings by party", _NOT_DEDUCTED, top)


@chart(holdings_from_events, giver=_GIVER, whole=True)
def holding_fees(x: ChartInput, *, top: int = 15) -> Content:
    """Draw the notional holding fees of each party as one bar, unlocked and locked stacked, the largest first.

    Of a frame with several snapshots the newest is drawn. Fees are notional: they are charged only when a contract
    expires, so they are never subtracted from holdings. Newer servers serve no fees: the chart says so, and
    `holdings` draws what parties hold.

    Args:
        x: from `load_holdings_summary` or `holdings_from_events`; or a History or Store that begins with the ledger.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot.holding_fees(lf.load_history(net), top=5).get_xlabel()
        'notional fees in CC; charged only when a contract expires'
    """
    label = "notional fees in CC; charged only when a contract expires"
    return _bars(x, _FEES, "Notional holding fees by party", label, top)


def _bars(x: ChartInput, columns: tuple[str, str], title: str, label: str, top: int) -> Content:
    """The newest snapshot's unlocked and locked amounts by party; the later row where party, time and round repeat."""
    frame = x.frame(*dict.fromkeys(("record_time", "computed_as_of_round", "party_id", *_HOLDINGS, *columns)))
    moments, known = micros(frame, "record_time")
    rows = pd.DataFrame(
        {
            "party": texts(frame, "party_id").to_numpy(), "moment": moments,
            "round": floats(frame, "computed_as_of_round"), "unlocked": floats(frame, columns[0]),
            "locked": floats(frame, columns[1]),
        }
    )  # fmt: skip
    stated = known & rows[list(_PARTS)].notna().any(axis=1).to_numpy()
    holding = known & frame[list(_HOLDINGS)].notna().any(axis=1).to_numpy()
    unstated = rows[holding & ~stated]  # summaries of newer servers have no fees
    absent = len(set(rows["party"]) - set(rows["party"][stated | holding]))
    rows = rows[stated].fillna(dict.fromkeys(_PARTS, 0.0)).drop_duplicates(["party", "moment", "round"], keep="last")
    if rows.empty and unstated.empty:
        return Nothing(title, "no party has holdings in this snapshot")
    moment = int(pd.concat([rows["moment"], unstated["moment"]]).max())
    snapshots = len(rows[["moment", "round"]].drop_duplicates())
    snapshots += len(set(unstated["moment"]) - set(rows["moment"]))
    withheld = int(unstated.loc[unstated["moment"] == moment, "party"].nunique())
    rows = rows[rows["moment"] == moment]
    number = rows["round"].max()
    rows = rows if np.isnan(number) else rows[rows["round"] == number]
    asked = str(frame.attrs.get("snapshot_time")).startswith("as asked")  # the server names no time of its own
    stop = held(frame)[1]
    last = moment if stop is None else min(moment, stop - 1)
    when = f"{'asked for ' if asked else ''}at {moment_text(last)} UTC"
    when += ", where the history ends" if last < moment else ""
    when += "" if np.isnan(number) else f", round {number:.0f}"
    when += f", the last of {snapshots} snapshots" if snapshots > 1 else ""
    if rows.empty:
        served = plural(withheld, "party", "parties")
        return Nothing(title, f"fees not served for {served} {when}; lf.plot.holdings draws what they hold")
    by_party = rows.set_index("party")[list(_PARTS)]
    ranking = ranked(by_party.sum(axis=1), top)
    table = ranking.sums(by_party)
    left_out = f", {plural(absent, 'other')} without holdings" if absent else ""
    left_out += f", fees not served for {plural(withheld, 'other')}" if withheld else ""
    return Bars(
        title, f"{plural(len(rows), 'party', 'parties')}{left_out}, {when}", Axis(label, "amount", "CC"),
        ranking.names, ranking.lengths(),
        tuple(Series(name, name, table[name].to_numpy(np.float64), hue) for hue, name in enumerate(_PARTS)),
        tuple(amount_text(float(total)) for total in table.sum(axis=1)), rest=ranking.rest is not None,
    )  # fmt: skip


@chart(balances_over_time, giver="lf.balances_over_time(events)", over_time=True, whole=True)
def balances(x: ChartInput, *, top: int = 7) -> Content:
    """Draw one line of steps per party: its holdings at each time, unlocked and locked; notional fees are not deducted.

    The parties with the largest balance at their last time are drawn, the others only counted. The scale is
    logarithmic where the largest balance is more than a hundred times the smallest and none is 0.

    Args:
        x: one row per time and party, from `balances_over_time`; or a History or Store that begins with the ledger.
        top: the number of parties to show, at most 40; those after the seventh are grey.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     balances = lf.balances_over_time(lf.load_events(net), every="1min")
        >>> lf.plot.balances(balances, top=5).get_ylabel()
        'CC, notional fees not taken off'
    """
    whole_number(top, "top", least=1, most=_MOST)
    title, column = "Balances over time", "total_coin_holdings"

    def largest(source: Any, opening: Any = None) -> pd.DataFrame:
        return largest_balances(source, part("updates")(source)["record_time"], top, opening=opening)

    x = replace(x, compute=largest)
    frame = x.frame("time", "party_id", column)
    moments, known = micros(frame, "time")
    rows = pd.DataFrame(
        {"party": texts(frame, "party_id").to_numpy(), "moment": moments, "held": floats(frame, column)}
    )
    rows = rows[known & rows["held"].notna().to_numpy()].sort_values("moment", kind="stable")
    rows = rows.drop_duplicates(["party", "moment"], keep="last")
    if rows.empty:
        return Nothing(title, f"{column} is null in all rows here" if len(frame) else "no balances in this range")
    last = rows.drop_duplicates("party", keep="last").set_index("party")["held"]
    names = list(last.sort_index().sort_values(ascending=False, kind="stable").index[:top])
    labels, hues, by_party = short_names(names), hues_of(names), dict(list(rows.groupby("party")))
    series = tuple(
        Series(
            name, labels[name], by_party[name]["held"].to_numpy(np.float64), hues[name],
            by_party[name]["moment"].to_numpy(), amount_text(float(by_party[name]["held"].iloc[-1])),
        )
        for name in names
    )  # fmt: skip
    shown = rows.loc[rows["party"].isin(names), "held"]
    parties = max(len(last), int(frame.attrs.get("holders", 0)))
    of = plural(parties, "party", "parties")
    return Steps(
        title, f"{of if len(names) == parties else f'the {len(names)} largest of {of}'}, "
        f"{between(rows['moment'].to_numpy())}", Axis("time (UTC)", "time"),
        Axis(_NOT_DEDUCTED, "amount", "CC", logarithmic=0 < shown.min() < shown.max() / 100), series,
    )  # fmt: skip


def interval_of(times: Any) -> str:
    """The interval at which a chart over times, of a frame of whatever form, computes holdings."""
    times = times.to_pandas() if hasattr(times, "to_pandas") else times
    span = times.max() - times.min()
    return next((step for step in _STEPS if span / pd.Timedelta(step) <= _TIMES), _STEPS[-1])


def largest_balances(source: Any, times: pd.Series, top: int, *, opening: Any = None) -> pd.DataFrame:
    """The holdings of a history's largest holders over its times; `attrs["holders"]` counts all holders."""
    coins = coin_history(source, opening=opening, decimals="float")
    coins = coins[coins["ended_at"].isna()]
    sums = coins.groupby("owner")["amount"].sum().sort_values(ascending=False, kind="stable")
    known: pd.DataFrame = balances_over_time(
        source, every=interval_of(times), parties=list(sums.index[:top]), opening=opening, decimals="float"
    )
    known.attrs["holders"] = len(sums)
    return known
