"""The few hundred bodies that every item of the bulk history is made from; `bulk_history` fills them in.

A body is one item's JSON with marks where the item's own ids and times go. Bodies follow each other in a
fixed cycle, so that contracts can be consumed and reassigned by later items.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import lru_cache

from tests.benchmarks.bulk.trees import Contract, Tree, grow

CYCLE = 400
BLOCK = 20
HERE = "global-domain::1220be58c29e65de40bf273be1dc2b266d43a9a002ea5b18955aeef7aac881bb471a"
THERE = "market-domain::12204f5d1b8e57a2cc906b4a0bb1b2f53a6d8c0fcd36f1c1a1ae1b0ecf4c3b8f5d02"

# Positions in a block that are recorded on the second synchronizer. Items 3 and 4, 9 and 10, 15 and 16
# share their record time, so one of each pair has to be.
ON_SECOND = frozenset({4, 7, 10, 16})

# One-byte marks: replacing a byte costs a scan at memory speed, and none occurs in JSON text.
MARKS: dict[str, bytes] = {
    "{core}": b"\x01",
    "{record}": b"\x02",
    "{effective}": b"\x03",
    "{created}": b"\x04",
    "{migration}": b"\x05",
    "{anchor}": b"\x06",
    "{previous}": b"\x07",
}


@dataclass(frozen=True, slots=True)
class Body:
    """One item with marks in place of its ids and times.

    Attributes:
        text: the JSON with the bytes of `MARKS`.
        events: how many a transaction has.
        anchor: how many items before this one its reassigned contract was created; 0 for a transaction. The
            effective time is that item's.
    """

    text: bytes
    events: int = 0
    anchor: int = 0


@lru_cache(maxsize=4)
def bodies(seed: int) -> tuple[Body, ...]:
    """The cycle of bodies of one seed."""
    made: list[Body] = []
    before: Tree | None = None
    anchor: Tree | None = None
    for position in range(CYCLE):
        step = position % BLOCK
        rng = random.Random(f"{seed}/{position}")
        if anchor is not None and (leg := _leg(position)) is not None:
            made.append(_reassignment(anchor.live[0], leg=leg, step=step))
            before = None
            continue
        tree = _grow(rng, position=position, before=before)
        made.append(_transaction(tree, rng=rng, step=step))
        anchor = tree if step == 0 else anchor
        before = tree
    return tuple(made)


def synchronizer(step: int) -> str:
    """The synchronizer that records the item at this position of its block."""
    return THERE if step in ON_SECOND else HERE


def _leg(position: int) -> str | None:
    """Which step of a contract's way there and back an item is, if any; one contract in the cycle stays away."""
    block, step = divmod(position, BLOCK)
    if block % 4 == 1:
        return {2: "leave", 4: "arrive", 10: "return", 13: "back"}.get(step)
    return "leave" if (block, step) == (18, 2) else None


def _grow(rng: random.Random, *, position: int, before: Tree | None) -> Tree:
    """A tree; the first of a block leaves one contract to be reassigned and one to be consumed."""
    needed = 2 if position % BLOCK == 0 else 0
    consumable = before.live[-1] if before is not None and before.live else None
    while True:
        # Later items consume or reassign these contracts, so a tree with fewer is drawn again.
        tree = grow(rng, consumable=consumable)
        if len(tree.live) >= needed:
            return tree


def _transaction(tree: Tree, *, rng: random.Random, step: int) -> Body:
    item: dict[str, object] = {
        "update_id": "1220{core}",
        "migration_id": "{migration}",
        "workflow_id": "" if rng.random() < 0.7 else f"order-flow-{rng.randrange(100)}",
        "record_time": "{record}",
        "synchronizer_id": synchronizer(step),
        "effective_at": "{effective}",
        "root_event_ids": tree.roots,
        "events_by_id": {event["event_id"]: event for event in tree.events},
    }
    if rng.random() < 0.2:
        item["external_transaction_hash"] = "{core}"
    return Body(_marked(item), len(tree.events))


def _reassignment(contract: Contract, *, leg: str, step: int) -> Body:
    """One step of a contract's way; its source and target follow from who records it."""
    away = leg in ("leave", "arrive")
    event: dict[str, object] = {
        "submitter": contract.event["signatories"][0],
        "source_synchronizer": HERE if away else THERE,
        "target_synchronizer": THERE if away else HERE,
        "migration_id": "{migration}",
        "unassign_id": "00{anchor}" + ("01" if away else "02"),
        "reassignment_counter": 1 if away else 2,
    }
    arrives = leg in ("arrive", "back")
    if arrives:
        moved = json.loads(json.dumps(contract.event).replace("{core}", "{anchor}"))
        event["created_event"] = {**moved, "event_id": "1220{core}:0"}
    else:
        event["contract_id"] = contract.contract_id.replace("{core}", "{anchor}")
    item: dict[str, object] = {
        "update_id": "1220{core}",
        # A constant on real servers as well.
        "offset": "000000000000000001",
        "record_time": "{record}",
        "event": event,
    }
    return Body(_marked(item), anchor=step)


def _marked(item: dict[str, object]) -> bytes:
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    text = text.replace('"{migration}"', "{migration}")
    sent = text.encode()
    for name, mark in MARKS.items():
        sent = sent.replace(name.encode(), mark)
    return sent
