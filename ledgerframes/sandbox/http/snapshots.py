"""Scan's snapshots over a world as routes: the active contracts, and what parties hold, with notional fees."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, Any, Final, Literal, TypeVar

from msgspec import Meta, Struct

from ledgerframes.sandbox.http.responses import (
    INT64,
    Int32,
    Int64,
    RefusalError,
    check_size,
    found,
    malformed,
    page_token,
    read_page_token,
    read_time,
)
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal
from ledgerframes.sandbox.world.contracts import round_of
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.views import Active, Coin

ROUTES: Final = Routes()

_Body = TypeVar("_Body", bound="_Wanted")


class _Wanted(Struct):
    migration_id: Int64
    record_time: str
    page_size: Int32
    record_time_match: Literal["exact", "at_or_before"] | None = None
    #: A text under /v2, a number under /v1 and /v0.
    after: str | Int64 | None = None


class StateRequest(_Wanted):
    """The body of POST /v2/state/acs and of its predecessors under /v1 and /v0."""

    templates: list[str] | None = None
    party_ids: list[str] | None = None


class CoinsRequest(_Wanted, kw_only=True):
    """The body of POST /v2/holdings/state and of its predecessors under /v1 and /v0."""

    owner_party_ids: Annotated[list[str], Meta(min_length=1)]


@ROUTES.get("/api/scan/v0/state/acs/snapshot-timestamp")
def snapshot_time(request: ServerRequest) -> dict[str, Any]:
    """The newest snapshot strictly before a time."""
    migration_id, text = request.integer("migration_id", bound=INT64), request.needed("before")
    request.needed("migration_id")
    assert migration_id is not None
    snapshot = request.view.snapshot(migration_id, read_time(text) - 1, exact=False)
    return {"record_time": timestamps.exact(found(snapshot, f"No snapshots found before {text}"))}


@ROUTES.post("/api/scan/v2/state/acs", since="0.9")
@ROUTES.post("/api/scan/v1/state/acs", since="0.7", removed_in="0.9")
@ROUTES.post("/api/scan/v0/state/acs", removed_in="0.9")
def state(request: ServerRequest) -> dict[str, Any]:
    """A page of the active contracts."""
    wanted = _read(request, StateRequest)
    templates, parties = wanted.templates, wanted.party_ids
    for name in templates or ():
        if name.count(":") != 2:
            raise RefusalError(400, f"Malformed template_id filter: {name}")
    at = _snapshot(request, wanted)
    matching = [
        contract
        for contract in request.view.active(at)
        if (not templates or contract.template in templates)
        and (not parties or not contract.stakeholders.isdisjoint(parties))
    ]
    return _page(request, wanted, at, matching)


@ROUTES.post("/api/scan/v2/holdings/state", since="0.9")
@ROUTES.post("/api/scan/v1/holdings/state", since="0.7", removed_in="0.9")
@ROUTES.post("/api/scan/v0/holdings/state", removed_in="0.9")
def coins(request: ServerRequest) -> dict[str, Any]:
    """A page of the coins of some owners."""
    wanted = _read(request, CoinsRequest)
    owners, at = set(wanted.owner_party_ids), _snapshot(request, wanted)
    matching = [one for one in request.view.active(at) if (coin := one.coin()) is not None and coin.owner in owners]
    return _page(request, wanted, at, matching)


def _version(request: ServerRequest) -> str:
    """The route's version: a page's token is a text under /v2, a number before; /v0 has events' ids, not updates'."""
    return request.http.url.path.split("/")[3]


def _read(request: ServerRequest, kind: type[_Body]) -> _Body:
    """The request, unless it has a token of another version or too long a list."""
    wanted, opaque = request.read(kind), _version(request) == "v2"
    if wanted.after is not None and isinstance(wanted.after, str) != opaque:
        known = "string" if opaque else "long"
        raise malformed(f"after: {wanted.after!r} is not a {known}")
    for name in ("party_ids", "templates", "owner_party_ids"):
        request.check_list(name, getattr(wanted, name, None) or ())
    return wanted


def _snapshot(request: ServerRequest, wanted: _Wanted) -> Cursor:
    check_size("page_size", wanted.page_size, request.server.page_maximum)
    return snapshot_of(request, wanted.migration_id, wanted.record_time, wanted.record_time_match)


def _page(request: ServerRequest, wanted: _Wanted, at: Cursor, matching: list[Active]) -> dict[str, Any]:
    after, version = _row(wanted.after), _version(request)
    left = [contract for contract in matching if after is None or contract.row > after]
    page = left[: wanted.page_size]
    answer = {
        "record_time": timestamps.exact(at[1]),
        "migration_id": wanted.migration_id,
        "created_events": [one.record_v0() if version == "v0" else one.record(wanted.migration_id) for one in page],
    }
    if len(left) > len(page):
        answer["next_page_token"] = page_token(str(page[-1].row)) if version == "v2" else page[-1].row
    return answer


def _row(token: str | int | None) -> int | None:
    """The row that a page ended with."""
    try:
        return int(read_page_token(token)) if isinstance(token, str) else token
    except ValueError as error:
        raise RefusalError(400, f"Invalid page token: {token}") from error


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
        as_of_round = round_of(found(next(iter(request.world.rounds), None), "No open mining round found"))
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
    return migration_id, found(snapshot, f"No snapshot found for migration {migration_id} and {record_time}")


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
