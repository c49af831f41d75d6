"""The bodies of the ledger interface's commands as received; the command routes read them.

Members that change nothing here are not read: deduplication periods, ledger times, disclosed contracts, keys to fetch,
preferred packages.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from ledgerframes.sandbox.commands.errors import invalid
from ledgerframes.sandbox.commands.event_filters import EventFormat, Valued, Variants

LedgerString = Annotated[str, Meta(pattern=r"^[A-Za-z0-9#:\-_/ ]{1,255}\Z")]
OptionalString = Annotated[str, Meta(pattern=r"^[A-Za-z0-9#:\-_/ ]{0,255}\Z")]
Party = Annotated[str, Meta(pattern=r"^[A-Za-z0-9:\-_ ]{1,255}\Z")]
UserId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9@^$.!\-#+'~_|:()`]{1,128}\Z")]
OptionalUserId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9@^$.!\-#+'~_|:()`]{0,128}\Z")]
Text = Annotated[str, Meta(min_length=1)]


class CreateCommand(Struct, rename="camel"):
    """Creates a contract."""

    template_id: Text
    create_arguments: Any


class ExerciseCommand(Struct, rename="camel"):
    """Exercises a choice of a contract."""

    template_id: Text
    contract_id: Text
    choice: Text
    choice_argument: Any


class CreateAndExerciseCommand(Struct, rename="camel"):
    """Creates a contract and exercises a choice of it."""

    template_id: Text
    create_arguments: Any
    choice: Text
    choice_argument: Any


Command = CreateCommand | ExerciseCommand | CreateAndExerciseCommand


class CommandVariants(Variants):
    """One command. No template here has keys, so none is exercised by key."""

    create_command: CreateCommand | None = None
    exercise_command: ExerciseCommand | None = None
    create_and_exercise_command: CreateAndExerciseCommand | None = None


class SubmitCommands(Struct, rename="camel"):
    """The body of submit-and-wait-for-transaction-tree (contract: Endpoints, Ledger interface)."""

    commands: Annotated[list[CommandVariants], Meta(min_length=1)]
    command_id: LedgerString
    act_as: Annotated[list[Party], Meta(min_length=1)]
    user_id: OptionalUserId | None = None
    read_as: list[Party] = []
    workflow_id: OptionalString | None = None
    submission_id: OptionalString | None = None
    synchronizer_id: str | None = None


class UnassignCommand(Struct, rename="camel"):
    """Takes a contract off its synchronizer."""

    contract_id: Text
    source: Text
    target: Text


class AssignCommand(Struct, rename="camel"):
    """Puts a contract that is under way on the synchronizer it goes to."""

    reassignment_id: Text
    source: Text
    target: Text


class ReassignmentVariants(Variants):
    """One reassignment command; `Empty` means nothing."""

    unassign_command: Valued[UnassignCommand] | None = None
    assign_command: Valued[AssignCommand] | None = None
    empty: dict[str, Any] | None = None


class WrappedCommand(Struct):
    """One reassignment command."""

    command: ReassignmentVariants


class ReassignmentCommands(Struct, rename="camel"):
    """A reassignment to be submitted (contract: Resources, ReassignmentCommands)."""

    command_id: LedgerString
    submitter: Party
    commands: Annotated[list[WrappedCommand], Meta(min_length=1)]
    user_id: OptionalUserId | None = None
    workflow_id: OptionalString | None = None
    submission_id: OptionalString | None = None


class SubmitReassignment(Struct, rename="camel"):
    """The body of both reassignment submissions; only the waiting one shows events."""

    reassignment_commands: ReassignmentCommands
    event_format: EventFormat | None = None


def read_reassignments(wrapped: list[WrappedCommand]) -> list[UnassignCommand] | list[AssignCommand]:
    """The commands of a reassignment: all unassign or all assign, on one way.

    Raises:
        UnreadableError: one is not exactly one variant.
        LedgerError: one is the variant without meaning, they differ, or source and target are the same.
    """
    chosen = [each.command.chosen() for each in wrapped]
    # The variant is part of the protocol, and there is nothing to carry out.
    if any(isinstance(variant, dict) for variant in chosen):
        raise invalid("a reassignment command is empty; give an UnassignCommand or an AssignCommand")
    read = [variant.value for variant in chosen]
    ways = {(type(command), command.source, command.target) for command in read}
    if len(ways) > 1:
        raise invalid("the commands of one reassignment have one kind, from one source to one target")
    if read[0].source == read[0].target:
        raise invalid("Cannot reassign: source and target synchronizer are the same")
    return read
