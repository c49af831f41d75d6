"""`SyncReport`: the result of a sync; it is printed, written as JSON, and kept in the store, in the table `syncs`.

A row of that table also names the document that the sync left; `as_of=` reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import InputError, StoreError, visible
from ledgerframes.number_format import rows_text
from ledgerframes.results import Result, html_pairs
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.tables import DERIVED_TABLES
from ledgerframes.tables.kinds import BOOL, INT64, JSON, TEXT, TIME
from ledgerframes.tables.table import Column, Table
from ledgerframes.timestamps import format_timestamp, to_micros

if TYPE_CHECKING:
    from ledgerframes.store.root import Root

#: A state of a store: the number of its document, the id of the sync that left it, or a time.
AsOf = int | str | date | datetime
_SYNC_ID: Final = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
SYNCS: Final = Table(
    "syncs",
    "One row per sync of a store.",
    ("sync_id",),
    (
        Column("sync_id", TEXT, "Identifies the state that the sync left; as_of= takes it."),
        Column("finished_at", TIME, "When the sync ended."),
        Column("complete", BOOL, "Whether everything asked for was stored at the end."),
        Column("document", INT64, "The number of the document of coverage that the sync left."),
        Column("report", JSON, "The whole report."),
    ),
)


@dataclass(frozen=True, repr=False)
class SyncReport(Result):
    """The result of one `Store.sync`.

    Attributes:
        sync_id: identifies the state of the store after this sync; `as_of=` takes it.
        started_at: UTC, ISO-8601.
        counted_from: the instant that `last` counts back from, if it was given.
        seconds: how long it took.
        rows: rows added, by table; of computed tables rows added or changed.
        requests: requests sent, each attempt counted.
        bytes: bytes received in bodies, after decompression.
        retries: attempts after a failed one.
        waits_seconds: time spent waiting for the rate limit and between attempts, over all workers.
        decoder: which decoder read the pages: "compiled", or "python" with the reason.
        commits: how many commits were made.
        covered: the intervals that the store now covers, in words.
        begins_late: the time of the first update that the servers had, if older ones are known to have existed.
        gaps: what was requested and is not covered though later parts are: servers show nothing there, or see `left`.
        left: what was requested and can be had, and is still not covered, in words.
        rejected: items that could not be decoded and were added to `rejects`.
        sources: servers, without anything secret.
        complete: whether everything that was requested and that the servers have is stored.
        error: the error that ended the sync early; empty if there was none.
    """

    sync_id: str
    started_at: str
    counted_from: str = ""
    seconds: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    bytes: int = 0
    retries: int = 0
    waits_seconds: float = 0.0
    decoder: str = ""
    commits: int = 0
    covered: tuple[str, ...] = ()
    begins_late: str | None = None
    gaps: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rejected: int = 0
    sources: tuple[str, ...] = ()
    complete: bool = True
    error: str = ""

    def lines(self) -> list[tuple[str, str]]:
        """The lines of a printed report, as pairs of a name and a text."""
        added = [
            f"{rows_text(count)} of {name} written" if name in DERIVED_TABLES else f"{count:,} {name}"
            for name, count in self.rows.items() if count
        ]  # fmt: skip
        rows = ", ".join(added) or "nothing new"
        gaps = "; ".join(self.gaps) + ("" if self.left else ": servers show nothing there; they may have pruned it")
        speed = f"{self.bytes / 1e6 / self.seconds:,.1f} MB/s" if self.seconds else ""
        lines = [
            ("sync", f"{self.sync_id}, {'complete' if self.complete else 'not complete'}"),
            *([("last", f"counts back from {self.counted_from}")] if self.counted_from else []),
            ("added", rows + (f"; {self.rejected:,} items rejected" if self.rejected else "")),
            ("took", f"{self.seconds:,.2f} s, {self.requests:,} requests, {self.bytes / 1e6:,.1f} MB, {speed}"),
            ("retries", f"{self.retries:,}; waited {self.waits_seconds:,.1f} s for rate limits and between attempts"),
            *([("decoder", self.decoder)] if self.decoder else []),
            ("commits", f"{self.commits:,}"),
            *(("" if place else "covered", part) for place, part in enumerate(self.covered or ("nothing yet",))),
            *([("begins", f"late, at {self.begins_late}: older updates had been pruned")] if self.begins_late else []),
            *([("gaps", gaps)] if self.gaps else []),
            *([("left", "; ".join(self.left))] if self.left else []),
            *([("error", self.error)] if self.error else []),
        ]
        return [(name, visible(text)) for name, text in lines]

    def __str__(self) -> str:
        return "\n".join(f"{name:<8} {text}" for name, text in self.lines() if text)

    def _repr_html_(self) -> str:
        return html_pairs((name, text) for name, text in self.lines() if text)


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
    table.compact_crowded()
    root.finish()


def is_known(root: Root, report: SyncReport) -> bool:
    """Whether the newest stored report has the same state and completeness, so that this one adds nothing."""
    table = root.own(SYNCS.name)
    if report.left or not table.exists:
        return False
    # If it has a row, only one commit came since, which named that report.
    # Otherwise a live tail without news would add a commit and a row every 30 seconds.
    before = pc.field("document") == root.document.before
    with damage_named([table]):
        return report.complete in table.dataset().to_table(columns=["complete"], filter=before)["complete"].to_pylist()


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
        if isinstance(as_of, str) and row["sync_id"] == as_of:
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


def forget_runs(table: DeltaStoreTable, before: int) -> int:
    """Remove the syncs that ended before a time: their states can no longer be read; how many remain."""
    remaining = [row for row in all_runs(table) if row["finished_at"] >= before]
    if table.exists:
        table.replace(pa.Table.from_pylist(remaining, SYNCS.schema))
    return len(remaining)
