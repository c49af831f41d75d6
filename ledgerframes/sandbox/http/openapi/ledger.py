"""The ledger interface's operations in the OpenAPI document (contract: Ledger interface; Errors 1 and 2)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.http.openapi import ledger_commands, ledger_events, ledger_users
from ledgerframes.sandbox.http.openapi.refusals import ledger_refusals
from ledgerframes.sandbox.http.openapi.shapes import (
    BINARY,
    JSON,
    Operation,
    Response,
    Schema,
    boolean,
    found,
    in_query,
    integer,
    listing,
    nullable,
    record,
    ref,
    text,
    value_of,
    variant,
)

SHAPES: Final = MappingProxyType({**ledger_commands.SHAPES, **ledger_events.SHAPES, **ledger_users.SHAPES})

_EMPTY: Final[Schema] = {"type": "object", "maxProperties": 0}
_ARCHIVE: Final = {BINARY: {"description": "A DAR: a zip whose manifest names its packages."}}
_SYNCHRONIZER: Final = in_query("synchronizerId", text("Where to vet; every synchronizer where it is left out."))
_COMMANDS: Final = {"reassignmentCommands": ref("ReassignmentCommands")}
_COMMAND_REFUSALS: Final = ledger_refusals(404, 409, 501)

_BY_ID: Final[Schema] = {
    **record(
        needs={"updateId": text()},
        may={
            "requestingParties": nullable(listing(text(), "Deprecated; not beside a format.")),
            "transactionFormat": nullable(ref("TransactionFormat")),
        },
    ),
    "anyOf": [
        {"required": ["requestingParties"], "properties": {"requestingParties": {"type": "array", "minItems": 1}}},
        {"required": ["transactionFormat"], "properties": {"transactionFormat": {"type": "object"}}},
    ],
}
_NEWER_BY_ID: Final = record(
    needs={
        "updateId": text(),
        "updateFormat": record(
            needs={},
            may={
                "includeTransactions": nullable(ref("TransactionFormat")),
                "includeReassignments": nullable(ref("EventFormat")),
            },
        ),
    },
)
_UPDATE: Final = variant(
    {"Transaction": value_of(ref("LedgerTransaction")), "Reassignment": value_of(ref("LedgerReassignment"))}
)

OPERATIONS: Final = (
    Operation(
        "POST",
        "/v2/commands/async/submit-reassignment",
        "Begin or complete a reassignment, without waiting for it.",
        {**found(_EMPTY), **_COMMAND_REFUSALS},
        body={JSON: record(needs=_COMMANDS)},
        guarded=True,
    ),
    Operation(
        "POST",
        "/v2/commands/submit-and-wait-for-reassignment",
        "Begin or complete a reassignment, and wait for it.",
        {**found(record(needs={"reassignment": ref("LedgerReassignment")})), **_COMMAND_REFUSALS},
        body={JSON: record(needs=_COMMANDS, may={"eventFormat": nullable(ref("EventFormat"))})},
        guarded=True,
    ),
    Operation(
        "POST",
        "/v2/commands/submit-and-wait-for-transaction-tree",
        "Create contracts and exercise choices, and wait for the tree of what happened.",
        {**found(record(needs={"transactionTree": ref("TransactionTree")})), **_COMMAND_REFUSALS},
        body={JSON: ref("Batch")},
        guarded=True,
    ),
    Operation(
        "POST",
        "/v2/updates/transaction-by-id",
        "A transaction, as far as the caller sees it.",
        {**found(record(needs={"transaction": ref("LedgerTransaction")})), **ledger_refusals(404)},
        body={JSON: _BY_ID},
        guarded=True,
    ),
    Operation(
        "POST",
        "/v2/updates/update-by-id",
        "A transaction or reassignment, as far as the caller sees it.",
        {**found(record(needs={"update": _UPDATE})), **ledger_refusals(404)},
        body={JSON: _NEWER_BY_ID},
        guarded=True,
    ),
    Operation(
        "GET",
        "/v2/users",
        "A page of users, for who manages the participant.",
        {
            **found(record(needs={"users": listing(ref("User")), "nextPageToken": text("Empty on the last page.")})),
            **ledger_refusals(),
        },
        (
            in_query("pageSize", integer(32, "At most so many; a large one is cut without a word.", minimum=0)),
            in_query("pageToken", text("The token of the page before.")),
        ),
        guarded=True,
    ),
    Operation(
        "POST",
        "/v2/users",
        "Create a user with its rights, for who manages the participant.",
        {**found(record(needs={"user": ref("User")})), **ledger_refusals(404, 409)},
        body={JSON: record(needs={"user": ref("User")}, may={"rights": listing(ref("Right"))})},
        guarded=True,
    ),
    Operation(
        "POST",
        "/v2/packages",
        "Upload a DAR; this route is to be removed in a future release.",
        {**found(_EMPTY), **ledger_refusals(404, 413, 415)},
        (_SYNCHRONIZER, in_query("vetAllPackages", boolean("Vet them too; true where it is left out."))),
        body=_ARCHIVE,
        guarded=True,
    ),
    Operation(
        "POST",
        "/v2/dars/validate",
        "Check a DAR and change nothing.",
        {200: Response("It is valid."), **ledger_refusals(404, 413, 415)},
        (_SYNCHRONIZER,),
        body=_ARCHIVE,
        guarded=True,
    ),
)
