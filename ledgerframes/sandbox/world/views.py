"""The part of a world that one server shows, all or less because it prunes, and the instants of its snapshots.

Snapshots are taken on a grid of time inside each migration, and after every command, so that its effect on holdings can
be looked up at once. A grid's period is the longest of `PERIODS` with at least eight instants between the first and
the last record time of every migration; chosen when the ledger is made, so that an instant stays one as it grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.active_set import Active, active_at
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import Update, World

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
