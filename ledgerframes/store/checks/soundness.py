"""`Soundness`: whether the tables of a history are consistent with each other; `check` and `repair` call it.

DuckDB compares the rows, in bounded memory: what does not fit is spilled to disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.models.databases import Database
from ledgerframes.models.engine import Engine, macros
from ledgerframes.models.interrupting import interruptible
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import rows_of
from ledgerframes.store.root import Root
from ledgerframes.store.table_sets import HISTORY, TableSet
from ledgerframes.tables.reassignments import REASSIGNMENT_ANOMALIES

if TYPE_CHECKING:
    import pyarrow.dataset as ds

REPAIR: Final = "run store.repair(), then sync: it is read again"
#: Contradictions that a sound ledger never shows, unlike repairs and lone assignments.
_UNSOUND: Final = (
    "counter not increasing", "counter differs", "contract differs", "target differs", "assigned twice",
    "unassigned twice",
)  # fmt: skip
_PLACES: Final = """
    select anomaly, update_id, migration_id, record_time
    from found
    join (select update_id, min(migration_id) as migration_id from legs group by update_id) using (update_id)
    order by all
"""
_MEMORY: Final = "1GB"
_MONTHS: Final = """
    select '{0}: record_month is not the record time''s month', update_id, migration_id, record_time
    from {0} where strftime(record_time at time zone 'UTC', '%Y-%m') <> record_month
"""


@dataclass(frozen=True)
class Fault:
    """One row that contradicts others.

    Attributes:
        name: what is wrong.
        update_id: the row's update.
        cursor: the update's cursor.
        advice: the remedy.
    """

    name: str
    update_id: str
    cursor: Cursor
    advice: str = REPAIR


def answers(rows: Mapping[str, Any], query: str) -> list[dict[str, Any]]:
    """The rows of a query over datasets or tables by name, times as integer microseconds; Ctrl-C ends it."""
    with _connected(rows) as connection:
        found = interruptible(connection, lambda: connection.sql(query).to_arrow_table())
    times = [field.name for field in found.schema if pa.types.is_timestamp(field.type)]
    for name in times:
        found = found.set_column(found.column_names.index(name), name, found[name].cast(pa.int64()))
    listed: list[dict[str, Any]] = found.to_pylist()
    return listed


@contextmanager
def _connected(rows: Mapping[str, Any]) -> Iterator[Any]:
    database = Database.borrow(macros(), ())
    try:
        database.limit(_MEMORY)
        connection = database.connection()
        for name, data in rows.items():
            connection.register(name, data)
        yield connection
        connection.close()
    except BaseException:
        database.close()
        raise
    database.keep()


class Soundness:
    """One examination of a history of a store.

    Args:
        root: its tables.
        of: the history.
    """

    def __init__(self, root: Root, of: TableSet = HISTORY) -> None:
        self._of = of
        self._stored: dict[str, ds.Dataset] = {name: root.shown(name).dataset() for name in of.order}
        self._shown = rows_of(root.coverage_of(of).common)
        self._data = {name: data.filter(self._shown) for name, data in self._stored.items()}

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows examined, by table."""
        return {name: self._data[name].count_rows() for name in self._of.shown}

    def faults(self) -> Iterator[Fault]:
        """Find every row that is wrong."""
        sql = files("ledgerframes.store.checks").joinpath(f"{self._of.name}.sql").read_text(encoding="utf-8")
        months = map(_MONTHS.format, self._of.order)
        for row in answers(self._data, f"{' union all '.join([sql, *months])} order by all"):
            yield Fault(row["fault"], row["update_id"], Cursor(row["migration_id"], row["record_time"]))
        if self._of is HISTORY:
            yield from self._anomalies()

    def left_over(self) -> Iterator[tuple[str, int, str]]:
        """The rows that an interrupted sync left outside of the coverage: table, count and one update id."""
        for name in self._of.order:
            outside = self._stored[name].filter(~self._shown)
            count = outside.count_rows()
            if count:
                yield name, count, outside.head(1, columns=["update_id"])["update_id"][0].as_py()

    def _anomalies(self) -> Iterator[Fault]:
        """The legs of reassignments that contradict each other."""
        legs = self._data["reassignments"]
        with Engine({"reassignments": lambda *_: legs}) as engine:
            engine.set({"begun": False})  # a leg from before the lake contradicts none in it
            found = engine.interruptible(lambda: engine.rows(REASSIGNMENT_ANOMALIES.name), REASSIGNMENT_ANOMALIES.name)
        found = found.filter(pc.is_in(found["anomaly"], pa.array(_UNSOUND)))
        for row in answers({"found": found, "legs": legs}, _PLACES) if found.num_rows else ():
            yield Fault(
                f"reassignments: {row['anomaly']}", row["update_id"], Cursor(row["migration_id"], row["record_time"]),
                f"{REPAIR}; if it stays, compare with another server by lf.cross_check",
            )  # fmt: skip
