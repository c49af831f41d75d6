"""`StoredRows`: the rows stored before a sync in the part that it reads again; a server that omits some lacks them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ledgerframes.store.coverage import Interval, intersection
from ledgerframes.store.history_tables import HistoryTables


@dataclass
class StoredRows:
    """The stored rows that are not final yet, and which of them this sync has seen again so far.

    Attributes:
        history: the stored history.
    """

    history: HistoryTables
    _of: dict[int, list[tuple[int, str]]] = field(default_factory=dict)  # by migration, in order of time
    _shown: set[str] = field(default_factory=set)

    def expect(self, intervals: Iterable[Interval]) -> None:
        """Record the stored rows of some intervals that are about to be read."""
        for interval in intersection(intervals, self.history.coverage.common):
            rows = {(micros, update_id) for update_id, micros in self.history.stored(interval).items()}
            self._of[interval.migration_id] = sorted(rows.union(self._of.get(interval.migration_id, ())))

    def any_in(self, interval: Interval) -> bool:
        """Whether any rows are stored in an interval that is read."""
        return bool(self._within(*interval))

    def show(self, update_ids: Iterable[str]) -> None:
        """Record updates that were read."""
        self._shown.update(update_ids)

    def lacking(self, migration_id: int, lo: int, hi: int) -> dict[str, int]:
        """The rows in (lo, hi] that were not shown, with their record times in microseconds."""
        rows = self._within(migration_id, lo, hi)
        return {update_id: micros for micros, update_id in rows if update_id not in self._shown}

    def _within(self, migration_id: int, lo: int, hi: int) -> Sequence[tuple[int, str]]:
        rows = self._of.get(migration_id, [])
        first, last = (bisect_right(rows, micros, key=lambda row: row[0]) for micros in (lo, hi))
        return rows[first:last]
