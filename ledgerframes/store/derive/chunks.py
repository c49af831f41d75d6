"""`HistoryReader` reads the history of a store in chunks, each small enough to be computed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.loaders.history import History
from ledgerframes.store.coverage import Interval, rows_of
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.read.reading import folders_of, load_table
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
        self._tables = {name: root.shown(name) for name in HISTORY.order}
        # Listing the files of a table costs more than reading a few rows.
        self._data = {name: table.dataset() for name, table in self._tables.items()}

    def rows(self, interval: Interval) -> History[Any]:
        """The events and legs of an interval of one migration, in the order of the history."""
        legs = self._tables["reassignments"].table.names
        return History(None, self._rows("events", interval, _EVENTS), self._rows("reassignments", interval, legs))

    def parts(self, wanted: Iterable[Interval], done: Iterable[Sequence[Interval]] = ()) -> Iterator[Interval]:
        """The parts of intervals that have rows, each small enough to be computed at once, in order.

        Args:
            wanted: intervals of one migration each.
            done: what each table is computed from; no part crosses the end of one of these intervals.
        """
        stops = {(part.migration_id, part.hi) for parts in done for part in parts}
        for interval in wanted:
            inside = (hi for migration_id, hi in stops if migration_id == interval.migration_id)
            rest = interval
            for end in [*sorted(hi for hi in inside if interval.lo < hi < interval.hi), interval.hi]:
                for hi in self._cuts(rest._replace(hi=end)):
                    yield rest._replace(hi=hi)
                    rest = rest._replace(lo=hi)

    def _cuts(self, wanted: Interval) -> Iterator[int]:
        """Where the parts of an interval end: only the record times of a month are in memory, without the events."""
        rows, last = 0, None
        for times, counts in self._times(wanted):
            sums = rows + np.cumsum(counts)
            chunks = sums // EVENTS_AT_ONCE
            # The last time of the month before ends a part, too, if the next one begins with this month.
            earlier = np.concatenate([times[:1] if last is None else [last], times[:-1]])
            before = np.concatenate([chunks[:1] if last is None else [rows // EVENTS_AT_ONCE], chunks[:-1]])
            yield from earlier[chunks != before].tolist()
            rows, last = int(sums[-1]), int(times[-1])
        if last is not None:
            yield wanted.hi

    def _times(self, wanted: Interval) -> Iterator[tuple[Any, Any]]:
        """The record times of an interval, in order, and how many events and legs each has, month by month."""
        index, chosen = self._tables[HISTORY.index], rows_of([wanted])
        columns = {
            "time": pc.field("record_time").cast(pa.int64()),
            # A reassignment has no events, and one leg.
            "rows": pc.coalesce(pc.field("event_count"), pc.scalar(0)) + pc.scalar(1),
        }
        for month in folders_of(self._data[HISTORY.index], chosen):
            with damage_named([index]):
                found = month.to_table(columns, filter=chosen)
            if found.num_rows:
                times = pa.TableGroupBy(found, "time").aggregate([("rows", "sum")]).sort_by("time")
                yield times["time"].to_numpy(), times["rows_sum"].to_numpy()

    def _rows(self, name: str, interval: Interval, columns: Sequence[str]) -> pa.Table:
        table = self._tables[name]
        with damage_named([table]):
            return load_table(self._data[name], columns, rows_of([interval]), table.table).replace_schema_metadata()
