"""The participant's ledger interface over a world: its reads as Starlette routes, for callers with a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.accounts import User
from ledgerframes.sandbox.answering import INT32, encode, json_answer, page_token, read_page_token
from ledgerframes.sandbox.callers import AccessError, Gate
from ledgerframes.sandbox.event_filters import (
    LEDGER_EFFECTS,
    EventFormat,
    Selection,
    TransactionFormat,
    everything,
    selection,
)
from ledgerframes.sandbox.ledger import Ledger
from ledgerframes.sandbox.ledger_errors import UnreadableError, denied, invalid, not_found

T = TypeVar("T")

USERS_PAGE: Final = 100
USERS_MAXIMUM: Final = 1_000


class TransactionById(Struct, rename="camel"):
    """The body of POST /v2/updates/transaction-by-id."""

    update_id: str
    requesting_parties: list[str] | None = None
    transaction_format: TransactionFormat | None = None


class UpdateFormat(Struct, rename="camel"):
    """Which kinds of updates are wanted, and which of their events."""

    include_transactions: TransactionFormat | None = None
    include_reassignments: EventFormat | None = None


class UpdateById(Struct, rename="camel"):
    """The body of POST /v2/updates/update-by-id."""

    update_id: str
    update_format: UpdateFormat | None = None


@dataclass(frozen=True, slots=True)
class LedgerRoutes:
    """The handlers of one participant.

    Attributes:
        newer: a release with update-by-id in place of transaction-by-id.
    """

    ledger: Ledger
    gate: Gate
    newer: bool = False

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        by_id = (
            Route("/v2/updates/update-by-id", self.update_by_id, methods=["POST"])
            if self.newer
            else Route("/v2/updates/transaction-by-id", self.transaction_by_id, methods=["POST"])
        )
        return [by_id, Route("/v2/users", self.users, methods=["GET"])]

    async def users(self, request: Request) -> Response:
        """GET /v2/users: a page size above the maximum is cut to it without a word."""
        if not self._caller(request).is_admin():
            raise denied(AccessError(403, "the user does not manage the participant"))
        size = _page_size(request.query_params.get("pageSize"))
        try:
            after = read_page_token(request.query_params.get("pageToken", ""))
        except ValueError as error:
            raise UnreadableError("Invalid value for: query parameter pageToken") from error
        with self.ledger.world.lock:
            found = self.ledger.world.accounts.page(after, size + 1)
        token = page_token(found[size - 1].id) if len(found) > size else ""
        return json_answer(encode({"users": [user.record() for user in found[:size]], "nextPageToken": token}))

    async def transaction_by_id(self, request: Request) -> Response:
        """POST /v2/updates/transaction-by-id."""
        user = self._caller(request)
        body = await _body(request, TransactionById)
        if body.requesting_parties and body.transaction_format:
            raise invalid("Both requestingParties and transactionFormat are set; use transactionFormat only")
        parties = everything(body.requesting_parties) if body.requesting_parties else None
        found = self._transaction(user, body.update_id, body.transaction_format, otherwise=parties)
        if found is None:
            raise not_found("transaction", body.update_id)
        return json_answer(encode({"transaction": found}))

    async def update_by_id(self, request: Request) -> Response:
        """POST /v2/updates/update-by-id; topology events are never found."""
        user = self._caller(request)
        body = await _body(request, UpdateById)
        wanted, found, kind = body.update_format, None, "Transaction"
        if wanted is None or wanted.include_transactions:
            found = self._transaction(user, body.update_id, wanted.include_transactions if wanted else None)
        if found is None and (wanted is None or wanted.include_reassignments):
            chosen = _allowed(user, wanted.include_reassignments if wanted else None)
            found, kind = self._reassignment(body.update_id, chosen), "Reassignment"
        if found is None:
            raise not_found("update", body.update_id)
        return json_answer(encode({"update": {kind: {"value": found}}}))

    def _transaction(
        self, user: User, update_id: str, wanted: TransactionFormat | None, *, otherwise: Selection | None = None
    ) -> dict[str, Any] | None:
        chosen = _allowed(user, wanted.event_format if wanted else None, otherwise=otherwise)
        effects = wanted is not None and wanted.transaction_shape == LEDGER_EFFECTS
        with self.ledger.world.lock:
            return self.ledger.transaction(update_id, chosen, effects=effects)

    def _reassignment(self, update_id: str, chosen: Selection) -> dict[str, Any] | None:
        with self.ledger.world.lock:
            return self.ledger.reassignment(update_id, chosen)

    def _caller(self, request: Request) -> User:
        try:
            return self.gate.user(request.headers, websocket=True)
        except AccessError as error:
            raise denied(error) from error


def _allowed(user: User, wanted: EventFormat | None, *, otherwise: Selection | None = None) -> Selection:
    """What is asked for, where the user may read it; without a wish, whatever the user may read."""
    if wanted is not None:
        chosen = selection(wanted)
    elif otherwise is not None:
        chosen = otherwise
    else:
        chosen = everything(user.readable(), anyone=user.reads_everything())
    if user.reads_everything():
        return chosen
    strange = chosen.by_party.keys() - user.readable()
    if strange or chosen.anyone is not None or not chosen.by_party:
        raise denied(AccessError(403, f"user {user.id!r} may not read as {sorted(strange) or 'any party'}"))
    return chosen


async def _body(request: Request, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableError(f"Invalid value for: body ({error})") from error


def _page_size(text: str | None) -> int:
    """How many users a page has at most; 0 and nothing leave that to the server."""
    try:
        size = int(text or 0)
    except ValueError:
        size = -1
    if not 0 <= size < INT32:
        raise UnreadableError("Invalid value for: query parameter pageSize")
    return min(size or USERS_PAGE, USERS_MAXIMUM)
