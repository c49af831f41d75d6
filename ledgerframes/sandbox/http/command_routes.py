"""The ledger interface's commands over a world as routes, for users with the right to act."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

import msgspec

from ledgerframes.sandbox.commands.batches import (
    RequestedChange,
    Write,
    admit,
    carry_out,
    write_batch,
    write_reassignment,
)
from ledgerframes.sandbox.commands.bodies import SubmitCommands, SubmitReassignment, read_reassignments
from ledgerframes.sandbox.commands.errors import LedgerError
from ledgerframes.sandbox.commands.event_filters import everything
from ledgerframes.sandbox.http.ledger import Ledger
from ledgerframes.sandbox.http.ledger_access import allowed, forbidden
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world.parties import User
from ledgerframes.sandbox.world.world import ChangeId, World

ROUTES: Final = Routes()
_TREE: Final = "tree"
_REASSIGNMENT: Final = "reassignment"

logger = logging.getLogger("ledgerframes.sandbox")


@ROUTES.post("/api/ledger/v2/commands/async/submit-reassignment")
def submit_reassignment(request: ServerRequest) -> dict[str, Any]:
    """Moves contracts; the outcome shows in the history, and in the log."""
    order, write, _ = _reassignment(request)
    admit(request.world, order)
    try:
        carry_out(request.world, order, write)
    except LedgerError as error:
        # The call has already been accepted; a real participant reports such a failure by a completion.
        logger.info("submission of %s was refused: %s: %s", order.change_id.command_id, error.code, error)
    return {}


@ROUTES.post("/api/ledger/v2/commands/submit-and-wait-for-reassignment")
def wait_for_reassignment(request: ServerRequest) -> dict[str, Any]:
    """Moves contracts; events are returned only if a format asks for them."""
    order, write, body = _reassignment(request)
    chosen = None if body.event_format is None else allowed(request.user, body.event_format)
    ids = carry_out(request.world, order, write)
    return {"reassignment": Ledger(request).composite(ids, chosen)}


@ROUTES.post("/api/ledger/v2/commands/submit-and-wait-for-transaction-tree")
def wait_for_tree(request: ServerRequest) -> dict[str, Any]:
    """Creates and exercises; the events that acting and reading parties see are returned."""
    body = request.read(SubmitCommands)
    order, write = _batch(_user_id(request.user, body.user_id), body, request.body)
    _check_rights(request.user, act_as=body.act_as, read_as=body.read_as)
    (update_id,) = carry_out(request.world, order, write)
    return {"transactionTree": Ledger(request).tree(update_id, everything({*body.act_as, *body.read_as}))}


def carry_out_again(world: World, kind: str, user_id: str, sent: str) -> None:
    """Carry out an earlier command again, whatever its user may do by now."""
    if kind == _TREE:
        order, write = _batch(user_id, msgspec.json.decode(sent, type=SubmitCommands), sent.encode())
    else:
        order, write = _legs(user_id, msgspec.json.decode(sent, type=SubmitReassignment), sent.encode())
    carry_out(world, order, write)


def _reassignment(request: ServerRequest) -> tuple[RequestedChange, Write, SubmitReassignment]:
    body = request.read(SubmitReassignment)
    commands = body.reassignment_commands
    order, write = _legs(_user_id(request.user, commands.user_id), body, request.body)
    _check_rights(request.user, act_as=[commands.submitter])
    return order, write, body


def _legs(user_id: str, body: SubmitReassignment, sent: bytes) -> tuple[RequestedChange, Write]:
    commands = body.reassignment_commands
    change_id = ChangeId(user_id, frozenset({commands.submitter}), commands.command_id)
    again = (_REASSIGNMENT, user_id, sent.decode())
    order = RequestedChange(change_id, commands.submission_id or "", commands.workflow_id or "", again)
    return order, partial(write_reassignment, read_reassignments(commands.commands), commands.submitter)


def _batch(user_id: str, body: SubmitCommands, sent: bytes) -> tuple[RequestedChange, Write]:
    change_id = ChangeId(user_id, frozenset(body.act_as), body.command_id)
    again = (_TREE, user_id, sent.decode())
    order = RequestedChange(change_id, body.submission_id or "", body.workflow_id or "", again)
    return order, partial(write_batch, [each.chosen() for each in body.commands], body)


def _check_rights(user: User, *, act_as: list[str], read_as: list[str] | None = None) -> None:
    if not user.acts_as(act_as):
        raise forbidden(f"user {user.id!r} may not act as {sorted(act_as)}")
    if not user.reads_as(read_as or ()):
        raise forbidden(f"user {user.id!r} may not read as {sorted(read_as or ())}")


def _user_id(user: User, wanted: str | None) -> str:
    """The user of a command: the token's, unless an administrator of the participant names another."""
    if wanted and wanted != user.id and not user.is_admin():
        raise forbidden(f"user {user.id!r} may not submit as user {wanted!r}")
    return wanted or user.id
