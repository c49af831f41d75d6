"""`HistoryReader` reads the history of a store in chunks, each small enough to be computed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.loaders.history import History
from ledgerframes.store.coverage import Interval, rows_of
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.read.reading import folders_of, load_table
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY

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
        index, chosen = self._tables[HISTORY.index], rows_of([wanted])
        rows, cut, last = 0, wanted.lo, wanted.lo
        columns = {
            "time": pc.field("record_time").cast(pa.int64()),
            # A reassignment has no events, and one leg.
            "rows": pc.coalesce(pc.field("event_count"), pc.scalar(0)) + pc.scalar(1),
        }
        for month in folders_of(self._data[HISTORY.index], chosen):
            with damage_named([index]):
                found = month.to_table(columns, filter=chosen).sort_by("time")
            sums = np.cumsum(np.append(rows, found["rows"].to_numpy()))
            for cut in np.unique(found["time"].to_numpy()[np.diff(sums // EVENTS_AT_ONCE) > 0]).tolist():
                yield cut
            rows, last = int(sums[-1]), max([last, *found["time"][-1:].to_pylist()])
        if last > cut:
            yield wanted.hi

    def _rows(self, name: str, interval: Interval, columns: Sequence[str]) -> pa.Table:
        table = self._tables[name]
        with damage_named([table]):
            return load_table(self._data[name], columns, rows_of([interval]), table.table).replace_schema_metadata()
