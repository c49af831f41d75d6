"""Holdings and notional holding fees computed from the history alone, and compared with a server's summary."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.contracts import replayed
from ledgerframes.analysis.payloads import record_fields
from ledgerframes.arguments import names, suggesting, whole_number
from ledgerframes.errors import InputError
from ledgerframes.frames import Decimals, attrs_of, check_shape, hold_amounts, to_arrow, to_pandas
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.window import Bound, bound
from ledgerframes.tables.history import EVENTS
from ledgerframes.timestamps import EPOCH, MICROSECOND

COIN: Final = "Splice.Amulet:Amulet"
LOCKED_COIN: Final = "Splice.Amulet:LockedAmulet"
ROUND: Final = "Splice.Round:OpenMiningRound"
AMOUNTS: Final = (
    "total_unlocked_coin", "total_locked_coin", "total_coin_holdings", "accumulated_holding_fees_unlocked",
    "accumulated_holding_fees_locked", "accumulated_holding_fees_total", "total_available_coin",
)  # fmt: skip

#: What depends on the round that fees are computed for, and newer servers leave out.
_OF_A_ROUND: Final = AMOUNTS[3:]
_KNOWN: Final = "the side knows the party"
# decimal256, because a rate of 20 places times a number of rounds does not fit the 38 digits of decimal128.
_WIDE: Final = pa.decimal256(70, 10)
_ROUNDS: Final = pa.decimal256(19, 0)
_PATHS: Final = {
    "owner": ("owner", pa.string()),
    "amount.initialAmount": ("amount", _WIDE),
    "amount.createdAt.number": ("created", pa.int64()),
    "amount.ratePerRound.rate": ("rate", pa.decimal256(48, 20)),
}
_EXACT: Final = Context(prec=_WIDE.precision)  # the usual 28 digits would round
# Unlocked, locked, and the fees of both.
_NOTHING: Final = (Decimal(0),) * 4


@suggesting
def holdings_from_events(
    events: Any,
    reassignments: Any = None,
    *,
    at: Bound | None = None,
    as_of_round: int | None = None,
    parties: Sequence[str] | None = None,
    opening: Any = None,
    decimals: Decimals | None = None,
) -> pd.DataFrame:
    """Compute the seven amounts of a holdings summary by replay (contract: Resources, HoldingsSummary).

    The fee of one coin contract at round R is its rate per round times the rounds since its creation, rounded half
    even to ten places, at most its initial amount. Fees are notional: charged only when a contract expires, not on
    transfers; do not subtract them.

    Args:
        events: events from `load_events` or a store, from ledger begin.
        reassignments: legs from the same source; needed for coins that appear first in an assignment.
        at: replay up to and including this time; see `active_contracts`.
        as_of_round: round to compute fees for; the earliest mining round open at that time by default. A server
            defaults to the earliest round open when it is asked.
        parties: party ids, one row for each, with zeros for a party that holds nothing; by default all owners, by id.
        opening: the contracts active before the frames begin, or `"nothing"`; see `active_contracts`.
        decimals: how amounts are held: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            events were loaded to hold them, else `"float"`.

    Returns:
        As `load_holdings_summary`: record_time and migration_id (of `at`, else of the last event),
        computed_as_of_round, party_id, found (whether the party holds anything) and the seven amounts in coin, 0 where
        there is none.

    Raises:
        InputError: columns are missing, a coin lacks a field, or there is no open round to compute fees for.
        PartialResultError: the provenance of the frames does not prove that they begin at ledger begin without a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     _, events, reassignments = lf.load_history(net)
        >>> holdings = lf.holdings_from_events(events, reassignments, as_of_round=3)
        >>> holdings.party_id.is_unique, holdings.total_coin_holdings.dtype.name
        (True, 'float64')
    """
    asked_round = (
        None if as_of_round is None else whole_number(as_of_round, "as_of_round", least=-(2**63), most=2**63 - 1)
    )
    check_shape("pandas", decimals)
    wanted = None if parties is None else names(parties, "parties")
    contracts, _ = replayed(events, reassignments, at=at, templates=(COIN, LOCKED_COIN, ROUND), opening=opening)
    # A locked coin is a template of its own, which holds the coin as its member `amulet`.
    coins = pa.concat_tables([_coins(contracts, COIN, ""), _coins(contracts, LOCKED_COIN, "amulet.")])
    # The server's default is the earliest round open when it is asked, which a replay cannot know.
    moment = asked_round if asked_round is not None else _earliest_round(contracts)
    if moment is None:
        if coins.num_rows:
            # Without coins no fee depends on the round.
            raise InputError(f"as_of_round is needed: no {ROUND} is open at that moment")
        moment = 0
    sums = _summed(coins, moment)
    named = sorted(sums) if wanted is None else list(wanted)
    place = _place(events, at)
    holdings = pd.DataFrame(
        {
            "record_time": pd.Series([place[1]] * len(named), dtype="datetime64[us, UTC]"),
            "migration_id": pd.Series([place[0]] * len(named), dtype="int64"),
            "computed_as_of_round": pd.Series([moment] * len(named), dtype="Int64"),
            "party_id": pd.Series(named, dtype="str"),
            "found": pd.Series([party in sums for party in named], dtype="boolean"),
            **_amounts([sums.get(party, _NOTHING) for party in named]),
        }
    )
    holdings.attrs.update(attrs_of(events))
    return hold_amounts(holdings, AMOUNTS, decimals)


def _place(events: Any, at: Bound | None) -> tuple[int, Any]:
    """The moment that holdings are for: the caller's, else that of the last event."""
    rows = to_arrow(events, EVENTS, ("migration_id", "record_time"), name="events")
    moment = bound(at, "at")
    if isinstance(moment, Cursor):
        return moment.migration_id, pd.Timestamp(EPOCH + moment.micros * MICROSECOND)
    if moment is not None:
        rows = rows.filter(pc.less_equal(rows["record_time"].cast(pa.int64()), moment))
    if not rows.num_rows:
        return 0, pd.NaT
    latest = pc.max(rows["migration_id"])
    last = pc.max(rows.filter(pc.equal(rows["migration_id"], latest))["record_time"].cast(pa.int64())).as_py()
    return latest.as_py(), pd.Timestamp(EPOCH + (last if moment is None else moment) * MICROSECOND)


def _amounts(sums: list[tuple[Decimal, ...]]) -> dict[str, pd.Series]:
    columns: dict[str, list[Decimal]] = {name: [] for name in AMOUNTS}
    with localcontext(_EXACT):
        for unlocked, locked, fees, locked_fees in sums:
            values = (unlocked, locked, unlocked + locked, fees, locked_fees, fees + locked_fees, unlocked - fees)
            for name, value in zip(AMOUNTS, values, strict=True):
                # Turns `-0` and `0E-10` into a plain zero.
                columns[name].append(value or Decimal(0))
    return {name: pd.Series(values, dtype=object) for name, values in columns.items()}


def _coins(contracts: pa.Table, template: str, prefix: str) -> pa.Table:
    """Owner, amount, round of creation and rate of a template's contracts, and whether they are locked."""
    own = contracts.filter(pc.equal(contracts["template_name"], template))
    amounts = record_fields(own["payload"], [prefix + path for path in _PATHS])
    columns = {"locked": pa.array(np.full(own.num_rows, bool(prefix)))}
    for path, (name, kind) in _PATHS.items():
        values = amounts.get(prefix + path, pa.nulls(own.num_rows, pa.string()))
        # A coin without its owner or amount would silently be missing from a sum.
        if values.null_count:
            raise InputError(f"events: a contract of {template} has no {prefix}{path}; its holdings cannot be told")
        try:
            columns[name] = values.cast(pa.string()).cast(kind)
        except pa.ArrowInvalid as error:
            raise InputError(
                f"events: a contract of {template} has a {prefix}{path} that cannot be: {error}"
            ) from error
    return pa.table(columns)


def _fees(coins: pa.Table, moment: int) -> pa.ChunkedArray:
    """Each coin's fee; decimals of 76 digits hold every product exactly before it is rounded half even."""
    # No lower clamp: the servers' formula gives a negative fee for a coin of a later round.
    held = pc.subtract(pa.scalar(moment, pa.int64()).cast(_ROUNDS), coins["created"].cast(_ROUNDS))
    fees = pc.round(pc.multiply(coins["rate"], held), ndigits=10, round_mode="half_to_even")
    # The fee of one contract is never more than the coin itself.
    return pc.min_element_wise(fees.cast(_WIDE), coins["amount"])


def _summed(coins: pa.Table, moment: int) -> dict[str, tuple[Decimal, ...]]:
    """Owner -> unlocked, locked, and their fees."""
    zero, locked = pa.scalar(0, pa.int64()).cast(_WIDE), coins["locked"]
    columns = {"owner": coins["owner"]}
    for name, values in (("amount", coins["amount"]), ("fee", _fees(coins, moment))):
        columns[name] = pc.if_else(locked, zero, values)
        columns[f"locked_{name}"] = pc.if_else(locked, values, zero)
    sums = ["amount", "locked_amount", "fee", "locked_fee"]
    summed = pa.table(columns).group_by("owner").aggregate([(name, "sum") for name in sums])
    values = zip(*(summed[f"{name}_sum"].to_pylist() for name in sums), strict=True)
    return dict(zip(summed["owner"].to_pylist(), values, strict=True))


def _earliest_round(contracts: pa.Table) -> int | None:
    own = contracts.filter(pc.equal(contracts["template_name"], ROUND))
    numbers = record_fields(own["payload"], ["round.number"]).get("round.number")
    return (
        None if numbers is None or not len(numbers.drop_null()) else int(min(map(int, numbers.drop_null().to_pylist())))
    )


@suggesting
def reconcile_holdings(computed: Any, summary: Any) -> pd.DataFrame:
    """Compare holdings computed from the history with a server's summary, to the last digit.

    Args:
        computed: the result of `holdings_from_events(…, decimals="exact")`, for one time and round.
        summary: the result of `load_holdings_summary(…, decimals="exact")`, for the same. A server computes fees for
            the round that is open when it is asked; `as_of_round=` makes both the same.

    Returns:
        One row per difference, none if all agree: party_id, amount (which of the seven), computed, served, difference
        (computed less served). Only what both sides state is compared: `attrs["not_served"]` lists the amounts that
        one side does not state at all, such as the fees of newer servers. A party that one side lacks counts as
        holding nothing there.

    Raises:
        InputError: columns are missing, one holds floats, or the two state fees for different rounds.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     history = lf.load_history(net)
        >>> computed = lf.holdings_from_events(history.events, history.reassignments, decimals="exact")
        >>> lf.reconcile_holdings(computed, computed).empty
        True
    """
    left, right = (_by_party(frame, name) for frame, name in ((computed, "computed"), (summary, "summary")))
    rounds = {
        name: set(frame["computed_as_of_round"].dropna()) for name, frame in (("computed", left), ("summary", right))
    }
    stated = [name for name in AMOUNTS if _states(left, name) and _states(right, name)]
    fees = set(stated) & set(_OF_A_ROUND)
    # Only fees depend on the round; sums of amounts can be compared whatever it is.
    if fees and rounds["computed"] and rounds["summary"] and rounds["computed"] != rounds["summary"]:
        raise InputError(
            f"computed is for round {_numbers(rounds['computed'])}, summary for {_numbers(rounds['summary'])}; fees"
            " differ from round to round: pass the same as_of_round= to both"
        )
    rows = []
    for party in dict.fromkeys([*left.index, *right.index]):
        for name in stated:
            ours, theirs = _amount(left, party, name), _amount(right, party, name)
            # Newer servers state no fees, and what is not stated is not a difference.
            if ours is not None and theirs is not None and ours != theirs:
                rows.append((party, name, ours, theirs, _EXACT.subtract(ours, theirs)))
    reconciled = pd.DataFrame(rows, columns=["party_id", "amount", "computed", "served", "difference"])
    # Said beside an empty result, so that "no difference" is not taken for "all compared".
    reconciled.attrs["decimals"] = "exact"
    reconciled.attrs["not_served"] = [name for name in AMOUNTS if name not in stated]
    return reconciled


@suggesting
def holding_fees(summary: Any) -> pd.DataFrame:
    """Reshape notional holding fees to long form, for tables and pictures.

    Args:
        summary: from `load_holdings_summary`, `holdings_from_events` or a store, with `decimals="exact"`.

    Returns:
        Two rows per row of the summary: its record_time, migration_id and computed_as_of_round where it has them,
        party_id, lock ("unlocked" or "locked"), holdings (at reception) and notional_fees, both in coin; null where
        the server does not state them. Fees are notional: charged only when a contract expires, not on transfers.

    Raises:
        InputError: columns are missing, or amounts are floats.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     history = lf.load_history(net, decimals="exact")
        >>> fees = lf.holding_fees(lf.holdings_from_events(history.events, history.reassignments))
        >>> sorted(set(fees.lock))
        ['locked', 'unlocked']
    """
    frame = _summary_frame(summary, "summary")
    keys = [
        name for name in ("record_time", "migration_id", "computed_as_of_round", "party_id") if name in frame.columns
    ]
    parts = [
        frame[keys].assign(
            lock=lock, holdings=frame[f"total_{lock}_coin"], notional_fees=frame[f"accumulated_holding_fees_{lock}"]
        )
        for lock in ("unlocked", "locked")
    ]
    fees = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    fees["lock"] = fees["lock"].astype("str")
    fees.attrs.update(getattr(frame, "attrs", {}))
    return fees


def _summary_frame(summary: Any, name: str) -> pd.DataFrame:
    return to_pandas(summary, ("party_id", *AMOUNTS), name=name, giver="lf.load_holdings_summary", exact=AMOUNTS)


def _by_party(one: Any, name: str) -> pd.DataFrame:
    frame = _summary_frame(one, name)
    if frame["party_id"].duplicated().any():
        raise InputError(f"{name} has several rows for a party; reconcile one record time and round at a time")
    if "computed_as_of_round" not in frame.columns:
        frame = frame.assign(computed_as_of_round=pd.Series([pd.NA] * len(frame), dtype="Int64"))
    return frame.assign(**{_KNOWN: _held(frame)}).set_index("party_id")


def _states(frame: pd.DataFrame, name: str) -> bool:
    """Whether a side states an amount; where no party holds anything, fees are stated if their round is."""
    if frame[name].notna().any():
        return True
    nobody = not _held(frame).any()
    return nobody and (name not in _OF_A_ROUND or frame["computed_as_of_round"].notna().any() or not len(frame))


def _held(frame: pd.DataFrame) -> Any:
    """Which parties the side knows; frames of older stores do not say, and leave all amounts of the others null."""
    known = frame[list(AMOUNTS)].notna().any(axis=1)
    return known if "found" not in frame.columns else frame["found"].astype("boolean").fillna(known).astype(bool)


def _amount(frame: pd.DataFrame, party: str, name: str) -> Decimal | None:
    """A party's amount, zero where it holds nothing, None where it is not stated."""
    if party not in frame.index:
        return Decimal(0)
    value = frame.at[party, name]
    if pd.isna(value):
        return None if frame.at[party, _KNOWN] else Decimal(0)
    # By way of text, because a float's own decimal has digits that nobody gave.
    return Decimal(str(value))


def _numbers(values: set[Any]) -> str:
    return ", ".join(map(str, sorted(values)))
