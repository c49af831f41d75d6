"""Shared parts of the ledger interface's routes: the caller, the body, and the events that the caller may see."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request

from ledgerframes.sandbox.commands.errors import UnreadableError
from ledgerframes.sandbox.commands.event_filters import EventFormat, Selection, TransactionFormat, everything, selection
from ledgerframes.sandbox.http.callers import Access, AccessError
from ledgerframes.sandbox.http.ledger_errors import denied
from ledgerframes.sandbox.world.accounts import User

T = TypeVar("T")


class UpdateFormat(Struct, rename="camel"):
    """The requested kinds of updates, and their events."""

    include_transactions: TransactionFormat | None = None
    include_reassignments: EventFormat | None = None


def caller(access: Access, request: Request) -> User:
    """The user a request comes from.

    Raises:
        LedgerError: there is no valid token (401), or its user is unknown or deactivated (403).
    """
    try:
        return access.user(request.headers, websocket=True)
    except AccessError as error:
        raise denied(error) from error


async def read_body(request: Request, kind: type[T]) -> T:
    """The request's body.

    Raises:
        UnreadableError: it is not JSON of that shape.
    """
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableError(f"Invalid value for: body ({error})") from error


def allowed(user: User, wanted: EventFormat | None, *, otherwise: Selection | None = None) -> Selection:
    """The requested parties, if the user may read as them; by default all that the user may read as.

    Raises:
        LedgerError: it is asked for more than the user may read (403).
    """
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
