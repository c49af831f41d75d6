"""Charts of key figures: the shares of applications, the scorecard of validators, whether parties come back."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from ledgerframes.models.network_activity import app_daily, validator_daily
from ledgerframes.models.network_activity import retention as retention_of
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.bins import DAY, between, bins
from ledgerframes.plot.contents import Axis, Bars, Content, Matrix, Nothing, Series
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.ranking import ranked
from ledgerframes.plot.reading import ChartInput, begins, floats, micros, texts

_MOST_BINS: Final = 100
_MOST_WEEKS: Final = 20
#: The parts of a validator's bar, by their columns.
_PARTS: Final = {
    "rewards_app": "apps", "rewards_validator": "users' traffic", "rewards_validator_faucet": "being alive",
    "rewards_other": "other rewards", "traffic_paid": "traffic bought",
}  # fmt: skip
_ROUNDS: Final = ("rounds_reported", "rounds_missed")


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
    of_days = "1D" if np.ptp(times) < _MOST_BINS * DAY else None
    ranking, binned = ranked(sums, top), bins(times, every=every or of_days, most=_MOST_BINS, begins=begins(frame))
    table = binned.sums(times, ranking.codes(apps), len(ranking.names), claimed)
    whole, labels, hues = table.sum(axis=0), ranking.labels(), ranking.hues()
    shares = np.divide(table, whole, out=np.zeros_like(table), where=whole > 0)
    series = tuple(
        Series(name, labels[name], row, hues[name], total=f"{part:.1%}")
        for name, row, part in zip(ranking.names, shares, table.sum(axis=1) / whole.sum(), strict=True)
    )
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
    table = sums.groupby(ranking.folded(sums.index.to_series()).to_numpy()).sum().reindex(list(ranking.names))
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

    Of more than 20 weeks, only the latest are drawn.

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
    rows = pd.DataFrame({name: floats(frame, name) for name in needed[1:]}).assign(cohort=cohorts)[known]
    later = rows[rows["weeks_after"] > 0]
    if later.empty:
        why = "no week after the first one yet" if len(rows) else "no party acted in this range"
        return Nothing(title, why)
    shown = later[later["cohort"].isin(np.sort(later["cohort"].unique())[-_MOST_WEEKS:])]
    shown = shown[shown["weeks_after"] <= _MOST_WEEKS]
    weeks, last = np.sort(shown["cohort"].unique()), int(shown["weeks_after"].max())
    grid = np.zeros((len(weeks), last))
    share = 100 * shown["parties"].to_numpy() / shown["cohort_parties"].to_numpy()
    grid[np.searchsorted(weeks, shown["cohort"]), shown["weeks_after"].to_numpy(np.int64) - 1] = share.round(1)
    sizes = shown.groupby("cohort")["cohort_parties"].max()
    names = tuple(str(np.datetime64(int(week), "us").astype("datetime64[D]")) for week in weeks)
    labels = {name: f"{name} ({int(size)})" for name, size in zip(names, sizes, strict=True)}
    columns = tuple(str(number + 1) for number in range(last))
    there, truncated = grid[grid > 0], later["cohort"].nunique() > len(weeks)
    first = rows.drop_duplicates("cohort")
    parties = plural(int(first["cohort_parties"].sum()), "party", "parties")
    return Matrix(
        title, f"{parties} of {plural(len(first), 'week')}, in % of those of the week"
        f"{f'; the latest {len(weeks)} weeks' if truncated else ''}",
        ("week of first activity (parties)", "weeks after the first"), "% of the parties", names, labels, grid,
        float(there.min(initial=100.0)), float(there.max(initial=1.0)), logarithmic=False, columns=columns,
    )  # fmt: skip
