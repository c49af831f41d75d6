"""`faults`: whether the tables of a history are consistent with each other; `check` and `repair` call it.

DuckDB compares the rows, in bounded memory: what does not fit is spilled to disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

import pyarrow as pa

from ledgerframes.models.databases import Database
from ledgerframes.models.engine import macros
from ledgerframes.models.interrupting import interruptible
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import rows_of
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY, TableSet

REPAIR: Final = "run store.repair(), then sync: it is read again"
_MEMORY: Final = "1GB"


@dataclass(frozen=True)
class Fault:
    """One row that contradicts others.

    Attributes:
        name: what is wrong.
        update_id: the row's update.
        cursor: the update's cursor.
    """

    name: str
    update_id: str
    cursor: Cursor


def answers(rows: Mapping[str, Any], query: str) -> list[dict[str, Any]]:
    """The rows of a query over datasets or tables by name, times as integer microseconds; Ctrl-C ends it."""
    database = Database.borrow(macros(), ())
    try:
        database.limit(_MEMORY)
        connection = database.connection()
        for name, data in rows.items():
            connection.register(name, data)
        found = interruptible(connection, lambda: connection.sql(query).to_arrow_table())
        connection.close()
    except BaseException:
        database.close()
        raise
    database.keep()
    plain = [one.with_type(pa.int64()) if pa.types.is_timestamp(one.type) else one for one in found.schema]
    listed: list[dict[str, Any]] = found.cast(pa.schema(plain)).to_pylist()
    return listed


def covered_rows(root: Root, of: TableSet = HISTORY) -> dict[str, Any]:
    """The rows of a history that readers see, by table, as datasets."""
    shown = rows_of(root.coverage_of(of).common)
    return {name: root.shown(name).dataset().filter(shown) for name in of.order}


def faults(rows: Mapping[str, Any], of: TableSet = HISTORY) -> Iterator[Fault]:
    """Find every row of a history that is wrong; see `covered_rows`."""
    sql = files("ledgerframes.store.checks").joinpath(f"{of.name}.sql").read_text(encoding="utf-8")
    for row in answers(rows, f"{sql} order by all"):
        yield Fault(row["fault"], row["update_id"], Cursor(row["migration_id"], row["record_time"]))
