"""Small simulated ledgers: a few updates on synchronizers with clocks of their own, over one to three migrations.

Time is counted in units of six hours, so that the day by which two migrations may overlap is four units. A world spans
twelve of them and crosses the end of a month.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Sequence
from functools import lru_cache
from string import ascii_lowercase
from typing import Final, NamedTuple

from ledgerframes.timestamps import format_timestamp, to_micros

#: One unit of time, in microseconds: a quarter of a day.
U: Final = 21_600_000_000
#: An item appears on a server less than this after the server's newest one.
SETTLE: Final = 3 * U
#: No update of a migration is later than the first of the next plus this.
OVERLAP: Final = 4 * U
SPAN: Final = 12
BASE: Final = to_micros("2026-01-30T12:00:00Z", "base")

KINDS: Final = ("create", "exercise", "assign", "unassign")
SYNCHRONIZERS: Final = "ABC"


class Item(NamedTuple):
    """One update of a ledger.

    Attributes:
        migration: its migration id.
        at: its record time, in microseconds after the world's beginning.
        synchronizer: who sequenced it.
        name: what tells it from others; its update id ends in it.
        kind: create (one event), exercise (two events), assign, unassign, broken: an item no version can decode, or
            genesis: what the ledger begins with (two events).
    """

    migration: int
    at: int
    synchronizer: str
    name: str
    kind: str = "create"

    @property
    def update_id(self) -> str:
        """The id that servers give it."""
        return f"1220{self.name}"

    @property
    def micros(self) -> int:
        """Its record time since 1970."""
        return BASE + self.at

    @property
    def place(self) -> tuple[int, int]:
        """Migration id and record time since 1970."""
        return self.migration, BASE + self.at

    @property
    def events(self) -> tuple[str, ...]:
        """The ids of its events."""
        count = {"create": 1, "exercise": 2, "genesis": 2}.get(self.kind, 0)
        return tuple(f"{self.update_id}:{number}" for number in range(count))

    def __str__(self) -> str:
        kind = "" if self.kind == "create" else f" {self.kind}"
        return f"{self.name} {self.migration}/{ago(self.micros)} {self.synchronizer}{kind}"


def ledger(text: str) -> tuple[Item, ...]:
    """Items as a history tells them, such as `a 0/3U A, b 1/5U+1 B assign`."""
    return tuple(_item(one) for one in text.split(", ")) if text else ()


def _item(text: str) -> Item:
    name, place, synchronizer, *kind = text.split(" ")
    migration, _, time = place.partition("/")
    return Item(int(migration), at(time), synchronizer, name, *kind)


def at(time: str) -> int:
    """A record time as `ago` tells it, in microseconds after the world's beginning."""
    units, _, rest = time.partition("U")
    return int(units) * U + int(rest or 0)


def network_of(item: Item) -> str:
    """What tells the synchronizers and the DSO of another network from those of the usual one."""
    return item.synchronizer[:-1]


def ago(micros: int) -> str:
    """A record time in the units of a world."""
    units, rest = divmod(micros - BASE, U)
    if not -100 < units < 1000:
        return "-inf" if units < 0 else "inf"
    return f"{units + 1}U{rest - U:+d}" if rest > U // 2 else f"{units}U" + (f"{rest:+d}" if rest else "")


def draw_items(
    rng: random.Random,
    faults: Collection[str],
    *,
    prefix: str = "",
    few: int = 2,
    most: int = 6,
    span: int = SPAN,
    fine: int = 1,
) -> tuple[Item, ...]:
    """A ledger: `few` to `most` updates, ties and overlapping migrations only where the faults allow them."""
    count = rng.randint(few, most)
    migrations = rng.choice([1, 2, 2, 3]) if "migrations" in faults else 1
    starts = _starts(rng, migrations)
    items: dict[tuple[int, int, str], Item] = {}
    names = rng.sample("abcdefghijklmnop" if most <= 16 else ascii_lowercase, count)
    for name in names:
        migration = rng.randrange(migrations)
        last = span if migration == migrations - 1 else min(span, starts[migration + 1] + 6)
        if "overlap" not in faults and migration < migrations - 1:
            last = max(starts[migration], starts[migration + 1] - 1)
        at = rng.randint(starts[migration] * fine, last * fine) * (U // fine)
        if "offbeat" in faults:
            at += rng.choice([0, 0, 0, -1, 1])
        synchronizer = prefix + (rng.choice(SYNCHRONIZERS) if "ties" in faults or "late" in faults else "A")
        kind = "broken" if "broken-item" in faults and rng.random() < 0.2 else rng.choice(KINDS)
        items.setdefault((migration, at, synchronizer), Item(migration, at, synchronizer, prefix + name, kind))
    found = sorted(items.values())
    if "ties" not in faults:
        found = list({item.place: item for item in found}.values())
    if "late-migration" not in faults:
        found = _bounded(found)
    # A ledger begins with one update; without it, nothing shows where it begins.
    if "genesis" in faults and (len(found) < 2 or found[0].at < found[1].at - SETTLE):
        found[0] = found[0]._replace(kind="genesis")
    return tuple(found)


def _starts(rng: random.Random, migrations: int) -> list[int]:
    starts = [1]
    while len(starts) < migrations:
        starts.append(min(starts[-1] + rng.randint(1, 5), SPAN - 1))
    return starts


def _bounded(items: Sequence[Item]) -> list[Item]:
    """Without updates of a migration that are later than the first of the next one plus the overlap."""
    firsts: dict[int, int] = {}
    for item in items:
        firsts[item.migration] = min(item.at, firsts.get(item.migration, item.at))
    following = {one: min((other for other in firsts if other > one), default=one) for one in firsts}
    last = {one: firsts[other] + OVERLAP if other > one else 0 for one, other in following.items()}
    return [item for item in items if item.at <= last[item.migration] or following[item.migration] == item.migration]


def branched(rng: random.Random, items: Sequence[Item], cut: int) -> tuple[Item, ...]:
    """The same ledger up to a record time, and another one after it."""
    kept = [item for item in items if item.at <= cut]
    other: list[Item] = []
    for item in items:
        if item.at > cut and rng.random() < 0.8:
            moved = max(cut + 1, item.at + rng.choice([0, 0, U, -U]))
            other.append(item._replace(name=f"{item.name}x", at=moved))
    unique = {(item.migration, item.at, item.synchronizer): item for item in other}
    return tuple(sorted([*kept, *_bounded(sorted(unique.values()))]))


@lru_cache(4096)
def body_of(item: Item) -> bytes:
    """The JSON that servers send for an update."""
    time = format_timestamp(item.micros)
    if item.kind in {"assign", "unassign"}:
        return json.dumps(_reassignment(item, time)).encode()
    events = {event_id: _created(item, event_id, time) for event_id in item.events}
    roots = list(events)
    if item.kind in {"exercise", "genesis"}:
        roots = roots[:1]
        events[roots[0]] = _exercised(item, roots[0], [item.events[1]])
    if item.kind == "broken":
        roots = [f"{item.update_id}:0"]
        events[roots[0]] = _exercised(item, roots[0], [f"{item.update_id}:9"])
    transaction = {
        "update_id": item.update_id, "migration_id": item.migration, "workflow_id": "", "record_time": time,
        "synchronizer_id": item.synchronizer, "effective_at": time, "offset": "1",
        "root_event_ids": roots, "events_by_id": events,
    }  # fmt: skip
    return json.dumps(transaction).encode()


def _created(item: Item, event_id: str, time: str) -> dict[str, object]:
    return {
        "event_type": "created_event", "event_id": event_id, "contract_id": f"c{event_id}",
        "template_id": "00aa:Sim:Thing", "package_name": "sim", "create_arguments": {"name": item.name},
        "created_at": time[:19] + "Z", "signatories": [f"DSO::{network_of(item)}"], "observers": [],
    }  # fmt: skip


def _exercised(item: Item, event_id: str, children: list[str]) -> dict[str, object]:
    return {
        "event_type": "exercised_event", "event_id": event_id, "contract_id": f"d{item.name}",
        "template_id": "00aa:Splice.DsoBootstrap:DsoBootstrap" if item.kind == "genesis" else "00aa:Sim:Thing",
        "package_name": "sim", "choice": "DsoBootstrap_Bootstrap" if item.kind == "genesis" else "Make",
        "choice_argument": {},
        "child_event_ids": children, "exercise_result": "done", "consuming": False, "acting_parties": ["p"],
        "interface_id": None,
    }  # fmt: skip


def _reassignment(item: Item, time: str) -> dict[str, object]:
    other = network_of(item) + ("B" if item.synchronizer.endswith("A") else "A")
    source, target = (other, item.synchronizer) if item.kind == "assign" else (item.synchronizer, other)
    event: dict[str, object] = {
        "submitter": "p", "source_synchronizer": source, "target_synchronizer": target,
        "migration_id": item.migration, "unassign_id": f"r{item.name}", "reassignment_counter": 1,
    }  # fmt: skip
    if item.kind == "assign":
        event["created_event"] = _created(item, f"{item.update_id}:0", time)
    else:
        event["contract_id"] = f"c{item.name}"
    return {"update_id": item.update_id, "offset": "1", "record_time": time, "event": event}
