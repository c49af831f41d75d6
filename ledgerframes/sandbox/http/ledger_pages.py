"""The participant's updates and active contracts in pages by offset, as routes; a token is bound to its participant."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from ledgerframes.sandbox.commands.errors import OUT_OF_RANGE, LedgerError, invalid
from ledgerframes.sandbox.commands.event_filters import LEDGER_EFFECTS, EventFormat
from ledgerframes.sandbox.http.ledger import Ledger
from ledgerframes.sandbox.http.ledger_access import UpdateFormat, allowed, read_body
from ledgerframes.sandbox.http.ledger_active import active_entries
from ledgerframes.sandbox.http.responses import Int32, Int64
from ledgerframes.sandbox.http.routes import Asked, Routes
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.world import World

PAGE: Final = 100
MAXIMUM: Final = 1_000
ROUTES: Final = Routes()


class UpdatesPage(Struct, rename="camel"):
    """The body of POST /v2/updates/get-updates-page."""

    update_format: UpdateFormat
    begin_offset_exclusive: Int64 | None = None
    end_offset_inclusive: Int64 | None = None
    max_page_size: Int32 | None = None
    descending_order: bool = False
    page_token: str = ""


class ContractsPage(Struct, rename="camel"):
    """The body of POST /v2/state/active-contracts-page."""

    event_format: EventFormat
    active_at_offset: Int64 | None = None
    max_page_size: Int32 | None = None
    page_token: str = ""


@ROUTES.get("/api/ledger/v2/state/ledger-end")
def end(asked: Asked) -> dict[str, Any]:
    """Where the ledger ends."""
    times = {"synchronizerTimes": _times(asked.world)} if asked.server.newest else {}
    return {"offset": asked.world.last_offset, **times}


@ROUTES.post("/api/ledger/v2/updates/get-updates-page", since="0.7")
def updates(asked: Asked) -> dict[str, Any]:
    """A page of updates."""
    body = read_body(UpdatesPage, asked.body)
    size, newest = _size(body.max_page_size), asked.world.last_offset
    begin = _offset(body.begin_offset_exclusive, "beginOffsetExclusive", newest) or 0
    asked_end = _offset(body.end_offset_inclusive, "endOffsetInclusive", newest)
    until = newest if asked_end is None else asked_end
    if begin > until:
        raise invalid(f"beginOffsetExclusive {begin} is after endOffsetInclusive {until}")
    down, place = body.descending_order, _place(asked, body.page_token)
    low, high = begin if down or place is None else place, place if down and place is not None else until
    shown, last = _page(asked, body, low, high, size)
    if down:
        low, more = last, last > begin
    else:
        high, more = last, last < until or asked_end is None
    answer = {"updates": shown, "lowestPageOffsetExclusive": low, "highestPageOffsetInclusive": high}
    return {**answer, **({"nextPageToken": _token(asked, last)} if more else {})}


@ROUTES.post("/api/ledger/v2/state/active-contracts-page", since="0.7")
def contracts(asked: Asked) -> dict[str, Any]:
    """A page of the contracts that were active at an offset."""
    body = read_body(ContractsPage, asked.body)
    size, newest = _size(body.max_page_size), asked.world.last_offset
    chosen = allowed(asked.user, body.event_format)
    at = _offset(body.active_at_offset, "activeAtOffset", newest)
    at = newest if at is None else at
    entries = active_entries(Ledger(asked), chosen, at)
    place = _place(asked, body.page_token) or 0
    answer = {"activeContracts": entries[place : place + size], "activeAtOffset": at}
    more = place + size < len(entries)
    return {**answer, **({"nextPageToken": _token(asked, place + size)} if more else {})}


def _page(asked: Asked, body: UpdatesPage, low: int, high: int, size: int) -> tuple[list[dict[str, Any]], int]:
    """The updates of a page between two offsets, and the offset up or down to which it goes."""
    render_update, shown = _renderer(asked, body), []
    numbered = list(enumerate(asked.world.recorded(low, high), low + 1))
    for offset, update_id in reversed(numbered) if body.descending_order else numbered:
        update = render_update(update_id)
        if update is not None:
            shown.append({"update": update})
            if len(shown) == size:
                return shown, offset - 1 if body.descending_order else offset
    return shown, low if body.descending_order else max(low, high)


def _renderer(asked: Asked, body: UpdatesPage) -> Callable[[str], dict[str, Any] | None]:
    """Shows an update in the requested form, or None."""
    wanted, ledger = body.update_format, Ledger(asked)
    whole, moves = wanted.include_transactions, wanted.include_reassignments
    of_transactions = allowed(asked.user, whole.event_format) if whole else None
    of_moves = allowed(asked.user, moves) if moves else None
    effects = whole is not None and whole.transaction_shape == LEDGER_EFFECTS

    def render_update(update_id: str) -> dict[str, Any] | None:
        if of_transactions is not None:
            shown = ledger.transaction(update_id, of_transactions, effects=effects)
            if shown is not None:
                # A page leaves out a transaction all of whose events are filtered.
                return {"Transaction": {"value": shown}} if shown["events"] else None
        shown = None if of_moves is None else ledger.reassignment(update_id, of_moves)
        return None if shown is None else {"Reassignment": {"value": shown}}

    return render_update


def _token(asked: Asked, place: int) -> str:
    return base64.urlsafe_b64encode(f"{asked.server.participant}:{place}".encode()).decode()


def _place(asked: Asked, token: str) -> int | None:
    """The position of a request's token; None if there is none.

    Raises:
        LedgerError: it belongs to another participant (400).
    """
    if not token:
        return None
    try:
        participant, place = base64.b64decode(token, altchars=b"-_", validate=True).decode().split(":")
        number = int(place)
    except ValueError as error:
        raise invalid("pageToken is malformed") from error
    if participant != asked.server.participant:
        raise invalid("pageToken belongs to another participant")
    return number


def _times(world: World) -> list[dict[str, str]]:
    """Up to which record time the participant has seen each synchronizer that has had an update."""
    latest: dict[str, int] = {}
    for update in world.ledger_updates:
        latest[update.synchronizer_id] = max(update.record_time, latest.get(update.synchronizer_id, update.record_time))
    return [{"synchronizerId": one, "recordTime": timestamps.exact(latest[one])} for one in sorted(latest)]


def _size(asked: int | None) -> int:
    if asked is None:
        return PAGE
    if not 1 <= asked <= MAXIMUM:
        raise invalid(f"maxPageSize {asked} is not from 1 to {MAXIMUM}")
    return asked


def _offset(value: int | None, name: str, newest: int) -> int | None:
    if value is None:
        return None
    if value < 0:
        raise invalid(f"{name} {value} is negative")
    if value > newest:
        raise LedgerError("OFFSET_AFTER_LEDGER_END", f"{name} {value} is after ledger end {newest}", kind=OUT_OF_RANGE)
    return value
