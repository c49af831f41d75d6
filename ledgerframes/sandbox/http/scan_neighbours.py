"""Scan's routes in addition to the contract's six calls; the server adds them to its scan."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http.callers import Access
from ledgerframes.sandbox.http.responses import Limits
from ledgerframes.sandbox.http.scan_events import EventRoutes
from ledgerframes.sandbox.http.scan_now import CurrentRoutes
from ledgerframes.sandbox.http.scan_snapshots import SnapshotRoutes
from ledgerframes.sandbox.http.scan_votes import VoteRoutes
from ledgerframes.sandbox.http.validator import Validator
from ledgerframes.sandbox.world.views import ServerView


class _Summaries(Validator):
    """The validator's holdings summaries as scan serves them: to anyone, without a token."""

    def _caller(self, request: Request) -> Any:  # noqa: ARG002 - the validator's signature
        return None


def neighbours(view: ServerView, access: Access, limits: Limits) -> list[BaseRoute]:
    """The routes of one scan server in every release, without the interface's prefix.

    Args:
        view: the part of its world that the server shows.
        access: the validator's access; scan serves its summaries too, but without a token.
        limits: the maximum sizes of requests.
    """
    summaries = _Summaries(view, access, limits)
    return [
        *SnapshotRoutes(view, limits).routes(),
        Route("/v0/holdings/summary", summaries.holdings_with_fees, methods=["POST"]),
        Route("/v1/holdings/summary", summaries.holdings_without_fees, methods=["POST"]),
        *EventRoutes(view, limits).routes(),
        *CurrentRoutes(view.world, limits).routes(),
        *VoteRoutes(view.world, limits).routes(),
    ]
