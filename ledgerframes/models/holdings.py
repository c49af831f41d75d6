"""`holdings_from_events`, `reconcile_holdings`, `holding_fees`: holdings of parties, compared with a server's."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Any, Final

import pandas as pd

from ledgerframes.arguments import party_ids, suggesting, whole_number
from ledgerframes.errors import InputError
from ledgerframes.frames import Decimals, check_shape, to_pandas
from ledgerframes.models.computing import computed as computed_table
from ledgerframes.models.contracts import whole_history
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import columns_of, inputs_of_snapshot
from ledgerframes.paging.cursor import Bound, Cursor, bound
from ledgerframes.tables.from_snapshots import HOLDING_FEES
from ledgerframes.tables.replayed import HOLDINGS_FROM_EVENTS

AMOUNTS: Final = (
    "total_unlocked_coin", "total_locked_coin", "total_coin_holdings", "accumulated_holding_fees_unlocked",
    "accumulated_holding_fees_locked", "accumulated_holding_fees_total", "total_available_coin",
)  # fmt: skip

#: Amounts that depend on the round of the fees, and that newer servers leave out.
_OF_A_ROUND: Final = AMOUNTS[3:]
_KNOWN: Final = "the side knows the party"
_EXACT: Final = Context(prec=70)  # the usual 28 digits would round


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
    transfers; do not subtract them. `.nlargest(10, "total_coin_holdings")` are the top holders; for concentration
    (Gini, Nakamoto) `notebooks/11_governance_and_key_figures.ipynb` has lines.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet, from ledger begin.
        reassignments: legs from the same source, where `events` is a frame; needed for coins that appear first in an
            assignment.
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
    requested_round = (
        None if as_of_round is None else whole_number(as_of_round, "as_of_round", least=-(2**63), most=2**63 - 1)
    )
    check_shape("pandas", decimals)
    wanted = None if parties is None else list(party_ids(parties, "parties"))
    moment = bound(at, "at")
    inputs = whole_history(events, reassignments, opening=opening, until=moment)
    variables = {
        "as_of_round": requested_round,
        "parties": wanted,
        "at_micros": moment.micros if isinstance(moment, Cursor) else moment,
        "at_migration": moment.migration_id if isinstance(moment, Cursor) else None,
    }

    def check(engine: Engine) -> None:
        """Refuse coins that would silently be missing from a sum, and fees of an unknown round."""
        unread = engine.rows("unread_coins").slice(0, 1).to_pylist()
        if unread:
            name, member = unread[0]["template_name"], unread[0]["member"]
            raise InputError(
                f"events: a contract of {name} has no {member} that can be read; its holdings cannot be computed"
            )
        # Without coins no fee depends on the round.
        rounds = engine.rows("open_round_numbers")["round"]
        if requested_round is None and rounds.null_count == len(rounds) and engine.rows("held_coin_terms").num_rows:
            raise InputError("pass as_of_round=: no mining round is open at that time")

    holdings: pd.DataFrame = computed_table(
        HOLDINGS_FROM_EVENTS, inputs, as_="pandas", decimals=decimals, until=moment, variables=variables, check=check,
        edges="coin_edges",
    )  # fmt: skip
    return holdings


@suggesting
def reconcile_holdings(computed: Any, summary: Any) -> pd.DataFrame:
    """Compare holdings computed from the history with a server's summary, to the last digit.

    It is not a model in SQL: its inputs are two small frames, and its decision, which amounts a side states at all,
    depends on the columns and the releases of both.

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
    # Only fees depend on the round; sums of amounts can be compared in any case.
    if fees and rounds["computed"] and rounds["summary"] and rounds["computed"] != rounds["summary"]:
        raise InputError(
            f"computed is for round {_numbers(rounds['computed'])}, summary for {_numbers(rounds['summary'])}; fees"
            " differ from round to round: pass the same as_of_round= to both"
        )
    rows = []
    for party in dict.fromkeys([*left.index, *right.index]):
        for name in stated:
            ours, theirs = _amount(left, party, name), _amount(right, party, name)
            # Newer servers state no fees, and a missing amount is not a difference.
            if ours is not None and theirs is not None and ours != theirs:
                rows.append((party, name, ours, theirs, _EXACT.subtract(ours, theirs)))
    reconciled = pd.DataFrame(rows, columns=["party_id", "amount", "computed", "served", "difference"])
    # Reported together with an empty result, so that "no difference" is not taken for "all compared".
    reconciled.attrs["decimals"] = "exact"
    reconciled.attrs["not_served"] = [name for name in AMOUNTS if name not in stated]
    return reconciled


@suggesting
def holding_fees(summary: Any) -> pd.DataFrame:
    """Reshape notional holding fees to long form, for tables and charts.

    Args:
        summary: from `load_holdings_summary` or `holdings_from_events`, with `decimals="exact"`, or a `Store`.

    Returns:
        Two rows per row of the summary, by time, migration, round and party, with the columns of
        `lf.describe("holding_fees")`: of the first three those that it has, and party_id, lock ("unlocked" or
        "locked"), holdings (at reception) and notional_fees, both in coin; null where the server does not state them.
        Fees are notional: charged only when a contract expires, not on transfers.

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
    keys = ("record_time", "migration_id", "computed_as_of_round")
    inputs = inputs_of_snapshot("holdings_summary", summary, "party_id", *AMOUNTS)
    form: Decimals = inputs.attrs.get("decimals") or "exact"
    fees: pd.DataFrame = computed_table(HOLDING_FEES, inputs, as_="pandas", decimals=form)
    there = columns_of(summary) or keys  # a store has all of them
    return fees.drop(columns=[name for name in keys if name not in there])


def _by_party(one: Any, name: str) -> pd.DataFrame:
    frame = to_pandas(one, ("party_id", *AMOUNTS), name=name, giver="lf.load_holdings_summary", exact=AMOUNTS)
    if frame["party_id"].duplicated().any():
        raise InputError(f"{name} has several rows for a party; reconcile one record time and round at a time")
    if "computed_as_of_round" not in frame.columns:
        frame = frame.assign(computed_as_of_round=pd.Series([pd.NA] * len(frame), dtype="Int64"))
    return frame.assign(**{_KNOWN: _known(frame)}).set_index("party_id")


def _states(frame: pd.DataFrame, name: str) -> bool:
    """Whether a side states an amount; if no party holds anything, fees are stated if their round is."""
    if frame[name].notna().any():
        return True
    nobody = not _known(frame).any()
    return nobody and (name not in _OF_A_ROUND or frame["computed_as_of_round"].notna().any() or not len(frame))


def _known(frame: pd.DataFrame) -> Any:
    """The parties that the side knows; frames of older stores lack this, and leave all amounts of the others null."""
    known = frame[list(AMOUNTS)].notna().any(axis=1)
    return known if "found" not in frame.columns else frame["found"].astype("boolean").fillna(known).astype(bool)


def _amount(frame: pd.DataFrame, party: str, name: str) -> Decimal | None:
    """A party's amount, zero if it holds nothing, None if it is not stated."""
    if party not in frame.index:
        return Decimal(0)
    value = frame.at[party, name]
    if pd.isna(value):
        return None if frame.at[party, _KNOWN] else Decimal(0)
    # Via text, because a float's own decimal has digits that nobody entered.
    return Decimal(str(value))


def _numbers(values: set[Any]) -> str:
    return ", ".join(map(str, sorted(values)))
