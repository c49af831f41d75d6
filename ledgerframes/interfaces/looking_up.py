"""The request body of a look-up of an update by its id; used by the ledger interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ledgerframes.errors import InputError
from ledgerframes.interfaces.event_formats import TransactionFormat, transaction_format_json, whole_format
from ledgerframes.interfaces.rules import LedgerString, PartyId, each, fits


def question_by_id(
    update_id: str, requesting_parties: Iterable[str] | None, transaction_format: TransactionFormat | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The id of an update as a body names it, and the JSON of the format that says which of its events to show.

    Raises:
        InputError: an argument breaks a rule, or both parties and a format are given.
    """
    if requesting_parties is not None and transaction_format is not None:
        raise InputError(
            f"requesting_parties={requesting_parties!r} excludes transaction_format; give transaction_format only"
        )
    body = {"updateId": fits(update_id, LedgerString, "update_id")}
    # With the id alone real servers answer 400: "Either transaction_format or requesting_parties is required".
    if transaction_format is None:
        named = requesting_parties
        parties = None if named is None else each(named, "requesting_parties", kind=PartyId, least=1)
        transaction_format = whole_format(parties)
    return body, transaction_format_json(transaction_format, "transaction_format")
