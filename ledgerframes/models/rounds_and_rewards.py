"""`round_history`, `issuance`, `rewards`, `reward_flows`, `sv_rewards`: issued amounts, their owners and outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ledgerframes.frames import As, Decimals
from ledgerframes.models.coverage import from_begin
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import Inputs
from ledgerframes.models.signatures import MOVERS, of_model


def _counts(checks: pa.Table) -> dict[str, dict[str, int]]:
    """The counts of each check."""
    return {row.pop("what"): row for row in checks.to_pylist()}


def _round_checks(engine: Engine, _: pa.Table) -> dict[str, Any]:
    return {"checks": _counts(engine.rows("round_checks"))}


def _reward_checks(engine: Engine, _: pa.Table) -> dict[str, Any]:
    none = dict.fromkeys(("unclaimed_rewards", "claims"), dict.fromkeys(("equal", "different", "unknown"), 0))
    return {"checks": none | _counts(engine.rows("reward_checks"))}


@of_model(unknown=["unknown_round_choices"], notes=_round_checks)
def round_history(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the mining rounds: price, configuration, issuance per weight, and when each phase began.

    `attrs["checks"]` compares the super validators' issuance with the round's own configuration: the coin per year
    times the tick over 365 days, less the shares of validators, applications and the development fund, over the total
    weight, rounded half even to 10 places. Total weights are those that the round's issuance was computed from; what a
    confirmation proposes is counted in `attrs["not_understood"]`.

    Returns:
        One row per round, by number, with the columns of `lf.describe("round_history")`: amounts in coin, USD or coin
        per weight, `tick_us` in microseconds, times in UTC. Values outside the events are null.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rounds = lf.round_history(lf.load_events(net))
        >>> int(rounds["round"][0]), float(rounds.amulet_price_usd[0])
        (0, 0.005)
    """


@of_model(settings=from_begin, unknown=[*MOVERS, "unknown_rewards"], edges="reward_edges")
def issuance(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Compare the issuance of each round with the schedule: allowed by the curve, minted, expired and burned.

    A round allows the coin per year times its tick over 365 days. The development fund has its share of all; validators
    and applications have theirs of what that leaves, and super validators the rest. Coupons mint it until the round
    closes; then they expire, which makes no coin. `minted`, `expired` and `open` count the round's own coupons,
    whenever that happened. `allowed` less these three is what nobody can claim, as caps leave a part of a pool, or
    nobody earns it, and the development fund's share, which is minted later and by no round. Where applications are
    rewarded by traffic, their coupons state coin, so `allowed_featured_app` and `allowed_unfeatured_app` are 0.

    Args:
        opening: what was active before the events; see `rewards`. It has the curve that held then.

    Returns:
        One row per round, by number, with the columns of `lf.describe("issuance")`: amounts in coin, `_usd` in USD at
        the price of the round, times in UTC. `cumulative_` columns are null unless the events begin at ledger begin.
        `next_step_at` says when the next change that the rules hold begins to apply, such as a halving of the coin per
        year, if rounds keep their length, and `next_allowed` and its pools what a round may issue then; null after the
        last one, or where the curve is not known.

    Raises:
        InputError: an argument is not valid, or columns are missing.
        PartialResultError: the events begin at ledger begin and have a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     issuance = lf.issuance(lf.load_events(net))
        >>> float(issuance.amulet_to_issue_per_year[0]), float(issuance.next_amulet_to_issue_per_year[0])
        (40000000000.0, 20000000000.0)
    """


@of_model(unknown=["unknown_rewards"], edges="reward_edges", notes=_reward_checks)
def rewards(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List reward coupons with their owner, value and outcome.

    A coupon states a weight, not coin: its amount is the weight times what its round issues per weight of its kind,
    rounded half even to 10 places, as the ledger does. Of app rewards after CIP-0104, `RewardCouponV2`, the coupon
    states the coin.

    A coupon that began before the events, and is not in `opening`, has a row if it ended in them, with what the ledger
    states then: of one that expired its round and weight, of one that was claimed the amount, if it is the only one of
    its kind that is not known in the payment. The rest is null, and one warning says so. `attrs["edges"]` sums what
    began before the range and what is open at its end: contracts, coin, of how many the coin is not known, and of how
    many of the former the create is not.

    `attrs["checks"]` holds the ledger's own sums against these: `unclaimed_rewards` compares the amount of each
    `UnclaimedReward` with the sum over the coupons that expired with it, rounded once, and `claims` the inputs in the
    summary of each transfer with the coupons that it claimed. Each counts what is equal, different and unknown.

    Returns:
        One row per coupon, in the order of creation, then of the end of those that began earlier, with the columns of
        `lf.describe("rewards")`: amounts in coin, times in UTC. `issuance` and `amount` are null while the round is not
        known to issue.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rewards = lf.rewards(lf.load_events(net))
        >>> rewards.columns.to_list()[:5]
        ['contract_id', 'kind', 'round', 'provider', 'beneficiary']
    """


@of_model(unknown=["unknown_rewards"], edges="reward_edges")
def reward_flows(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Sum the rewards that were created, claimed, expired and withdrawn, by the time at which that happened.

    Summed by party, the rows of claims say who earns most.

    A row of `rewards` is placed by its creation; a week's claims are mostly of coupons that began before it. Here they
    are rows of that week, whatever part of the history the events are: the sums of claims are those that the payments
    state, as in `mint_burn`, and the sums of expiries are what became unclaimed. A payment states one sum for
    applications' coupons and those of `RewardCouponV2`, whose kind is in their creates alone: its kind is null if one
    of these is not known.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: what was active before the events; see `rewards`. It names rounds and parties.

    Returns:
        One row per update, event, kind, party and round, in the order of the history, with the columns of
        `lf.describe("reward_flows")`: amounts in coin and USD, times in UTC.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=800) as net:
        ...     flows = lf.reward_flows(lf.load_events(net))
        >>> sorted(flows.event.unique())
        ['claimed', 'created', 'expired', 'withdrawn']
    """


def _of_super_validators(inputs: Inputs, _: Mapping[str, Any]) -> dict[str, str]:
    """Only their coupons are read, unless other tables of the history share the steps."""
    return {} if inputs.engine is not None else {"coupons": "sv"}


@of_model(settings=_of_super_validators, edges="reward_edges", kind="sv")
def sv_rewards(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Sum the rewards of super validators by round, super validator and beneficiary.

    Args:
        opening: what was active before the events; see `rewards`.

    Returns:
        One row per round, super validator and beneficiary, in this order, with the columns of
        `lf.describe("sv_rewards")`: amounts in coin, null while the round is not known to issue.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rewards = lf.sv_rewards(lf.load_events(net))
        >>> rewards.columns.to_list()
        ['round', 'opened_at', 'sv', 'beneficiary', 'weight', 'amount', 'amount_usd', 'outcome', 'whole']
    """
