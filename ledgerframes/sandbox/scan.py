"""The Scan interface over a world: its six calls as Starlette routes, with a real server's limits and answers."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox import moments, render
from ledgerframes.sandbox.contracts import Contract
from ledgerframes.sandbox.views import View
from ledgerframes.sandbox.world import Cursor, Update, page_of

INT32: Final = 2**31
INT64: Final = 2**63
LICENSE_MAXIMUM: Final = 1_000

_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """How a scan server differs from the usual one.

    Attributes:
        page_maximum: the largest page size of `POST /v2/updates`; more is refused, with this number in the message.
        silent_cap: give at most so many items a page, without a word; None for no such cap.
        newer: a release that has `GET /v2/updates/{update_id}` in place of the v1 look-up.
        older: a release with the earliest round under its former path.
    """

    page_maximum: int = 1_000
    silent_cap: int | None = None
    newer: bool = False
    older: bool = False


class RefusalError(Exception):
    """A request the server answers with an error body.

    Attributes:
        status: the HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Scan:
    """The handlers of one scan server."""

    view: View
    options: ScanOptions

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        single = "/v2/updates/{update_id:path}" if self.options.newer else "/v1/updates/{update_id:path}"
        internal = "" if self.options.older else "/internal"
        earliest = f"/v0{internal}/reward-accounting-process/rounds/earliest-available"
        return [
            Route("/v2/updates", self.updates, methods=["POST"]),
            Route("/v2/updates/hash/{hash:path}", self.update_by_hash, methods=["GET"]),
            Route(single, self.update_by_id, methods=["GET"]),
            Route("/v0/ans-rules", self.ans_rules, methods=["POST"]),
            Route("/v0/admin/validator/licenses", self.licenses, methods=["GET"]),
            Route(earliest, self.earliest_round, methods=["GET"]),
        ]

    async def updates(self, request: Request) -> Response:
        """POST /v2/updates."""
        body = await _object(request)
        size = self._page_size(body)
        carrying = _carries_types(body.get("daml_value_encoding"))
        found = self.view.page(_cursor(body.get("after")), size)
        if carrying:
            found = [update._replace(rendered=render.type_carrying(update.rendered)) for update in found]
        return _json(page_of(found))

    async def update_by_id(self, request: Request) -> Response:
        """GET /v1/updates/{update_id}, or GET /v2/updates/{update_id} of newer releases."""
        update_id = request.path_params["update_id"]
        item = self._item(request, self.view.world.update(update_id), f"Transaction with id {update_id} not found")
        return _json(item if self.options.newer else render.with_offset(item))

    async def update_by_hash(self, request: Request) -> Response:
        """GET /v2/updates/hash/{hash}; what it finds carries its hash, so the page's form is the right one."""
        wanted = request.path_params["hash"]
        found = self.view.world.update_by_hash(wanted)
        return _json(self._item(request, found, f"No update with external transaction hash {wanted} found"))

    async def ans_rules(self, request: Request) -> Response:
        """POST /v0/ans-rules: the contract is left out where both cached ids match."""
        body = await _object(request)
        rules = self.view.world.ans_rules
        if rules is None:
            raise RefusalError(404, "No AnsRules contract found")
        answer: dict[str, Any] = {}
        cached = (body.get("cached_ans_rules_contract_id"), body.get("cached_ans_rules_domain_id"))
        if cached != (rules.contract_id, rules.synchronizer_id):
            answer["contract"] = _contract(rules)
        if rules.synchronizer_id is not None:
            answer["domain_id"] = rules.synchronizer_id
        return _json(_encode({"ans_rules_update": answer}))

    async def licenses(self, request: Request) -> Response:
        """GET /v0/admin/validator/licenses: so many stored rows, the newest first, without those that have ended."""
        limit = _query_integer(request, "limit", bound=INT32)
        after = _query_integer(request, "after", bound=INT64)
        limit = LICENSE_MAXIMUM if limit is None else limit
        _check_size("limit", limit, LICENSE_MAXIMUM)
        world = self.view.world
        with world.lock:
            stored = [row for row in reversed(world.license_rows) if after is None or row[0] < after][:limit]
            active = [world.contracts.active.get(contract_id) for _, contract_id in stored]
        contracts = [_contract(contract) for contract in active if contract is not None]
        token = stored[-1][0] if len(stored) == limit else None
        return _json(_encode({"validator_licenses": contracts, "next_page_token": token}))

    async def earliest_round(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/internal/reward-accounting-process/rounds/earliest-available."""
        earliest = self.view.world.earliest_round
        if earliest is None:
            raise RefusalError(404, "No round with complete reward accounting found")
        return _json(_encode({"earliest_round": earliest}))

    def _page_size(self, body: dict[str, Any]) -> int:
        size = body.get("page_size")
        if type(size) is not int or not -INT32 <= size < INT32:
            raise RefusalError(400, "The request content was malformed: page_size must be an int32")
        _check_size("page_size", size, self.options.page_maximum)
        return min(size, self.options.silent_cap or size)

    def _item(self, request: Request, update: Update | None, missing: str) -> bytes:
        carrying = _carries_types(request.query_params.get("daml_value_encoding"))
        if update is None or not self.view.knows(update):
            raise RefusalError(404, missing)
        return render.type_carrying(update.rendered) if carrying else update.rendered


async def refuse(_: Request, error: Exception) -> Response:
    """Answer a refused request with the interface's error body."""
    assert isinstance(error, RefusalError)
    return Response(_encode({"error": str(error)}), error.status, media_type="application/json")


async def no_route(_: Request, error: Exception) -> Response:
    """Answer an unknown path or method as the servers do: in plain text."""
    assert isinstance(error, HTTPException)
    known = (error.headers or {}).get("Allow", "")
    text = f"HTTP method not allowed, supported methods: {known}" if error.status_code == 405 else _UNKNOWN
    return PlainTextResponse(text, error.status_code, headers=error.headers)


_UNKNOWN: Final = "The requested resource could not be found."


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _contract(contract: Contract) -> dict[str, Any]:
    """A contract record; its blob is made from its id, since nobody can look into it."""
    blob = base64.b64encode(b"\n\x03" + contract.contract_id.encode() * 6).decode()
    return {
        "template_id": contract.template_id,
        "contract_id": contract.contract_id,
        "payload": contract.payload,
        "created_event_blob": blob,
        "created_at": contract.created_at,
    }


async def _object(request: Request) -> dict[str, Any]:
    try:
        return msgspec.json.decode(await request.body(), type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RefusalError(400, f"The request content was malformed: {error}") from error


def _cursor(after: Any) -> Cursor | None:
    if after is None:
        return None
    if not isinstance(after, dict):
        raise RefusalError(400, "The request content was malformed: after must be an object")
    migration_id, text = after.get("after_migration_id"), after.get("after_record_time")
    if type(migration_id) is not int or not -INT64 <= migration_id < INT64:
        raise RefusalError(400, "The request content was malformed: after_migration_id must be an int64")
    if not isinstance(text, str):
        raise RefusalError(400, "The request content was malformed: after_record_time must be a string")
    try:
        return migration_id, moments.parse(text)
    except ValueError as error:
        raise RefusalError(400, str(error)) from error


def _carries_types(encoding: Any) -> bool:
    if encoding not in (None, "compact_json", "protobuf_json"):
        raise RefusalError(400, f"Unknown daml_value_encoding: {encoding}")
    return bool(encoding == "protobuf_json")


def _check_size(name: str, size: int, maximum: int) -> None:
    if size < 1:
        raise RefusalError(400, f"{name} must be positive, not {size}")
    if size > maximum:
        raise RefusalError(400, f"Exceeded limit maximum ({size} > {maximum}).")


def _query_integer(request: Request, name: str, *, bound: int) -> int | None:
    text = request.query_params.get(name)
    try:
        value = None if text is None else int(text)
    except ValueError as error:
        raise RefusalError(400, f"The query parameter '{name}' was malformed: {text!r} is no integer") from error
    if value is not None and not -bound <= value < bound:
        raise RefusalError(400, f"The query parameter '{name}' was malformed: {text!r} is out of range")
    return value
