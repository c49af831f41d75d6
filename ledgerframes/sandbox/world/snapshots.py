"""The instants at which a simulated ledger's contracts are summarized: a grid of time inside each migration.

A snapshot is taken after every command too, so that its effect on holdings can be looked up at once.

The grid's period is the longest of `PERIODS` that puts at least eight instants between the first and the last record
time of every migration. It is chosen once, when the ledger is made, so that an instant stays one as the ledger grows.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.world import World

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
    return sorted({*grid, *_after_commands(world, migration_id)})


def snapshot_at(world: World, migration_id: int, record_time: int, *, exact: bool) -> int | None:
    """The snapshot of exactly that instant, or else the latest one at or before it; None if there is none."""
    grid, others = _grid(world, migration_id, world.snapshot_period), _after_commands(world, migration_id)
    place = min(len(grid), (record_time - grid.start) // grid.step + 1) if len(grid) else 0
    other = bisect_right(others, record_time)
    snapshot = max([*grid[max(0, place - 1) : max(0, place)], *others[max(0, other - 1) : other]], default=None)
    return snapshot if not exact or snapshot == record_time else None


def _after_commands(world: World, migration_id: int) -> list[int]:
    """The snapshots taken after commands; all commands belong to the newest migration."""
    return world.after_commands if world.updates and world.updates[-1].migration_id == migration_id else []


def _grid(world: World, migration_id: int, period: int) -> range:
    span = world.span(migration_id)
    if span is None:
        return range(0, 0, period)
    first, last = span
    # On a grid of the clock, as real snapshots are: one was of 06:00, for example.
    return range(-(-first // period) * period, last + 1, period)
