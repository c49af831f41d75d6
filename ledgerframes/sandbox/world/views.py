"""What one server shows of a world: all, or less because it lags or prunes, or some updates late; routes read it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.snapshots import instants, snapshot_at
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import Update, World


@dataclass(frozen=True, slots=True)
class Pruning:
    """What a server no longer has; one of the two members is set.

    Attributes:
        before: everything before this record time, in every migration; or before this place in the history.
        window: everything but the last microseconds before the ledger's newest record time.
    """

    before: int | Cursor | None = None
    window: int | None = None

    def begin(self, migration_id: int, *, newest: int) -> Cursor:
        """Where what is left of a migration begins; later migrations where nothing is.

        Args:
            migration_id: of the migration.
            newest: the ledger's newest record time.
        """
        if isinstance(self.before, tuple):
            return max((migration_id, timestamps.FIRST), self.before)
        return migration_id, newest - (self.window or 0) if self.before is None else self.before


class View:
    """One server's view of a world.

    A late update belongs to another synchronizer than the main one and is young: it lies within `late_span` of the
    newest record time. It shows up once `late_requests` pages have passed over it, or once it is young no more.

    Args:
        world: what is shown.
        lag: how many of the last updates this server has not seen yet.
        late: which share of the other synchronizers' young updates is late, from 0 to 1.
        late_requests: how many pages pass over a late update before it appears.
        late_span: seconds before the newest record time within which updates count as young.
        seed: decides which updates are late.

    Attributes:
        pruning: what this server has thrown away, if anything; can be set at any time.
    """

    def __init__(
        self,
        world: World,
        *,
        lag: int = 0,
        late: float = 0.0,
        late_requests: int = 3,
        late_span: float = 60.0,
        seed: int = 0,
        pruning: Pruning | None = None,
    ) -> None:
        self.world = world
        self.pruning = pruning
        self.lag = lag
        self._late = late
        self._late_requests = late_requests
        self._late_span = int(late_span * timestamps.SECOND)
        self._seed = seed
        self._passed: dict[str, int] = {}

    def page(self, after: Cursor | None, page_size: int, *, private: bool = False) -> list[Update]:
        """The updates of this server strictly after a cursor, `page_size` at most.

        With `private` also those of which it shows a verdict alone.
        """
        with self.world.lock:
            updates = self.world.ledger_updates if private else self.world.updates
            start, end = self.world.position(after, private=private), max(0, len(self.world.updates) - self.lag)
            hidden = self._hidden(end)
            if private:
                end = len(updates) if not self.lag else bisect_left(updates, self.world.updates[end])
            if not hidden and self.pruning is None:
                return updates[start : min(end, start + page_size)]
            kept = (one for one in self._kept(start, end, private=private) if one.update_id not in hidden)
            shown = list(islice(kept, page_size))
            self._count_passed(hidden, updates[start:][:1], shown, whole=len(shown) < page_size)
            return shown

    def knows(self, update: Update) -> bool:
        """Whether this server has that update already."""
        with self.world.lock:
            end = max(0, len(self.world.updates) - self.lag)
            beyond = end < len(self.world.updates) and update >= self.world.updates[end]
            pruned = self.is_pruned((update.migration_id, update.record_time))
            return not beyond and not pruned and update.update_id not in self._hidden(end)

    def is_pruned(self, place: Cursor) -> bool:
        """Whether this server has thrown away what was recorded there."""
        return self.pruning is not None and place < self.pruning.begin(place[0], newest=self.world.now)

    def snapshot(self, migration_id: int, record_time: int, *, exact: bool) -> int | None:
        """This server's snapshot of that time, or else the latest one at or before it; None if there is none.

        It has none later than the newest update that it shows, and none that it has pruned.
        """
        shown = max(0, len(self.world.updates) - self.lag)
        newest = self.world.updates[shown - 1] if shown else None
        if newest is None or newest.migration_id < migration_id:
            return None
        if newest.migration_id == migration_id and newest.record_time < record_time:
            if exact:
                return None
            record_time = newest.record_time
        found = snapshot_at(self.world, migration_id, record_time, exact=exact)
        return None if found is None or self.is_pruned((migration_id, found)) else found

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

    def _hidden(self, end: int) -> dict[str, Update]:
        if not self._late or not end:
            return {}
        newest = self.world.updates[end - 1]
        young = self.world.position((newest.migration_id, newest.record_time - self._late_span))
        return {update.update_id: update for update in self.world.updates[young:end] if self._is_late(update)}

    def _is_late(self, update: Update) -> bool:
        # On real networks late updates come from synchronizers that lag, not from all.
        if update.synchronizer_id == self.world.synchronizers[0]:
            return False
        if self._passed.get(update.update_id, 0) >= self._late_requests:
            return False
        # From the id alone, so that a replica and a second run hide the same updates.
        return Random(f"{self._seed}/{update.update_id}").random() < self._late

    def _count_passed(
        self, hidden: dict[str, Update], first: list[Update], shown: list[Update], *, whole: bool
    ) -> None:
        """Count this page for every hidden update that would have been in it or before its last item."""
        for update in hidden.values():
            reached = whole or (bool(shown) and update < shown[-1])
            if first and first[0] <= update and reached:
                self._passed[update.update_id] = self._passed.get(update.update_id, 0) + 1
