"""The event history of a world as routes of scan: updates with their verdicts, and rejected requests."""

from __future__ import annotations

from typing import Final

from ledgerframes.sandbox.http import render
from ledgerframes.sandbox.http.responses import RefusalError
from ledgerframes.sandbox.http.routes import Asked, Routes
from ledgerframes.sandbox.http.scan import carries_types, page_request
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.verdicts import Event, events_of
from ledgerframes.sandbox.world.views import ServerView

ROUTES: Final = Routes()


@ROUTES.post("/api/scan/v0/events")
def events(asked: Asked) -> bytes:
    """A page of the event history."""
    size, after, carrying = page_request(asked)
    page = _page(asked.view, after, size)
    return b'{"events":[' + b",".join(_told(event, carrying=carrying) for event in page) + b"]}"


# Before the look-up by id, whose path would match it too.
@ROUTES.get("/api/scan/v0/events/latest-record-time", since="0.9")
def latest(asked: Asked) -> dict[str, str]:
    """Up to where POST /v0/events will answer."""
    updates = asked.view.page(None, len(asked.world.ledger_updates) or 1, private=True)
    if not updates:
        raise RefusalError(404, "No events found")
    newest = max(event for update in updates[-8:] for event in events_of(update))
    return {"record_time": timestamps.exact(newest.record_time)}


@ROUTES.get("/api/scan/v0/events/{update_id:path}")
def event_by_id(asked: Asked) -> bytes:
    """The item of an update or of a rejected request."""
    wanted = asked.part("update_id")
    carrying = carries_types(asked.request.query_params.get("daml_value_encoding"))
    every = (event for update in asked.world.ledger_updates for event in events_of(update))
    event = next((event for event in every if event.update_id == wanted), None)
    if event is None or not asked.view.knows(event.update):
        raise RefusalError(404, f"Event with id {wanted} not found")
    return _told(event, carrying=carrying)


def _page(view: ServerView, after: Cursor | None, size: int) -> list[Event]:
    """The items of this server strictly after a cursor, `size` at most."""
    # A rejected request follows its update by a microsecond, so the update may lie at the cursor itself.
    begin = None if after is None else (after[0], after[1] - 1)
    wanted = size + 8
    while True:
        updates = view.page(begin, wanted, private=True)
        events = sorted(event for update in updates for event in events_of(update))
        whole = len(updates) < wanted
        last = (*updates[-1][:3],) if updates else ()
        sure = [event for event in events if _is_after(event, after) and (whole or _place(event) <= last)]
        if whole or len(sure) >= size:
            return sure[:size]
        wanted *= 2


def _place(event: Event) -> tuple[int, int, str]:
    return event.migration_id, event.record_time, event.update_id


def _is_after(event: Event, after: Cursor | None) -> bool:
    return after is None or (event.migration_id, event.record_time) > tuple(after)


def _told(event: Event, *, carrying: bool) -> bytes:
    """An item as JSON; with `carrying`, its update's values in the encoding that carries types."""
    if carrying and event.carried != b"null":
        event = event.carrying(render.type_carrying(event.carried))
    return event.body
