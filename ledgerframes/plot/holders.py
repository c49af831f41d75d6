"""The chart of the balances of the largest holders over time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.arguments import whole_number
from ledgerframes.models.coin_stocks import balances_over_time, coin_history
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.bins import between
from ledgerframes.plot.contents import Axis, Content, Nothing, Series, Steps
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.palette import hues_of
from ledgerframes.plot.reading import ChartInput, floats, micros, part, texts
from ledgerframes.short_ids import short_names

_MOST: Final = 40
_COLUMNS: Final = {
    "holdings": ("total_coin_holdings", "Balances over time", "CC, notional fees not taken off"),
    "unlocked": ("total_unlocked_coin", "Unlocked coin over time", "CC, notional fees not taken off"),
    "locked": ("total_locked_coin", "Locked coin over time", "CC, notional fees not taken off"),
    "available": ("total_available_coin", "Available coin over time", "unlocked CC less notional fees"),
}
_TIMES: Final = 120
_STEPS: Final = ("1s", "10s", "1min", "10min", "1h", "6h", "1D", "7D", "28D", "91D", "364D", "3640D")


@chart(None, giver="lf.balances_over_time(events)", over_time=True, whole=True)
def balances(
    x: ChartInput, *, show: Literal["holdings", "unlocked", "locked", "available"] = "holdings", top: int = 7
) -> Content:
    """Draw one line of steps per party: its holdings at each time.

    The parties with the largest balance at their last time are drawn, the others only counted. The scale is
    logarithmic where the largest balance is more than a hundred times the smallest and none is 0.

    Args:
        x: one row per time and party, from `balances_over_time`; or a History or Store that begins with the ledger.
        show: all holdings of a party, its unlocked or its locked coin, or the available part of the unlocked coin.
        top: the number of parties to show, at most 40; those after the seventh are grey.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     balances = lf.balances_over_time(lf.load_events(net), every="1min")
        >>> lf.plot.balances(balances, top=5).get_ylabel()
        'CC, notional fees not taken off'
    """
    whole_number(top, "top", least=1, most=_MOST)
    column, title, label = _COLUMNS[show]
    x = replace(x, compute=lambda source: largest_balances(source, part("updates")(source)["record_time"], top))
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
        Axis(label, "amount", "CC", logarithmic=0 < shown.min() < shown.max() / 100), series,
    )  # fmt: skip


def interval_of(times: pd.Series) -> str:
    """The interval at which a chart over times computes holdings."""
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
