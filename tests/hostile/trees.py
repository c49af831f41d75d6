"""Event trees of hostile transactions: deep, wide, empty, oddly numbered, with unknown kinds and unreached events."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.hostile import values

Event = dict[str, Any]

DEEP_LEVELS: Final = 300
WIDE_EVENTS: Final = 2_000

_TEMPLATES: Final = (
    f"{'0f' * 32}:Splice.Amulet:Amulet",
    f"{'e7' * 32}:A.Very.Long.Module.Name.With.Parts:T",
    "#package-by-name:Main:Asset",
)


def _event(rng: Random, kind: str, event_id: str) -> Event:
    return {
        "event_type": kind,
        "event_id": event_id,
        "contract_id": values.text(rng),
        "template_id": rng.choice(_TEMPLATES),
        "package_name": values.text(rng),
    }


def created_event(rng: Random, event_id: str) -> Event:
    """A created event whose required members are there, whatever else is."""
    return {
        **_event(rng, "created_event", event_id),
        "create_arguments": values.argument(rng),
        "created_at": values.time(rng),
        "signatories": _parties(rng),
        "observers": _parties(rng),
        **values.unknown(rng),
    }


def tree(rng: Random, update_id: str, shape: str) -> tuple[list[str], dict[str, Event]]:
    """The root ids and events by id of a "deep", "wide", "nested", "long" or "empty" transaction, else a random one."""
    if shape == "empty":
        return [], {}
    parents = _parents(rng, shape)
    number = _numbering(rng, update_id)
    ids = [number(position) for position in range(len(parents))]
    children: list[list[str]] = [[] for _ in parents]
    for position, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(ids[position])
    node = _plain if len(parents) >= DEEP_LEVELS else _node
    events = {node_id: node(rng, node_id, below) for node_id, below in zip(ids, children, strict=True)}
    roots = [node_id for node_id, parent in zip(ids, parents, strict=True) if parent == -1]
    if shape in {"nested", "long"}:
        special = {"text": "\U0001f4dc" * 50_000} if shape == "long" else values.nested()
        events[ids[0]] = {**created_event(rng, ids[0]), "create_arguments": special} if not children[0] else {
            **_exercised(rng, ids[0], children[0]), "choice_argument": special
        }  # fmt: skip
    return roots, dict(sorted(events.items()))


def _parents(rng: Random, shape: str) -> list[int]:
    """For each event in preorder the position of its parent; -1 is a root, -2 an event that nothing reaches."""
    if shape == "deep":
        return list(range(-1, DEEP_LEVELS - 1))
    if shape == "wide":
        return [-1, *[0] * (WIDE_EVENTS - 1)]
    parents: list[int] = []
    path: list[int] = []
    for position in range(rng.choice((1, 1, 2, 3, 5, 12))):
        del path[rng.randrange(len(path) + 1) :]
        parents.append(path[-1] if path else -1)
        path.append(position)
    if rng.random() < 0.1:
        first = len(parents)
        parents += [-2, first, -2]
    return parents


def _numbering(rng: Random, update_id: str) -> Callable[[int], str]:
    """How events are numbered: mostly as usual, else with gaps, backwards, or by no rule at all."""
    chance = rng.random()
    if chance < 0.8:
        return lambda position: f"{update_id}:{position}"
    if chance < 0.87:
        return lambda position: f"{update_id}:{position * 10**18 + 7}"
    if chance < 0.93:
        # Numbers that fall, so that only roots and child ids give the order.
        return lambda position: f"{update_id}:{9_999 - position}"
    return lambda position: f"{chr(0x1F600 + position)}/{'~' * (position % 7)}"


def _node(rng: Random, event_id: str, children: list[str]) -> Event:
    chance = rng.random()
    if not children and chance < 0.5:
        return created_event(rng, event_id)
    if chance < (0.95 if children else 0.85):
        return _exercised(rng, event_id, children)
    if chance < 0.95:
        event = _event(rng, "archived_event", event_id)
        return {**event, "witness_parties": _parties(rng), "/odd~member": values.value(rng)}
    # An unknown kind without contract and template, above other events or not.
    event = {"event_type": "rollback_event", "event_id": event_id, "reason": values.value(rng)}
    return {**event, "child_event_ids": children} if children or rng.random() < 0.5 else event


def _exercised(rng: Random, event_id: str, children: list[str]) -> Event:
    event = {
        **_event(rng, "exercised_event", event_id),
        "choice": values.text(rng),
        "choice_argument": values.argument(rng) if rng.random() < 0.8 else values.value(rng),
        "child_event_ids": children,
        "exercise_result": values.value(rng),
        "consuming": rng.random() < 0.5,
        "acting_parties": _parties(rng),
        **values.unknown(rng),
    }
    interface = rng.choice((None, None, "absent", _TEMPLATES[1]))
    return event if interface == "absent" else {**event, "interface_id": interface}


def _plain(rng: Random, event_id: str, children: list[str]) -> Event:
    """One of very many events: small, with nothing odd about it but its number of relatives."""
    return {
        "event_type": "exercised_event", "event_id": event_id, "contract_id": "00", "template_id": _TEMPLATES[0],
        "package_name": "p", "choice": "Go", "choice_argument": {}, "child_event_ids": children,
        "exercise_result": None, "consuming": False, "acting_parties": [], "interface_id": None,
        **values.unknown(rng, 0.01),
    }  # fmt: skip


def _parties(rng: Random) -> list[str]:
    return [f"{values.text(rng)}::1220" if rng.random() < 0.5 else "alice::1220ab" for _ in range(rng.randrange(3))]
