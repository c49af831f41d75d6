"""The ledger's calls that look up one update; `LedgerCalls` inherits them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.event_formats import TransactionFormat, chosen_json, update_format_json
from ledgerframes.interfaces.ledger_answers import (
    LedgerAnswer,
    LedgerTransaction,
    Reassignment,
    read_transaction,
    read_update,
)
from ledgerframes.interfaces.rules import LedgerString, Text, fits
from ledgerframes.transport import Endpoint

TRANSACTION_BY_ID: Final = Endpoint(
    "ledger",
    "POST",
    "/v2/updates/transaction-by-id",
    deprecated="deprecated since release 3.4; newer releases have POST /v2/updates/update-by-id, used where it is",
)
UPDATE_BY_ID: Final = Endpoint("ledger", "POST", "/v2/updates/update-by-id")
UPDATE_BY_HASH: Final = Endpoint("ledger", "POST", "/v2/updates/update-by-hash", since="Canton has it since 3.6")


class LookUpCalls(Calls):
    """The calls of the ledger interface that look up one update. One method, one request."""

    @sends(TRANSACTION_BY_ID)
    def transaction_by_id(
        self,
        update_id: str,
        *,
        requesting_parties: Iterable[str] | None = None,
        transaction_format: TransactionFormat | None = None,
    ) -> Call[LedgerAnswer[LedgerTransaction]]:
        """Read a transaction (contract: POST /v2/updates/transaction-by-id).

        A format is always sent, since participants refuse a request without one. Where the server has only
        update-by-id, that route is used.

        Args:
            update_id: the transaction's id.
            requesting_parties: whose events to show: every template, creations and exercises.
            transaction_format: which events to show, and how; not together with `requesting_parties`. Without
                either, whatever any party sees is shown, which requires the right to read as any party.

        Raises:
            NotFoundError: the participant does not know the transaction.
            NotAuthorizedError: the token's user may not read as these parties, or as any party.
        """
        shown = chosen_json(requesting_parties, transaction_format)
        body = {"updateId": fits(update_id, LedgerString, "update_id")}
        older = TRANSACTION_BY_ID.request(json=body | {"transactionFormat": shown})
        # Release 3.6 has only update-by-id, which refuses a request without `updateFormat`.
        newer = UPDATE_BY_ID.request(json=body | {"updateFormat": {"includeTransactions": shown}})
        return Call(older, read_transaction, alternatives=(newer,))

    @sends(UPDATE_BY_ID, neighbour=True)
    def update_by_id(
        self,
        update_id: str,
        *,
        requesting_parties: Iterable[str] | None = None,
        transaction_format: TransactionFormat | None = None,
    ) -> Call[LedgerAnswer[LedgerTransaction | Reassignment]]:
        """Read a transaction or a reassignment (POST /v2/updates/update-by-id, the successor of transaction-by-id).

        If the server has only transaction-by-id, that is asked; it does not know reassignments.

        Args:
            update_id: the update's id.
            requesting_parties: whose events to show; see `transaction_by_id`.
            transaction_format: see above; its event format applies to a reassignment, too.

        Raises:
            NotFoundError: the participant does not know the update.
            NotAuthorizedError: the token's user may not read as these parties, or as any party.
        """
        shown = chosen_json(requesting_parties, transaction_format)
        body = {"updateId": fits(update_id, LedgerString, "update_id")}
        newer = UPDATE_BY_ID.request(json=body | {"updateFormat": update_format_json(shown)})
        older = TRANSACTION_BY_ID.request(json=body | {"transactionFormat": shown})
        return Call(newer, read_update, alternatives=(older,))

    @sends(UPDATE_BY_HASH, neighbour=True)
    def update_by_hash(
        self,
        hash: str,  # noqa: A002 - the field's word
        *,
        requesting_parties: Iterable[str] | None = None,
        transaction_format: TransactionFormat | None = None,
    ) -> Call[LedgerAnswer[LedgerTransaction | Reassignment]]:
        """Read a transaction by the hash that an external party signed (POST /v2/updates/update-by-hash).

        Args:
            hash: as the participant writes it, in `transaction_hash` of a transaction or a prepared submission.
            requesting_parties: whose events to show; see `transaction_by_id`.
            transaction_format: likewise.

        Raises:
            NotFoundError: the participant does not know the hash, or its release does not serve the route.
            NotAuthorizedError: the token's user may not read as these parties, or as any party.
        """
        shown = chosen_json(requesting_parties, transaction_format)
        body = {"transactionHash": fits(hash, Text, "hash"), "updateFormat": update_format_json(shown)}
        return Call(UPDATE_BY_HASH.request(json=body), read_update)
