"""Charts of coin and instruments as a whole: rewards, minting and burning, supplies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.arguments import whole_number
from ledgerframes.errors import InputError
from ledgerframes.frames import proof_of
from ledgerframes.models.coin_flows import mint_burn
from ledgerframes.models.coin_stocks import supply_per_round
from ledgerframes.models.rounds_and_rewards import reward_flows
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.bins import QUARTER, between, bins, grouped, rounds_text
from ledgerframes.plot.contents import Axis, Content, Floats, Nothing, Panels, Series, Stack, Steps
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.palette import HUES, hues_of
from ledgerframes.plot.ranking import fixed, ranked
from ledgerframes.plot.reading import ChartInput, begins, floats, held, micros, part, texts
from ledgerframes.short_ids import short_names

_EVENTS: Final = {"claimed": "claimed", "expired": "expired", "withdrawn": "withdrawn", "created": "created"}
#: Kinds of rewards, and causes of burning, written out.
KINDS: Final = {
    "sv": "super validators", "app": "applications", "validator": "validators",
    "validator_faucet": "validator liveness", "development_fund": "development fund",
    "unclaimed_activity": "unclaimed activity", "app_v2": "applications, by traffic",
}  # fmt: skip
CAUSES: Final = {
    "traffic": "traffic", "names": "names", "preapprovals": "transfer preapprovals", "fees": "fees",
    "expiry": "expired coins",
}  # fmt: skip


@chart(reward_flows, over_time=True)
def rewards(
    x: ChartInput,
    *,
    by: Literal["outcome", "kind", "party"] = "outcome",
    every: str | None = None,
    top: int = 6,
) -> Content:
    """Draw the coin of rewards in each interval, by the time at which they were claimed, expired or withdrawn.

    Only claimed rewards were paid; the subtitle has the sums of all outcomes, and how many coupons are open if
    the frame begins with the ledger. Rows whose amount is null are not drawn; the subtitle counts them.

    Args:
        x: from `reward_flows`, or coupons from `rewards`; or a History or Store.
        by: colour by what became of the rewards; or only the claimed ones, by kind or by party.
        top: how many parties to show by name, 7 at most; the others are combined. Kinds are all shown.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     flows = lf.reward_flows(lf.load_events(net))
        >>> lf.plot.rewards(flows, every="1min").get_ylabel()
        'CC per minute'
    """
    whole_number(top, "top", least=1, most=HUES)
    frame = replace(x, x=_flows_of(x.x)).frame("record_time", "event", "kind", "party", "amount")
    title = "Rewards by what became of them" if by == "outcome" else f"Rewards claimed, by {by}"
    times, timed = micros(frame, "record_time")
    values, happened = floats(frame, "amount"), texts(frame, "event").to_numpy()
    sums = {word: float(np.nansum(values[happened == word])) for word in _EVENTS}
    wanted = timed & ((happened != "created") if by == "outcome" else (happened == "claimed"))
    unknown = int((wanted & np.isnan(values)).sum())
    left_out = f"; {plural(unknown, 'row')} of unknown worth" if unknown else ""
    parts = [f"{amount_text(sums['claimed'])} CC claimed", f"{amount_text(sums['expired'])} expired"]
    parts += [f"{amount_text(sums['withdrawn'])} withdrawn"] if sums["withdrawn"] else []
    coupons = np.nan_to_num(floats(frame, "coupons")) if "coupons" in frame else np.ones(len(frame))
    unpriced = int(coupons[np.isnan(values) & (happened == "created")].sum())
    more = f" and {plural(unpriced, 'coupon')} of unknown worth" if unpriced else ""
    parts += [f"{amount_text(sums['created'])}{more} created", *_open(frame)]
    known = wanted & ~np.isnan(values)
    if not known.any():
        none = f"no rewards were {'claimed, expired or withdrawn' if by == 'outcome' else 'claimed'} in this range"
        return Nothing(title, none + (left_out if unknown else ""))
    times, values = times[known], values[known]
    categories = texts(frame, "event" if by == "outcome" else by).reset_index(drop=True)[known].reset_index(drop=True)
    if by == "party":
        ranking = ranked(pd.Series(values).groupby(categories.to_numpy()).sum(), top)
    else:
        ranking = fixed(categories, _EVENTS if by == "outcome" else KINDS)
    binned = bins(times, every=every, most=QUARTER, held=held(frame))
    table = binned.sums(times, ranking.codes(categories), len(ranking.names), values)
    subtitle = f"{', '.join(parts)}; {between(times)}{left_out}{binned.note()}"
    return binned.stack(title, subtitle, ranking.series(table), "CC", "amount", "CC")


def _flows_of(x: Any) -> Any:
    """Turn coupons into flows of their events; return everything else unchanged."""
    if not isinstance(x, pd.DataFrame) or not {"outcome", "created_at", "ended_at"} <= set(x.columns):
        return x
    # The shares are in the coupons that replaced it.
    coupons = x[x["outcome"].ne("shared").fillna(True)]  # noqa: FBT003
    begun, ended = coupons[coupons["created_at"].notna()], coupons[coupons["ended_at"].notna()]
    created = begun.assign(record_time=begun["created_at"], event="created")
    ended = ended.assign(record_time=ended["ended_at"], event=ended["outcome"])
    flows = pd.concat([created, ended]).assign(party=lambda rows: rows["beneficiary"], coupons=1)
    flows.attrs = proof_of(x)  # of all coupons, however many events they have
    return flows


def _open(frame: pd.DataFrame) -> list[str]:
    """The number of coupons that are open at the end, if the frame is known to begin with the ledger."""
    edges = proof_of(frame).get("edges") if begins(frame) else None
    left = edges["open_at_end"]["rows"] if edges else 0
    return [f"{plural(left, 'coupon')} open"] if left else []


@chart(mint_burn, over_time=True)
def burn(x: ChartInput, *, every: str | None = None) -> Content:
    """Draw the coin burned in each interval of record time, stacked by cause; the legend has each sum.

    Amounts that are null are not drawn; the subtitle counts the updates that have one.

    Args:
        x: one row per update, from `mint_burn`: record_time and the columns that begin with `burned_`; or a History or
            Store.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     flows = lf.mint_burn(lf.load_events(net))
        >>> lf.plot.burn(flows, every="1min").get_ylabel()
        'CC burned per minute'
    """
    frame = x.frame("record_time", *(f"burned_{cause}" for cause in CAUSES))
    title = "Coin burned, by cause"
    times, known = micros(frame, "record_time")
    values = np.array([floats(frame, f"burned_{cause}")[known] for cause in CAUSES])
    unknown = int(np.isnan(values).any(axis=0).sum())
    left_out = f"; not known of {plural(unknown, 'update')}" if unknown else ""
    burning = (np.nan_to_num(values) != 0).any(axis=0)
    if not burning.any():
        return Nothing(title, f"no coin {'is known to have been' if unknown else 'was'} burned in this range{left_out}")
    times, binned = times[known], bins(times[known], every=every, most=QUARTER, held=held(frame))
    rows = {cause: binned.total(times, row) for cause, row in zip(CAUSES, values, strict=True)}
    ranking = fixed(pd.Series([cause for cause, row in rows.items() if row.any()]), CAUSES)
    table = np.array([rows[cause] for cause in ranking.names])
    total = f"{amount_text(float(table.sum()))} CC burned by {plural(int(burning.sum()), 'update')}"
    subtitle = f"{total}, {between(times)}{left_out}{binned.note()}"
    return binned.stack(title, subtitle, ranking.series(table), "CC burned", "amount", "CC")


@chart(supply_per_round)
def coin_supply(x: ChartInput) -> Content:
    """Draw the supply of coin after each round, and what each round minted and burned, in panels of their own.

    More than 120 rounds are combined, in groups of 2, 5, 10 and so on. The subtitle says what is not known and
    in how many rounds a change is not explained. The scale of the supply does not begin at 0 where it changes little.

    Args:
        x: one row per round, from `supply_per_round`; or a History or Store.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     rounds = lf.supply_per_round(lf.load_events(net))
        >>> lf.plot.coin_supply(rounds).get_title(loc="left")
        'Coin supply, minted and burned'
    """
    flows = ("minted", "burned", "unexplained")
    frame = x.frame("round", *flows, "total")
    title, numbers = "Coin supply, minted and burned", floats(frame, "round")
    order = np.argsort(numbers, kind="stable")[: int((~np.isnan(numbers)).sum())]
    if not len(order):
        return Nothing(title, "no rounds in this range")
    frame, numbers = frame.iloc[order], numbers[order]
    columns = {name: floats(frame, name) for name in flows}
    groups = grouped(numbers, frame.get("whole"))
    unknown = int((np.isnan(columns["burned"]) | np.isnan(columns["minted"])).sum())
    unexplained = int((np.nan_to_num(columns["unexplained"]) != 0).sum())
    panels = _total(numbers, floats(frame, "total"))
    second = [rounds_text(numbers)]
    second += [f"what was burned is not known in {unknown:,}"] if unknown else []
    second += [f"changes unexplained in {unexplained:,}"] if unexplained else []
    second += [] if panels else ["the supply is not known"]
    for hue, name in enumerate(("minted", "burned")):
        sums = groups.total(numbers, columns[name])
        heading = f"{name}  {amount_text(float(sums.sum()))} CC"
        panels.append(groups.stack(heading, "", (Series(name, name, sums, hue),), "CC", "amount", "CC", along="round"))
    return Panels(title, ", ".join(second) + groups.note(), tuple(panels))


def _total(numbers: Floats, totals: Floats) -> list[Stack | Steps]:
    """The panel of the supply; none if it is not known."""
    known = ~np.isnan(totals)
    if not known.any():
        return []
    low, high = float(np.nanmin(totals)), float(np.nanmax(totals))
    near = 0 < high - low < low / 2
    air = (high - low) * 0.12
    line = Series("total", "supply", totals[known], 0, numbers[known], f"{amount_text(float(totals[known][-1]))} CC")
    limits = (low - air, high + air) if near else None
    y = Axis("CC, axis not from 0" if near else "CC", "amount", "CC", limits)
    end = float(numbers[known][-1]) + 0.5
    return [Steps(f"supply  {line.total}", "", Axis("round", "round"), y, (line,), words="after round", end=end)]


@chart(part("instruments"), giver="lf.load_instruments(net)", over_time=True)
def instrument_supply(x: ChartInput, *, top: int = 6) -> Content:
    """Draw the total supply of instruments over snapshots, each in a panel with a scale of its own.

    Each instrument counts in its own unit, so supplies are neither added up nor compared.

    Args:
        x: snapshots from `load_instruments`, of one or several loads, or from `instrument_supply`; or a Store that
            holds snapshots of instruments.
        top: how many instruments to show, those with the largest supply.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot.instrument_supply(lf.load_instruments(net)).get_title(loc="left")
        'Total supply of instruments'
    """
    x = x if hasattr(x.x, "coverage") else replace(x, compute=None)
    frame = x.frame("instrument_id", "symbol", "total_supply")
    title = "Total supply of instruments"
    rows = _supplies(frame)
    if rows.empty:
        return Nothing(title, "no instrument states its total supply here")
    last = rows.drop_duplicates("instrument", keep="last").sort_values("supply", ascending=False, kind="stable")
    shown, labels = last.head(top), _labels(last)
    hues, by_name = hues_of(shown["instrument"]), dict(list(rows.groupby("instrument")))
    silent, more = frame["instrument_id"].nunique() - len(last), len(last) - len(shown)
    parts = [between(rows["moment"].to_numpy())]
    parts += [f"the {len(shown)} largest of {plural(len(last), 'instrument')}"] if more else []
    parts += [f"{plural(silent, 'other')} without a supply"] if silent else []
    panels = []
    for name in shown["instrument"]:
        values = by_name[name]["supply"].to_numpy(np.float64)
        line = Series(name, labels[name], values, hues[name], by_name[name]["moment"].to_numpy())
        heading = f"{labels[name]}  {amount_text(float(values[-1]))}"
        panels.append(Steps(heading, "", Axis("time (UTC)", "time"), Axis("", "amount"), (line,)))
    return Panels(title, ", ".join([*parts, "each in its own unit"]), tuple(panels), columns=min(len(panels), 3))


def _supplies(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per instrument and time; unknown supplies are left out."""
    found = [name for name in ("loaded_at", "total_supply_as_of", "time") if name in frame.columns]
    if not found and len(frame):
        raise InputError(
            "instrument_supply needs a column of times: loaded_at or total_supply_as_of; use lf.load_instruments(net)"
        )
    times, known = micros(frame, *found)
    names = texts(frame, "instrument_id")
    if "instrument_admin" in frame.columns:
        # Issuers can choose the same id.
        shared = frame["instrument_admin"].groupby(names).transform("nunique") > 1
        names = names.where(~shared, names + " of " + texts(frame, "instrument_admin"))
    rows = pd.DataFrame({"instrument": names, "symbol": texts(frame, "symbol", absent="")})
    rows = rows.reset_index(drop=True).assign(supply=floats(frame, "total_supply"), moment=times)
    return rows[known & rows["supply"].notna().to_numpy()].sort_values("moment", kind="stable")


def _labels(last: pd.DataFrame) -> dict[str, str]:
    """The symbol of an instrument, with its id if several share the symbol."""
    short = short_names(last["instrument"])
    shared = last["symbol"].duplicated(keep=False) | (last["symbol"] == "")
    return {
        name: f"{symbol} {short[name]}".strip() if both else symbol
        for name, symbol, both in zip(last["instrument"], last["symbol"], shared, strict=True)
    }
