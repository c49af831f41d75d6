"""`HistoryReader` reads the history of a store in chunks, each small enough to be computed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.loaders.history import History
from ledgerframes.store.coverage import Interval, rows_of
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.read.reading import load_table
from ledgerframes.store.root import Root
from ledgerframes.store.table_sets import HISTORY

#: A chunk ends once it has this many events and legs, which bounds memory, however long the history is.
# With payloads of 2 kB a chunk takes 200 MB; a day of a busy network has millions of events.
EVENTS_AT_ONCE: Final = 100_000
#: The columns of events that computed tables read.
_EVENTS: Final = (
    *("update_id", "event_id", "parent_event_id", "node_index", "depth", "migration_id", "record_time"),
    "event_type",
    *("contract_id", "template_name", "created_at", "choice", "consuming", "interface_id", "payload"),
    "exercise_result",
)


class HistoryReader:
    """Reads the history of a store in chunks; each of its tables is opened once.

    Args:
        root: the store's state.
    """

    def __init__(self, root: Root) -> None:
        self._root = root
        # Listing the files of a table costs more than reading a few rows.
        self._data = {name: root.shown(name).dataset() for name in HISTORY.order}

    def rows(self, interval: Interval) -> History[Any]:
        """The events and legs of an interval of one migration, in the order of the history."""
        legs = self._root.shown("reassignments").table.names
        return History(None, self._rows("events", interval, _EVENTS), self._rows("reassignments", interval, legs))

    def has_rows(self, intervals: Sequence[Interval]) -> bool:
        """Whether any update lies in some intervals."""
        if not intervals:
            return False
        with damage_named([self._root.shown(HISTORY.index)]):
            first = self._data[HISTORY.index].head(1, columns=["record_time"], filter=rows_of(intervals))
        return bool(first.num_rows)

    def parts(self, wanted: Interval, done: Iterable[Sequence[Interval]]) -> Iterator[Interval]:
        """The parts of an interval that have rows, each small enough to be computed at once, in order.

        Args:
            wanted: an interval of one migration.
            done: what each table is computed from; no part crosses the end of one of these intervals.
        """
        ends = {part.hi for parts in done for part in parts if part.migration_id == wanted.migration_id}
        lo = wanted.lo
        for end in [*sorted(end for end in ends if wanted.lo < end < wanted.hi), wanted.hi]:
            for hi in self._cuts(wanted._replace(lo=lo, hi=end)):
                yield wanted._replace(lo=lo, hi=hi)
                lo = hi

    def _cuts(self, wanted: Interval) -> list[int]:
        """Where the parts of an interval end: only its record times are held in memory, without the events."""
        with damage_named([self._root.shown(HISTORY.index)]):
            scanner = self._data[HISTORY.index].scanner(
                {
                    "time": pc.field("record_time").cast(pa.int64()),
                    # A reassignment has no events, and one leg.
                    "rows": pc.coalesce(pc.field("event_count"), pc.scalar(0)) + pc.scalar(1),
                },
                filter=rows_of([wanted]),
            )
            times = pa.TableGroupBy(scanner.to_table(), "time").aggregate([("rows", "sum")]).sort_by("time")
        cuts, count = [], 0
        for time, rows in zip(times["time"].to_numpy().tolist(), times["rows_sum"].to_numpy().tolist(), strict=True):
            count += rows
            if count >= EVENTS_AT_ONCE:
                cuts.append(time)
                count = 0
        return [*cuts, wanted.hi] if count else cuts

    def _rows(self, name: str, interval: Interval, columns: Sequence[str]) -> pa.Table:
        table = self._root.shown(name)
        with damage_named([table]):
            rows = rows_of([interval])
            rows_read = load_table(self._data[name].filter(rows), columns, None, table.table)
        return rows_read.replace_schema_metadata()
