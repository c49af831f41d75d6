"""Charts of key figures: validators with a license, their scorecard, shares of applications, parties that come back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from ledgerframes.arguments import duration
from ledgerframes.errors import InputError
from ledgerframes.models.licenses import license_growth as growth_of
from ledgerframes.models.network_activity import app_daily, validator_daily
from ledgerframes.models.network_activity import retention as retention_of
from ledgerframes.number_format import amount_text, count_text, plural
from ledgerframes.plot.bins import DAY, QUARTER, between, bins, length_words, time_bins
from ledgerframes.plot.contents import Axis, Bars, Content, Floats, Matrix, Micros, Nothing, Series, Steps
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.ranking import ranked
from ledgerframes.plot.reading import ChartInput, floats, held, micros, texts

_MOST_WEEKS: Final = 20
#: The parts of a validator's bar, by their columns.
_PARTS: Final = {
    "rewards_app": "apps", "rewards_validator": "users' traffic", "rewards_validator_faucet": "being alive",
    "rewards_other": "other rewards", "traffic_paid": "traffic bought",
}  # fmt: skip
#: How many months a period has, and how many days at least and at most.
_CALENDAR: Final = {"month": (1, 28, 31), "quarter": (3, 90, 92), "year": (12, 365, 366)}
_ROUNDS: Final = ("rounds_reported", "rounds_missed")


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
    positions, counts, silent = (
        (*_in_order(frame, "validators"), int(frame.attrs.get("never_received", 0))) if timed
        else _first_rounds(x.frame("validator", "first_round"))
    )  # fmt: skip
    left_out = f"; {plural(silent, 'other')} never received a coupon" if silent else ""
    if not len(positions):
        return Nothing(name, f"no licenses in this range{left_out}")
    low, high = int(positions[0]), int(positions[-1])
    began = f"the first on {between(positions[:1])}" if timed else f"the first in round {low}"
    basis = ", some times interpolated between known rounds" if timed and frame.attrs.get("interpolated") else ""
    line = Series("validators", "validators", counts, 0, positions, count_text(int(counts[-1])))
    known = held(frame)[1] if timed else None
    end = max(high + 1, known) if known else high + max((high - low) // 16, (DAY if low == high else 1) if timed else 1)
    return Steps(
        name, f"{plural(int(counts[-1]), 'validator')}, {began}{basis}{left_out}",
        Axis("time (UTC)", "time") if timed else Axis("round of the first coupon", "round"),
        Axis("validators", "count", "validators"), (line,), words="" if timed else "round", end=end,
    )  # fmt: skip


def _in_order(frame: pd.DataFrame, name: str) -> tuple[Micros, Floats]:
    """The times and the values of a column that are known, in order."""
    times, known = micros(frame, "time")
    values = floats(frame, name)
    known = known & ~np.isnan(values)
    order = np.argsort(times[known], kind="stable")
    return times[known][order], values[known][order]


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
    starts, new = _in_order(frame, "new")
    if not len(starts):
        return Nothing(name, "no licenses in this range")
    length = frame.attrs.get("period") or (int(np.median(np.diff(starts))) if len(starts) > 1 else 0)
    period, end = _period(length, int(starts[-1]))
    series, stop = (Series("new", "new validators", new, 0),), held(frame)[1]
    cut = {len(starts) - 1} if stop is not None and stop < end else set()
    binned = replace(time_bins(np.append(starts, end), period), partial=frozenset(cut))
    subtitle = f"{plural(int(new.sum()), 'validator')}, {between(starts)}{binned.note()}"
    return binned.stack(name, subtitle, series, "new validators", "count", "validators", along="time (UTC)")


def _period(length: str | int, last: int) -> tuple[str, int]:
    """The name of a period, from its name or its length, and where the one ends that begins last."""
    if not length:
        return "period", last + DAY
    length = 7 * DAY if length == "week" else length
    if isinstance(length, int):
        days = length // DAY  # months, quarters and years differ in theirs
        length = next((name for name, (_, least, most) in _CALENDAR.items() if least <= days <= most), length)
    if isinstance(length, str):
        months = np.datetime64(last, "us").astype("M8[M]") + _CALENDAR[length][0]
        return length, int(months.astype("M8[us]").astype(np.int64))
    return length_words(length), last + length


@chart(app_daily, over_time=True)
def app_shares(x: ChartInput, *, every: str | None = None, top: int = 6) -> Content:
    """Draw the concentration of app rewards: the share of each application in what all claimed in each interval.

    Args:
        x: from `app_daily`; or a History or Store. Rewards that are not known are left out, and counted.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=800) as net:
        ...     lf.plot.app_shares(lf.load_history(net), every="1D").get_ylabel()
        'share of app rewards claimed per day'
    """
    if every is not None and duration(every, "every", bare=False) % DAY:
        raise InputError(
            f"every={every!r}: the rewards of applications are summed by day; give whole days, such as '7d'"
        )
    frame = x.frame("time", "provider", "rewards_claimed")
    title, (times, timed) = "Shares of applications in rewards", micros(frame, "time")
    claimed, apps = floats(frame, "rewards_claimed"), texts(frame, "provider")
    unknown, there = int(np.isnan(claimed).sum()), timed & (claimed > 0)
    left_out = f"; of {plural(unknown, 'day')} of an app not known" if unknown else ""
    if not there.any():
        return Nothing(title, f"no application claimed rewards in this range{left_out}")
    times, claimed, apps = times[there], claimed[there], apps[there]
    sums = pd.Series(claimed).groupby(apps.to_numpy()).sum()
    # Rows are per day, so no interval is shorter.
    of_days = "1D" if np.ptp(times) < QUARTER * DAY else None
    ranking, last = ranked(sums, top), times.max() + DAY - 1
    binned = bins(np.append(times, last), every=every or of_days, most=QUARTER, held=held(frame))
    if "whole" in frame:
        binned = binned.with_cut(times, frame["whole"][there])
    table = binned.sums(times, ranking.codes(apps), len(ranking.names), claimed)
    whole = table.sum(axis=0)
    shares = np.divide(table, whole, out=np.zeros_like(table), where=whole > 0)
    series = ranking.series(shares, totals=[f"{part:.1%}" for part in table.sum(axis=1) / whole.sum()])
    subtitle = f"{plural(len(sums), 'application')}, {amount_text(float(whole.sum()))} CC claimed, {between(times)}"
    return binned.stack(title, subtitle + left_out + binned.note(), series, "share of app rewards claimed", "percent")


@chart(validator_daily, whole=True)
def validator_scorecard(x: ChartInput, *, top: int = 15) -> Content:
    """Draw each validator's income and traffic costs as one bar: the largest first, with the remainder.

    The remainder, and the share of its rounds that it reported for, follow the bar.

    Args:
        x: from `validator_daily`; or a History or Store that begins with the ledger. Unknown values are left out.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=800) as net:
        ...     lf.plot.validator_scorecard(lf.load_history(net), top=5).get_xlabel()
        'CC claimed, and paid for traffic'
    """
    frame = x.frame("time", "validator", *_ROUNDS, *_PARTS)
    title, (times, timed) = "Scorecard of validators", micros(frame, "time")
    if not timed.any():
        return Nothing(title, "no validator has a license in this range")
    parts = pd.DataFrame({name: floats(frame, name) for name in (*_PARTS, *_ROUNDS)})
    unknown = int(parts[list(_PARTS)].isna().any(axis=1).sum())
    parts["traffic_paid"] = -parts["traffic_paid"]
    sums = parts.groupby(texts(frame, "validator").to_numpy()).sum()
    ranking = ranked(sums[[name for name in _PARTS if name != "traffic_paid"]].sum(axis=1), top)
    table = ranking.sums(sums)
    if not table[list(_PARTS)].any(axis=None):
        return Nothing(title, "no validator claimed a reward or paid for traffic in this range")
    left_out = f"; of {plural(unknown, 'day')} of a validator a part is not known" if unknown else ""
    return Bars(
        title, f"{plural(len(sums), 'validator')}, {between(times[timed])}{left_out}",
        Axis("CC claimed, and paid for traffic", "amount", "CC"), ranking.names, ranking.lengths(),
        tuple(
            Series(word, word, table[name].to_numpy(np.float64), hue)
            for hue, (name, word) in enumerate(_PARTS.items())
            if table[name].any()
        ),
        tuple(_remainder(row) for _, row in table.iterrows()), rest=ranking.rest is not None,
    )  # fmt: skip


def _remainder(sums: pd.Series) -> str:
    """The remainder of a validator's rewards, and its share of the rounds."""
    left = amount_text(float(sums[list(_PARTS)].sum()))
    rounds = float(sums[list(_ROUNDS)].sum())
    return f"{left} left, {sums['rounds_reported'] / rounds:.0%} of rounds" if rounds else f"{left} left"


@chart(retention_of, whole=True)
def retention(x: ChartInput) -> Content:
    """Draw a heat map of cohorts: of the parties of each week of first activity, how many acted in the weeks after it.

    Of more than 20 weeks, or than fit small axes, only the latest are drawn. The subtitle says if the last week is not
    over yet.

    Args:
        x: from `retention`; or a History or Store that begins with the ledger.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(days=15) as net:
        ...     lf.plot.retention(lf.load_history(net)).get_xlabel()
        'weeks after the first'
    """
    needed = ("cohort", "weeks_after", "cohort_parties", "parties")
    frame = x.frame(*needed)
    title, (cohorts, known) = "Parties that came back, by week of first activity", micros(frame, "cohort")
    figures = {name: floats(frame, name) for name in needed[1:]}
    rows = pd.DataFrame(figures, index=frame.index).assign(cohort=cohorts)[known]
    later = rows[rows["weeks_after"] > 0]
    if later.empty:
        why = "no week after the first one yet" if len(rows) else "no party acted in this range"
        return Nothing(title, why)
    shown = later[later["cohort"].isin(np.sort(later["cohort"].unique())[-x.rows(_MOST_WEEKS) :])]
    shown = shown[shown["weeks_after"] <= _MOST_WEEKS]
    weeks, last = np.sort(shown["cohort"].unique()), int(shown["weeks_after"].max())
    grid = np.full((len(weeks), last), np.nan)
    share = 100 * shown["parties"].to_numpy() / shown["cohort_parties"].to_numpy()
    grid[np.searchsorted(weeks, shown["cohort"]), shown["weeks_after"].to_numpy(np.int64) - 1] = share.round(1)
    sizes = shown.groupby("cohort")["cohort_parties"].max()
    names = tuple(str(np.datetime64(int(week), "us").astype("datetime64[D]")) for week in weeks)
    labels = {name: f"{name} ({int(size)})" for name, size in zip(names, sizes, strict=True)}
    columns = tuple(str(number + 1) for number in range(last))
    there, truncated = grid[grid > 0], later["cohort"].nunique() > len(weeks)
    cut = "whole" in frame and frame["whole"].loc[shown.index].eq(False).any()  # noqa: FBT003
    first = rows.drop_duplicates("cohort")
    parties = plural(int(first["cohort_parties"].sum()), "party", "parties")
    return Matrix(
        title, f"{parties} of {plural(len(first), 'week')}, in % of those of the week"
        f"{f'; the latest {len(weeks)} weeks' if truncated else ''}{'; the last week is incomplete' if cut else ''}",
        ("week of first activity (parties)", "weeks after the first"), "% of the parties", names, labels, grid,
        float(there.min(initial=100.0)), float(there.max(initial=1.0)), logarithmic=False, columns=columns,
    )  # fmt: skip
