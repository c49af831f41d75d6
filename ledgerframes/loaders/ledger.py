"""The loader of one transaction, tree or reassignment as the ledger interface tells it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.decoding.records import read_records
from ledgerframes.errors import DecodeError
from ledgerframes.loaders.contracts import party_list
from ledgerframes.loaders.frames import As, Decimals, check_shape
from ledgerframes.loaders.listing import Form, Origin
from ledgerframes.settings import source_of
from ledgerframes.tables.ledger import LEDGER_EVENTS, LEDGER_TRANSACTIONS
from ledgerframes.tables.table import Table

if TYPE_CHECKING:
    from ledgerframes.network import Network

_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])


class LedgerTransaction(NamedTuple):
    """A transaction, tree or reassignment of the ledger interface.

    Attributes:
        transactions: one row.
        events: one row an event.
    """

    transactions: Any
    events: Any


def load_ledger_transaction(
    net: Network,
    update_id: str,
    *,
    parties: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
) -> LedgerTransaction:
    """Load one transaction by its id (contract: POST /v2/updates/transaction-by-id, or its successor).

    Args:
        net: the network; its ledger interface is asked, with a token.
        update_id: the update's id.
        parties: whose view; events that none of them sees are left out.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts.

    Raises:
        InputError: an argument breaks a rule.
        NotFoundError: the participant does not know the update.
    """
    check_shape(as_, decimals)
    whose = None if parties is None else party_list(parties)
    answer = net.ledger.transaction_by_id(update_id, requesting_parties=whose)
    origin = Origin({source_of(net.transport.servers("ledger")[0]): None})
    transactions, events = read_ledger_item(answer.raw, LEDGER_TRANSACTIONS.endpoints[0])

    def frame(table: Table, batch: pa.RecordBatch) -> Any:
        return Form.of(table, as_=as_, decimals=decimals).frame(batch, origin)

    return LedgerTransaction(frame(LEDGER_TRANSACTIONS, transactions), frame(LEDGER_EVENTS, events))


def read_ledger_item(raw: bytes, endpoint: str) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The two tables of a transaction, a tree (`eventsById`) or a reassignment, events flat or wrapped alike.

    Raises:
        DecodeError: the item breaks the contract.
    """
    try:
        members = _members.decode(raw)
        if "eventsById" in members:
            wrapped = list(_members.decode(members["eventsById"]).values())
        else:
            wrapped = _items.decode(members.get("events", Raw(b"[]")))
        events = [_unwrap(event) for event in wrapped]
    except (msgspec.DecodeError, ValueError) as error:
        raise DecodeError(f"{endpoint}: {error}", endpoint=endpoint, table=LEDGER_EVENTS.name) from error
    transactions = read_records(
        LEDGER_TRANSACTIONS, [raw], endpoint, given={"event_count": [len(events)]}, left_out=["/events", "/eventsById"]
    )
    given = {
        "update_id": transactions.column("update_id").to_pylist() * len(events),
        "kind": [event.kind for event in events],
        "payload": [None if event.payload is None else bytes(event.payload).decode() for event in events],
    }
    return transactions, read_records(LEDGER_EVENTS, [event.item for event in events], endpoint, given=given)


class _Event(NamedTuple):
    kind: str
    item: bytes
    payload: Raw | None


def _unwrap(event: Raw) -> _Event:
    """An event's kind and its members, whether they lie flat or under `value`; an assignment's contract is raised."""
    outer = _members.decode(event)
    if len(outer) != 1:
        raise ValueError(f"an event has exactly one key, its kind; this one has {sorted(outer)}")
    ((kind, inner),) = outer.items()
    members = _members.decode(inner)
    if set(members) == {"value"}:
        members = _members.decode(members["value"])
    if "createdEvent" in members:
        members = _members.decode(members.pop("createdEvent")) | members
    payload = members.pop("createArgument", None)
    if payload is None:
        payload = members.pop("choiceArgument", None)
    return _Event(kind, msgspec.json.encode(members), payload)
