"""`Soundness`: whether the tables of a history are consistent with each other; `check` and `repair` call it.

Its memory does not grow with the store. Rows are read in slices of record time: all rows of one update share its
migration and record time. Keys that must be unique in the whole store are compared by 64-bit hashes, in batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.models.reassignments import reassignment_anomalies
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval, rows_of
from ledgerframes.store.table_sets import HISTORY, TableSet
from ledgerframes.store.view import View

if TYPE_CHECKING:
    import pyarrow.dataset as ds

REPAIR: Final = "run store.repair(), then sync: it is read again"
#: Contradictions that a sound ledger never shows, unlike repairs and lone assignments.
_UNSOUND: Final = (
    "counter not increasing", "counter differs", "contract differs", "target differs", "assigned twice",
    "unassigned twice",
)  # fmt: skip
_BY_CONTRACT: Final = "counter not increasing"
_COLUMNS: Final = {
    "updates": ("kind", "event_count"),
    "events": ("event_id",),
    "reassignments": ("kind",),
    "verdicts": ("root_views",),
    "views": ("view_id", "sub_views"),
    "app_activity": ("party",),
}
_LEGS: Final = (
    "migration_id", "record_time", "update_id", "kind", "source_synchronizer", "target_synchronizer", "unassign_id",
    "reassignment_counter", "contract_id", "template_name",
)  # fmt: skip
_view_ids: Final = msgspec.json.Decoder(list[int])
_KEYS: Final = ("migration_id", "record_time", "record_month", "update_id")
# Counts by minute stay small even over years: about 525,600 numbers for a year of a migration.
_MINUTE: Final = 60_000_000
_ROWS: Final = 60_000
# 160 MB of 64-bit integers.
_HASHES: Final = 20_000_000


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


@dataclass
class Soundness:
    """One examination of a history of a store.

    Attributes:
        view: its tables.
        of: the history.
        rows: the number of rows examined so far, by table.
        most: the approximate number of rows per slice.
        hashes: the number of hashes in memory at once.
    """

    view: View
    of: TableSet = HISTORY
    rows: Counter[str] = field(default_factory=Counter)
    most: int = _ROWS
    hashes: int = _HASHES

    def __post_init__(self) -> None:
        order, covered = self.of.order, self.view.coverage_of(self.of).common
        self._stored: dict[str, ds.Dataset] = {name: self.view.tables[name].dataset() for name in order}
        self._shown = dict.fromkeys(order, rows_of(covered))
        self._data = {name: data.filter(self._shown[name]) for name, data in self._stored.items()}

    def faults(self) -> Iterator[Fault]:
        """Find every row that is wrong."""
        for interval in self._slices():
            data = {name: self._read(name, interval) for name in self.of.order}
            self.rows.update({name: rows.num_rows for name, rows in data.items()})
            yield from _of_updates(data) if self.of is HISTORY else _of_verdicts(data)
            for name, rows in data.items():
                yield from _months(name, rows)
        yield from self._repeated_updates()
        if self.of is HISTORY:
            yield from self._counters()

    def left_over(self) -> Iterator[tuple[str, int, str]]:
        """The rows that an interrupted sync left outside of the coverage: table, count and one update id."""
        for name in self.of.order:
            outside = self._stored[name].filter(~self._shown[name])
            count = outside.count_rows()
            if count:
                yield name, count, outside.head(1, columns=["update_id"])["update_id"][0].as_py()

    def _slices(self) -> Iterator[Interval]:
        """Intervals of covered record time with about as many rows as are read at once."""
        minutes: Counter[tuple[int, int]] = Counter()
        for name in self.of.order:
            for batch in self._batches(name, ["migration_id", "record_time"]):
                for migration_id in pc.unique(batch["migration_id"]).to_pylist():
                    own = batch.filter(pc.equal(batch["migration_id"], migration_id))
                    values, counts = np.unique(
                        own["record_time"].cast(pa.int64()).to_numpy(zero_copy_only=False) // _MINUTE,
                        return_counts=True,
                    )
                    for minute, count in zip(values.tolist(), counts.tolist(), strict=True):
                        minutes[migration_id, minute] += count
        first: tuple[int, int] | None = None
        last, total = (0, 0), 0
        for minute in sorted(minutes):
            if first is not None and (total + minutes[minute] > self.most or minute[0] != first[0]):
                yield _interval(first, last)
                first, total = None, 0
            first = minute if first is None else first
            last, total = minute, total + minutes[minute]
        if first is not None:
            yield _interval(first, last)

    def _batches(self, name: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        # Arrow's defaults read 16 batches and 4 files ahead, which holds far more in memory than a slice.
        scanner = self._data[name].scanner(columns=columns, batch_size=65_536, batch_readahead=1, fragment_readahead=1)
        yield from scanner.to_batches()

    def _read(self, name: str, interval: Interval) -> pa.Table:
        low, high = (pa.scalar(micros, pa.timestamp("us", "UTC")) for micros in interval[1:])
        time = pc.field("record_time")
        rows = (pc.field("migration_id") == interval.migration_id) & (time > low) & (time <= high)
        return self._data[name].to_table(
            columns=[*_KEYS, *_COLUMNS[name]], filter=rows, batch_readahead=1, fragment_readahead=1
        )

    def _repeated_updates(self) -> Iterator[Fault]:
        """Update ids that occur twice, anywhere in the store."""
        index = self.of.index
        passes = self.rows[index] // self.hashes + 1
        for part in range(passes):
            hashes = np.concatenate(
                [np.empty(0, np.int64), *(own for _, own in self._hashed(index, "update_id", part, passes))]
            )
            hashes.sort()
            twice = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
            del hashes
            if twice:
                yield from self._repeated_among(twice)

    def _repeated_among(self, twice: set[int]) -> Iterator[Fault]:
        """All rows whose id occurs more than once, among the ids of some hashes."""
        rows = [
            row
            for batch in self._batches(self.of.index, list(_KEYS))
            for row in batch.filter(
                pa.array([hash(update_id) in twice for update_id in batch["update_id"].to_pylist()])
            ).to_pylist()
        ]
        counts = Counter(row["update_id"] for row in rows)
        for row in rows:
            if counts[row["update_id"]] > 1:
                yield _fault(f"{self.of.index}: the key update_id occurs more than once", row)

    def _hashed(
        self, name: str, column: str, part: int, passes: int, columns: list[str] | None = None
    ) -> Iterator[tuple[pa.RecordBatch, np.ndarray[Any, Any]]]:
        """Batches of the rows whose hash belongs to one of several passes, with the hashes."""
        for batch in self._batches(name, columns or [column]):
            hashes = np.fromiter(map(hash, batch[column].to_pylist()), np.int64, len(batch))
            # Each pass takes the rows of one residue, so equal ids always meet in the same pass.
            own = hashes % passes == part
            yield (batch, hashes) if passes == 1 else (batch.filter(pa.array(own)), hashes[own])

    def _counters(self) -> Iterator[Fault]:
        passes = self.rows["reassignments"] // self.most + 1
        groups = [("contract_id", _UNSOUND)] if passes == 1 else [
            ("contract_id", (_BY_CONTRACT,)),
            ("unassign_id", tuple(name for name in _UNSOUND if name != _BY_CONTRACT)),
        ]  # fmt: skip
        for column, names in groups:
            for part in range(passes):
                batches = [batch for batch, _ in self._hashed("reassignments", column, part, passes, list(_LEGS))]
                if batches:
                    yield from _anomalies(pa.Table.from_batches(batches), names)


def _of_updates(data: Mapping[str, pa.Table]) -> Iterator[Fault]:
    yield from _repeated(data["events"], ["update_id", "event_id"], "events")
    yield from _repeated(data["reassignments"], ["update_id"], "reassignments")
    yield from _event_counts(data["updates"], data["events"])
    yield from _reassignment_rows(data["updates"], data["reassignments"])


def _of_verdicts(data: Mapping[str, pa.Table]) -> Iterator[Fault]:
    yield from _repeated(data["views"], ["update_id", "view_id"], "views")
    yield from _repeated(data["app_activity"], ["update_id", "party"], "app_activity")
    for name in ("views", "app_activity"):
        yield from _without(data[name], data["verdicts"], f"{name}: their verdict is missing")
    yield from _named_views(data["verdicts"], data["views"])


def _named_views(verdicts: pa.Table, views: pa.Table) -> Iterator[Fault]:
    """Check that every view that a verdict has as a root, or another view inside it, has a row."""
    stored = set(zip(views["update_id"].to_pylist(), views["view_id"].to_pylist(), strict=True))
    named = [*_ids_in(verdicts, "root_views"), *_ids_in(views, "sub_views")]
    gone = {update_id for update_id, view_id in named if (update_id, view_id) not in stored}
    wrong = pc.is_in(verdicts["update_id"], pa.array(sorted(gone), verdicts["update_id"].type))
    for row in verdicts.select(list(_KEYS)).filter(wrong).to_pylist():
        yield _fault("views: a view that its verdict or another view names is missing", row)


def _ids_in(rows: pa.Table, column: str) -> Iterator[tuple[str, int]]:
    """The view ids in a JSON column that lists them, each with its update; other text names none."""
    for update_id, text in zip(rows["update_id"].to_pylist(), rows[column].to_pylist(), strict=True):
        if text in {None, "[]"}:
            continue
        with suppress(msgspec.DecodeError):
            yield from ((update_id, view_id) for view_id in _view_ids.decode(text))


def _anomalies(legs: pa.Table, names: tuple[str, ...]) -> Iterator[Fault]:
    anomalies = reassignment_anomalies(legs)
    for name in names:
        for update_id in anomalies[anomalies["anomaly"] == name]["update_id"]:
            row = legs.filter(pc.equal(legs["update_id"], update_id)).slice(0, 1).to_pylist()[0]
            yield _fault(
                f"reassignments: {name}", row,
                f"{REPAIR}; if it stays, compare with another server by lf.cross_check",
            )  # fmt: skip


def _event_counts(updates: pa.Table, events: pa.Table) -> Iterator[Fault]:
    """Check that every transaction has as many events as it declares, and every event has an update."""
    counted = events.group_by("update_id").aggregate(
        [([], "count_all"), ("migration_id", "min"), ("record_time", "min")]
    )
    transactions = updates.filter(pc.equal(updates["kind"], "transaction"))
    joined = transactions.select(["update_id", "event_count", "migration_id", "record_time"]).join(
        counted, "update_id", join_type="full outer"
    )
    declared, counts = pc.fill_null(joined["event_count"], -1), pc.fill_null(joined["count_all"], 0)
    for row in joined.filter(pc.less(declared, 0)).to_pylist():
        yield _fault("events: their update is missing", _with_keys(row))
    wrong = pc.and_(pc.greater_equal(declared, 0), pc.not_equal(declared, counts))
    for row in joined.filter(wrong).to_pylist():
        yield _fault("updates: the number of events differs from the update's event_count", row)


def _reassignment_rows(updates: pa.Table, legs: pa.Table) -> Iterator[Fault]:
    """Check that every reassignment has a row in `reassignments`, and every such row has an update."""
    own = updates.filter(pc.not_equal(updates["kind"], "transaction"))
    yield from _without(own, legs, "updates: the reassignment's row is missing")
    yield from _without(legs, own, "reassignments: their update is missing")


def _without(rows: pa.Table, others: pa.Table, name: str) -> Iterator[Fault]:
    # `is_in` takes its set as one array, and a table column is a sequence of chunks.
    alone = rows.filter(pc.invert(pc.is_in(rows["update_id"], others["update_id"].combine_chunks())))
    for row in alone.select(list(_KEYS)).to_pylist():
        yield _fault(name, row)


def _months(name: str, rows: pa.Table) -> Iterator[Fault]:
    # Arrow's strftime does not pad years before 1000 with zeros.
    months = pc.utf8_lpad(pc.strftime(rows["record_time"], format="%Y-%m"), 7, "0")
    for row in rows.filter(pc.not_equal(months, rows["record_month"])).select(list(_KEYS)).to_pylist():
        yield _fault(f"{name}: record_month is not the record time's month", row)


def _repeated(rows: pa.Table, key: list[str], name: str) -> Iterator[Fault]:
    counted = rows.group_by(key).aggregate([([], "count_all"), ("migration_id", "min"), ("record_time", "min")])
    for row in counted.filter(pc.greater(counted["count_all"], 1)).to_pylist():
        yield _fault(f"{name}: the key {', '.join(key)} occurs more than once", _with_keys(row))


def _with_keys(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"migration_id": row["migration_id_min"], "record_time": row["record_time_min"]}


def _fault(name: str, row: dict[str, Any], advice: str = REPAIR) -> Fault:
    micros = pa.scalar(row["record_time"], pa.timestamp("us", "UTC")).value
    return Fault(name, row["update_id"], Cursor(row["migration_id"], micros), advice)


def _interval(first: tuple[int, int], last: tuple[int, int]) -> Interval:
    return Interval(first[0], first[1] * _MINUTE - 1, (last[1] + 1) * _MINUTE - 1)
