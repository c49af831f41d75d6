"""Activity on the network: who acts, in which templates, and daily totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from ledgerframes.arguments import names
from ledgerframes.errors import IncompleteFiguresWarning, PartialResultError, warn
from ledgerframes.frames import As, Decimals
from ledgerframes.loaders.opening import begin_of, stop_of
from ledgerframes.models.coverage import has_gap, nothing_before
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import Inputs, Missing, check_all, inputs_of_verdicts
from ledgerframes.models.signatures import MOVERS, of_model
from ledgerframes.paging.cursor import Cursor, Duration
from ledgerframes.tables.verdicts import VERDICTS
from ledgerframes.timestamps import DAY


def _range(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Where the events begin and end, for models that mark complete intervals, and whether they may have a gap."""
    begin = begin_of(inputs.attrs)
    gap = has_gap(inputs.attrs)
    begins = begin is not None or nothing_before(inputs, arguments)
    return {
        # Not false, which is another value than that of tables that do not set it: steps would be made again.
        "may_have_gap": gap or not (begins or "complete" in inputs.attrs) or None,
        "range_known": not gap and begins,
        "range_low": None if begin is None else begin[1],
        "range_high": _stop(inputs.attrs),
    }


def _seen(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same, and which parties are not new."""
    seen = None if arguments["seen"] is None else list(names(arguments["seen"], "seen"))
    new_known = seen is not None or nothing_before(inputs, arguments)
    return _range(inputs, arguments) | {"seen": seen, "new_known": new_known}


def _days(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same of days, and whether parties that act first in the events are new."""
    return _range(inputs, arguments) | {"every_us": DAY, "new_known": nothing_before(inputs, arguments)}


def _with_verdicts(inputs: Inputs, arguments: Mapping[str, Any]) -> Inputs:
    """The same history together with the verdicts, of which all have to be there."""
    if arguments["verdicts"] is None:
        return inputs
    both = inputs_of_verdicts(inputs, arguments["verdicts"])
    check_all(both.verdict_attrs or {}, VERDICTS)
    return both


def _verdict_days(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of days, whether reassignments are known, and which verdicts are.

    Up to the newest they are as new as the events.
    """
    attrs = inputs.verdict_attrs or {}
    begin, newest = begin_of(attrs), not {"end", "limit"} & {*attrs}
    # Rows that were selected, or have no provenance, do not show that there are no others.
    known = "complete" in attrs and not has_gap(attrs)
    if inputs.verdict_attrs is not None and not known:
        warn(
            "network_daily: the verdicts do not show of which range they are all, so the columns that need them are"
            " null; give them as lf.load_verdicts returns them",
            IncompleteFiguresWarning,
        )
    return _days(inputs, arguments) | {
        "legs_known": not all(isinstance(inputs.gives[name], Missing) for name in ("updates", "reassignments")),
        "verdicts_low": None if begin is None else begin[1],
        "verdicts_high": None if newest else _stop(attrs),
        "verdicts_known": known,
    }


def _stop(attrs: Mapping[str, Any]) -> int | None:
    """The microsecond at which a range ends."""
    place = stop_of(attrs)
    return place.micros if isinstance(place, Cursor) else place


def _weeks(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The range; active contracts do not show who had acted before it."""
    if not nothing_before(inputs, arguments):
        raise PartialResultError(
            "retention needs the events from ledger begin, since a party may have acted before them: leave out start="
            ' and last=, load or sync them with start="begin", or give opening="nothing" if you know that there was'
            " nothing before"
        )
    return _range(inputs, arguments) | {"every_us": DAY}


@of_model(settings=_seen)
def active_parties(
    events: Any,
    *,
    every: Duration = "1D",
    seen: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
) -> Any:
    """Count the parties that act or are stakeholders in the events of each interval, and the new ones among them.

    Args:
        every: the length of the intervals, which begin at its multiples (of days: at midnight in UTC).
        seen: the parties that the history before the events names; `[]` if there are none. Without it `new` is null,
            unless the events begin at ledger begin.

    Returns:
        One row per interval that has events, in order, with the columns of `lf.describe("active_parties")`:
        `by_template` is JSON. New is a party that neither `seen` nor an earlier event names. `whole` says whether the
        range holds all of the interval: the first and the last are mostly cut.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     active = lf.active_parties(lf.load_events(net), every="1min")
        >>> bool((active.acting <= active.parties).all())
        True
    """


@of_model(settings=_range, unknown=["unknown_activity"])
def template_activity(
    events: Any, *, every: Duration = "1D", as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Count creates, exercises and archives by interval, template and choice, and the parties in them.

    Args:
        every: the length of the intervals, which begin at its multiples (of days: at midnight in UTC).

    Returns:
        One row per interval, template and choice, in this order, with the columns of
        `lf.describe("template_activity")`. Creates are in the row whose choice is null. Events without a template, or
        of a kind that this version does not know, are counted in `attrs["not_understood"]`.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     activity = lf.template_activity(lf.load_events(net), every="1min")
        >>> bool((activity.archives <= activity.exercises).all())
        True
    """


def _ended(engine: Engine, _: pa.Table) -> dict[str, int]:
    """The number of validators without a license."""
    return {"ended": engine.rows("ended_licenses")["validators"][0].as_py()}


@of_model(whole=True, notes=_ended)
def validator_liveness(
    events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """For each validator, the rounds it reported in and how long it has been silent.

    A license is created again at every change; the latest counts. Whoever is silent all through a range has no event in
    it, so the range has to begin at ledger begin, or `opening` has to have the licenses that there were. A license that
    was cancelled or withdrawn has no row; `attrs["ended"]` counts these.

    Returns:
        One row per validator, by party, with the columns of `lf.describe("validator_liveness")`: numbers of rounds.
        `silent_for` counts up to the latest round that was to close by the last event.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     liveness = lf.validator_liveness(lf.load_events(net))
        >>> liveness.validator.is_unique
        True
    """


@of_model(
    settings=_verdict_days,
    unknown=[*MOVERS, "unknown_rewards"],
    edges="coin_edges",
    with_more=_with_verdicts,
)
def network_daily(
    events: Any, *, verdicts: Any = None, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Sum up each day of the network: updates, active parties, coin minted and burned, payments, rewards, traffic.

    These are the key figures (KPI) of a dashboard, daily active users among them: a scan knows users as parties. Give a
    `History` or a `Store`: of events alone no reassignments are known, so `updates` and `reassignments` are null. What
    the ledger keeps private a scan shows as a verdict alone.

    Args:
        verdicts: those of the range, of `load_verdicts` or a `Store` that has them, for private transactions and the
            traffic that a transaction costs; these are null on days that they do not hold as far as the events do, and
            where joined or selected rows do not show which they hold.
        decimals: how pandas holds amounts, in coin, and `_usd` in USD at the prices of the rounds.

    Returns:
        One row per day from the first update to the last, in order, with the columns of `lf.describe("network_daily")`;
        of events that may have a gap, only days with an update. A party is active if it acts in an event.
        `new_parties` and `returning_parties` are null unless the events begin at ledger begin, `active_7d` and
        `active_30d` where the range does not hold all of these days, and a sum where a part of it is not known. `whole`
        says whether the range holds all of the day.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     days = lf.network_daily(lf.load_history(net))
        >>> int(days.updates.sum())
        200
    """


@of_model(settings=_days, unknown=[*MOVERS, "unknown_rewards"], edges="reward_edges", kind="app")
def app_daily(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Sum up each application, by provider and day: activity, rewards, its share of all that was claimed, users, burn.

    Its burning consists of the fees of payments through it, and its payments for traffic and transfer preapprovals. A
    reward that a provider shares counts for the beneficiary, who can mint it and has rows here; what an application
    earned, shared or not, are `lf.rewards` by `provider`, and `earned` of `lf.featured_app_history`.

    Args:
        decimals: how pandas holds amounts, in coin, in USD at the prices of the rounds, and the share between 0 and 1.

    Returns:
        One row per day and provider, in this order, with the columns of `lf.describe("app_daily")`. A sum is null where
        a part of it is not known, the share also on a day on which nothing was claimed. `whole` says whether the range
        holds all of the day.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=600) as net:
        ...     apps = lf.app_daily(lf.load_history(net))
        >>> bool((apps.share.dropna() <= 1).all())
        True
    """


@of_model(whole=True, settings=_days, unknown=[*MOVERS, "unknown_rewards"], edges="reward_edges")
def validator_daily(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Sum up each validator by day, as a scorecard: rounds reported and missed, rewards by kind, traffic, what is left.

    A license counts the rounds that were missed when the validator reports again: until then `silent_for` grows, as its
    liveness is in doubt. Who is silent has no event in a range, so it has to begin at ledger begin, or `opening` has to
    have the licenses that there were. `net` is not the profit: costs outside of the ledger are not in it.

    Args:
        decimals: how pandas holds amounts, in coin, and `_usd` in USD at the prices of the rounds.

    Returns:
        One row per day and validator that has a license at its end, in this order, with the columns of
        `lf.describe("validator_daily")`. A sum is null where a part of it is not known. Rewards are those that the
        validator's party claimed, whoever's coupons they were; traffic is what it paid for. `whole` says whether the
        range holds all of the day.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=600) as net:
        ...     days = lf.validator_daily(lf.load_history(net))
        >>> bool((days.rounds_reported > 0).any())
        True
    """


@of_model(whole=True, settings=_days, unknown=["unknown_rules_choices"])
def wallets_daily(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Count wallets by provider and day: parties with a transfer preapproval, and setups of external parties.

    A preapproval that is active all through a range has no event in it, so it has to begin at ledger begin, or
    `opening` has to have the preapprovals and proposals that there were.

    Returns:
        One row per day and provider for which anything was counted, in this order, with the columns of
        `lf.describe("wallets_daily")`. A party can have preapprovals of several providers, and counts with each.
        `whole` says whether the range holds all of the day.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=600) as net:
        ...     wallets = lf.wallets_daily(lf.load_history(net))
        >>> bool((wallets.active > 0).any())
        True
    """


@of_model(whole=True, settings=_weeks)
def retention(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Count, for the parties that first acted in each week, how many acted again in each week after it.

    The parties of a week are a cohort: returning ones came back, the others are churn. Weeks begin on Monday in UTC.
    Which week is a party's first is known from ledger begin alone.

    Args:
        opening: `"nothing"` says of events without provenance that they begin at ledger begin.

    Returns:
        One row per week of first activity and number of weeks after it, in this order, with the columns of
        `lf.describe("retention")`; weeks in which none of them acted have a row as well. `whole` says whether the
        range holds all of the week; the last one is mostly cut.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(days=15) as net:
        ...     weeks = lf.retention(lf.load_events(net))
        >>> bool((weeks.parties <= weeks.cohort_parties).all())
        True
    """
