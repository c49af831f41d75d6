"""What a server shows that lags or caps its pages; the rigs' servers use it."""

from __future__ import annotations

from typing import Any

from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.views import ServerView
from ledgerframes.sandbox.world.world import Update, World


class RiggedView(ServerView):
    """One server's view of a world.

    Args:
        world: what is shown.
        lag: how many of the last updates this server has not seen yet.
        most: a page of the scan's updates has this number at most, whatever was asked for.
    """

    def __init__(self, world: World, *, lag: int, most: int, **options: Any) -> None:
        super().__init__(world, **options)
        self._lag, self._most = lag, most

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
        found = super().page(after, page_size if private else min(page_size, self._most), private=private)
        return [update for update in found if self._has_come(update)]

    def knows(self, update: Update) -> bool:
        return super().knows(update) and self._has_come(update)
