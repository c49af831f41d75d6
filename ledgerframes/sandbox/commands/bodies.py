"""The bodies of the ledger interface's commands as received, and their ids; the command routes read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from ledgerframes.sandbox.commands.errors import UnreadableError, invalid
from ledgerframes.sandbox.commands.event_filters import EventFormat
from ledgerframes.sandbox.world.submissions import Period
from ledgerframes.sandbox.world.timestamps import SECOND

LedgerString = Annotated[str, Meta(pattern=r"^[A-Za-z0-9#:\-_/ ]{1,255}\Z")]
OptionalString = Annotated[str, Meta(pattern=r"^[A-Za-z0-9#:\-_/ ]{0,255}\Z")]
Party = Annotated[str, Meta(pattern=r"^[A-Za-z0-9:\-_ ]{1,255}\Z")]
UserId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9@^$.!\-#+'~_|:()`]{1,128}\Z")]
OptionalUserId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9@^$.!\-#+'~_|:()`]{0,128}\Z")]
Text = Annotated[str, Meta(min_length=1)]
Count32 = Annotated[int, Meta(ge=0, lt=2**31)]
Count64 = Annotated[int, Meta(ge=0, le=2**63 - 1)]

_MICROSECOND: Final = 1_000


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


class WrappedCommand(Struct):
    """One reassignment command; its one member names the variant."""

    command: dict[str, dict[str, Any]]


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


class Duration(Struct):
    """A span of time; members of newer releases do not matter."""

    seconds: Count64 = 0
    nanos: Annotated[int, Meta(ge=0, lt=10**9)] = 0

    def micros(self) -> int:
        """The span in microseconds."""
        return self.seconds * SECOND + self.nanos // _MICROSECOND


class DisclosedContract(Struct, rename="camel"):
    """A contract that the submitters need not see themselves."""

    contract_id: Text
    created_event_blob: Text
    template_id: str = ""
    synchronizer_id: str = ""


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


class ExerciseByKeyCommand(Struct, rename="camel"):
    """Exercises a choice of the contract that a key names."""

    template_id: Text
    contract_key: Any
    choice: Text
    choice_argument: Any


class CreateAndExerciseCommand(Struct, rename="camel"):
    """Creates a contract and exercises a choice of it."""

    template_id: Text
    create_arguments: Any
    choice: Text
    choice_argument: Any


Command = CreateCommand | ExerciseCommand | ExerciseByKeyCommand | CreateAndExerciseCommand


class PrefetchContractKey(Struct, rename="camel"):
    """A key to be fetched ahead, which changes nothing here."""

    template_id: Text
    contract_key: Any
    limit: Count32 | None = None


class SubmitCommands(Struct, rename="camel"):
    """The body of submit-and-wait-for-transaction-tree (contract: Endpoints, Ledger interface)."""

    commands: Annotated[list[dict[str, Any]], Meta(min_length=1)]
    command_id: LedgerString
    act_as: Annotated[list[Party], Meta(min_length=1)]
    user_id: OptionalUserId | None = None
    read_as: list[Party] = []
    workflow_id: OptionalString | None = None
    deduplication_period: dict[str, dict[str, Any]] | None = None
    min_ledger_time_abs: str | None = None
    min_ledger_time_rel: Duration | None = None
    submission_id: OptionalString | None = None
    disclosed_contracts: list[DisclosedContract] = []
    synchronizer_id: str | None = None
    package_id_selection_preference: list[str] = []
    prefetch_contract_keys: list[PrefetchContractKey] = []
    taps_max_passes: Count32 | None = None


_COMMANDS: Final[Mapping[str, type[Command]]] = {
    kind.__name__: kind for kind in (CreateCommand, ExerciseCommand, ExerciseByKeyCommand, CreateAndExerciseCommand)
}
_REASSIGNMENTS: Final[Mapping[str, type[UnassignCommand | AssignCommand]]] = {
    kind.__name__: kind for kind in (UnassignCommand, AssignCommand)
}


def read_commands(wrapped: list[dict[str, Any]]) -> list[Command]:
    """The commands of a batch, out of their variants.

    Raises:
        UnreadableError: one is not one of the four variants, or lacks a member.
    """
    return [_variant(command, _COMMANDS) for command in wrapped]


def read_reassignments(wrapped: list[WrappedCommand]) -> list[UnassignCommand] | list[AssignCommand]:
    """The commands of a reassignment: all unassign or all assign, on one way.

    Raises:
        UnreadableError: one is not a variant with its value.
        LedgerError: one is the variant without meaning, they differ, or source and target are the same.
    """
    # The variant is part of the protocol, and there is nothing to carry out.
    if any(command.command.keys() == {"Empty"} for command in wrapped):
        raise invalid("a reassignment command is empty; give an UnassignCommand or an AssignCommand")
    read = [_variant(_unwrapped(command.command), _REASSIGNMENTS) for command in wrapped]
    ways = {(type(command), command.source, command.target) for command in read}
    if len(ways) > 1:
        raise invalid("the commands of one reassignment have one kind, from one source to one target")
    subject = read[0].contract_id if isinstance(read[0], UnassignCommand) else read[0].reassignment_id
    if read[0].source == read[0].target:
        raise invalid(f"Cannot reassign {subject}: source and target synchronizer are the same")
    return read


def read_period(variants: dict[str, dict[str, Any]] | None) -> Period:
    """A deduplication period; the variant `Empty` leaves it to the participant.

    Raises:
        UnreadableError: it is not a variant with its value.
    """
    if variants is None or variants.keys() == {"Empty"}:
        return Period()
    try:
        if variants.keys() == {"DeduplicationDuration"}:
            value = msgspec.convert(variants["DeduplicationDuration"].get("value"), Duration)
            return Period(span=value.micros())
        if variants.keys() == {"DeduplicationOffset"}:
            return Period(offset=msgspec.convert(variants["DeduplicationOffset"].get("value"), Count64))
    except msgspec.ValidationError as error:
        raise UnreadableError(f"Invalid value for: body (deduplicationPeriod: {error})") from error
    raise UnreadableError(f"Invalid value for: body (deduplicationPeriod has no variant {sorted(variants)})")


def _unwrapped(variants: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: body.get("value") for name, body in variants.items()}


def _variant(wrapped: dict[str, Any], kinds: Mapping[str, Any]) -> Any:
    if len(wrapped) != 1 or not wrapped.keys() <= kinds.keys():
        raise UnreadableError(f"Invalid value for: body (a command is one of {sorted(kinds)}, not {sorted(wrapped)})")
    ((name, body),) = wrapped.items()
    try:
        return msgspec.convert(body, kinds[name])
    except msgspec.ValidationError as error:
        raise UnreadableError(f"Invalid value for: body ({name}: {error})") from error
