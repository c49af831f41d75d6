"""The ledger interface's commands over a world as Starlette routes, for users with the right to act."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.commands.batches import Batch, write_batch
from ledgerframes.sandbox.commands.bodies import (
    ReassignmentCommands,
    SubmitCommands,
    SubmitReassignment,
    read_commands,
    read_period,
    read_reassignments,
)
from ledgerframes.sandbox.commands.event_filters import everything
from ledgerframes.sandbox.commands.reassigning import write_reassignment
from ledgerframes.sandbox.commands.submission import RequestedChange, Write, admit, carry_out
from ledgerframes.sandbox.commands.submissions import ChangeId
from ledgerframes.sandbox.http.callers import Access, AccessError
from ledgerframes.sandbox.http.ledger import Ledger
from ledgerframes.sandbox.http.ledger_errors import LedgerError, UnreadableError, denied
from ledgerframes.sandbox.http.ledger_requests import allowed, caller, read_body
from ledgerframes.sandbox.http.responses import encode, json_answer
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.accounts import User

logger = logging.getLogger("ledgerframes.sandbox")


@dataclass(frozen=True, slots=True)
class CommandRoutes:
    """The handlers of one participant's commands."""

    ledger: Ledger
    gate: Access

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        commands = "/v2/commands"
        return [
            Route(f"{commands}/async/submit-reassignment", self.submit_reassignment, methods=["POST"]),
            Route(f"{commands}/submit-and-wait-for-reassignment", self.wait_for_reassignment, methods=["POST"]),
            Route(f"{commands}/submit-and-wait-for-transaction-tree", self.wait_for_tree, methods=["POST"]),
        ]

    async def submit_reassignment(self, request: Request) -> Response:
        """POST /v2/commands/async/submit-reassignment: what becomes of it shows in the history, and in the log."""
        user = caller(self.gate, request)
        body = await read_body(request, SubmitReassignment)
        order, write = _reassignment(user, body.reassignment_commands)
        world = self.ledger.world
        with world.lock:
            admit(world, order)
            try:
                carry_out(world, order, write)
            except LedgerError as error:
                # The call has already been accepted; a real participant reports such a failure by a completion.
                logger.info("submission of %s was refused: %s: %s", order.change_id.command_id, error.code, error)
        return json_answer(b"{}")

    async def wait_for_reassignment(self, request: Request) -> Response:
        """POST /v2/commands/submit-and-wait-for-reassignment: events come back only where a format asks for them."""
        user = caller(self.gate, request)
        body = await read_body(request, SubmitReassignment)
        order, write = _reassignment(user, body.reassignment_commands)
        chosen = None if body.event_format is None else allowed(user, body.event_format)
        with self.ledger.world.lock:
            ids = carry_out(self.ledger.world, order, write)
            return json_answer(encode({"reassignment": self.ledger.composite(ids, chosen)}))

    async def wait_for_tree(self, request: Request) -> Response:
        """POST /v2/commands/submit-and-wait-for-transaction-tree: what acting and reading parties see comes back."""
        user = caller(self.gate, request)
        body = await read_body(request, SubmitCommands)
        order, batch = _batch(user, body)
        with self.ledger.world.lock:
            (update_id,) = carry_out(self.ledger.world, order, partial(write_batch, batch))
            tree = self.ledger.tree(update_id, everything(batch.act_as | batch.read_as))
        return json_answer(encode({"transactionTree": tree}))


def _reassignment(user: User, body: ReassignmentCommands) -> tuple[RequestedChange, Write]:
    commands = read_reassignments(body.commands)
    _check_rights(user, act_as=[body.submitter])
    change_id = ChangeId(_user_id(user, body.user_id), frozenset({body.submitter}), body.command_id)
    order = RequestedChange(change_id, body.submission_id or "", body.workflow_id or "")
    return order, partial(write_reassignment, commands, body.submitter)


def _batch(user: User, body: SubmitCommands) -> tuple[RequestedChange, Batch]:
    commands, period = read_commands(body.commands), read_period(body.deduplication_period)
    _check_rights(user, act_as=body.act_as, read_as=body.read_as)
    change_id = ChangeId(_user_id(user, body.user_id), frozenset(body.act_as), body.command_id)
    batch = Batch(
        commands,
        act_as=frozenset(body.act_as),
        read_as=frozenset(body.read_as),
        disclosed=tuple(body.disclosed_contracts),
        workflow_id=body.workflow_id or "",
        synchronizer_id=body.synchronizer_id or "",
        not_before=_instant(body.min_ledger_time_abs),
        not_before_by=body.min_ledger_time_rel.micros() if body.min_ledger_time_rel else 0,
    )
    return RequestedChange(change_id, body.submission_id or "", batch.workflow_id, period), batch


def _check_rights(user: User, *, act_as: list[str], read_as: list[str] | None = None) -> None:
    if not user.acts_as(act_as):
        raise denied(AccessError(403, f"user {user.id!r} may not act as {sorted(act_as)}"))
    if not user.reads_as(read_as or ()):
        raise denied(AccessError(403, f"user {user.id!r} may not read as {sorted(read_as or ())}"))


def _user_id(user: User, wanted: str | None) -> str:
    """The user of a command: the token's, unless whoever manages the participant names another."""
    if wanted and wanted != user.id and not user.is_admin():
        raise denied(AccessError(403, f"user {user.id!r} may not submit as user {wanted!r}"))
    return wanted or user.id


def _instant(text: str | None) -> int:
    try:
        return timestamps.parse(text) if text else timestamps.FIRST
    except ValueError as error:
        raise UnreadableError(f"Invalid value for: body (minLedgerTimeAbs: {error})") from error
