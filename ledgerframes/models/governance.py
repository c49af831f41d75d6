"""`votes`, `vote_casts`, `price_votes`, `config_changes`, `sv_weights`, `featured_app_history`: governance."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.frames import As, Decimals
from ledgerframes.models.coverage import begun
from ledgerframes.models.engine import Engine
from ledgerframes.models.signatures import of_model


def _began_before(column: str) -> Any:
    """A note of how many rows began before the events."""
    return lambda _, rows: {"began_before": rows[column].null_count}


def _not_compared(engine: Engine, _: pa.Table) -> dict[str, int]:
    """The number of contracts of rules without an earlier one to compare with."""
    states = engine.rows("config_states")
    first = pc.and_(pc.equal(states["state"], 1), pc.not_equal(states["shown_by"], "opening"))
    return {"not_compared": pc.sum(first).as_py() or 0}


@of_model(notes=_began_before("opened_at"))
def votes(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the votes on governance: the proposals to the super validators, and their decisions.

    A proposal is a request for a vote. Each vote replaces the request's contract; the row has the last one's members,
    or the result of the close. A request that was made before the events, and is not in `opening`, has a row if it was
    voted on or closed in them; `attrs["began_before"]` counts those whose opening is not known.

    Returns:
        One row per request, in the order in which they were opened, with the columns of `lf.describe("votes")`: times
        in UTC, `arguments` as JSON.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     votes = lf.votes(lf.load_events(net))
        >>> votes.action[0], votes.outcome[0]
        ('SRARC_GrantFeaturedAppRight', 'accepted')
    """


@of_model(notes=_began_before("record_time"))
def vote_casts(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List who voted how on governance requests: the votes that each super validator cast, with its reasons.

    A request lists its votes, so those cast before the events are here too if the events, or `opening`, show the
    request; `attrs["began_before"]` counts them.

    Returns:
        One row per vote, in the order of the history, with the columns of `lf.describe("vote_casts")`.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     casts = lf.vote_casts(lf.load_events(net))
        >>> bool(casts.accept[0]), bool(casts.changed[0])
        (True, False)
    """


@of_model(settings=begun)
def price_votes(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the super validators' votes for the coin's price, and the median and spread of the votes after each.

    This part of governance needs no request. A round opens with the median of the current votes:
    `amulet_price_usd` of `round_history`.

    Args:
        opening: what was active before the events, an `Opening` of `load_opening`, or `"nothing"` if there were none;
            without it `voters`, the median and the spread are null, unless the events begin at ledger begin.

    Returns:
        One row per vote, in the order of the history, with the columns of `lf.describe("price_votes")`: prices in USD
        per coin.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     prices = lf.price_votes(lf.load_events(net))
        >>> float(prices.median_usd[0])
        0.005
    """


@of_model(notes=_not_compared)
def config_changes(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List what changed in the configuration of the coin and of the network, and by which vote.

    Governance sets these parameters: fees, rewards, limits. A contract of the rules is compared with the one before it,
    in the events or in `opening`; `attrs["not_compared"]` counts those that have none: the ledger's first, or the first
    of the events.

    Returns:
        One row per member that changed, in the order of the history, with the columns of
        `lf.describe("config_changes")`: values as text, as the ledger states them.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     changes = lf.config_changes(lf.load_events(net))
        >>> changes.columns.to_list()[3:7]
        ['rules', 'member', 'before', 'after']
    """


@of_model(whole=True, settings=begun, notes=_began_before("since"))
def sv_weights(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the super validators' reward weights over time: onboarding, changes, offboarding, and by which vote.

    Governance decides on each. To whom a super validator gives its rewards is in its coupons alone: `beneficiaries`
    are those of the time, and `lf.sv_rewards` sums them by beneficiary and round. The rules state a super validator's
    participant; on which participants other parties are hosted no contract states.

    Those whose weight does not change have no event in a range, so it has to begin at ledger begin, or `opening` has to
    have the rules that held before; `attrs["began_before"]` counts the rows from there, whose beginning is not known.

    Returns:
        One row per super validator and weight without a break, in the order of the history, with the columns of
        `lf.describe("sv_weights")`.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     weights = lf.sv_weights(lf.load_events(net))
        >>> weights.began[0]
        'onboarded'
    """


@of_model(whole=True, unknown=["unknown_rewards"])
def featured_app_history(
    events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """List the featured app rights over time: granted, given another weight, withdrawn or cancelled, by which vote.

    Governance decides on each. A change of the weight ends a right and begins another one. `earned` counts
    coupons that the app's work made while it had the right, whoever their beneficiary is and whenever they were
    claimed. It is null for a right from `opening`, since what was claimed before the events is not known;
    `lf.app_daily` has what each party claimed by day.

    A right that is active all through a range has no event in it, so the range has to begin at ledger begin, or
    `opening` has to have the rights that there were.

    Returns:
        One row per right, in the order of their beginnings, with the columns of
        `lf.describe("featured_app_history")`.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     apps = lf.featured_app_history(lf.load_events(net))
        >>> apps.began[0]
        'granted'
    """
