"""The table `syncs`: the report of every sync, and the document that it left; `as_of=` reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ledgerframes.errors import InputError, StoreError
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.keywords import AsOf
from ledgerframes.store.sync.report import SyncReport
from ledgerframes.tables.kinds import BOOL, INT64, JSON, TEXT, TIME
from ledgerframes.tables.table import Column, Table
from ledgerframes.timestamps import format_timestamp, to_micros

if TYPE_CHECKING:
    from ledgerframes.store.root import Root

_SYNC_ID: Final = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
SYNCS: Final = Table(
    "syncs",
    "One row per sync of a store.",
    (),
    ("sync_id",),
    (
        Column("sync_id", TEXT, "Identifies the state that the sync left; as_of= takes it."),
        Column("finished_at", TIME, "When the sync ended."),
        Column("complete", BOOL, "Whether everything asked for was stored at the end."),
        Column("document", INT64, "The number of the document of coverage that the sync left."),
        Column("report", JSON, "The whole report."),
    ),
)


def keep(root: Root, report: SyncReport, finished_at: int) -> None:
    """Add a report to the store, and name the state that it left."""
    table = root.own(SYNCS.name)
    if not table.exists:
        table.create()
    row = {
        "sync_id": report.sync_id,
        "finished_at": finished_at,
        "complete": report.complete,
        "document": root.document.number,
        "report": report.to_json(),
    }
    table.append([pa.RecordBatch.from_pylist([row], SYNCS.schema)])
    root.finish()


def is_known(root: Root, report: SyncReport) -> bool:
    """Whether the newest stored report has the same state and completeness, so that this one adds nothing."""
    rows = all_runs(root.own(SYNCS.name))
    # Then only one commit came since, which named the report of that sync.
    # Otherwise a live tail without news would add a commit and a row every 30 seconds.
    return (
        bool(rows) and rows[-1]["document"] == root.document.before and rows[-1]["complete"] == report.complete
        and not report.left
    )  # fmt: skip


def all_runs(table: DeltaStoreTable) -> list[dict[str, Any]]:
    """The rows of the table, oldest first; times as integer microseconds."""
    if not table.exists:
        return []
    with damage_named([table]):
        syncs = table.dataset().to_table()
    times = syncs["finished_at"].cast(pa.int64())
    rows = syncs.set_column(syncs.column_names.index("finished_at"), "finished_at", times).to_pylist()
    # Files of a table come in no particular order.
    return sorted(rows, key=lambda row: (row["finished_at"], row["sync_id"]))


def find_document(table: DeltaStoreTable, as_of: AsOf, url: str) -> int:
    """The number of the document that a sync left.

    Raises:
        StoreError: there was no such sync, or its state was forgotten.
        InputError: `as_of` is neither a sync id nor a time.
    """
    rows = all_runs(table)
    for row in rows:
        if row["sync_id"] == as_of:
            return int(row["document"])
    if isinstance(as_of, int):
        raise InputError(f"as_of={as_of!r} is not the number of a document; give one, the id of a sync, or a time")
    if isinstance(as_of, str) and _SYNC_ID.fullmatch(as_of):
        raise StoreError(f"{url}: as_of={as_of!r} is no sync of this store, or was forgotten; store.syncs() lists them")
    wanted = to_micros(as_of, "as_of")
    before = [row for row in rows if row["finished_at"] <= wanted]
    if not before:
        first = f"its first ended at {format_timestamp(rows[0]['finished_at'])}" if rows else "it has none yet"
        raise StoreError(f"{url}: no sync had ended by as_of={as_of!r}; {first}. store.syncs() lists them")
    return int(before[-1]["document"])


def forget_runs(table: DeltaStoreTable, before: int) -> None:
    """Remove the syncs that ended before a time: their states can no longer be read."""
    if table.exists:
        remaining = [row for row in all_runs(table) if row["finished_at"] >= before]
        table.replace(pa.Table.from_pylist(remaining, SYNCS.schema))
