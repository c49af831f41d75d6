"""Commands that move a contract from one synchronizer to another; used by the ledger interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from ledgerframes.interfaces.rules import LedgerString, PartyId, Text, each, fits, given, unless_none, wrapped


class AssignCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Completes a reassignment at its target.

    Attributes:
        reassignment_id: the id from the unassignment's event.
        source: id of the synchronizer the contract comes from.
        target: id of the synchronizer it goes to.
    """

    reassignment_id: Text
    source: Text
    target: Text


class UnassignCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Begins a reassignment at its source.

    Attributes:
        contract_id: the contract to move.
        source: id of the synchronizer it is on.
        target: id of the synchronizer it goes to.
    """

    contract_id: Text
    source: Text
    target: Text


class EmptyCommand(Struct, frozen=True):
    """The variant without meaning, `Empty`."""


ReassignmentCommand = AssignCommand | UnassignCommand | EmptyCommand


def reassignment_json(
    commands: Iterable[ReassignmentCommand],
    command_id: str,
    submitter: str,
    user_id: str | None,
    workflow_id: str | None,
    submission_id: str | None,
) -> dict[str, Any]:
    """The JSON of one reassignment, for both ways to submit it.

    Raises:
        InputError: a rule of the contract is broken.
    """
    return given(
        commands=[{"command": wrapped(one)} for one in each(commands, "commands", kind=ReassignmentCommand, least=1)],
        commandId=fits(command_id, LedgerString, "command_id"),
        submitter=fits(submitter, PartyId, "submitter"),
        userId=user_id,
        workflowId=unless_none(workflow_id, LedgerString, "workflow_id"),
        submissionId=unless_none(submission_id, LedgerString, "submission_id"),
    )
