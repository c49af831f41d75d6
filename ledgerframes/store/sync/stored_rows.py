"""`StoredRows`: the rows stored before a sync in the part that it reads again; a server that omits some lacks them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.store.coverage import Interval, intersection
from ledgerframes.store.history_tables import HistoryTables


@dataclass
class StoredRows:
    """The stored rows that are not final yet, and which of them this sync has seen again so far.

    Attributes:
        history: the stored history.
    """

    history: HistoryTables
    _of: dict[int, list[_Part]] = field(default_factory=dict)  # by migration

    def expect(self, intervals: Iterable[Interval], elsewhere: Collection[str]) -> None:
        """Record the stored rows of some intervals that are about to be read.

        Args:
            intervals: the intervals.
            elsewhere: updates that count although a page may show them without a row: they are kept elsewhere.
        """
        for interval in intersection(intervals, self.history.coverage.common):
            rows = self.history.rows_stored(interval).sort_by("record_time")
            if rows.num_rows:
                known = pc.is_in(rows["update_id"], pa.array(list(elsewhere), pa.string()))
                times = rows["record_time"].to_numpy()
                self._of.setdefault(interval.migration_id, []).append(
                    _Part(times, rows["update_id"].combine_chunks(), np.array(known))
                )

    def any_in(self, interval: Interval) -> bool:
        """Whether any rows are stored in an interval that is read."""
        parts = (part.within(interval.lo, interval.hi) for part in self._of.get(interval.migration_id, ()))
        return any(within.start < within.stop for within in parts)

    def show(self, migration_id: int, times: list[int], update_ids: list[str]) -> None:
        """Record updates that were read, with their record times in microseconds."""
        for part in self._of.get(migration_id, ()) if times else ():
            within = part.within(min(times) - 1, max(times))
            shown = pc.is_in(part.update_ids[within], pa.array(update_ids, pa.string()))
            part.shown[within] |= shown.to_numpy(zero_copy_only=False)

    def lacking(self, migration_id: int, lo: int, hi: int) -> dict[str, int]:
        """The rows in (lo, hi] that were not shown, with their record times in microseconds."""
        found: dict[str, int] = {}
        for part in self._of.get(migration_id, ()):
            within = part.within(lo, hi)
            rest = ~part.shown[within]
            if rest.any():
                update_ids = part.update_ids[within].filter(pa.array(rest)).to_pylist()
                found.update(zip(update_ids, part.times[within][rest].tolist(), strict=True))
        return found


@dataclass(frozen=True)
class _Part:
    """Stored rows in the order of their record times.

    Attributes:
        times: their record times in microseconds.
        update_ids: the ids of their updates.
        shown: which of them have been shown.
    """

    times: np.ndarray[Any, np.dtype[np.int64]]
    update_ids: pa.Array
    shown: np.ndarray[Any, np.dtype[np.bool_]]

    def within(self, lo: int, hi: int) -> slice:
        """The rows of (lo, hi]."""
        first, last = np.searchsorted(self.times, (lo, hi), side="right").tolist()
        return slice(first, last)
