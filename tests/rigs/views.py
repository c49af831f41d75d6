"""What a server shows that lags, or whose other synchronizers' updates come late; the rigs' servers use it."""

from __future__ import annotations

from random import Random
from typing import Any

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.views import ServerView
from ledgerframes.sandbox.world.world import Update, World


class RiggedView(ServerView):
    """One server's view of a world.

    A late update belongs to another synchronizer than the main one and is young: it lies within a minute of the newest
    record time. It shows up once three pages have passed over it, or once it is young no more.

    Args:
        world: what is shown.
        lag: how many of the last updates this server has not seen yet.
        late: which share of the other synchronizers' young updates is late, from 0 to 1.
        most: a page of the scan's updates has this number at most, whatever was asked for.
        seed: decides which updates are late.
    """

    def __init__(self, world: World, *, lag: int, late: float, most: int, seed: int, **options: Any) -> None:
        super().__init__(world, **options)
        self._lag, self._late, self._most, self._seed = lag, late, most, seed
        self._passed: dict[str, int] = {}

    @property
    def updates(self) -> list[Update]:
        return self.world.updates[: self._end]

    @property
    def _end(self) -> int:
        return max(0, len(self.world.updates) - self._lag)

    def _has_come(self, update: Update) -> bool:
        """Whether an update, also one of which the scan shows a verdict alone, lies before those that lag."""
        return self._end == len(self.world.updates) or update < self.world.updates[self._end]

    def page(self, after: Cursor | None, page_size: int, *, private: bool = False) -> list[Update]:
        hidden = self._hidden(self._end)
        page_size = page_size if private else min(page_size, self._most)
        found = super().page(after, page_size + len(hidden), private=private)
        found = [update for update in found if self._has_come(update)]
        shown = [update for update in found if update.update_id not in hidden][:page_size]
        self._count_passed(hidden, found[:1], shown, whole=len(shown) < page_size)
        return shown

    def knows(self, update: Update) -> bool:
        hidden = update.update_id in self._hidden(self._end)
        return super().knows(update) and self._has_come(update) and not hidden

    def _hidden(self, end: int) -> dict[str, Update]:
        if not self._late or not end:
            return {}
        newest = self.world.updates[end - 1]
        young = self.world.position((newest.migration_id, newest.record_time - 60 * timestamps.SECOND))
        return {update.update_id: update for update in self.world.updates[young:end] if self._is_late(update)}

    def _is_late(self, update: Update) -> bool:
        # On real networks late updates come from synchronizers that lag, not from all.
        if update.synchronizer_id == self.world.synchronizers[0]:
            return False
        if self._passed.get(update.update_id, 0) >= 3:
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
