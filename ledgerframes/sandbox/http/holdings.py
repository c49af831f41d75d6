"""Summaries of what parties hold, with notional fees, as routes of scan and of the validator."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from ledgerframes.sandbox.http.responses import Int64, RefusalError, read_time
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world.active_set import Coin
from ledgerframes.sandbox.world.amounts import UNITS, decimal
from ledgerframes.sandbox.world.contracts import round_of
from ledgerframes.sandbox.world.timestamps import Cursor

ROUTES: Final = Routes()


class SummaryRequest(Struct):
    """The body of POST /v0/scan-proxy/holdings/summary, and of its successor under /v1."""

    migration_id: Int64
    record_time: str
    owner_party_ids: Annotated[list[str], Meta(min_length=1)]
    record_time_match: Literal["exact", "at_or_before"] | None = None
    as_of_round: Int64 | None = None


@ROUTES.post("/api/scan/v0/holdings/summary")
@ROUTES.post(
    "/api/validator/v0/scan-proxy/holdings/summary",
)
def with_fees(request: ServerRequest) -> dict[str, Any]:
    """Holdings, by default with the fees of the earliest round that is open now.

    Real servers do so (a snapshot of 06:00 asked at 08:39 came with the round that was open at 08:39).
    """
    wanted = request.read(SummaryRequest)
    by_party = _coins_by_party(request, wanted)
    as_of_round = wanted.as_of_round
    if as_of_round is None:
        if not request.world.rounds:
            raise RefusalError(404, "No open mining round found")
        as_of_round = round_of(request.world.rounds[0])
    summaries = [summary(party, coins, as_of_round=as_of_round) for party, coins in by_party.items()]
    return {**_echo(wanted), "computed_as_of_round": as_of_round, "summaries": summaries}


@ROUTES.post("/api/scan/v1/holdings/summary", since="0.7")
@ROUTES.post("/api/validator/v1/scan-proxy/holdings/summary", since="0.7")
def without_fees(request: ServerRequest) -> dict[str, Any]:
    """Holdings: no fees, no round, no available amount."""
    wanted = request.read(SummaryRequest)
    by_party = _coins_by_party(request, wanted).items()
    summaries = [summary(party, coins, as_of_round=None) for party, coins in by_party]
    return {**_echo(wanted), "summaries": summaries}


def _coins_by_party(request: ServerRequest, wanted: SummaryRequest) -> dict[str, list[Coin]]:
    """The holdings of each party with holdings at the snapshot, in an order of the server's own."""
    request.check_list("owner_party_ids", wanted.owner_party_ids)
    at = snapshot_of(request, wanted.migration_id, wanted.record_time, wanted.record_time_match)
    # Real servers answer in an order that differs from the request.
    parties = sorted(set(wanted.owner_party_ids), key=lambda party: party.rpartition("::")[::-1])
    by_party: dict[str, list[Coin]] = {party: [] for party in parties}
    for coin in (one.coin() for one in request.view.active(at)):
        if coin is not None and coin.owner in by_party:
            by_party[coin.owner].append(coin)
    by_party = {party: coins for party, coins in by_party.items() if coins}
    if sum(map(len, by_party.values())) > request.server.holdings_maximum:
        # Real servers refuse more than 1,000 holdings in all; clients look for "limit" in the text.
        raise RefusalError(400, f"The number of holdings exceeded the limit of {request.server.holdings_maximum}")
    return by_party


def snapshot_of(request: ServerRequest, migration_id: int, record_time: str, match: str | None) -> Cursor:
    """The snapshot that is asked for: of exactly that time unless the match says otherwise.

    Raises:
        RefusalError: 400, the time is not valid; 404, there is no such snapshot.
    """
    snapshot = request.view.snapshot(migration_id, read_time(record_time), exact=match != "at_or_before")
    if snapshot is None:
        raise RefusalError(404, f"No snapshot found for migration {migration_id} and {record_time}")
    return migration_id, snapshot


def _echo(wanted: SummaryRequest) -> dict[str, Any]:
    return {"record_time": wanted.record_time, "migration_id": wanted.migration_id}


def summary(party: str, coins: Iterable[Coin], *, as_of_round: int | None) -> dict[str, str]:
    """One party's holdings (contract: Resources, HoldingsSummary); with their fees as of a round, if one is given."""
    amounts, fees = [0, 0], [0, 0]
    for coin in coins:
        amounts[coin.locked] += coin.units
        fees[coin.locked] += fee(coin.units, (as_of_round or 0) - coin.round_number, coin.rate)
    members = {
        "party_id": party,
        "total_unlocked_coin": decimal(amounts[False]),
        "total_locked_coin": decimal(amounts[True]),
        "total_coin_holdings": decimal(sum(amounts)),
    }
    if as_of_round is None:
        return members
    return {
        **members,
        "accumulated_holding_fees_unlocked": decimal(fees[False]),
        "accumulated_holding_fees_locked": decimal(fees[True]),
        "accumulated_holding_fees_total": decimal(sum(fees)),
        "total_available_coin": decimal(amounts[False] - fees[False]),
    }


def fee(units: int, rounds: int, rate: str) -> int:
    """One coin's notional fee in ten-billionths: at most its amount, below zero for rounds before its creation.

    Args:
        units: its initial amount in ten-billionths.
        rounds: the number of rounds that it has been held.
        rate: fee a round as decimal text; the product is rounded half even to ten places.
    """
    # Fractions are exact, and Python rounds them half to even as the servers do.
    return min(units, round(rounds * Fraction(rate) * UNITS))
