"""The part of a world that one server shows: all or less because it prunes, and what was active at its snapshots.

Snapshots are taken on a grid of time inside each migration, and after every command, so that its effect on holdings can
be looked up at once. A grid's period is the longest of `PERIODS` with at least eight instants between the first and
the last record time of every migration; chosen when the ledger is made, so that an instant stays one as it grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw, Struct

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import units
from ledgerframes.sandbox.world.templates import COIN, LOCKED_COIN
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import Update, World

NULL: Final = Raw(b"null")


class ScanEvent(Struct):
    """An event of scan's tree; which members count depends on `event_type`. Values stay as they are written."""

    event_type: str
    contract_id: str = ""
    template_id: str = ""
    package_name: str = ""
    create_arguments: Raw = NULL
    created_at: str = ""
    signatories: list[str] = []
    observers: list[str] = []
    choice: str = ""
    choice_argument: Raw = NULL
    exercise_result: Raw = NULL
    child_event_ids: list[str] = []
    consuming: bool = False
    acting_parties: list[str] = []
    interface_id: str | None = None


class ScanLeg(Struct):
    """One leg of a reassignment."""

    submitter: str
    source_synchronizer: str
    target_synchronizer: str
    unassign_id: str
    reassignment_counter: int
    contract_id: str = ""
    created_event: ScanEvent | None = None


class Item(Struct):
    """An item of scan's page: a leg of a reassignment in `event`, or else a transaction."""

    update_id: str
    record_time: str
    migration_id: int = 0
    workflow_id: str = ""
    effective_at: str = ""
    root_event_ids: list[str] = []
    events_by_id: dict[str, ScanEvent] = {}
    event: ScanLeg | None = None


read_item: Final = msgspec.json.Decoder(Item).decode


_MEMBERS: Final = (
    "contract_id", "template_id", "package_name", "create_arguments", "created_at", "signatories", "observers",
)  # fmt: skip
_COINS: Final = frozenset(f"{template.package_name}:{template.entity}" for template in (COIN, LOCKED_COIN))


class Coin(NamedTuple):
    """The terms of a coin contract, locked or not.

    Attributes:
        units: its initial amount in ten-billionths.
        round_number: the round of its creation.
        rate: holding fee a round, as decimal text.
    """

    owner: str
    units: int
    round_number: int
    rate: str
    locked: bool


@dataclass(frozen=True, slots=True)
class Active:
    """A contract that was active.

    Attributes:
        row: the number of its creation among all creations, from 1.
        event: its creation's members, arguments as they were sent.
        event_id: of its creation.
        update_id: of the update that created it.
        migration_id: of that update.
    """

    row: int
    event: ScanEvent
    event_id: str
    update_id: str
    migration_id: int

    @property
    def template(self) -> str:
        """`package-name:Module:Entity`."""
        return f"{self.event.package_name}:{self.event.template_id.partition(':')[2]}"

    def coin(self) -> Coin | None:
        """Its terms as a coin; None if it is none."""
        if self.template not in _COINS:
            return None
        arguments = msgspec.json.decode(self.event.create_arguments)
        payload = arguments.get("amulet", arguments)
        terms = payload["amount"]
        amount, number = units(terms["initialAmount"]), int(terms["createdAt"]["number"])
        return Coin(payload["owner"], amount, number, terms["ratePerRound"]["rate"], "amulet" in arguments)

    def record(self, migration_id: int) -> dict[str, Any]:
        """It as scan sends it, with its update's id if it was created in that migration, the snapshot's."""
        known = {"created_in_update_id": self.update_id} if self.migration_id == migration_id else {}
        return {**self._members(), **known}

    def record_v0(self) -> dict[str, Any]:
        """It as scan sent it under /v0: with an event id, prefixed with #, instead of the update id."""
        return {"event_type": "created_event", "event_id": f"#{self.event_id}", **self._members()}

    def _members(self) -> dict[str, Any]:
        return {name: getattr(self.event, name) for name in _MEMBERS}

    @property
    def stakeholders(self) -> frozenset[str]:
        """The parties that sign or observe it."""
        return frozenset((*self.event.signatories, *self.event.observers))


def active_at(world: World, at: Cursor) -> list[Active]:
    """The contracts that transactions had created and not consumed up to and including `at`, in the order of creation.

    A contract that only an assignment shows is left out, as real servers do, and so is one that the scan's party is no
    stakeholder of.
    """
    party = world.scan_party
    active: dict[str, Active] = {}
    row = 0
    for update in world.updates[: world.position(at)]:
        item = read_item(update.rendered)
        for event_id, event in item.events_by_id.items():
            if event.event_type == "created_event":
                row += 1
                if not party or party in (*event.signatories, *event.observers):
                    active[event.contract_id] = Active(row, event, event_id, item.update_id, item.migration_id)
        for event in item.events_by_id.values():
            if event.event_type == "exercised_event" and event.consuming:
                active.pop(event.contract_id, None)
    return list(active.values())


_CACHED: Final = 4


@dataclass(frozen=True, slots=True)
class Pruning:
    """The pruned part of a server's history; one of the two members is set.

    Attributes:
        before: everything before this record time, in every migration; or before this place in the history.
        window: everything but the last microseconds before the ledger's newest record time.
    """

    before: int | Cursor | None = None
    window: int | None = None

    def begin(self, migration_id: int, *, newest: int) -> Cursor:
        """Where the rest of a migration begins; later migrations if nothing is left.

        Args:
            migration_id: of the migration.
            newest: the ledger's newest record time.
        """
        if isinstance(self.before, tuple):
            return max((migration_id, timestamps.FIRST), self.before)
        return migration_id, newest - (self.window or 0) if self.before is None else self.before


class ServerView:
    """One server's view of a world; its callers hold the world's lock.

    Args:
        world: the world.

    Attributes:
        pruning: the part that this server has pruned, if any; can be set at any time.
    """

    def __init__(self, world: World, *, pruning: Pruning | None = None) -> None:
        self.world = world
        self.pruning = pruning
        self._active: dict[tuple[Cursor, int], list[Active]] = {}

    @property
    def updates(self) -> list[Update]:
        """The updates that this server has had, including pruned ones."""
        return self.world.updates

    def page(self, after: Cursor | None, page_size: int, *, private: bool = False) -> list[Update]:
        """The updates of this server strictly after a cursor, `page_size` at most.

        With `private` also those of which it shows a verdict alone.
        """
        updates = self.world.ledger_updates if private else self.world.updates
        start = self.world.position(after, private=private)
        known = (updates[at] for at in range(start, len(updates)) if self.knows(updates[at]))
        return updates[start : start + page_size] if self.pruning is None else list(islice(known, page_size))

    def knows(self, update: Update) -> bool:
        """Whether this server has that update."""
        return not self.is_pruned((update.migration_id, update.record_time))

    def is_pruned(self, place: Cursor) -> bool:
        """Whether this server has pruned the updates recorded there."""
        return self.pruning is not None and place < self.pruning.begin(place[0], newest=self.world.now)

    def snapshot(self, migration_id: int, record_time: int, *, exact: bool) -> int | None:
        """This server's snapshot of that time, or else the latest one before it; None without one, or a pruned one."""
        found = max((one for one in instants(self.world, migration_id) if one <= record_time), default=None)
        if found is None or (exact and found != record_time) or self.is_pruned((migration_id, found)):
            return None
        return found

    def active(self, at: Cursor) -> list[Active]:
        """The contracts that were active at a snapshot; the last few that were asked for are kept."""
        key = (at, self.world.position(at))
        if key not in self._active:
            while len(self._active) >= _CACHED:
                del self._active[next(iter(self._active))]
            self._active[key] = active_at(self.world, at)
        return self._active[key]

    def instants(self, migration_id: int) -> list[int]:
        """The snapshot instants of a migration that this server has not pruned, the oldest first."""
        return [one for one in instants(self.world, migration_id) if not self.is_pruned((migration_id, one))]


LEAST: Final = 8
PERIODS: Final = tuple(seconds * timestamps.SECOND for seconds in (10_800, 3_600, 1_800, 900, 300, 60, 15, 5, 1))


def choose_period(world: World) -> int:
    """The period of a world's grid in microseconds; each of `PERIODS` divides those before it."""
    migrations = sorted({update.migration_id for update in world.updates})
    for period in PERIODS:
        if all(len(_grid(world, migration_id, period)) >= LEAST for migration_id in migrations):
            return period
    return PERIODS[-1]


def instants(world: World, migration_id: int) -> list[int]:
    """The snapshot instants of a migration, in microseconds; none if the world has no such migration."""
    grid = _grid(world, migration_id, world.snapshot_period)
    # All commands belong to the newest migration.
    newest = bool(world.updates) and world.updates[-1].migration_id == migration_id
    return sorted({*grid, *(world.after_commands if newest else ())})


def _grid(world: World, migration_id: int, period: int) -> range:
    span = world.span(migration_id)
    if span is None:
        return range(0, 0, period)
    first, last = span
    # On a grid of the clock, as real snapshots are: one was of 06:00, for example.
    return range(-(-first // period) * period, last + 1, period)
