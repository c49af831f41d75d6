"""The event history of a world as Starlette routes of scan: updates with their verdicts, and rejected requests."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http import render
from ledgerframes.sandbox.http.responses import Limits, RefusalError, encode, json_answer, read_object
from ledgerframes.sandbox.http.scan import carries_types, read_page_request
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.verdicts import Event, events_of
from ledgerframes.sandbox.world.views import ServerView


@dataclass(frozen=True, slots=True)
class EventRoutes:
    """The handlers of one scan server.

    Attributes:
        view: the part of its world that it shows.
    """

    view: ServerView
    limits: Limits

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        return [
            Route("/v0/events", self.events, methods=["POST"]),
            # Before the look-up by id, whose path would match it too.
            Route("/v0/events/latest-record-time", self.latest, methods=["GET"]),
            Route("/v0/events/{update_id:path}", self.event_by_id, methods=["GET"]),
        ]

    async def events(self, request: Request) -> Response:
        """POST /v0/events."""
        body = await read_object(request)
        size, after = read_page_request(body, maximum=self.limits.page)
        carrying = carries_types(body.get("daml_value_encoding"))
        page = self._page(after, size)
        bodies = [_typed(event).body if carrying else event.body for event in page]
        return json_answer(b'{"events":[' + b",".join(bodies) + b"]}")

    async def latest(self, _: Request) -> Response:
        """GET /v0/events/latest-record-time: up to where POST /v0/events will answer."""
        updates = self.view.page(None, len(self.view.world.ledger_updates) or 1, private=True)
        if not updates:
            raise RefusalError(404, "No events found")
        latest = max(event for update in updates[-8:] for event in events_of(update))
        return json_answer(encode({"record_time": timestamps.exact(latest.record_time)}))

    async def event_by_id(self, request: Request) -> Response:
        """GET /v0/events/{update_id}, of an update or of a rejected request."""
        wanted = request.path_params["update_id"]
        carrying = carries_types(request.query_params.get("daml_value_encoding"))
        event = self._by_id(wanted)
        if event is None:
            raise RefusalError(404, f"Event with id {wanted} not found")
        return json_answer(_typed(event).body if carrying else event.body)

    def _page(self, after: Cursor | None, size: int) -> list[Event]:
        """The items of this server strictly after a cursor, `size` at most."""
        # A rejected request follows its update by a microsecond, so the update may lie at the cursor itself.
        begin = None if after is None else (after[0], after[1] - 1)
        wanted = size + 8
        while True:
            updates = self.view.page(begin, wanted, private=True)
            events = sorted(event for update in updates for event in events_of(update))
            whole = len(updates) < wanted
            last = (*updates[-1][:3],) if updates else ()
            sure = [event for event in events if _is_after(event, after) and (whole or _place(event) <= last)]
            if whole or len(sure) >= size:
                return sure[:size]
            wanted *= 2

    def _by_id(self, wanted: str) -> Event | None:
        world = self.view.world
        with world.lock:
            updates = list(world.ledger_updates)
        events = (event for update in updates for event in events_of(update) if event.update_id == wanted)
        event = next(events, None)
        return event if event is not None and self.view.knows(event.update) else None


def _place(event: Event) -> tuple[int, int, str]:
    return event.migration_id, event.record_time, event.update_id


def _is_after(event: Event, after: Cursor | None) -> bool:
    return after is None or (event.migration_id, event.record_time) > tuple(after)


def _typed(event: Event) -> Event:
    """The same item, its update's values in the encoding that carries types."""
    return event if event.carried == b"null" else event.carrying(render.type_carrying(event.carried))
