"""A scan transaction's events as a participant numbers them, with who witnesses each; the ledger's reads call it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ledgerframes.sandbox.world.contracts import Origin
from ledgerframes.sandbox.world.items import Item, ScanEvent


@dataclass(slots=True)
class Node:
    """One event in its place.

    Attributes:
        node_id: its number in preorder.
        last: the number of the last event below it; its own if there is none.
        stakeholders: signatories and observers of its contract.
        witnesses: who sees it: those it concerns, and those whom an event above it concerns.
        acs_delta: it changes the active contracts after the transaction: no contract that comes and goes within it.
    """

    node_id: int
    event: ScanEvent
    stakeholders: tuple[str, ...]
    witnesses: tuple[str, ...]
    last: int = 0
    acs_delta: bool = False


def nodes_of(transaction: Item, origins: Mapping[str, Origin]) -> list[Node]:
    """The creations and exercises of a transaction in preorder; events that no root reaches are left out.

    Args:
        transaction: as scan has it.
        origins: signatories and observers of every contract that it may act on.
    """
    walked = list(_walk(transaction, origins))
    _close(walked)
    events = [node.event for node, _ in walked]
    created = {event.contract_id for event in events if event.event_type == "created_event"}
    consumed = {event.contract_id for event in events if event.consuming}
    for node, _ in walked:
        other = consumed if node.event.event_type == "created_event" else created
        changes = node.event.event_type == "created_event" or node.event.consuming
        # Contracts that a transaction both creates and consumes leave the active contracts unchanged.
        node.acs_delta = changes and node.event.contract_id not in other
    return [node for node, _ in walked if node.event.event_type in ("created_event", "exercised_event")]


def _walk(transaction: Item, origins: Mapping[str, Origin]) -> Iterator[tuple[Node, int]]:
    """Every event that a root reaches, with the number of the one above it, or -1."""
    # A stack instead of recursion, because trees can be deeper than Python's limit.
    waiting: list[tuple[str, int, tuple[str, ...]]] = [
        (event_id, -1, ()) for event_id in reversed(transaction.root_event_ids)
    ]
    number = 0
    while waiting:
        event_id, parent, above = waiting.pop()
        event = transaction.events_by_id[event_id]
        stakeholders, informed = _concerned(event, origins.get(event.contract_id))
        node = Node(number, event, stakeholders, tuple(dict.fromkeys((*above, *informed))), number)
        yield node, parent
        waiting.extend((child, number, node.witnesses) for child in reversed(event.child_event_ids))
        number += 1


def _concerned(event: ScanEvent, origin: Origin | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stakeholders of an event's contract, and the parties concerned by the event itself."""
    if event.event_type == "created_event":
        stakeholders = tuple(dict.fromkeys((*event.signatories, *event.observers)))
        return stakeholders, stakeholders
    signatories, observers = (origin.signatories, origin.observers) if origin else (tuple(event.acting_parties), ())
    stakeholders = tuple(dict.fromkeys((*signatories, *observers)))
    # An exercise that ends a contract concerns its observers too.
    return stakeholders, (*(stakeholders if event.consuming else signatories), *event.acting_parties)


def _close(walked: list[tuple[Node, int]]) -> None:
    """Set the number of the last event below every event."""
    for node, parent in reversed(walked):
        if parent >= 0:
            above = walked[parent][0]
            above.last = max(above.last, node.last)
