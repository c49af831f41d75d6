"""The reasons to refuse a command, each with its code, category and status; raised while commands are carried out.

The contract names no codes. These are the sandbox's own choice among those that participants are known to send.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

# Error category, gRPC code and HTTP status.
_UNAVAILABLE: Final = (1, 14, 503)
_CONTENTION: Final = (2, 10, 409)
_INVALID: Final = (8, 3, 400)
_STATE: Final = (9, 9, 400)
_EXISTS: Final = (10, 6, 409)
_MISSING: Final = (11, 5, 404)
_UNSUPPORTED: Final = (14, 12, 501)

_SOON: Final = "1 second"


class LedgerError(Exception):
    """A request that the ledger interface answers with its JSON error body (contract: Errors 1).

    Attributes:
        kind: error category, gRPC code and HTTP status.
        resource: the kind and the id of the resource concerned, if any.
        context: further entries of the error body's context.
        retry: when it may be retried, as text; empty if that would not help.
        hidden: the true cause if the answer must not reveal it; it is logged by the server.
    """

    def __init__(
        self,
        code: str,
        cause: str,
        *,
        kind: tuple[int, int, int],
        resource: tuple[str, str] | None = None,
        context: Mapping[str, str] | None = None,
        retry: str = "",
        hidden: str = "",
    ) -> None:
        super().__init__(cause)
        self.code = code
        self.kind = kind
        self.resource = resource
        self.context = dict(context or {})
        self.retry = retry
        self.hidden = hidden


class UnreadableError(Exception):
    """A malformed body or query value; the ledger interface answers 400 in plain text (contract: Errors 2)."""


def invalid(cause: str) -> LedgerError:
    """A request that can be read but makes no sense."""
    return LedgerError("INVALID_ARGUMENT", f"The submitted request has invalid arguments: {cause}", kind=_INVALID)


def not_found(thing: str, name: str) -> LedgerError:
    """A request for something the participant does not know, or the caller's parties do not see."""
    cause = f"{thing.title()} not found, or not visible."
    return LedgerError(f"{thing.upper()}_NOT_FOUND", cause, kind=_MISSING, resource=(f"{thing.upper()}_ID", name))


def no_commands() -> LedgerError:
    """A ledger that is data only."""
    cause = "This ledger takes no commands"
    return LedgerError("UNSUPPORTED_OPERATION", cause, kind=_UNSUPPORTED)


def not_begun() -> LedgerError:
    """A ledger without its first update, which makes the rules."""
    cause = "The ledger has no updates yet; let it advance by one first"
    return LedgerError("SYNCHRONIZER_NOT_READY", cause, kind=_UNAVAILABLE, retry=_SOON)


def duplicate(submission_id: str, offset: int) -> LedgerError:
    """A change that was already carried out."""
    context = {"existing_submission_id": submission_id, "completion_offset": str(offset), "accepted": "true"}
    cause = f"A command with this change id has already been carried out, as submission {submission_id!r}"
    return LedgerError("DUPLICATE_COMMAND", cause, kind=_EXISTS, context=context)


def not_hosted(parties: Iterable[str]) -> LedgerError:
    """Submitters that decide together elsewhere: the organization that runs the ledger, and its members."""
    cause = f"No synchronizer on which this participant can submit for {sorted(parties)}; they act elsewhere"
    return LedgerError("NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT", cause, kind=_STATE)


def unknown_synchronizer(synchronizer_id: str) -> LedgerError:
    """A synchronizer the participant is not connected to."""
    cause = f"Not connected to any synchronizer {synchronizer_id!r}"
    resource = ("SYNCHRONIZER_ID", synchronizer_id)
    return LedgerError("NOT_CONNECTED_TO_SYNCHRONIZER", cause, kind=_STATE, resource=resource)


def elsewhere(contract_id: str, *, at: str, wanted: str) -> LedgerError:
    """A contract that is assigned to another synchronizer than the command runs on or names as source."""
    cause = f"Contract {contract_id} is assigned to {at}, not to {wanted}; reassign it, or name {at}"
    resource = ("CONTRACT_ID", contract_id)
    return LedgerError("INVALID_PRESCRIBED_SYNCHRONIZER_ID", cause, kind=_STATE, resource=resource)


def in_flight(contract_id: str) -> LedgerError:
    """A contract on its way between synchronizers."""
    cause = f"Contract {contract_id} is being reassigned; complete the reassignment first"
    resource = ("CONTRACT_ID", contract_id)
    return LedgerError("CONTRACT_BEING_REASSIGNED", cause, kind=_CONTENTION, resource=resource, retry=_SOON)


def no_contract(contract_id: str) -> LedgerError:
    """A contract that there never was, or that the submitters do not see."""
    cause = f"Contract could not be found with id {contract_id}, or its stakeholders are other parties"
    return LedgerError("CONTRACT_NOT_FOUND", cause, kind=_MISSING, resource=("CONTRACT_ID", contract_id))


def ended(contract_id: str) -> LedgerError:
    """A contract that the submitters have seen end."""
    cause = f"Contract {contract_id} is not active any more; it has been archived"
    return LedgerError("CONTRACT_NOT_ACTIVE", cause, kind=_MISSING, resource=("CONTRACT_ID", contract_id))


def no_reassignment(reassignment_id: str) -> LedgerError:
    """A reassignment that nobody began, or that the submitter cannot see."""
    cause = f"No reassignment with the id {reassignment_id!r} is known to the submitter"
    resource = ("REASSIGNMENT_ID", reassignment_id)
    return LedgerError("REASSIGNMENT_NOT_FOUND", cause, kind=_MISSING, resource=resource)


def already_assigned(reassignment_id: str) -> LedgerError:
    """A reassignment whose contract has arrived."""
    cause = f"The reassignment {reassignment_id!r} has already been completed"
    resource = ("REASSIGNMENT_ID", reassignment_id)
    return LedgerError("REASSIGNMENT_ALREADY_COMPLETED", cause, kind=_EXISTS, resource=resource)


def other_reassignment(reassignment_id: str, *, source: str, target: str) -> LedgerError:
    """A reassignment between other synchronizers than the command states."""
    cause = f"The reassignment {reassignment_id!r} goes from {source} to {target}; name these as source and target"
    resource = ("REASSIGNMENT_ID", reassignment_id)
    return LedgerError("REASSIGNMENT_MISMATCH", cause, kind=_STATE, resource=resource)


def no_template(reference: str) -> LedgerError:
    """A template or package that no uploaded package has."""
    cause = f"Templates or interfaces do not exist: {reference!r}"
    return LedgerError("TEMPLATES_OR_INTERFACES_NOT_FOUND", cause, kind=_MISSING, resource=("TEMPLATE_ID", reference))


def wrong_template(contract_id: str, *, is_a: str, wanted: str) -> LedgerError:
    """A contract of another template than the command names."""
    cause = f"Contract {contract_id} is a {is_a}, not a {wanted}"
    return LedgerError("WRONGLY_TYPED_CONTRACT", cause, kind=_STATE, resource=("CONTRACT_ID", contract_id))


def wrong_values(cause: str) -> LedgerError:
    """Arguments that do not fit the template or the choice, or a choice that does not exist."""
    return LedgerError("COMMAND_PREPROCESSING_FAILED", f"The command does not fit: {cause}", kind=_INVALID)


def not_authorized(what: str, missing: Iterable[str]) -> LedgerError:
    """An action without the parties it needs."""
    cause = f"{what} requires the authority of {sorted(missing)}, who did not give it"
    return LedgerError("DAML_AUTHORIZATION_ERROR", cause, kind=_INVALID)


def failed(cause: str) -> LedgerError:
    """A rule of the contract itself that is violated."""
    return LedgerError("UNHANDLED_EXCEPTION", f"The contract's rules do not allow this: {cause}", kind=_STATE)


def out_of_time(wanted: str, now: str) -> LedgerError:
    """A minimal ledger time that is too far ahead."""
    cause = f"The ledger time would be {wanted}, the record time {now}: more than a minute apart"
    return LedgerError("LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND", cause, kind=_CONTENTION, retry=_SOON)


def user_exists(user_id: str) -> LedgerError:
    """A user id that already exists."""
    cause = f"User {user_id!r} exists already"
    return LedgerError("USER_ALREADY_EXISTS", cause, kind=_EXISTS, resource=("USER", user_id))


def no_identity_provider(provider_id: str) -> LedgerError:
    """An identity provider that the participant does not have; it has the default one only."""
    cause = f"Identity provider {provider_id!r} is not configured; leave it out for the default one"
    code = "IDENTITY_PROVIDER_CONFIG_NOT_FOUND"
    return LedgerError(code, cause, kind=_MISSING, resource=("IDENTITY_PROVIDER_CONFIG", provider_id))
