"""`active_parties`, `template_activity` and `validator_liveness`: who is active on the network, and in what."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ledgerframes.arguments import duration
from ledgerframes.frames import As, Decimals
from ledgerframes.models.computing import computed
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import inputs_of
from ledgerframes.models.signatures import by_interval, from_opening
from ledgerframes.paging.window import Duration
from ledgerframes.tables.network_activity import ACTIVE_PARTIES, TEMPLATE_ACTIVITY, VALIDATOR_LIVENESS


@by_interval
def active_parties(events: Any, *, every: Duration = "1D", as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Count the parties that act or are stakeholders in the events of each interval, and the new ones among them.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet.
        every: the length of the intervals, which begin at its multiples (of days: at midnight in UTC).
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts; this table has none.

    Returns:
        One row per interval that has events, in order, with the columns of `lf.describe("active_parties")`:
        `by_template` is JSON. New is a party that no earlier event of these events names.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     active = lf.active_parties(lf.load_events(net), every="1min")
        >>> bool((active.acting <= active.parties).all())
        True
    """
    variables = {"every_us": duration(every, "every")}
    return computed(ACTIVE_PARTIES, inputs_of(events), as_=as_, decimals=decimals, variables=variables)


@by_interval
def template_activity(
    events: Any, *, every: Duration = "1D", as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Count creates, exercises and archives by interval, template and choice, and the parties in them.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet.
        every: the length of the intervals, which begin at its multiples (of days: at midnight in UTC).
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts; this table has none.

    Returns:
        One row per interval, template and choice, in this order, with the columns of
        `lf.describe("template_activity")`. Creates are in the row whose choice is null. Events without a template, or
        of a kind that this version does not know, are counted in `attrs["not_understood"]`.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     activity = lf.template_activity(lf.load_events(net), every="1min")
        >>> bool((activity.archives <= activity.exercises).all())
        True
    """
    variables = {"every_us": duration(every, "every")}
    return computed(
        TEMPLATE_ACTIVITY,
        inputs_of(events),
        as_=as_,
        decimals=decimals,
        variables=variables,
        unknown=["unknown_activity"],
    )


@from_opening
def validator_liveness(
    events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Tell for each validator for which rounds it reported that it is alive, and for how many it is silent.

    A license is created anew at every change; the latest counts. Validators whose license lies before the events are
    known by their liveness records and faucet coupons alone, unless `opening` has the license. A license that was
    cancelled or withdrawn has no row; `attrs["ended"]` counts these.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet.
        opening: what was active before the events, an `Opening` of `load_opening`.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts; this table has none.

    Returns:
        One row per validator, by party, with the columns of `lf.describe("validator_liveness")`: numbers of rounds.
        `silent_for` counts from the latest round that the events show.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     liveness = lf.validator_liveness(lf.load_events(net))
        >>> liveness.validator.is_unique
        True
    """
    return computed(VALIDATOR_LIVENESS, inputs_of(events, opening=opening), as_=as_, decimals=decimals, notes=_ended)


def _ended(engine: Engine, _: pa.Table) -> dict[str, int]:
    """How many validators have no license any more."""
    return {"ended": engine.rows("ended_licenses")["validators"][0].as_py()}
