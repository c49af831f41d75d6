"""Scan's answers that a validator passes on to callers with a token, as Starlette routes; the validator adds them.

Holdings summaries and transfer preapprovals are the validator's own routes. There is no history here: no updates, no
events, no snapshots, no licenses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http.merged_routes import Endpoint
from ledgerframes.sandbox.http.responses import INT64, Limits, RefusalError, encode, json_answer, query_integer
from ledgerframes.sandbox.http.scan import Scan
from ledgerframes.sandbox.http.scan_now import CurrentRoutes, with_state
from ledgerframes.sandbox.world.templates import COIN_RULES, ISSUING_ROUND, UNCLAIMED_FUND_COUPON
from ledgerframes.sandbox.world.views import ServerView

_BASE = "/v0/scan-proxy"


@dataclass(frozen=True, slots=True)
class ScanProxy:
    """The handlers of one validator.

    Attributes:
        view: the part of the world that the scans behind it show.
        check: refuses a caller without a valid token.
    """

    view: ServerView
    check: Callable[[Request], Any]
    limits: Limits

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        now = CurrentRoutes(self.view.world, self.limits)
        handlers: dict[str, Endpoint] = {
            "/dso-party-id": now.dso_party,
            "/dso": now.dso,
            "/featured-apps/{provider_party_id:path}": now.featured_app,
            "/open-and-issuing-mining-rounds": self.rounds,
            "/amulet-rules": self.coin_rules,
            "/ans-entries": now.names,
            "/ans-entries/by-party/{party:path}": now.name_by_party,
            "/ans-entries/by-name/{name:path}": now.name_by_name,
            "/transfer-command-counter/{party:path}": self.command_counter,
            "/transfer-command/status": self.command_status,
            "/unclaimed-development-fund-coupons": self.fund_coupons,
        }
        rules = self._checked(Scan(self.view, self.limits).ans_rules)
        return [
            Route(f"{_BASE}/ans-rules", rules, methods=["POST"]),
            *(Route(f"{_BASE}{path}", self._checked(handler), methods=["GET"]) for path, handler in handlers.items()),
        ]

    async def rounds(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/scan-proxy/open-and-issuing-mining-rounds: as lists, and all of them."""
        world = self.view.world
        with world.lock:
            answer = {
                "open_mining_rounds": [with_state(one) for one in world.rounds],
                "issuing_mining_rounds": [with_state(one) for one in world.contracts.of(ISSUING_ROUND)],
            }
        return json_answer(encode(answer))

    async def coin_rules(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/scan-proxy/amulet-rules."""
        with self.view.world.lock:
            rules = self.view.world.rules.get(COIN_RULES.entity)
        if rules is None:
            raise RefusalError(404, "No AmuletRules contract found")
        return json_answer(encode({"amulet_rules": with_state(rules)}))

    async def command_counter(self, request: Request) -> Response:
        """GET /v0/scan-proxy/transfer-command-counter/{party}: nobody has sent a transfer command here."""
        raise RefusalError(404, f"No TransferCommandCounter found for party: {request.path_params['party']}")

    async def command_status(self, request: Request) -> Response:
        """GET /v0/scan-proxy/transfer-command/status."""
        nonce = query_integer(request, "nonce", bound=INT64)
        sender = request.query_params.get("sender")
        if nonce is None or sender is None:
            name = "nonce" if nonce is None else "sender"
            raise RefusalError(400, f"Request is missing required query parameter '{name}'")
        raise RefusalError(404, f"Couldn't find open transfer command for sender {sender} and nonce {nonce}")

    async def fund_coupons(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/scan-proxy/unclaimed-development-fund-coupons."""
        world = self.view.world
        with world.lock:
            coupons = [with_state(one) for one in world.contracts.of(UNCLAIMED_FUND_COUPON)]
        return json_answer(encode({"unclaimed-development-fund-coupons": coupons}))

    def _checked(self, handler: Endpoint) -> Endpoint:
        """The same handler for callers with a valid token."""

        async def answer(request: Request) -> Response:
            self.check(request)
            return await handler(request)

        return answer
