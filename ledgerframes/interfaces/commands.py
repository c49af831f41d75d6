"""Commands of the ledger interface: creations, exercises and reassignments, and the contracts disclosed to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from ledgerframes.interfaces.rules import (
    Count64,
    LedgerString,
    Nanos,
    PartyId,
    Positive32,
    Text,
    each,
    fits,
    without_none,
    wrapped,
)


class DisclosedContract(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A contract to be disclosed (contract: Resources, Registry choice context).

    The debug members come from the provider and may differ from what the blob contains; they are not sent on.

    Attributes:
        template_id: the contract's template.
        contract_id: its id.
        created_event_blob: the contract itself, opaque.
        synchronizer_id: the synchronizer that it is assigned to now.
        debug_package_name: name of the template's package, if given.
        debug_payload: the contract's arguments, if given.
        debug_created_at: when it was created, if given.
    """

    template_id: str
    contract_id: str
    created_event_blob: str
    synchronizer_id: str
    debug_package_name: str | None = None
    debug_payload: Any = None
    debug_created_at: str | None = None

    def __repr__(self) -> str:
        name = self.template_id.partition(":")[2] or self.template_id
        return f"DisclosedContract({name} {self.contract_id[:16]}…)"


def disclosed(contracts: Iterable[DisclosedContract], name: str) -> list[DisclosedContract]:
    """Disclosed contracts as a command takes them along.

    Raises:
        InputError: one is no `DisclosedContract`, or lacks a member.
    """
    checked = each(contracts, name, kind=DisclosedContract)
    for position, contract in enumerate(checked):
        for member in ("template_id", "contract_id", "created_event_blob", "synchronizer_id"):
            fits(getattr(contract, member), Text, f"{name}[{position}].{member}")
    return [
        msgspec.structs.replace(contract, debug_package_name=None, debug_payload=None, debug_created_at=None)
        for contract in checked
    ]


class CreateCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Creates a contract.

    Attributes:
        template_id: `#package-name:Module:Entity`, or with a package id, which is deprecated.
        create_arguments: the template's record; amounts as `Decimal` or text.
    """

    template_id: Text
    create_arguments: Any


class ExerciseCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Exercises a choice on a contract.

    Attributes:
        template_id: template or interface that has the choice.
        contract_id: the contract.
        choice: the choice's name.
        choice_argument: the choice's record; `{}` if it takes nothing.
    """

    template_id: Text
    contract_id: Text
    choice: Text
    choice_argument: Any


class ExerciseByKeyCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Exercises a choice on the contract that a key names.

    Attributes:
        template_id: the template that has key and choice.
        contract_key: the key, text or a record.
        choice: the choice's name.
        choice_argument: the choice's record; `{}` if it takes nothing.
    """

    template_id: Text
    contract_key: Any
    choice: Text
    choice_argument: Any


class CreateAndExerciseCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """Creates a contract and exercises a choice on it at once.

    Attributes:
        template_id: the template that has the choice.
        create_arguments: the template's record.
        choice: the choice's name.
        choice_argument: the choice's record; `{}` if it takes nothing.
    """

    template_id: Text
    create_arguments: Any
    choice: Text
    choice_argument: Any


Command = CreateCommand | ExerciseCommand | ExerciseByKeyCommand | CreateAndExerciseCommand


class Duration(Struct, frozen=True):
    """A span of time of the ledger interface, in seconds and nanoseconds."""

    seconds: Count64
    nanos: Nanos = 0


class DeduplicationDuration(Struct, frozen=True):
    """The same change is refused for this long."""

    seconds: Count64
    nanos: Nanos = 0


class DeduplicationOffset(Struct, frozen=True):
    """The same change is refused if it was completed after this offset of the participant."""

    offset: Count64


class EmptyDeduplication(Struct, frozen=True):
    """The variant without meaning, `Empty`: the participant's own period."""


DeduplicationPeriod = DeduplicationDuration | DeduplicationOffset | EmptyDeduplication


class PrefetchContractKey(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A key whose contracts are fetched ahead.

    Attributes:
        template_id: the template that has the key.
        contract_key: the key, text or a record.
        limit: the maximum number of contracts; one by default.
    """

    template_id: Text
    contract_key: Any
    limit: Positive32 | None = None


def deduplication_json(period: DeduplicationPeriod, name: str) -> dict[str, Any]:
    """A deduplication period as the ledger interface writes it.

    Raises:
        InputError: it has another type, or a member is out of its range.
    """
    checked = fits(period, DeduplicationPeriod, name)
    if isinstance(checked, DeduplicationOffset):
        return {"DeduplicationOffset": {"value": checked.offset}}
    return wrapped(checked)


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
    return without_none(
        commands=[{"command": wrapped(one)} for one in each(commands, "commands", kind=ReassignmentCommand, least=1)],
        commandId=fits(command_id, LedgerString, "command_id"),
        submitter=fits(submitter, PartyId, "submitter"),
        userId=user_id,
        workflowId=fits(workflow_id, LedgerString | None, "workflow_id"),
        submissionId=fits(submission_id, LedgerString | None, "submission_id"),
    )
