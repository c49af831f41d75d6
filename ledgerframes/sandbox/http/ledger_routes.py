"""The participant's ledger interface over a world: reads and users as Starlette routes, for callers with a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.commands.errors import UnreadableError, invalid, not_found, user_exists
from ledgerframes.sandbox.commands.event_filters import (
    LEDGER_EFFECTS,
    Selection,
    TransactionFormat,
    everything,
)
from ledgerframes.sandbox.http.callers import Access, AccessError
from ledgerframes.sandbox.http.command_routes import CommandRoutes
from ledgerframes.sandbox.http.ledger import Ledger, transaction_hash
from ledgerframes.sandbox.http.ledger_errors import denied
from ledgerframes.sandbox.http.ledger_pages import LedgerPages
from ledgerframes.sandbox.http.ledger_requests import UpdateFormat, allowed, caller, read_body
from ledgerframes.sandbox.http.responses import INT32, encode, json_answer, page_token, read_integer, read_page_token
from ledgerframes.sandbox.http.user_bodies import CreateUser, new_user
from ledgerframes.sandbox.world.accounts import User

USERS_PAGE: Final = 100
USERS_MAXIMUM: Final = 1_000


class TransactionById(Struct, rename="camel"):
    """The body of POST /v2/updates/transaction-by-id."""

    update_id: str
    requesting_parties: list[str] | None = None
    transaction_format: TransactionFormat | None = None


class UpdateById(Struct, rename="camel"):
    """The body of POST /v2/updates/update-by-id."""

    update_id: str
    update_format: UpdateFormat


class UpdateByHash(Struct, rename="camel"):
    """The body of POST /v2/updates/update-by-hash."""

    transaction_hash: str
    update_format: UpdateFormat


@dataclass(frozen=True, slots=True)
class LedgerRoutes:
    """The handlers of one participant."""

    ledger: Ledger
    access: Access

    def routes(self) -> list[BaseRoute]:
        """The routes of every release, without the interface's prefix."""
        pages = LedgerPages(self.ledger, self.access)
        return [
            *pages.routes(),
            Route("/v2/updates/update-by-id", self.update_by_id, methods=["POST"]),
            Route("/v2/updates/update-by-hash", self.update_by_hash, methods=["POST"]),
            Route("/v2/updates/transaction-by-id", self.transaction_by_id, methods=["POST"]),
            Route("/v2/users", self.users, methods=["GET"]),
            Route("/v2/users", self.create_user, methods=["POST"]),
            *CommandRoutes(self.ledger, self.access).routes(),
        ]

    async def users(self, request: Request) -> Response:
        """GET /v2/users: a page size above the maximum is silently reduced to it."""
        self._manager(request)
        size = _page_size(request.query_params.get("pageSize"))
        try:
            after = read_page_token(request.query_params.get("pageToken", ""))
        except ValueError as error:
            raise UnreadableError("Invalid value for: query parameter pageToken") from error
        with self.ledger.world.lock:
            users = self.ledger.world.accounts.page(after, size + 1)
        token = page_token(users[size - 1].id) if len(users) > size else ""
        return json_answer(encode({"users": [user.record() for user in users[:size]], "nextPageToken": token}))

    async def create_user(self, request: Request) -> Response:
        """POST /v2/users: the server sets the resource version."""
        self._manager(request)
        user = new_user(await read_body(request, CreateUser))
        with self.ledger.world.lock:
            accounts = self.ledger.world.accounts
            if accounts.get(user.id) is not None:
                raise user_exists(user.id)
            accounts.put(user)
        return json_answer(encode({"user": user.record()}))

    async def transaction_by_id(self, request: Request) -> Response:
        """POST /v2/updates/transaction-by-id."""
        user = caller(self.access, request)
        body = await read_body(request, TransactionById)
        if body.requesting_parties and body.transaction_format:
            raise invalid("Both requestingParties and transactionFormat are set; use transactionFormat only")
        if not body.requesting_parties and not body.transaction_format:
            raise invalid("Either transaction_format or requesting_parties is required")
        parties = everything(body.requesting_parties) if body.requesting_parties else None
        transaction = self._transaction(user, body.update_id, body.transaction_format, otherwise=parties)
        if transaction is None:
            raise not_found("transaction", body.update_id)
        return json_answer(encode({"transaction": transaction}))

    async def update_by_id(self, request: Request) -> Response:
        """POST /v2/updates/update-by-id; topology events are never found."""
        user = caller(self.access, request)
        body = await read_body(request, UpdateById)
        return self._update(user, body.update_id, body.update_format, asked=body.update_id)

    async def update_by_hash(self, request: Request) -> Response:
        """POST /v2/updates/update-by-hash: a transaction by its `transactionHash`; reassignments have none."""
        user = caller(self.access, request)
        body = await read_body(request, UpdateByHash)
        with self.ledger.world.lock:
            updates = list(self.ledger.world.ledger_updates)
        wanted = body.transaction_hash
        found = next((update.update_id for update in updates if transaction_hash(update) == wanted), "")
        transactions = UpdateFormat(include_transactions=body.update_format.include_transactions)
        return self._update(user, found, transactions, asked=wanted)

    def _update(self, user: User, update_id: str, wanted: UpdateFormat, *, asked: str) -> Response:
        update, kind = None, "Transaction"
        if wanted.include_transactions:
            update = self._transaction(user, update_id, wanted.include_transactions)
        if update is None and wanted.include_reassignments:
            chosen = allowed(user, wanted.include_reassignments)
            update, kind = self._reassignment(update_id, chosen), "Reassignment"
        if update is None:
            raise not_found("update", asked)
        return json_answer(encode({"update": {kind: {"value": update}}}))

    def _manager(self, request: Request) -> User:
        user = caller(self.access, request)
        if not user.is_admin():
            raise denied(AccessError(403, "the user does not manage the participant"))
        return user

    def _transaction(
        self, user: User, update_id: str, wanted: TransactionFormat | None, *, otherwise: Selection | None = None
    ) -> dict[str, Any] | None:
        chosen = allowed(user, wanted.event_format if wanted else None, otherwise=otherwise)
        effects = wanted is not None and wanted.transaction_shape == LEDGER_EFFECTS
        with self.ledger.world.lock:
            return self.ledger.transaction(update_id, chosen, effects=effects)

    def _reassignment(self, update_id: str, chosen: Selection) -> dict[str, Any] | None:
        with self.ledger.world.lock:
            return self.ledger.reassignment(update_id, chosen)


def _page_size(text: str | None) -> int:
    """The maximum number of users per page; 0 and nothing leave that to the server."""
    try:
        size = read_integer(text) if text else 0
    except ValueError:
        size = -1
    if not 0 <= size < INT32:
        raise UnreadableError("Invalid value for: query parameter pageSize")
    return min(size or USERS_PAGE, USERS_MAXIMUM)
