"""Votes on governance over a world, as Starlette routes of scan: open requests, results, and votes for the price."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http.responses import (
    Limits,
    RefusalError,
    check_list,
    contract_record,
    encode,
    json_answer,
    read_object,
)
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import PRICE_VOTE, VOTE_REQUEST
from ledgerframes.sandbox.world.world import World

_CLOSE: Final = "DsoRules_CloseVoteRequest"


@dataclass(frozen=True, slots=True)
class VoteRoutes:
    """The handlers of one scan server."""

    world: World
    limits: Limits

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        return [
            Route("/v0/admin/sv/voterequests", self.requests, methods=["GET"]),
            Route("/v0/admin/sv/voteresults", self.results, methods=["POST"]),
            Route("/v0/admin/sv/voteresults/count", self.count, methods=["POST"]),
            Route("/v0/voterequest", self.requests_by_id, methods=["POST"]),
            Route("/v0/voterequests/{contract_id:path}", self.request_by_id, methods=["GET"]),
            Route("/v0/amulet-price/votes", self.prices, methods=["GET"]),
        ]

    async def requests(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/admin/sv/voterequests."""
        return _listed("dso_rules_vote_requests", self._open())

    async def requests_by_id(self, request: Request) -> Response:
        """POST /v0/voterequest: of the open requests, those whose first contract is named."""
        ids = (await read_object(request)).get("vote_request_contract_ids")
        if not isinstance(ids, list):
            raise RefusalError(400, "The request content was malformed: vote_request_contract_ids must be an array")
        check_list("vote_request_contract_ids", ids, maximum=self.limits.items)
        return _listed("vote_requests", (one for one in self._open() if _first(one) in ids))

    async def request_by_id(self, request: Request) -> Response:
        """GET /v0/voterequests/{vote_request_contract_id}."""
        contract_id = request.path_params["contract_id"]
        one = next((one for one in self._open() if one.contract_id == contract_id), None)
        if one is None:
            raise RefusalError(404, f"No vote request found for contract: {contract_id}")
        return json_answer(encode({"dso_rules_vote_request": contract_record(one)}))

    async def results(self, request: Request) -> Response:
        """POST /v0/admin/sv/voteresults: the latest to take effect first."""
        body = await read_object(request)
        limit, start = body.get("limit"), body.get("pageToken") or 0
        if not isinstance(limit, int) or not isinstance(start, int) or limit < 1:
            raise RefusalError(400, "The request content was malformed: limit and pageToken must be integers")
        found = self._results(body)
        more = {"next_page_token": start + limit} if start + limit < len(found) else {}
        return json_answer(encode({"dso_rules_vote_results": found[start : start + limit], **more}))

    async def count(self, request: Request) -> Response:
        """POST /v0/admin/sv/voteresults/count."""
        return json_answer(encode({"count": len(self._results(await read_object(request)))}))

    async def prices(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/amulet-price/votes."""
        with self.world.lock:
            votes = list(self.world.contracts.of(PRICE_VOTE))
        return _listed("amulet_price_votes", votes)

    def _open(self) -> list[Contract]:
        with self.world.lock:
            return list(self.world.contracts.of(VOTE_REQUEST))

    def _results(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        """The results of closes that a request asks for."""
        with self.world.lock:
            closes = [one.rendered for one in self.world.updates if _CLOSE.encode() in one.rendered]
        events = [event for item in closes for event in msgspec.json.decode(item)["events_by_id"].values()]
        results = [event["exercise_result"] for event in events if event.get("choice") == _CLOSE]
        return sorted((one for one in results if _is_wanted(one, wanted)), key=_effective, reverse=True)


def _listed(name: str, contracts: Iterable[Contract]) -> Response:
    return json_answer(encode({name: [contract_record(one) for one in contracts]}))


def _first(request: Contract) -> str:
    """The contract that a request began with."""
    return str(request.payload["trackingCid"] or request.contract_id)


def _effective(result: dict[str, Any]) -> str:
    return str(result["outcome"]["value"].get("effectiveAt") or result["completedAt"])


def _is_wanted(result: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a result matches the filters of a request, each of which may be omitted."""
    request, effective = result["request"], _effective(result)
    (action,) = (one for one in request["action"]["value"].values() if isinstance(one, dict))
    told = {
        "actionName": action["tag"],
        "accepted": result["outcome"]["tag"] == "VRO_Accepted",
        "requester": request["requester"],
    }
    begin, end = wanted.get("effectiveFrom") or "", wanted.get("effectiveTo") or "~"
    return begin <= effective <= end and all(wanted.get(name) in (None, value) for name, value in told.items())
