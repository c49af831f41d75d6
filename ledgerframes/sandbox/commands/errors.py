"""Why the ledger interface refuses a request: code, cause, category and status; commands and routes raise it.

The contract names no codes. These are the sandbox's own choice among those that participants are known to send.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

#: Error category, gRPC code and HTTP status of each kind of refusal.
UNAVAILABLE: Final = (1, 14, 503)
CONTENTION: Final = (2, 10, 409)
INVALID: Final = (8, 3, 400)
TOO_LARGE: Final = (8, 3, 413)
STATE: Final = (9, 9, 400)
EXISTS: Final = (10, 6, 409)
MISSING: Final = (11, 5, 404)
OUT_OF_RANGE: Final = (12, 11, 400)

SOON: Final = "1 second"


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


def unreadable(cause: object) -> UnreadableError:
    """A body that is not what the route takes."""
    return UnreadableError(f"Invalid value for: body ({cause})")


def invalid(cause: str) -> LedgerError:
    """A request that can be read but makes no sense."""
    return LedgerError("INVALID_ARGUMENT", f"The submitted request has invalid arguments: {cause}", kind=INVALID)


def not_found(thing: str, name: str) -> LedgerError:
    """A request for something the participant does not know, or the caller's parties do not see."""
    cause = f"{thing.title()} not found, or not visible."
    return LedgerError(f"{thing.upper()}_NOT_FOUND", cause, kind=MISSING, resource=(f"{thing.upper()}_ID", name))


def unknown_synchronizer(synchronizer_id: str) -> LedgerError:
    """A synchronizer the participant is not connected to."""
    cause = f"Not connected to any synchronizer {synchronizer_id!r}"
    resource = ("SYNCHRONIZER_ID", synchronizer_id)
    return LedgerError("NOT_CONNECTED_TO_SYNCHRONIZER", cause, kind=STATE, resource=resource)


def no_contract(contract_id: str) -> LedgerError:
    """A contract that there never was, or that the submitters do not see."""
    cause = f"Contract could not be found with id {contract_id}, or its stakeholders are other parties"
    return LedgerError("CONTRACT_NOT_FOUND", cause, kind=MISSING, resource=("CONTRACT_ID", contract_id))


def ended(contract_id: str) -> LedgerError:
    """A contract that the submitters have seen end."""
    cause = f"Contract {contract_id} is not active any more; it has been archived"
    return LedgerError("CONTRACT_NOT_ACTIVE", cause, kind=MISSING, resource=("CONTRACT_ID", contract_id))


def wrong_values(cause: str) -> LedgerError:
    """Arguments that do not fit the template or the choice, or a choice that does not exist."""
    return LedgerError("COMMAND_PREPROCESSING_FAILED", f"The command does not fit: {cause}", kind=INVALID)


def not_authorized(what: str, missing: Iterable[str]) -> LedgerError:
    """An action without the parties it needs."""
    cause = f"{what} requires the authority of {sorted(missing)}, who did not give it"
    return LedgerError("DAML_AUTHORIZATION_ERROR", cause, kind=INVALID)


def failed(cause: str) -> LedgerError:
    """A rule of the contract itself that is violated."""
    return LedgerError("UNHANDLED_EXCEPTION", f"The contract's rules do not allow this: {cause}", kind=STATE)
