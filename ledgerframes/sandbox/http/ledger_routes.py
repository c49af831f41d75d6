"""Single updates of the participant as routes, by id and by hash."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from ledgerframes.sandbox.commands.errors import invalid, not_found
from ledgerframes.sandbox.commands.event_filters import LEDGER_EFFECTS, Selection, TransactionFormat, everything
from ledgerframes.sandbox.http.ledger import Ledger, transaction_hash
from ledgerframes.sandbox.http.ledger_access import UpdateFormat, allowed, read_body
from ledgerframes.sandbox.http.routes import Asked, Routes

ROUTES: Final = Routes()


class TransactionById(Struct, rename="camel"):
    """The body of POST /v2/updates/transaction-by-id."""

    update_id: str
    requesting_parties: list[str] | None = None
    transaction_format: TransactionFormat | None = None


class UpdateById(Struct, rename="camel"):
    """The body of POST /v2/updates/update-by-id."""

    update_id: str
    update_format: UpdateFormat


class UpdateByHash(Struct, rename="camel"):
    """The body of POST /v2/updates/update-by-hash."""

    transaction_hash: str
    update_format: UpdateFormat


@ROUTES.post("/api/ledger/v2/updates/update-by-id")
def update_by_id(asked: Asked) -> dict[str, Any]:
    """An update by its id; topology events are never found."""
    body = read_body(UpdateById, asked.body)
    return _update(asked, body.update_id, body.update_format, wanted=body.update_id)


@ROUTES.post("/api/ledger/v2/updates/update-by-hash", since="0.9")
def update_by_hash(asked: Asked) -> dict[str, Any]:
    """A transaction by its `transactionHash`; reassignments have none."""
    body = read_body(UpdateByHash, asked.body)
    wanted = body.transaction_hash
    found = next((one.update_id for one in asked.world.ledger_updates if transaction_hash(one) == wanted), "")
    transactions = UpdateFormat(include_transactions=body.update_format.include_transactions)
    return _update(asked, found, transactions, wanted=wanted)


@ROUTES.post(
    "/api/ledger/v2/updates/transaction-by-id",
    removed_in="0.9",
    in_contract=True,
)
def transaction_by_id(asked: Asked) -> dict[str, Any]:
    """A transaction by its id."""
    body = read_body(TransactionById, asked.body)
    if body.requesting_parties and body.transaction_format:
        raise invalid("Both requestingParties and transactionFormat are set; use transactionFormat only")
    if not body.requesting_parties and not body.transaction_format:
        raise invalid("Either transaction_format or requesting_parties is required")
    parties = everything(body.requesting_parties) if body.requesting_parties else None
    transaction = _transaction(asked, body.update_id, body.transaction_format, otherwise=parties)
    if transaction is None:
        raise not_found("transaction", body.update_id)
    return {"transaction": transaction}


def _update(asked: Asked, update_id: str, shown: UpdateFormat, *, wanted: str) -> dict[str, Any]:
    update, kind = None, "Transaction"
    if shown.include_transactions:
        update = _transaction(asked, update_id, shown.include_transactions)
    if update is None and shown.include_reassignments:
        chosen, kind = allowed(asked.user, shown.include_reassignments), "Reassignment"
        update = Ledger(asked).reassignment(update_id, chosen)
    if update is None:
        raise not_found("update", wanted)
    return {"update": {kind: {"value": update}}}


def _transaction(
    asked: Asked, update_id: str, shown: TransactionFormat | None, *, otherwise: Selection | None = None
) -> dict[str, Any] | None:
    chosen = allowed(asked.user, shown.event_format if shown else None, otherwise=otherwise)
    effects = shown is not None and shown.transaction_shape == LEDGER_EFFECTS
    return Ledger(asked).transaction(update_id, chosen, effects=effects)
