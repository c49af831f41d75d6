"""Update items that a test writes by hand: the events of a transaction as nodes, and the item of a few roots."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

PACKAGE = "ab" * 32
SYNC = "sync-a::1220aa"
DSO = "DSO::1220dd"


@dataclass
class Node:
    """An event of a transaction that a test writes."""

    template: str
    contract: str
    arguments: Any
    choice: str | None = None
    result: Any = None
    consuming: bool = False
    interface: str | None = None
    children: list[Node] = field(default_factory=list)
    acting: list[str] = field(default_factory=lambda: [DSO])
    signatories: list[str] = field(default_factory=lambda: [DSO])


def create(template: str, contract: str, arguments: dict[str, Any], **more: Any) -> Node:
    """A create."""
    return Node(template, contract, arguments, **more)


def exercise(
    template: str, contract: str, choice: str, arguments: Any = None, result: Any = None, *children: Node, **more: Any
) -> Node:
    """An exercise with its consequences."""
    return Node(template, contract, arguments or {}, choice, result, children=list(children), **more)


def archive(
    template: str, contract: str, choice: str = "Archive", arguments: Any = None, result: Any = None, *children: Node
) -> Node:
    """A consuming exercise."""
    return exercise(template, contract, choice, arguments, {} if result is None else result, *children, consuming=True)


def update(name: str, second: float, *roots: Node) -> dict[str, Any]:
    """An update item, recorded so many seconds after noon."""
    numbers = itertools.count()
    events: dict[str, Any] = {}
    time = pd.Timestamp("2026-01-01 12:00:00", tz="UTC") + pd.Timedelta(seconds=second)
    text = time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def add(node: Node) -> str:
        key = f"{name}:{next(numbers)}"
        base = {
            "contract_id": node.contract, "template_id": f"{PACKAGE}:{node.template}", "package_name": "splice-amulet",
        }  # fmt: skip
        events[key] = {}
        if node.choice is None:
            events[key] |= base | {
                "event_type": "created_event", "create_arguments": node.arguments, "created_at": text,
                "signatories": node.signatories, "observers": [],
            }  # fmt: skip
        else:
            events[key] |= base | {
                "event_type": "exercised_event", "choice": node.choice, "choice_argument": node.arguments,
                "exercise_result": node.result, "consuming": node.consuming, "acting_parties": node.acting,
                "interface_id": node.interface, "child_event_ids": [add(child) for child in node.children],
            }  # fmt: skip
        return key

    roots_of = [add(root) for root in roots]
    return {
        "update_id": name, "migration_id": 0, "workflow_id": "", "record_time": text, "synchronizer_id": SYNC,
        "effective_at": text, "root_event_ids": roots_of, "events_by_id": events,
    }  # fmt: skip


def apart(name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same items with contracts of their own, so that those of another case may have the same ids."""
    text = json.dumps(items)
    for contract in {event["contract_id"] for item in items for event in item["events_by_id"].values()}:
        text = text.replace(f'"{contract}"', f'"{contract} of {name}"')
    found: list[dict[str, Any]] = json.loads(text)
    return found
