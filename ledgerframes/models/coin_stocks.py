"""`coin_history`, `supply` per round and by purpose, `balances_over_time`: which coin exists, whose it is, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa

from ledgerframes.arguments import shown
from ledgerframes.errors import IncompleteFiguresWarning, InputError, warn
from ledgerframes.frames import As, Decimals
from ledgerframes.models.coverage import begun, from_begin
from ledgerframes.models.engine import Engine
from ledgerframes.models.signatures import MOVERS, of_model
from ledgerframes.number_format import plural
from ledgerframes.paging.cursor import Bound, Duration

_MOST_TIMES: Final = 10_000_000
_MOST_ROWS: Final = 50_000_000


def _without_round(engine: Engine, _: pa.Table) -> dict[str, int]:
    """The number of updates that count for no round."""
    return {"without_round": engine.rows("updates_without_round")["updates"][0].as_py()}


def _check_times(engine: Engine, arguments: Mapping[str, Any]) -> dict[str, int]:
    """Refuse too many times before anything is computed; returns the number of times and of owners."""
    size: dict[str, int]
    (size,) = engine.rows("balance_size").to_pylist()
    if size["times"] > _MOST_TIMES:
        every = f"every={shown(arguments['every'])} is not valid"
        raise InputError(f"{every}: give a longer interval, for {_MOST_TIMES:,} times at most")
    return size


def _check_balances(engine: Engine, arguments: Mapping[str, Any]) -> None:
    """Refuse balances of too many owners at too many times, too; warn of coin that is in none of them."""
    size = _check_times(engine, arguments)
    if size["times"] * size["owners"] > _MOST_ROWS:
        every = f"every={shown(arguments['every'])} is not valid"
        raise InputError(
            f"{every}: {size['times']:,} times of {size['owners']:,} parties are too many rows; give a longer interval,"
            " or parties="
        )
    unread = engine.rows("unread_coin_contracts").num_rows
    if unread:
        warn(
            f"balances_over_time leaves out {plural(unread, 'contract')} of coin that it cannot read;"
            " attrs['not_understood'] names the members at fault",
            IncompleteFiguresWarning,
        )


@of_model(settings=begun, unknown=MOVERS, edges="coin_edges", notes=_without_round)
def supply_per_round(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Sum what the updates of each round mint and burn, with the supply after them.

    An update that states no round, such as an expiry of newer releases, counts for the last round that had opened by
    then; `attrs["without_round"]` counts updates for which no round is known, which are in no row; rows that a
    lake keeps are without it.

    Args:
        opening: what was active before the events, an `Opening` of `load_opening`, or
            `"nothing"` if there were none; without it `total` is null, unless the events begin at ledger begin.

    Returns:
        One row per round, by number, with the columns of `lf.describe("supply_per_round")`: amounts in coin, times in
        UTC. Null is not known.

    Raises:
        InputError: an argument is not valid, or columns are missing.
        PartialResultError: `opening` is given and the events have a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rounds = lf.supply_per_round(lf.load_events(net), decimals="exact")
        >>> bool((rounds.net_change == rounds.minted - rounds.burned).all())
        True
    """


@of_model(whole=True, unknown=MOVERS[1:], edges="coin_edges")
def coin_history(
    events: Any, *, opening: Any = None, at: Bound | None = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """List the coin contracts: owner, amount, round and rate, lock, and what created and ended each.

    Those whose `ended_at` is null are active, at the end of the events or at `at`. Like `active_contracts` it needs to
    know what was there before the events.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet, from ledger begin. A `History` or
            a `Store` also has the coins that only an assignment shows.
        at: count events up to and including this time (in every migration) or pair (migration id, time).

    Returns:
        One row per coin contract, in the order of its round, with the columns of `lf.describe("coin_history")`:
        amounts in coin, times in UTC. Holding fees are notional; `expires_at_round` is the first round in which the
        coin can be expired.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     coins = lf.coin_history(lf.load_events(net))
        >>> coins.contract_id.is_unique
        True
    """


@of_model(whole=True, edges="coin_edges")
def supply(
    events: Any, *, opening: Any = None, at: Bound | None = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Sum the coin that exists at a time, unlocked and locked, as received: holding fees are not deducted.

    The difference between two supplies is the sum of `net_change` of `mint_burn` between them.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet, from ledger begin; see
            `coin_history`.
        at: count events up to and including this time (in every migration) or pair (migration id, time); all by
            default.

    Returns:
        One row with the columns of `lf.describe("supply")`: `at` in UTC (of the last event by default), and unlocked,
        locked and total in coin.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     supply = lf.supply(lf.load_events(net))
        >>> bool((supply.total == supply.unlocked + supply.locked).all())
        True
    """


@of_model(whole=True, settings=from_begin, unknown=MOVERS, check=_check_times, edges="coin_edges")
def supply_by_purpose(
    events: Any, *, every: Duration = "1D", opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Split the supply: unlocked, locked by purpose, circulating, and the pools that may still be minted.

    `total` is that of `supply`: coin that exists, as received. A locked coin's purpose is that of the contract which
    names it, a transfer instruction, an allocation, a governance lock or a vesting lock (an allocation can be either of
    these, CIP-0105); else what its lock's context says: `transfer to`, `allocation for`, a payment or subscription,
    vesting, a lock for governance, a super validator or a featured application. All else is `locked_other`. A lock
    whose time is over counts until it is unlocked.

    `circulating` is what its owner can pay with, and what is set aside for a payment under way: `unlocked`, and locked
    for transfers, allocations and payments. Coin locked for governance, vesting or other purposes does not circulate.

    The pools are no part of `total`, since they are not minted: `unclaimed_rewards` is at the foundation's
    disposal (`UnclaimedReward`), and of the development fund `_unallocated` is what rounds set aside, `_allocated` what
    is granted and not minted, `_spent` what was minted.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet, from ledger begin; see
            `coin_history`.
        every: the times are the multiples of it (of days: midnight in UTC) from the first event to the last, and the
            last event's.

    Returns:
        One row per time, in order, with the columns of `lf.describe("supply_by_purpose")`: amounts in coin, `_usd` in
        USD at the price of the earliest round open then, null where none is known. `development_fund_spent` is null
        unless the events begin at ledger begin.

    Raises:
        InputError: an argument is not valid, columns are missing, or there would be more than 10 million rows.
        PartialResultError: the provenance of the events does not prove that they begin at ledger begin without a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     supply = lf.supply_by_purpose(lf.load_events(net), every="1h")
        >>> bool((supply.circulating <= supply.total).all())
        True
    """


@of_model(whole=True, check=_check_balances, edges="coin_edges")
def balances_over_time(
    events: Any,
    *,
    every: Duration = "1D",
    parties: Iterable[str] | None = None,
    opening: Any = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
) -> Any:
    """Compute the seven amounts of a holdings summary at regular times (contract: Resources, HoldingsSummary).

    Each row is what `holdings_from_events` computes for its time, with fees for the earliest round open then; all are
    computed in one pass. Fees are notional: charged only when a contract expires.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet, from ledger begin; see
            `coin_history`.
        every: the times are the multiples of it (of days: midnight in UTC) from the first event to the last, and the
            last event's.
        parties: party ids, with a row for each at each time; by default all owners, each from its first coin on.

    Returns:
        One row per time and party, in this order, with the columns of `lf.describe("balances_over_time")`: amounts in
        coin, times in UTC. Fees are null while no round is known to be open.

    Raises:
        InputError: an argument is not valid, columns are missing, or there would be more than 50 million rows.
        PartialResultError: the provenance of the events does not prove that they begin at ledger begin without a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     balances = lf.balances_over_time(lf.load_events(net), every="1min")
        >>> bool((balances.total_coin_holdings >= 0).all())
        True
    """
