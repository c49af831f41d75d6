"""What one server shows of a world: all, or less because it lags, or some updates late; the scan routes read it."""

from __future__ import annotations

from random import Random

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import Update, World


class View:
    """One server's view of a world.

    A late update belongs to the slowest synchronizer and is young: it lies within `late_span` of the newest
    record time. It shows up once `late_requests` pages have passed over it, or once it is young no more.

    Args:
        world: what is shown.
        lag: how many of the last updates this server has not seen yet.
        late: which share of the slowest synchronizer's young updates is late, from 0 to 1.
        late_requests: how many pages pass over a late update before it appears.
        late_span: seconds before the newest record time within which updates count as young.
        seed: decides which updates are late.
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
    ) -> None:
        self.world = world
        self.lag = lag
        self._late = late
        self._late_requests = late_requests
        self._late_span = int(late_span * timestamps.SECOND)
        self._seed = seed
        self._passed: dict[str, int] = {}

    def page(self, after: Cursor | None, page_size: int) -> list[Update]:
        """The updates of this server strictly after a cursor, `page_size` at most."""
        with self.world.lock:
            start, end = self.world.position(after), max(0, len(self.world.updates) - self.lag)
            hidden = self._hidden(end)
            if not hidden:
                return self.world.updates[start : min(end, start + page_size)]
            # More than a page, because hidden updates do not count towards its size.
            ahead = self.world.updates[start : min(end, start + page_size + len(hidden))]
            shown = [update for update in ahead if update.update_id not in hidden][:page_size]
            self._count_passed(hidden, start, shown, whole=len(shown) < page_size)
            return shown

    def knows(self, update: Update) -> bool:
        """Whether this server has that update already."""
        with self.world.lock:
            end = max(0, len(self.world.updates) - self.lag)
            beyond = end < len(self.world.updates) and update >= self.world.updates[end]
            return not beyond and update.update_id not in self._hidden(end)

    def _hidden(self, end: int) -> dict[str, Update]:
        if not self._late or not end:
            return {}
        newest = self.world.updates[end - 1]
        young = self.world.position((newest.migration_id, newest.record_time - self._late_span))
        return {update.update_id: update for update in self.world.updates[young:end] if self._is_late(update)}

    def _is_late(self, update: Update) -> bool:
        # On real networks late updates come from a synchronizer that lags, not from all.
        if update.synchronizer_id != self.world.synchronizers[-1]:
            return False
        if self._passed.get(update.update_id, 0) >= self._late_requests:
            return False
        # From the id alone, so that a replica and a second run hide the same updates.
        return Random(f"{self._seed}/{update.update_id}").random() < self._late

    def _count_passed(self, hidden: dict[str, Update], start: int, shown: list[Update], *, whole: bool) -> None:
        """Count this page for every hidden update that would have been in it or before its last item."""
        first = self.world.updates[start] if start < len(self.world.updates) else None
        for update in hidden.values():
            reached = whole or (bool(shown) and update < shown[-1])
            if first is not None and first <= update and reached:
                self._passed[update.update_id] = self._passed.get(update.update_id, 0) + 1
