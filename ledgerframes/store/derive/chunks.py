"""`HistoryReader` reads the history of a store in chunks, each small enough to be computed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.loaders.history import History
from ledgerframes.store.coverage import Interval, missing, rows_of
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.lake import View
from ledgerframes.store.read.reading import load_table, visible_rows
from ledgerframes.store.table_sets import HISTORY

#: A chunk ends once it has this many events and legs; memory is bounded by it, whatever the length of the history.
# With payloads of 2 kB a chunk takes 200 MB; a day of a busy network has millions of events.
EVENTS_AT_ONCE: Final = 100_000
#: What the computed tables read of events.
_EVENTS: Final = (
    *("update_id", "event_id", "parent_event_id", "node_index", "depth", "migration_id", "record_time"),
    "event_type",
    *("contract_id", "template_name", "created_at", "choice", "consuming", "interface_id", "payload"),
    "exercise_result",
)
#: Updates whose record times are in memory at once, but for those of one more file.
_PLANNED_AT_ONCE: Final = 250_000


class HistoryReader:
    """Reads the history of a store in chunks; each of its tables is opened once.

    Args:
        view: the store's state.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        # To list the files of a table costs more than to read a few rows of them.
        self._data = {name: view.tables[name].dataset() for name in HISTORY.order}

    def rows(self, interval: Interval, columns: Sequence[str] = _EVENTS) -> History[Any]:
        """The events and legs of an interval, in the order of the history.

        Args:
            interval: of one migration.
            columns: of the events; by default those that computed tables are computed from.
        """
        legs = self._view.tables["reassignments"].table.names
        return History(None, self._rows("events", interval, columns), self._rows("reassignments", interval, legs))

    def has_rows(self, intervals: Iterable[Interval]) -> bool:
        """Whether any update lies in some intervals."""
        listed = list(intervals)
        if not listed:
            return False
        with self._damage_named(HISTORY.index):
            first = self._data[HISTORY.index].head(1, columns=["record_time"], filter=rows_of(listed))
        return bool(first.num_rows)

    def parts(self, wanted: Interval, done: Iterable[Sequence[Interval]]) -> Iterator[Interval]:
        """The parts of an interval that hold rows, each small enough to be computed at once, in order.

        Args:
            wanted: an interval of one migration.
            done: what each table is computed from; no part lies across the end of an interval of these.
        """
        ends = {part.hi for parts in done for part in parts if part.migration_id == wanted.migration_id}
        bounds = [*sorted(end for end in ends if wanted.lo < end < wanted.hi), wanted.hi]
        lo = wanted.lo
        times, counts = np.empty(0, np.int64), np.empty(0, np.int64)
        for window in self._windows(wanted):
            more = self._times(window)
            times, counts = np.concatenate([times, more[0]]), np.concatenate([counts, more[1]])
            # What is too little for a part waits for the next window.
            while counts.sum() >= EVENTS_AT_ONCE:
                end = _end(times, counts, bounds)
                yield wanted._replace(lo=lo, hi=end)
                lo = end
                times, counts = times[times > end], counts[times > end]
        while len(times):
            end = _end(times, counts, bounds)
            yield wanted._replace(lo=lo, hi=end)
            lo = end
            times, counts = times[times > end], counts[times > end]

    def _rows(self, name: str, interval: Interval, columns: Sequence[str]) -> pa.Table:
        table = self._view.tables[name]
        with self._damage_named(name):
            rows = visible_rows(self._view, name, [interval], HISTORY)
            rows_read = load_table(self._data[name].filter(rows), columns, None, table.table)
        return rows_read.replace_schema_metadata()

    def _windows(self, wanted: Interval) -> Iterator[Interval]:
        """The parts of an interval that are planned at once, in order: files that follow each other in time."""
        files = self._view.tables[HISTORY.index].files
        ends = sorted(
            (file.interval.hi, file.rows or 0)
            for file in (() if files is None else files.listed.values())
            if file.interval is not None and file.interval.migration_id == wanted.migration_id
        )
        lo, held = wanted.lo, 0
        for hi, rows in ends:
            held += rows
            if held >= _PLANNED_AT_ONCE and lo < hi < wanted.hi:
                yield wanted._replace(lo=lo, hi=hi)
                lo, held = hi, 0
        yield wanted._replace(lo=lo)

    def _times(self, window: Interval) -> tuple[Any, Any]:
        """The record times of a window's updates in order, and how many rows each has."""
        with self._damage_named(HISTORY.index):
            rows = self._data[HISTORY.index].to_table(columns=["record_time", "event_count"], filter=rows_of([window]))
        times = rows["record_time"].cast(pa.int64()).to_numpy()
        order = np.argsort(times, kind="stable")
        counts = pc.fill_null(rows["event_count"], 0).to_numpy()
        return times[order], counts[order] + 1  # a reassignment has no events, and one leg

    def _damage_named(self, name: str) -> AbstractContextManager[None]:
        return damage_named([self._view.tables[name]])


def _end(times: Any, counts: Any, bounds: Sequence[int]) -> int:
    """Where the first part ends: at a bound, or with enough rows; updates of one record time stay together."""
    enough = int(np.searchsorted(np.cumsum(counts), EVENTS_AT_ONCE))
    bound = next(end for end in bounds if end >= times[0])
    return min(int(times[min(enough, len(times) - 1)]), bound)


def fresh(basis: Sequence[Interval], done: Sequence[Interval]) -> list[Interval]:
    """What of the history is not computed yet, one interval per migration, in order."""
    return [part for interval in basis for part in missing(interval, done)]
