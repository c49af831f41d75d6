"""The Scan interface over a world: its six calls as Starlette routes, with a real server's limits and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http import render
from ledgerframes.sandbox.http.responses import (
    INT32,
    INT64,
    Limits,
    RefusalError,
    check_size,
    contract_record,
    encode,
    json_answer,
    query_integer,
    read_object,
)
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.templates import NAME_RULES
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.views import ServerView
from ledgerframes.sandbox.world.world import Update, page_of

LICENSE_MAXIMUM: Final = 1_000


@dataclass(frozen=True, slots=True)
class Scan:
    """The handlers of one scan server."""

    view: ServerView
    limits: Limits

    def routes(self) -> list[BaseRoute]:
        """The routes of every release, without the interface's prefix."""
        earliest = "reward-accounting-process/rounds/earliest-available"
        return [
            Route("/v2/updates", self.updates, methods=["POST"]),
            # Before the look-up by id, whose path would match it too.
            Route("/v2/updates/hash/{hash:path}", self.update_by_hash, methods=["GET"]),
            Route("/v2/updates/{update_id}", self.update_by_id, methods=["GET"]),
            Route("/v1/updates/{update_id:path}", self.update_by_id_v1, methods=["GET"]),
            Route("/v0/ans-rules", self.ans_rules, methods=["POST"]),
            Route("/v0/admin/validator/licenses", self.licenses, methods=["GET"]),
            Route(f"/v0/internal/{earliest}", self.earliest_round, methods=["GET"]),
            Route(f"/v0/{earliest}", self.earliest_round, methods=["GET"]),
        ]

    async def updates(self, request: Request) -> Response:
        """POST /v2/updates."""
        body = await read_object(request)
        # `contract_value_encoding` is not read: real servers ignore names that they do not know.
        size, after = read_page_request(body, maximum=self.limits.page)
        carrying = carries_types(body.get("daml_value_encoding"))
        page = self.view.page(after, size)
        if carrying:
            page = [update._replace(rendered=render.type_carrying(update.rendered)) for update in page]
        return json_answer(page_of(page))

    async def update_by_id(self, request: Request) -> Response:
        """GET /v2/updates/{update_id}, which every release has."""
        return json_answer(self._by_id(request))

    async def update_by_id_v1(self, request: Request) -> Response:
        """GET /v1/updates/{update_id}."""
        return json_answer(render.with_offset(self._by_id(request)))

    async def update_by_hash(self, request: Request) -> Response:
        """GET /v2/updates/hash/{hash}; what it finds carries its hash, so the page's form is the right one."""
        wanted = request.path_params["hash"]
        update = self.view.world.scanned_by_hash(wanted)
        return json_answer(self._item(request, update, f"No update with external transaction hash {wanted} found"))

    async def ans_rules(self, request: Request) -> Response:
        """POST /v0/ans-rules: the contract is left out where both cached ids match."""
        body = await read_object(request)
        rules = self.view.world.rules.get(NAME_RULES.entity)
        if rules is None:
            raise RefusalError(404, "No AnsRules contract found")
        answer: dict[str, Any] = {}
        cached = (body.get("cached_ans_rules_contract_id"), body.get("cached_ans_rules_domain_id"))
        if cached != (rules.contract_id, rules.synchronizer_id):
            answer["contract"] = contract_record(rules)
        if rules.synchronizer_id is not None:
            answer["domain_id"] = rules.synchronizer_id
        return json_answer(encode({"ans_rules_update": answer}))

    async def licenses(self, request: Request) -> Response:
        """GET /v0/admin/validator/licenses: a page of stored rows, newest first, without the archived ones."""
        limit = query_integer(request, "limit", bound=INT32)
        after = query_integer(request, "after", bound=INT64)
        limit = LICENSE_MAXIMUM if limit is None else limit
        check_size("limit", limit, LICENSE_MAXIMUM)
        world = self.view.world
        with world.lock:
            stored = [row for row in reversed(world.license_rows) if after is None or row[0] < after][:limit]
            active = [world.contracts.active.get(contract_id) for _, contract_id in stored]
        contracts = [contract_record(contract) for contract in active if contract is not None]
        # A page of archived rows is short and has a token all the same: real pages of 792 for a limit of 1,000 had one.
        token = stored[-1][0] if len(stored) == limit else None
        return json_answer(encode({"validator_licenses": contracts, "next_page_token": token}))

    async def earliest_round(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/internal/reward-accounting-process/rounds/earliest-available."""
        earliest = self.view.world.earliest_round
        if earliest is None:
            raise RefusalError(404, "No round with complete reward accounting found")
        return json_answer(encode({"earliest_round": earliest}))

    def _by_id(self, request: Request) -> bytes:
        update_id = request.path_params["update_id"]
        return self._item(request, self.view.world.scanned(update_id), f"Transaction with id {update_id} not found")

    def _item(self, request: Request, update: Update | None, missing: str) -> bytes:
        carrying = carries_types(request.query_params.get("daml_value_encoding"))
        if update is None or not self.view.knows(update):
            raise RefusalError(404, missing)
        return render.type_carrying(update.rendered) if carrying else update.rendered


def read_page_request(body: dict[str, Any], *, maximum: int) -> tuple[int, Cursor | None]:
    """The size of the requested page of updates and the cursor before it; the cursor is None for the first page.

    Raises:
        RefusalError: 400, one of them is not valid, or the page is larger than `maximum`.
    """
    size = body.get("page_size")
    if type(size) is not int or not -INT32 <= size < INT32:
        raise RefusalError(400, "The request content was malformed: page_size must be an int32")
    check_size("page_size", size, maximum)
    return size, _cursor(body.get("after"))


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
        return migration_id, timestamps.parse(text)
    except ValueError as error:
        raise RefusalError(400, str(error)) from error


def carries_types(encoding: Any) -> bool:
    """Whether an encoding's values carry their types.

    Raises:
        RefusalError: 400, the encoding is not known.
    """
    if encoding not in (None, "compact_json", "protobuf_json"):
        raise RefusalError(400, f"Unknown daml_value_encoding: {encoding}")
    return bool(encoding == "protobuf_json")
