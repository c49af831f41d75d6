"""The eight calls of the ledger interface (contract: Endpoints, Ledger interface), update-by-id, and pages."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from typing import Final

from ledgerframes.arguments import shown
from ledgerframes.errors import InputError
from ledgerframes.interfaces.answers import Update
from ledgerframes.interfaces.calls import Call, sends
from ledgerframes.interfaces.commands import (
    Command,
    DeduplicationPeriod,
    DisclosedContract,
    Duration,
    PrefetchContractKey,
    ReassignmentCommand,
    deduplication_json,
    disclosed,
    reassignment_json,
)
from ledgerframes.interfaces.event_formats import EventFormat, event_format_json
from ledgerframes.interfaces.ledger_answers import Reassignment, TransactionTree, reads_update
from ledgerframes.interfaces.ledger_reads import LedgerReadCalls
from ledgerframes.interfaces.rules import (
    Count32,
    LedgerString,
    PartyId,
    Positive32,
    Text,
    UserId,
    each,
    fits,
    without_none,
)
from ledgerframes.interfaces.users import Right, User, UsersPage, new_rights, new_user, read_created, read_users
from ledgerframes.timestamps import format_timestamp, to_micros
from ledgerframes.transport import Endpoint, Sender

Dar = bytes | bytearray | memoryview | os.PathLike[str]


def dar_bytes(dar: Dar) -> bytes:
    """The bytes of a DAR.

    Raises:
        InputError: there are none, or the file cannot be read.
    """
    if isinstance(dar, os.PathLike):
        try:
            content = Path(dar).read_bytes()
        except OSError as error:
            raise InputError(f"dar={os.fspath(dar)!r} cannot be read: {error.strerror}") from error
    elif isinstance(dar, bytes | bytearray | memoryview):
        content = bytes(dar)
    else:
        raise InputError(f"dar={shown(dar)}; give the bytes, or the file as pathlib.Path(...)")
    if not content:
        raise InputError(f"dar={shown(dar)} is empty; give the bytes of a DAR")
    return content


SUBMIT_REASSIGNMENT: Final = Endpoint("ledger", "POST", "/v2/commands/async/submit-reassignment", safe=False)
SUBMIT_AND_WAIT_FOR_REASSIGNMENT: Final = Endpoint(
    "ledger", "POST", "/v2/commands/submit-and-wait-for-reassignment", safe=False
)
SUBMIT_AND_WAIT_FOR_TREE: Final = Endpoint(
    "ledger",
    "POST",
    "/v2/commands/submit-and-wait-for-transaction-tree",
    safe=False,
    deprecated="deprecated since release 3.4, removal planned for 3.5; submit-and-wait-for-transaction replaces it",
)
LIST_USERS: Final = Endpoint("ledger", "GET", "/v2/users")
CREATE_USER: Final = Endpoint("ledger", "POST", "/v2/users", safe=False)
UPLOAD_PACKAGE: Final = Endpoint(
    "ledger", "POST", "/v2/packages", safe=False,
    deprecated="to be removed in a future release; the /dars upload does the same until it goes, too",
)  # fmt: skip
VALIDATE_DAR: Final = Endpoint("ledger", "POST", "/v2/dars/validate")


class Ledger(LedgerReadCalls):
    """The participant's ledger interface. One method, one request; a command is sent once.

    Args:
        sender: the way to the servers.
        has_token: whether a ledger token is configured, whose user id is used where none is given.
    """

    interface = "ledger"

    def __init__(self, sender: Sender, *, has_token: bool = True) -> None:
        super().__init__(sender)
        self._has_token = has_token

    @sends(SUBMIT_REASSIGNMENT)
    def submit_reassignment(
        self,
        commands: Iterable[ReassignmentCommand],
        *,
        command_id: str,
        submitter: str,
        user_id: str | None = None,
        workflow_id: str | None = None,
        submission_id: str | None = None,
    ) -> Call[None]:
        """Submit one reassignment without waiting for its result (contract: async/submit-reassignment).

        Args:
            commands: at least one `AssignCommand` or `UnassignCommand`.
            command_id: with the user and the parties, what identifies the change among completions.
            submitter: the party on whose behalf it runs.
            user_id: the user; left out, it is the token's.
            workflow_id: marks updates that belong together.
            submission_id: distinguishes submissions of the same change; give a new one for each.
        """
        user = self._user(user_id)
        body = reassignment_json(commands, command_id, submitter, user, workflow_id, submission_id)
        return Call(SUBMIT_REASSIGNMENT.request(json={"reassignmentCommands": body}), _nothing)

    @sends(SUBMIT_AND_WAIT_FOR_REASSIGNMENT, like=submit_reassignment)
    def submit_and_wait_for_reassignment(
        self,
        commands: Iterable[ReassignmentCommand],
        *,
        command_id: str,
        submitter: str,
        user_id: str | None = None,
        workflow_id: str | None = None,
        submission_id: str | None = None,
        event_format: EventFormat | None = None,
    ) -> Call[Update[Reassignment]]:
        """Submit one reassignment and wait for it (contract: submit-and-wait-for-reassignment).

        Args:
            event_format: which events the answer shows; servers show none without it.

        Raises:
            StatusError: the submission failed.
        """
        user = self._user(user_id)
        reassignment = reassignment_json(commands, command_id, submitter, user, workflow_id, submission_id)
        body = {"reassignmentCommands": reassignment}
        if event_format is not None:
            # Without a format real participants return the reassignment, but none of its events.
            body["eventFormat"] = event_format_json(event_format, "event_format")
        return Call(SUBMIT_AND_WAIT_FOR_REASSIGNMENT.request(json=body), reads_update(Reassignment, "reassignment"))

    @sends(SUBMIT_AND_WAIT_FOR_TREE, like=submit_reassignment)
    def submit_and_wait_for_transaction_tree(
        self,
        commands: Iterable[Command],
        *,
        command_id: str,
        act_as: Iterable[str],
        user_id: str | None = None,
        read_as: Iterable[str] = (),
        workflow_id: str | None = None,
        deduplication_period: DeduplicationPeriod | None = None,
        min_ledger_time_abs: str | date | datetime | None = None,
        min_ledger_time_rel: Duration | None = None,
        submission_id: str | None = None,
        disclosed_contracts: Iterable[DisclosedContract] = (),
        synchronizer_id: str | None = None,
        package_id_selection_preference: Iterable[str] = (),
        prefetch_contract_keys: Iterable[PrefetchContractKey] = (),
        taps_max_passes: int | None = None,
    ) -> Call[Update[TransactionTree]]:
        """Submit commands, all or none, and wait for the tree (contract: submit-and-wait-for-transaction-tree).

        Args:
            commands: at least one command.
            act_as: the parties on whose behalf it runs; servers want at least one.
            read_as: parties whose contracts may be read besides.
            deduplication_period: for how long, or since which offset, the same change is refused.
            min_ledger_time_abs: earliest ledger time, in UTC.
            min_ledger_time_rel: earliest ledger time, counted from the submission.
            disclosed_contracts: contracts the parties do not see themselves.
            synchronizer_id: the synchronizer to use.
            package_id_selection_preference: package ids to prefer where a name leaves a choice.
            prefetch_contract_keys: keys whose contracts the participant fetches in advance.
            taps_max_passes: the maximum number of attempts of the participant to select packages.

        Raises:
            StatusError: the submission failed.
        """
        preference = each(package_id_selection_preference, "package_id_selection_preference", kind=Text)
        keys = each(prefetch_contract_keys, "prefetch_contract_keys", kind=PrefetchContractKey)
        body = without_none(
            commands=[{type(one).__name__: one} for one in each(commands, "commands", kind=Command, least=1)],
            commandId=fits(command_id, LedgerString, "command_id"),
            actAs=each(act_as, "act_as", kind=PartyId, least=1),
            userId=self._user(user_id),
            readAs=each(read_as, "read_as", kind=PartyId) or None,
            workflowId=fits(workflow_id, LedgerString | None, "workflow_id"),
            minLedgerTimeAbs=_time(min_ledger_time_abs, "min_ledger_time_abs"),
            submissionId=fits(submission_id, LedgerString | None, "submission_id"),
            disclosedContracts=disclosed(disclosed_contracts, "disclosed_contracts") or None,
            synchronizerId=fits(synchronizer_id, Text | None, "synchronizer_id"),
            packageIdSelectionPreference=preference or None,
            prefetchContractKeys=keys or None,
            tapsMaxPasses=fits(taps_max_passes, Count32 | None, "taps_max_passes"),
        )
        if deduplication_period is not None:
            body["deduplicationPeriod"] = deduplication_json(deduplication_period, "deduplication_period")
        if min_ledger_time_rel is not None:
            body["minLedgerTimeRel"] = fits(min_ledger_time_rel, Duration, "min_ledger_time_rel")
        return Call(SUBMIT_AND_WAIT_FOR_TREE.request(json=body), reads_update(TransactionTree, "transactionTree"))

    @sends(LIST_USERS)
    def list_users(self, *, page_size: int | None = None, page_token: str | None = None) -> Call[UsersPage]:
        """Read one page of users (contract: GET /v2/users); use `load_users` for all of them.

        Args:
            page_size: the most users to return; a server may return fewer, without saying so.
            page_token: the `next_page_token` of the page before; None or empty is the first page.
        """
        size = fits(page_size, Positive32 | None, "page_size")
        token = fits(page_token, str | None, "page_token") or None
        return Call(LIST_USERS.request(query={"pageSize": size, "pageToken": token}), read_users)

    @sends(CREATE_USER)
    def create_user(self, user: User, *, rights: Iterable[Right] = ()) -> Call[User]:
        """Create a user (contract: POST /v2/users).

        Args:
            user: id and the rest; without a resource version, which the server sets.
            rights: what the user may do from the beginning, such as `CanActAs` for its primary party.

        Returns:
            The user as the server made it.

        Raises:
            ConflictError: there is a user of this id.
        """
        body = without_none(user=new_user(user), rights=new_rights(rights) or None)
        return Call(CREATE_USER.request(json=body), read_created)

    @sends(UPLOAD_PACKAGE)
    def upload_package(
        self, dar: Dar, *, vet_all_packages: bool | None = None, synchronizer_id: str | None = None
    ) -> Call[None]:
        """Upload a DAR (contract: POST /v2/packages).

        Args:
            dar: its bytes, or a `Path` to read them from.
            vet_all_packages: whether to vet its packages; if omitted, the server decides.
            synchronizer_id: for which synchronizer to vet.
        """
        query = {
            "vetAllPackages": fits(vet_all_packages, bool | None, "vet_all_packages"),
            "synchronizerId": fits(synchronizer_id, Text | None, "synchronizer_id"),
        }
        return Call(UPLOAD_PACKAGE.request(query=query, content=dar_bytes(dar)), _nothing)

    @sends(VALIDATE_DAR, like=upload_package)
    def validate_dar(self, dar: Dar, *, synchronizer_id: str | None = None) -> Call[None]:
        """Check a DAR against the vetted packages; nothing is stored (contract: POST /v2/dars/validate).

        Args:
            synchronizer_id: against which synchronizer's vetted packages.

        Raises:
            StatusError: the DAR is not valid, for the reason that the server states.
        """
        query = {"synchronizerId": fits(synchronizer_id, Text | None, "synchronizer_id")}
        return Call(VALIDATE_DAR.request(query=query, content=dar_bytes(dar)), _nothing)

    def _user(self, user_id: str | None) -> str | None:
        if user_id is None and not self._has_token:
            raise InputError(
                "user_id=None; give user_id=, which may be left out only with a user's token: "
                "connect(ledger_token=...) or LEDGERFRAMES_LEDGER_TOKEN"
            )
        user: str | None = fits(user_id, UserId | None, "user_id")
        return user


def _time(value: str | date | datetime | None, name: str) -> str | None:
    return None if value is None else format_timestamp(to_micros(value, name))


def _nothing(_body: bytes) -> None:
    """Ignore the answer to a command that was carried out."""
