"""Shared parts of the ledger interface's routes: the body, and the events that the caller may see."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from ledgerframes.sandbox.commands.errors import UnreadableError
from ledgerframes.sandbox.commands.event_filters import EventFormat, Selection, TransactionFormat, everything, selection
from ledgerframes.sandbox.http.ledger_errors import forbidden
from ledgerframes.sandbox.http.responses import UNREADABLE
from ledgerframes.sandbox.world.accounts import User

T = TypeVar("T")


class UpdateFormat(Struct, rename="camel"):
    """The requested kinds of updates, and their events."""

    include_transactions: TransactionFormat | None = None
    include_reassignments: EventFormat | None = None


def read_body(kind: type[T], body: bytes) -> T:
    """A request's body.

    Raises:
        UnreadableError: it is not JSON of that shape.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except UNREADABLE as error:
        raise UnreadableError(f"Invalid value for: body ({error})") from error


def check_manager(user: User) -> None:
    """Refuse a caller who does not manage the participant.

    Raises:
        LedgerError: 403.
    """
    if not user.is_admin():
        raise forbidden(f"user {user.id!r} does not manage the participant")


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
        raise forbidden(f"user {user.id!r} may not read as {sorted(strange) or 'any party'}")
    return chosen
