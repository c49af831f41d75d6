"""The participant's updates and active contracts in pages by offset, as routes; a token is bound to its request."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.commands.errors import LedgerError, UnreadableError, invalid
from ledgerframes.sandbox.commands.event_filters import LEDGER_EFFECTS, EventFormat, Selection
from ledgerframes.sandbox.http.callers import Access
from ledgerframes.sandbox.http.ledger import Ledger
from ledgerframes.sandbox.http.ledger_active import active_entries
from ledgerframes.sandbox.http.ledger_requests import UpdateFormat, allowed, caller, read_body
from ledgerframes.sandbox.http.responses import INT32, INT64, encode, json_answer
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.accounts import User
from ledgerframes.sandbox.world.world import World

PAGE: Final = 100
MAXIMUM: Final = 1_000
# Error category, gRPC code and HTTP status of an offset that the participant does not have.
_OUT_OF_RANGE: Final = (12, 11, 400)


class UpdatesPage(Struct, rename="camel"):
    """The body of POST /v2/updates/get-updates-page."""

    update_format: UpdateFormat
    begin_offset_exclusive: int | None = None
    end_offset_inclusive: int | None = None
    max_page_size: int | None = None
    descending_order: bool = False
    page_token: str = ""


class ContractsPage(Struct, rename="camel"):
    """The body of POST /v2/state/active-contracts-page."""

    event_format: EventFormat
    active_at_offset: int | None = None
    max_page_size: int | None = None
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class LedgerPages:
    """The handlers of one participant.

    Attributes:
        participant: distinguishes its tokens from those of other participants.
    """

    ledger: Ledger
    access: Access
    participant: str = field(default_factory=lambda: secrets.token_hex(8))

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        return [
            Route("/v2/state/ledger-end", self.end, methods=["GET"]),
            Route("/v2/updates/get-updates-page", self.updates, methods=["POST"]),
            Route("/v2/state/active-contracts-page", self.contracts, methods=["POST"]),
        ]

    async def end(self, request: Request) -> Response:
        """GET /v2/state/ledger-end."""
        caller(self.access, request)
        world = self.ledger.world
        with world.lock:
            answer: dict[str, Any] = {"offset": world.last_offset}
            if self.ledger.newest:
                answer["synchronizerTimes"] = _times(world)
        return json_answer(encode(answer))

    async def updates(self, request: Request) -> Response:
        """POST /v2/updates/get-updates-page."""
        user = caller(self.access, request)
        body = await read_body(request, UpdatesPage)
        size = _size(body.max_page_size)
        with self.ledger.world.lock:
            newest = self.ledger.world.last_offset
            begin = _offset(body.begin_offset_exclusive, "beginOffsetExclusive", newest) or 0
            asked_end = _offset(body.end_offset_inclusive, "endOffsetInclusive", newest)
            end = newest if asked_end is None else asked_end
            if begin > end:
                raise invalid(f"beginOffsetExclusive {begin} is after endOffsetInclusive {end}")
            tail = asked_end is None and not body.descending_order
            place = self._place(body.page_token, _signature(body))
            if body.descending_order:
                page = self._newest_first(user, body, begin, end if place is None else place, size)
            else:
                page = self._oldest_first(user, body, begin if place is None else place, end, size)
        low, high, shown = page
        following = low if body.descending_order else high
        more = low > begin if body.descending_order else high < end or tail
        answer: dict[str, Any] = {
            "updates": shown, "lowestPageOffsetExclusive": low, "highestPageOffsetInclusive": high,
        }  # fmt: skip
        if more:
            answer["nextPageToken"] = self._token(following, _signature(body))
        return json_answer(encode(answer))

    async def contracts(self, request: Request) -> Response:
        """POST /v2/state/active-contracts-page."""
        user = caller(self.access, request)
        body = await read_body(request, ContractsPage)
        size = _size(body.max_page_size)
        chosen = allowed(user, body.event_format)
        with self.ledger.world.lock:
            newest = self.ledger.world.last_offset
            at = _offset(body.active_at_offset, "activeAtOffset", newest)
            at = newest if at is None else at
            entries = active_entries(self.ledger, chosen, at)
        signature = _signature(body)
        place = self._place(body.page_token, signature) or 0
        answer: dict[str, Any] = {"activeContracts": entries[place : place + size], "activeAtOffset": at}
        if place + size < len(entries):
            answer["nextPageToken"] = self._token(place + size, signature)
        return json_answer(encode(answer))

    def _oldest_first(
        self, user: User, body: UpdatesPage, begin: int, end: int, size: int
    ) -> tuple[int, int, list[dict[str, Any]]]:
        """The offsets between which a page lies, and its updates."""
        shown: list[dict[str, Any]] = []
        render_update = self._renderer(user, body)
        for offset, update_id in enumerate(self.ledger.world.recorded(begin, end), begin + 1):
            update = render_update(update_id)
            if update is None:
                continue
            shown.append({"update": update})
            if len(shown) == size:
                return begin, offset, shown
        return begin, max(begin, end), shown

    def _newest_first(
        self, user: User, body: UpdatesPage, begin: int, end: int, size: int
    ) -> tuple[int, int, list[dict[str, Any]]]:
        shown: list[dict[str, Any]] = []
        render_update = self._renderer(user, body)
        ids = self.ledger.world.recorded(begin, end)
        for offset, update_id in zip(range(end, begin, -1), reversed(ids), strict=True):
            update = render_update(update_id)
            if update is None:
                continue
            shown.append({"update": update})
            if len(shown) == size:
                return offset - 1, end, shown
        return begin, end, shown

    def _renderer(self, user: User, body: UpdatesPage) -> Any:
        """Shows an update in the requested form, or None."""
        wanted = body.update_format
        whole, moves = wanted.include_transactions, wanted.include_reassignments
        of_transactions = allowed(user, whole.event_format) if whole else None
        of_moves: Selection | None = allowed(user, moves) if moves else None
        effects = whole is not None and whole.transaction_shape == LEDGER_EFFECTS

        def render_update(update_id: str) -> dict[str, Any] | None:
            if of_transactions is not None:
                shown = self.ledger.transaction(update_id, of_transactions, effects=effects)
                if shown is not None:
                    # A page leaves out a transaction all of whose events are filtered.
                    return {"Transaction": {"value": shown}} if shown["events"] else None
            shown = None if of_moves is None else self.ledger.reassignment(update_id, of_moves)
            return None if shown is None else {"Reassignment": {"value": shown}}

        return render_update

    def _token(self, place: int, signature: str) -> str:
        return base64.urlsafe_b64encode(f"{self.participant}:{signature}:{place}".encode()).decode()

    def _place(self, token: str, signature: str) -> int | None:
        """The position of a token; None if there is none.

        Raises:
            LedgerError: it belongs to another participant or another request (400).
        """
        if not token:
            return None
        try:
            participant, of, place = base64.b64decode(token, altchars=b"-_", validate=True).decode().split(":")
            number = int(place)
        except ValueError as error:
            raise invalid("pageToken is malformed") from error
        if participant != self.participant:
            raise invalid("pageToken belongs to another participant")
        if of != signature:
            raise invalid("pageToken belongs to another request: offsets, format and order must stay the same")
        return number


def _signature(body: UpdatesPage | ContractsPage) -> str:
    """The parts of a request that must not change from page to page."""
    parts: list[Any] = [type(body).__name__]
    if isinstance(body, UpdatesPage):
        parts += [body.begin_offset_exclusive, body.end_offset_inclusive, body.update_format, body.descending_order]
    else:
        parts += [body.active_at_offset, body.event_format]
    return blake2b(encode(parts), digest_size=8).hexdigest()


def _times(world: World) -> list[dict[str, str]]:
    """Up to which record time the participant has seen each synchronizer that has had an update."""
    latest: dict[str, int] = {}
    for update in world.ledger_updates:
        latest[update.synchronizer_id] = max(update.record_time, latest.get(update.synchronizer_id, update.record_time))
    return [{"synchronizerId": one, "recordTime": timestamps.exact(latest[one])} for one in sorted(latest)]


def _size(asked: int | None) -> int:
    if asked is None:
        return PAGE
    if not -INT32 <= asked < INT32:
        raise UnreadableError("Invalid value for: body (maxPageSize is not a number of 32 bits)")
    if not 1 <= asked <= MAXIMUM:
        raise invalid(f"maxPageSize {asked} is not from 1 to {MAXIMUM}")
    return asked


def _offset(value: int | None, name: str, newest: int) -> int | None:
    if value is None:
        return None
    if not -INT64 <= value < INT64:
        raise UnreadableError(f"Invalid value for: body ({name} is not a number of 64 bits)")
    if value < 0:
        raise invalid(f"{name} {value} is negative")
    if value > newest:
        raise LedgerError("OFFSET_AFTER_LEDGER_END", f"{name} {value} is after ledger end {newest}", kind=_OUT_OF_RANGE)
    return value
