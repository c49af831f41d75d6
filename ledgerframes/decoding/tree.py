"""Orders a transaction's events by roots and child ids: preorder, parent and depth; `history` calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ledgerframes.decoding.structs import Event


class TreeError(ValueError):
    """The events do not form a forest; the message names the event."""


class Forest(NamedTuple):
    """Events in preorder, with their parent's id and their depth."""

    events: list[Event]
    parents: list[str | None]
    depths: list[int | None]


def grow(roots: Sequence[str], events_by_id: Mapping[str, Event], forest: Forest) -> None:
    """Append one transaction's events to the forest.

    Events that are not reachable from a root follow in the order of their numbers, without parent and depth.

    Raises:
        TreeError: an event is missing, has two parents, is its own ancestor, or has another id than its key.
    """
    waiting = dict(events_by_id)
    take = waiting.pop
    add_event, add_parent, add_depth = forest.events.append, forest.parents.append, forest.depths.append
    parent: str | None = None
    ids, depth = iter(roots), 0
    above: list[tuple[Iterator[str], str | None, int]] = []
    while True:
        for event_id in ids:
            event = take(event_id, None)
            if event is None or event.event_id != event_id:
                raise TreeError(_why(event_id, parent, events_by_id))
            add_event(event)
            add_parent(parent)
            add_depth(depth)
            if event.child_event_ids:
                above.append((ids, parent, depth))
                ids, parent, depth = iter(event.child_event_ids), event_id, depth + 1
                break
        else:
            if not above:
                break
            ids, parent, depth = above.pop()
    if waiting:
        for event_id in _orphans(waiting, events_by_id):
            if waiting[event_id].event_id != event_id:
                raise TreeError(_why(event_id, None, events_by_id))
            add_event(waiting[event_id])
            # Not an error: without these unreachable events, the item could not be rebuilt.
            add_parent(None)
            add_depth(None)


def _why(event_id: str, parent: str | None, known: Mapping[str, Event]) -> str:
    place = f"child of {parent!r}" if parent else "a root"
    if event_id in known and known[event_id].event_id != event_id:
        return f"event {event_id!r} has the id {known[event_id].event_id!r}"
    if event_id in known:
        return f"event {event_id!r}, {place}, has a second parent or is its own ancestor"
    return f"event {event_id!r}, {place}, is missing"


def _orphans(waiting: Mapping[str, Event], known: Mapping[str, Event]) -> list[str]:
    """Order the unreachable events, after the same checks as for the others."""
    parent_of: dict[str, str] = {}
    for event_id, event in waiting.items():
        for child in event.child_event_ids or ():
            if child not in waiting or child in parent_of:
                raise TreeError(_why(child, event_id, known))
            parent_of[child] = event_id
    for event_id in waiting:
        seen = {event_id}
        above = parent_of.get(event_id)
        while above is not None:
            if above in seen:
                raise TreeError(_why(event_id, above, known))
            seen.add(above)
            above = parent_of.get(above)
    return sorted(waiting, key=_number)


def _number(event_id: str) -> tuple[int, int, str]:
    tail = event_id.rpartition(":")[2]
    if tail.isascii() and tail.isdigit() and len(tail) < 19:
        return 0, int(tail), event_id
    return 1, 0, event_id
