"""`load_ledger_transaction`: one transaction, tree or reassignment from the ledger interface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import pyarrow as pa
from msgspec import Raw, Struct

from ledgerframes.config.settings import source_of
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import InputError
from ledgerframes.interfaces.answers import reading
from ledgerframes.interfaces.event_formats import whole_format
from ledgerframes.interfaces.looking_up import UPDATE_BY_HASH, UPDATE_BY_ID
from ledgerframes.loaders.declaring import SHAPE, loader
from ledgerframes.loaders.one_participant import parties_and_views
from ledgerframes.loaders.table_loader import TableLoad
from ledgerframes.tables.ledger import LEDGER_EVENTS, LEDGER_TRANSACTIONS

Frame = TypeVar("Frame")
_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])


class LedgerTransaction(NamedTuple, Generic[Frame]):
    """A transaction, tree or reassignment of the ledger interface.

    Attributes:
        transactions: one row.
        events: one row per event.
    """

    transactions: Frame
    events: Frame


@loader(LEDGER_TRANSACTIONS, keywords=SHAPE)
def load_ledger_transaction(
    load: TableLoad,
    update_id: str | None = None,
    *,
    hash: str | None = None,  # noqa: A002 - the field's word
    parties: Iterable[str] | None = None,
    interfaces: Iterable[str] = (),
) -> LedgerTransaction[Any]:
    """Load one transaction or reassignment by its id (contract: POST /v2/updates/transaction-by-id, or its successor).

    Creations and exercises of every template are requested, by POST /v2/updates/update-by-id. Older participants, which
    have only transaction-by-id, find no reassignments. A hash is looked up by POST /v2/updates/update-by-hash.

    Args:
        net: the network; its ledger interface is asked, with a token.
        update_id: the update's id.
        hash: the transaction's hash instead, as `transaction_hash` has it or as it was signed; participants of Canton
            3.6 and later know those of transactions that an external party signed.
        parties: whose view; events that none of them sees are left out. None is any party's view, which requires
            the right to read as any party; with a token that has fewer rights, name the parties it may read as.
        interfaces: interfaces, such as `"#package-name:Module:Entity"`, whose views of the created contracts are to
            be computed, for `interface_views`.

    Returns:
        LedgerTransaction(transactions, events): one row for the update, and one row per event in the order of the
        answer; `lf.describe("ledger_events")` lists the columns with their units.

    Raises:
        InputError: an argument breaks a rule, or both or neither of id and hash are given; nothing was sent.
        NotFoundError: the participant does not know the update, or its release does not look up hashes.
        NotAuthorizedError: the token's user may not read as these parties, or as any party.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50, release="0.9") as net:
        ...     update_id = lf.load_updates(net).update_id.iloc[-1]
        ...     transactions, events = lf.load_ledger_transaction(net, update_id)
        >>> transactions.update_id.to_list() == [update_id]
        True
    """
    named, views = parties_and_views(parties, interfaces)
    shown = whole_format(named, interfaces=views)
    if (update_id is None) == (hash is None):
        problem = "both are given" if update_id is not None else "neither is given"
        raise InputError(f"update_id= and hash=: {problem}; give exactly one of them")
    net = load.net
    if hash is not None:
        answer, endpoint = net.ledger.update_by_hash(hash, transaction_format=shown), UPDATE_BY_HASH
    else:
        assert update_id is not None
        answer, endpoint = net.ledger.update_by_id(update_id, transaction_format=shown), UPDATE_BY_ID
    load.origin.servers[source_of(net.transport.servers("ledger")[0])] = None
    transactions, events = read_ledger_items([answer.raw], str(endpoint))
    return LedgerTransaction(load.frame(transactions), load.of_table(LEDGER_EVENTS).frame(events))


def read_ledger_items(items: Sequence[bytes], endpoint: str) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The two tables of transactions, trees (`eventsById`) and reassignments, events flat or wrapped alike.

    Raises:
        DecodeError: an item breaks the contract.
    """
    events = [_events_of(item, position, endpoint) for position, item in enumerate(items)]
    counts = [len(of_one) for of_one in events]
    transactions = read_records(
        LEDGER_TRANSACTIONS, items, endpoint, supplied={"event_count": counts}, left_out=["/events", "/eventsById"]
    )
    flat = [event for of_one in events for event in of_one]
    ids = transactions.column("update_id").to_pylist()
    supplied = {
        "update_id": [update_id for update_id, count in zip(ids, counts, strict=True) for _ in range(count)],
        "kind": [event.kind for event in flat],
        "view_interfaces": [event.views for event in flat],
        "payload": [None if event.payload is None else bytes(event.payload).decode() for event in flat],
    }
    return transactions, read_records(LEDGER_EVENTS, [event.item for event in flat], endpoint, supplied=supplied)


def _events_of(item: bytes, position: int, endpoint: str) -> list[_Event]:
    with reading(endpoint, table=LEDGER_EVENTS.name, item=f"item {position}"):
        members = _members.decode(item)
        if "eventsById" in members:
            wrapped = list(_members.decode(members["eventsById"]).values())
        else:
            wrapped = _items.decode(members.get("events", Raw(b"[]")))
        return [_unwrap(event) for event in wrapped]


class _Event(NamedTuple):
    kind: str
    item: bytes
    payload: Raw | None
    views: list[str] | None


class _View(Struct, rename="camel"):
    interface_id: str


_views = msgspec.json.Decoder(list[_View] | None)


def _unwrap(event: Raw) -> _Event:
    """An event's kind and its members, whether they lie flat or under `value`; an assignment's contract is raised."""
    outer = _members.decode(event)
    if len(outer) != 1:
        raise ValueError(f"an event has exactly one key, its kind; this one has {sorted(outer)}")
    ((kind, inner),) = outer.items()
    members = _members.decode(inner)
    if "value" in members:  # no event that lies flat has a member of this name
        members |= _members.decode(members.pop("value"))
    if "createdEvent" in members:
        members = _members.decode(members.pop("createdEvent")) | members
    payload = members.pop("createArgument", None)
    if payload is None:
        payload = members.pop("choiceArgument", None)
    return _Event(kind, msgspec.json.encode(members), payload, views_of(members))


def views_of(members: dict[str, Raw]) -> list[str] | None:
    """The interfaces whose views a created contract comes with.

    Raises:
        msgspec.DecodeError: they break the contract.
    """
    views = _views.decode(members.get("interfaceViews", b"null"))
    return None if views is None else [view.interface_id for view in views]
