"""The part of a world that one server shows: all, or less because it prunes; routes read it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.active_set import Active, active_at
from ledgerframes.sandbox.world.snapshots import instants, snapshot_at
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import Update, World

_KEPT: Final = 4


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

    def end(self) -> int:
        """The number of the world's updates that this server has had, including pruned ones."""
        return len(self.world.updates)

    def page(self, after: Cursor | None, page_size: int, *, private: bool = False) -> list[Update]:
        """The updates of this server strictly after a cursor, `page_size` at most.

        With `private` also those of which it shows a verdict alone.
        """
        updates = self.world.ledger_updates if private else self.world.updates
        start, end = self.world.position(after, private=private), self.end()
        if private:
            shown = self.world.updates
            end = len(updates) if end == len(shown) else bisect_left(updates, shown[end])
        if self.pruning is None:
            return updates[start : min(end, start + page_size)]
        return list(islice(self._kept(start, end, private=private), page_size))

    def knows(self, update: Update) -> bool:
        """Whether this server has that update already."""
        shown, end = self.world.updates, self.end()
        beyond = end < len(shown) and update >= shown[end]
        return not beyond and not self.is_pruned((update.migration_id, update.record_time))

    def is_pruned(self, place: Cursor) -> bool:
        """Whether this server has pruned the updates recorded there."""
        return self.pruning is not None and place < self.pruning.begin(place[0], newest=self.world.now)

    def snapshot(self, migration_id: int, record_time: int, *, exact: bool) -> int | None:
        """This server's snapshot of that time, or else the latest one at or before it; None if there is none.

        It has none later than the newest update that it shows, and none that it has pruned.
        """
        shown = self.end()
        newest = self.world.updates[shown - 1] if shown else None
        if newest is None or newest.migration_id < migration_id:
            return None
        if newest.migration_id == migration_id and newest.record_time < record_time:
            if exact:
                return None
            record_time = newest.record_time
        found = snapshot_at(self.world, migration_id, record_time, exact=exact)
        return None if found is None or self.is_pruned((migration_id, found)) else found

    def active(self, at: Cursor) -> list[Active]:
        """The contracts that were active at a snapshot; the last few that were asked for are kept."""
        key = (at, self.world.position(at))
        if key not in self._active:
            while len(self._active) >= _KEPT:
                del self._active[next(iter(self._active))]
            self._active[key] = active_at(self.world, at)
        return self._active[key]

    def instants(self, migration_id: int) -> list[int]:
        """The snapshot instants of a migration that this server has not pruned, the oldest first."""
        return [one for one in instants(self.world, migration_id) if not self.is_pruned((migration_id, one))]

    def _kept(self, start: int, end: int, *, private: bool) -> Iterator[Update]:
        """The updates from one position up to another, without those that are pruned."""
        updates, at = self.world.ledger_updates if private else self.world.updates, start
        while at < end:
            migration_id, record_time = updates[at][:2]
            if self.is_pruned((migration_id, record_time)):
                assert self.pruning is not None
                first, time = self.pruning.begin(migration_id, newest=self.world.now)
                at = self.world.position((first, time - 1), private=private)
            else:
                yield updates[at]
                at += 1
