"""Votes on governance over a world, as routes of scan: open requests and results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from ledgerframes.sandbox.http.responses import contract_record, malformed, read_list
from ledgerframes.sandbox.http.routes import Asked, Routes
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import VOTE_REQUEST

ROUTES: Final = Routes()
_CLOSE: Final = "DsoRules_CloseVoteRequest"


@ROUTES.get("/api/scan/v0/admin/sv/voterequests")
def requests(asked: Asked) -> Any:
    """The open requests."""
    return _listed("dso_rules_vote_requests", _open(asked))


@ROUTES.post("/api/scan/v0/voterequest")
def requests_by_id(asked: Asked) -> Any:
    """Of the open requests, those whose first contract is named."""
    ids = read_list(asked.object(), "vote_request_contract_ids", maximum=asked.server.limits.items)
    return _listed("vote_requests", (one for one in _open(asked) if _first(one) in ids))


@ROUTES.post("/api/scan/v0/admin/sv/voteresults")
def results(asked: Asked) -> Any:
    """The results of votes, the latest to take effect first."""
    body = asked.object()
    limit, start = body.get("limit"), body.get("pageToken") or 0
    if not isinstance(limit, int) or not isinstance(start, int) or limit < 1:
        raise malformed("limit and pageToken must be integers")
    found = _results(asked, body)
    more = {"next_page_token": start + limit} if start + limit < len(found) else {}
    return {"dso_rules_vote_results": found[start : start + limit], **more}


def _open(asked: Asked) -> list[Contract]:
    return asked.world.contracts.of(VOTE_REQUEST)


def _results(asked: Asked, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of closes that a request asks for."""
    closes = [one.rendered for one in asked.world.updates if _CLOSE.encode() in one.rendered]
    events = [event for item in closes for event in msgspec.json.decode(item)["events_by_id"].values()]
    every = [event["exercise_result"] for event in events if event.get("choice") == _CLOSE]
    return sorted((one for one in every if _is_wanted(one, wanted)), key=_effective, reverse=True)


def _listed(name: str, contracts: Iterable[Contract]) -> dict[str, Any]:
    return {name: [contract_record(one) for one in contracts]}


def _first(request: Contract) -> str:
    """The contract that a request began with."""
    return str(request.payload["trackingCid"] or request.contract_id)


def _effective(result: dict[str, Any]) -> str:
    return str(result["outcome"]["value"].get("effectiveAt") or result["completedAt"])


def _is_wanted(result: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a result matches the filters of a request, each of which may be omitted."""
    request, effective = result["request"], _effective(result)
    (action,) = (one for one in request["action"]["value"].values() if isinstance(one, dict))
    values = {
        "actionName": action["tag"],
        "accepted": result["outcome"]["tag"] == "VRO_Accepted",
        "requester": request["requester"],
    }
    begin, end = wanted.get("effectiveFrom") or "", wanted.get("effectiveTo") or "~"
    return begin <= effective <= end and all(wanted.get(name) in (None, value) for name, value in values.items())
