"""The Validator interface over a world: wallet and names of the caller, and look-ups passed on to scan, as routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.generator.names import names_of
from ledgerframes.sandbox.generator.offers import offers_of
from ledgerframes.sandbox.http.callers import Access, AccessError
from ledgerframes.sandbox.http.responses import (
    INT64,
    UNREADABLE,
    Limits,
    RefusalError,
    check_list,
    contract_record,
    encode,
    json_answer,
)
from ledgerframes.sandbox.http.scan_proxy import ScanProxy
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.accounts import User
from ledgerframes.sandbox.world.coin_history import Coin
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.holdings import summarize
from ledgerframes.sandbox.world.preapprovals import preapproval_of
from ledgerframes.sandbox.world.templates import NAME_RULES
from ledgerframes.sandbox.world.views import ServerView
from ledgerframes.sandbox.world.world import World

_Int64 = Annotated[int, Meta(ge=-INT64, le=INT64 - 1)]


class SummaryRequest(Struct):
    """The body of POST /v0/scan-proxy/holdings/summary, and of its successor under /v1."""

    migration_id: _Int64
    record_time: str
    owner_party_ids: Annotated[list[str], Meta(min_length=1)]
    record_time_match: Literal["exact", "at_or_before"] | None = None
    as_of_round: _Int64 | None = None


_read_summary_request: Final = msgspec.json.Decoder(SummaryRequest).decode


@dataclass(frozen=True, slots=True)
class Validator:
    """The handlers of one validator.

    Attributes:
        view: the part of the world that the scans behind it show.
    """

    view: ServerView
    access: Access
    limits: Limits

    @property
    def world(self) -> World:
        """The ledger."""
        return self.view.world

    def routes(self) -> list[BaseRoute]:
        """The routes of every release, without the interface's prefix."""
        summary = "/scan-proxy/holdings/summary"
        # `:path`, because a percent-encoded slash is decoded before routing.
        by_party = "/v0/scan-proxy/transfer-preapprovals/by-party/{party:path}"
        return [
            Route(f"/v0{summary}", self.holdings_with_fees, methods=["POST"]),
            Route(f"/v1{summary}", self.holdings_without_fees, methods=["POST"]),
            Route("/v0/wallet/transfer-offers", self.transfer_offers, methods=["GET"]),
            Route("/v0/entry/all", self.name_entries, methods=["GET"]),
            Route(by_party, self.transfer_preapproval, methods=["GET"]),
            *ScanProxy(self.view, self._caller, self.limits).routes(),
        ]

    async def holdings_with_fees(self, request: Request) -> Response:
        """POST /v0/scan-proxy/holdings/summary, by default with the fees of the earliest round that is open now.

        Real servers do so (a snapshot of 06:00 asked at 08:39 came with the round that was open at 08:39).
        """
        wanted = await self._summary_request(request)
        with self.world.lock:
            held = self._held(wanted)
            earliest = self.world.coins.earliest_round
        as_of_round = earliest if wanted.as_of_round is None else wanted.as_of_round
        if as_of_round is None:
            raise RefusalError(404, "No open mining round found")
        summaries = [summarize(party, coins, as_of_round=as_of_round).with_fees() for party, coins in held.items()]
        return json_answer(encode({**_echo(wanted), "computed_as_of_round": as_of_round, "summaries": summaries}))

    async def holdings_without_fees(self, request: Request) -> Response:
        """POST /v1/scan-proxy/holdings/summary: no fees, no round, no available amount."""
        wanted = await self._summary_request(request)
        with self.world.lock:
            held = self._held(wanted)
        summaries = [summarize(party, coins, as_of_round=0).without_fees() for party, coins in held.items()]
        return json_answer(encode({**_echo(wanted), "summaries": summaries}))

    async def transfer_offers(self, request: Request) -> Response:
        """GET /v0/wallet/transfer-offers."""
        party = self._wallet(request)
        with self.world.lock:
            offers = [contract_record(offer) for offer in offers_of(self.world, party)]
        return json_answer(encode({"offers": offers}))

    async def name_entries(self, request: Request) -> Response:
        """GET /v0/entry/all: times as text of milliseconds, durations as text of microseconds."""
        party = self._wallet(request)
        with self.world.lock:
            entries = [_entry(self.world, entry) for entry in names_of(self.world, party)]
        return json_answer(encode({"entries": entries}))

    async def transfer_preapproval(self, request: Request) -> Response:
        """GET /v0/scan-proxy/transfer-preapprovals/by-party/{party}."""
        self._caller(request)
        party = request.path_params["party"]
        with self.world.lock:
            given = preapproval_of(self.world, party)
        if given is None:
            raise RefusalError(404, f"No TransferPreapproval found for party: {party}")
        answer: dict[str, Any] = {"contract": contract_record(given)}
        if given.synchronizer_id is not None:
            answer["domain_id"] = given.synchronizer_id
        return json_answer(encode({"transfer_preapproval": answer}))

    async def _summary_request(self, request: Request) -> SummaryRequest:
        self._caller(request)
        try:
            wanted = _read_summary_request(await request.body())
        except UNREADABLE as error:
            raise RefusalError(400, f"The request content was malformed: {error}") from error
        check_list("owner_party_ids", wanted.owner_party_ids, maximum=self.limits.items)
        return wanted

    def _held(self, wanted: SummaryRequest) -> dict[str, list[Coin]]:
        """The holdings of each party with holdings at the snapshot, in an order of the server's own."""
        at = (wanted.migration_id, self._snapshot(wanted))
        # Real servers answer in an order that differs from the request.
        parties = sorted(set(wanted.owner_party_ids), key=lambda party: party.rpartition("::")[::-1])
        held = {party: coins for party in parties if (coins := self.world.coins.held(party, at))}
        if sum(map(len, held.values())) > self.limits.holdings:
            # Real servers refuse more than 1,000 holdings in all; clients look for "limit" in the text.
            raise RefusalError(400, f"The number of holdings exceeded the limit of {self.limits.holdings}")
        return held

    def _snapshot(self, wanted: SummaryRequest) -> int:
        try:
            asked = timestamps.parse(wanted.record_time)
        except ValueError as error:
            raise RefusalError(400, str(error)) from error
        exact = wanted.record_time_match != "at_or_before"
        snapshot = self.view.snapshot(wanted.migration_id, asked, exact=exact)
        if snapshot is None:
            raise RefusalError(404, f"No snapshot found for migration {wanted.migration_id} and {wanted.record_time}")
        return snapshot

    def _caller(self, request: Request) -> User:
        try:
            return self.access.user(request.headers)
        except AccessError as error:
            raise RefusalError(error.status, str(error)) from error

    def _wallet(self, request: Request) -> str:
        """The caller's own party."""
        user = self._caller(request)
        if not user.primary_party:
            raise RefusalError(404, f"No wallet found for user {user.id}")
        return user.primary_party


def _echo(wanted: SummaryRequest) -> dict[str, Any]:
    return {"record_time": wanted.record_time, "migration_id": wanted.migration_id}


def _entry(world: World, entry: Contract) -> dict[str, str]:
    """A name entry as the validator sends it (contract: Resources, Name-service entry)."""
    terms = world.rules[NAME_RULES.entity].payload["config"]
    return {
        "contractId": entry.contract_id,
        "name": entry.payload["name"],
        "amount": terms["entryFee"],
        "unit": "USDUNIT",
        # Epoch milliseconds as text, as real validators send them.
        "expiresAt": str(timestamps.parse(entry.payload["expiresAt"]) // 1_000),
        "paymentInterval": terms["entryLifetime"]["microseconds"],
        "paymentDuration": terms["renewalDuration"]["microseconds"],
    }
