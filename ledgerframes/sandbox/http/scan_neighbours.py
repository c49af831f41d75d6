"""Scan's routes beside the contract's six calls; the server adds them to its scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http.callers import Access
from ledgerframes.sandbox.http.scan_events import EventRoutes
from ledgerframes.sandbox.http.scan_now import CurrentRoutes
from ledgerframes.sandbox.http.scan_objects import ObjectRoutes
from ledgerframes.sandbox.http.scan_snapshots import SnapshotRoutes
from ledgerframes.sandbox.http.validator import Validator
from ledgerframes.sandbox.object_faults import ObjectFaults
from ledgerframes.sandbox.world.views import View


class _Summaries(Validator):
    """The validator's holdings summaries as scan serves them: to anyone, without a token."""

    def _caller(self, request: Request) -> Any:  # noqa: ARG002 - the validator's signature
        return None


def neighbours(
    view: View,
    gate: Access,
    *,
    page_maximum: int,
    silent_cap: int | None,
    holdings_maximum: int,
    list_maximum: int | None,
    object_faults: Callable[[], ObjectFaults] = ObjectFaults,
) -> list[BaseRoute]:
    """The routes of one scan server in every release, without the interface's prefix.

    Args:
        view: what the server shows of its world.
        gate: the validator's gate; scan serves its summaries too, but without a token.
        page_maximum: the largest page that it returns.
        silent_cap: silently return this number of events per page at most; None for no such cap.
        holdings_maximum: a summary of more coin contracts than this is refused.
        list_maximum: a request with a longer list is refused; None for no such rule.
        object_faults: gives what is wrong with the objects of the history.
    """
    summaries = _Summaries(view, gate, holdings_maximum=holdings_maximum, list_maximum=list_maximum)
    return [
        *ObjectRoutes(view, object_faults).routes(),
        *SnapshotRoutes(view, page_maximum=page_maximum, list_maximum=list_maximum).routes(),
        Route("/v0/holdings/summary", summaries.holdings_with_fees, methods=["POST"]),
        Route("/v1/holdings/summary", summaries.holdings_without_fees, methods=["POST"]),
        *EventRoutes(view, page_maximum=page_maximum, silent_cap=silent_cap).routes(),
        *CurrentRoutes(view.world, page_maximum=page_maximum, list_maximum=list_maximum).routes(),
    ]
