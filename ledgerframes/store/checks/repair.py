"""`repair`: removes from a store what is damaged, lost or unsound, so that the next sync reads it again.

Rows are removed from all tables of a history and from its coverage in one commit of the root. So a kill leaves the
store as it was, and it can be repaired again.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
from msgspec.structs import replace

from ledgerframes.errors import StoreError, visible
from ledgerframes.number_format import rows_text
from ledgerframes.results import Result
from ledgerframes.store.checks.soundness import covered_rows, faults
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval, beyond, intersection, merged, rows_of
from ledgerframes.store.delta.stored_files import Damage, StoredFile
from ledgerframes.store.delta.table import DeltaStoreTable, Named
from ledgerframes.store.derive.tables import DERIVED_TABLES
from ledgerframes.store.documents import Document
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.lake import Lake
from ledgerframes.store.root import Loss, Root, filled_by
from ledgerframes.store.stored_snapshots import as_they_are
from ledgerframes.store.stored_tables import HISTORY, SETS, SNAPSHOTS, STORED, set_of
from ledgerframes.store.sync.report import SYNCS
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS
from ledgerframes.timestamps import format_timestamp

_log = logging.getLogger("ledgerframes.store")
_LOG: Final = "_delta_log"
_MILLISECOND: Final = 1_000
#: The tables whose missing rows are named by other rows; `faults` finds them.
_NAMED_BY_OTHERS: Final = frozenset({"events", "reassignments", "views"})


@dataclass(frozen=True, repr=False)
class RepairReport(Result):
    """The result of a repair.

    Attributes:
        store: its URL.
        damaged: the removed files, in words.
        remade: the tables whose log was lost, created again.
        unsound: the number of rows that contradicted each other, by kind of contradiction.
        stretches: the intervals that the next sync has to read again, in words.
        lost: rows of snapshots, of `rejects` and of `syncs` that cannot be recovered, by table.
        shortened: the tables whose log had lost entries, or had damaged ones, in words.
        restored: whether `lake.json` was lost and written again: a table that was lost with it is not noticed.
        back: the older state that was restored because a later document was lost, in words; else empty.
    """

    store: str
    damaged: tuple[str, ...] = ()
    remade: tuple[str, ...] = ()
    unsound: dict[str, int] = field(default_factory=dict)
    stretches: tuple[str, ...] = ()
    lost: dict[str, int] = field(default_factory=dict)
    shortened: tuple[str, ...] = ()
    restored: bool = False
    back: str = ""

    def __str__(self) -> str:
        lines = ["made again: lake.json, from the existing tables"] if self.restored else []
        lines += [f"gone back to {self.back}: the document of a later one is lost"] if self.back else []
        lines += [f"damaged: {file}" for file in self.damaged]
        lines += [f"made again, empty: {name}, {filled_by(name)}" for name in self.remade]
        lines += [f"entries of the log lost: {loss}" for loss in self.shortened]
        lines += [f"unsound: {name} ({count:,})" for name, count in self.unsound.items()]
        lines += [f"to be read again: {interval}" for interval in self.stretches]
        lines += [f"lost for good: {rows_text(count)} of {name}" for name, count in self.lost.items()]
        if not lines:
            return visible(f"{self.store}: nothing to repair")
        again = bool(self.stretches or self.back) or any(set_of(name) is not None for name in self.remade)
        following = "; run sync to read it again" if again else ""
        return "\n".join(map(visible, [f"{self.store} was repaired{following}", *lines]))


def repair(lake: Lake, *, unsettled: bool = False) -> RepairReport:
    """Remove from a store what is damaged, lost or unsound.

    Args:
        lake: the store.
        unsettled: also remove what is covered but not settled.

    Raises:
        StoreError: there is no store, a sync runs on it, or it cannot be written.
    """
    if lake.folder is not None and not lake.folder.is_dir():
        # Taking the lock creates the folder, so a store that does not exist has to be refused first.
        lake.existing(strict=False)
    with lake.writing(repairing=True) as restored:
        _set_unreadable_logs_aside(lake)
        gone: Counter[str] = Counter()
        root, back = _readable_root(lake, gone)
        before = root.document
        if not root.table.exists and not before.number:
            lake.existing(strict=False)  # refuses a location without a store
        losses = root.losses()
        for loss in losses:
            _take_over(root, loss, gone)
        histories = [lake.history(of) for of in SETS if of.name in before.histories]
        damaged = [damage for history in histories for damage in _take_back(history, losses)]
        damaged += _without_damage(root, gone)
        for name in (name for name in SNAPSHOTS if gone[name] and name != ACTIVE_CONTRACTS.name):
            if not root.own(name).size()["rows"]:  # else it would read as a snapshot of nothing
                root.forget(name)
        if root.document.snapshots:
            found = as_they_are(root.document.snapshots, root.own(ACTIVE_CONTRACTS.name))
            if found != root.document.snapshots:
                root.document = root.document.having(found)
        root.finish()
        unsound: Counter[str] = Counter()
        for history in histories:
            unsound.update(_without_unsound(lake, history))
            if unsettled:
                _take_out(history, beyond(history.coverage.common, history.coverage.settled))
        read_again = [
            str(interval) if of is HISTORY else f"{of.name}: {interval}"
            for of in SETS
            for interval in beyond(before.coverage(of.name).common, root.document.coverage(of.name).common)
        ]
    return RepairReport(
        lake.url,
        tuple(map(str, damaged)),
        tuple(loss.table for loss in losses if loss.gone),
        dict(unsound),
        tuple(read_again),
        dict(+gone),
        tuple(f"{loss.table} ({_entries(loss)})" for loss in losses if not loss.gone),
        restored,
        back,
    )


def _entries(loss: Loss) -> str:
    return f"{loss.shorter:,} at its end" if loss.shorter else f"{loss.rows:,} rows of {loss.named.rows:,} are left"


def _set_unreadable_logs_aside(lake: Lake) -> None:
    """Rename logs that cannot be read, so that their tables count as lost; object stores cannot rename."""
    from deltalake.exceptions import DeltaError

    from ledgerframes.store.delta.storage_errors import is_panic

    for name in (*STORED, SYNCS.name):
        try:
            lake.table(name).refresh()
        except StoreError as error:
            cause = error.__cause__
            if lake.folder is None or cause is None or not (isinstance(cause, DeltaError) or is_panic(cause)):
                raise
            folder = Path(lake.table(name).url)
            # Kept under another name: the data files stay, and an expert may still fix the log.
            folder.joinpath(_LOG).rename(folder / f"{_LOG}.damaged.{time.time_ns()}")
            _log.warning("%s: the log could not be read and was set aside: %s", name, error)


def _readable_root(lake: Lake, gone: Counter[str]) -> tuple[Root, str]:
    """The root, and the state that it went back to if its document is lost: the newest readable one, in words."""
    root, documents = lake.root(), lake.documents
    table = root.table.refresh()
    if table.version is None:  # the newest document has the coverage of all others
        numbers = reversed(documents.numbers())
        root.document = next((one for number in numbers if (one := documents.read(number))), Document())
        return root, ""
    last = table.version
    for version in range(last, -1, -1):
        try:
            older = Root(lake, strict=False).open(version).document
            break
        except StoreError:
            _log.warning("%s: what version %d of %s covers is lost", lake.url, version, table.name)
    if version == last:
        return root.open(), ""
    root.document = older
    table.restore(version)
    root.commit(_with_snapshots_there(lake, root.document, gone))  # the log still names the lost one
    return root, f"the state of {format_timestamp(older.number)}" if older.number else "an empty lake"


def _with_snapshots_there(lake: Lake, document: Document, gone: Counter[str]) -> Document:
    """An older document, but with the newest state of tables whose rows cannot be read again.

    Later rows of `active_contracts` belong to snapshots that only the lost document named; they are counted.
    """
    tables = dict(document.tables)
    for name in (*SNAPSHOTS, SYNCS.name):
        state, named = lake.table(name).refresh().state(), tables.get(name, Named())
        if name == ACTIVE_CONTRACTS.name:
            gone[name] += max(state.rows - named.rows, 0)
        elif state.version > named.version:
            tables[name] = state
    return replace(document, tables=tables)


def _take_over(root: Root, loss: Loss, gone: Counter[str]) -> None:
    """Go on with a table as it is, empty if its log is lost; count the rows that cannot be recovered.

    `_take_back` reduces the coverage of a history.
    """
    name = loss.table
    table = root.own(name)
    if loss.gone:
        table.create()
    else:
        root.changed(table)
    if name in DERIVED_TABLES:
        root.document = root.document.unsound(name)
    elif set_of(name) is None:
        left = table.size()["rows"] if loss.rows is None else loss.rows
        gone[name] += max(loss.named.rows - left, 0)


def _take_back(history: HistoryTables, losses: Sequence[Loss]) -> list[Damage]:
    """Remove damaged files from a history, or all of its rows if a table lost entries of its log.

    Nothing shows which rows are missing then, unless other tables name them.
    """
    found = {name: [*table.files.damages(full=True)] for name, table in history.tables.items()}
    damages = [damage for own in found.values() for damage in own]
    intervals = [_interval_of(damage.file) for damage in damages]
    own = [loss for loss in losses if loss.table in history.tables]
    if any(loss.gone or loss.table not in _NAMED_BY_OTHERS for loss in own):
        intervals = [Interval(one.migration_id, BEGINNING, CLOSED) for one in history.coverage.common]
    if intervals:
        _take_out(history, intervals, {name: [one.file for one in some] for name, some in found.items()})
    elif own:
        history.record(history.coverage)
    return damages


def _without_damage(root: Root, gone: Counter[str]) -> list[Damage]:
    """Remove damaged files from tables outside of histories; count the rows that cannot be recovered."""
    damages: list[Damage] = []
    for name in sorted(name for name in root.names if set_of(name) is None):
        table = root.own(name)
        own = [*table.files.damages(full=True)]
        damages += own
        if own:
            files = [damage.file for damage in own]
            table.change(table.table.schema.remove_metadata().empty_table(), files)
            if name in DERIVED_TABLES:  # it is computed again, so nothing is lost
                root.document = root.document.unsound(name)
            else:
                gone[name] += sum(file.rows or 0 for file in files)
    return damages


def _without_unsound(lake: Lake, history: HistoryTables) -> dict[str, int]:
    """Remove the record times with contradicting rows from a history."""
    counts: dict[str, int] = {}
    intervals: set[Interval] = set()
    for fault in faults(covered_rows(lake.existing(strict=False), history.of), history.of):
        counts[fault.name] = counts.get(fault.name, 0) + 1
        # One record time is the smallest unit that can be read again, since paging asks by time.
        intervals.add(Interval(fault.cursor.migration_id, fault.cursor.micros - 1, fault.cursor.micros))
    _take_out(history, intervals)
    return counts


def _take_out(
    history: HistoryTables, intervals: Iterable[Interval], damaged: Mapping[str, Sequence[StoredFile]] | None = None
) -> None:
    """Remove intervals from a history, coverage and rows of all tables, in one commit of the root.

    Their rows in sound files are removed too, since the next sync adds them again.
    """
    gone = merged(intervals)
    if not gone:
        return
    changes = {name: _change(table, gone, (damaged or {}).get(name, ())) for name, table in history.tables.items()}
    for name, table in history.tables.items():
        if name != HISTORY.index:
            table.change(*changes[name])
    history.record(history.coverage.without(gone), replaced=changes.get(HISTORY.index))


def _change(
    table: DeltaStoreTable, gone: Sequence[Interval], damaged: Sequence[StoredFile]
) -> tuple[pa.Table, list[StoredFile]]:
    """The rows to add and the files to remove, so that a table has no rows in some intervals."""
    bad = {file.path for file in damaged}
    touched = [
        file
        for file in table.files.listed.values()
        if file.path not in bad and (file.interval is None or intersection([_interval_of(file)], gone))
    ]
    return _rows_beside(table, touched, gone), [*damaged, *touched]


def _rows_beside(table: DeltaStoreTable, files: Sequence[StoredFile], gone: Sequence[Interval]) -> pa.Table:
    """The rows of some files that lie outside of some intervals."""
    data = table.dataset()
    paths = {file.path for file in files}
    remaining = [
        fragment.to_table(schema=data.schema, filter=~rows_of(gone))
        for fragment in data.get_fragments()
        if fragment.path in paths
    ]
    return pa.concat_tables([data.schema.empty_table(), *remaining])


def _interval_of(file: StoredFile) -> Interval:
    """The interval that a file's rows may lie in: by its log, or else its whole migration."""
    if file.interval is None:
        return Interval(int(file.partition["migration_id"]), BEGINNING, CLOSED)
    # Other writers round statistics down.
    return file.interval._replace(lo=file.interval.lo - 1, hi=file.interval.hi + _MILLISECOND)
