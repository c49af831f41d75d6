"""`derive_tables`: brings computed tables up to the final part of a store; `Store.derive` and syncs call it.

The history is processed in chunks. A chunk's changes to all tables, and their progress, are one commit of the root.
If the history changed below the computed part, a table is computed again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from ledgerframes.errors import PartialResultError, StoreError, visible
from ledgerframes.loaders.opening import Opening
from ledgerframes.models.computing import together
from ledgerframes.paging.cursor import Cursor
from ledgerframes.results import Result
from ledgerframes.store.coverage import Interval, beyond, lies_in
from ledgerframes.store.coverage_document import Progress
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.chunks import HistoryReader
from ledgerframes.store.derive.contracts import contracts_changed, opening_of
from ledgerframes.store.derive.from_rows import supply_rows
from ledgerframes.store.derive.open_rows import files_with, open_rows, rows_beside
from ledgerframes.store.derive.progress import NEW, Basis, read, why_again, with_interval
from ledgerframes.store.derive.rules import Change, changed
from ledgerframes.store.derive.tables import DERIVABLE, NEEDS, OPEN_CONTRACTS, SUMMED, VERSIONS, function_of
from ledgerframes.store.lake import Lake
from ledgerframes.store.root import Root
from ledgerframes.store.table_sets import HISTORY

_log = logging.getLogger("ledgerframes.store")
_CARRIED = OPEN_CONTRACTS.name
# A read opens each file once.
_FILES = 100


@dataclass(frozen=True, repr=False)
class DeriveReport(Result):
    """The result of `Store.derive`.

    Attributes:
        store: its URL.
        rows: the number of rows of each table.
        written: rows added or changed, by table; one that changes later is written again.
        again: the tables that were computed again from the beginning, and why.
        settled: up to where the tables are computed, in words; one interval per migration.
        commits: how many commits were made.
    """

    store: str
    rows: dict[str, int] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    settled: tuple[str, ...] = ()
    commits: int = 0

    def __str__(self) -> str:
        if not self.rows:
            return visible(f"{self.store}: it keeps no computed table; name some of {', '.join(DERIVABLE)}")
        new = {name: count for name, count in self.written.items() if count}
        rows = [f"{self.rows[name]:,} rows of {name} ({count:,} written)" for name, count in new.items()]
        lines = [f"{self.store}: {', '.join(rows) or 'nothing new'}"]
        lines += [f"computed again: {name}, because {why}" for name, why in self.again.items()]
        lines += [f"computed for {interval}" for interval in self.settled]
        return "\n".join(map(visible, lines))


def derived_tables(lake: Lake) -> tuple[str, ...]:
    """The computed tables that a store has."""
    names = lake.root().names
    return tuple(name for name in DERIVABLE if name in names)


def derive_tables(lake: Lake, wanted: Sequence[str]) -> DeriveReport:
    """Bring computed tables up to date; the caller holds the lock.

    Args:
        lake: the store.
        wanted: names of tables, with their inputs, as `derivable` returns them.

    Raises:
        StoreError: there is no history, a newer version computed a table, or the store cannot be written.
        PartialResultError: coins are wanted, and the history does not begin at ledger begin.
    """
    root = lake.root()
    if not root.has(HISTORY):
        raise StoreError(f"{lake.url}: there is no history to compute tables from; sync it first: store.sync(net)")
    if not wanted:
        return DeriveReport(lake.url)
    run = _Run(lake, root, wanted)
    run.carry_out()
    return run.report()


class _Run:
    """One pass over the new part of the history."""

    def __init__(self, lake: Lake, root: Root, wanted: Sequence[str]) -> None:
        self._lake = lake
        self._root = root
        self._history = HistoryReader(root)
        self._basis = Basis.of(root)
        if "coin_history" in wanted and self._basis.intervals and not self._basis.begun:
            late = None if root.coverage.begin is None else root.coverage.begin.late
            how = 'sync it with start="begin"'
            if late is not None:
                how = f"older updates than {late} had been pruned; sync it from a scan that has them, or with source="
                how += '"objects"'
            raise PartialResultError(
                f"{lake.url}: coin_history needs the history from ledger begin, and this store begins later; {how}, or"
                f" use {function_of('coin_history')}(store, opening=...)"
            )
        names = [name for name in VERSIONS if name in wanted or name == _CARRIED]
        self._tables = {name: self._root.own(name) for name in names}
        self._progress = {name: read(self._root.document, name) for name in names}
        self._written: Counter[str] = Counter()
        self._again: dict[str, str] = {}
        self._commits = 0

    def carry_out(self) -> None:
        """Compute everything new, chunk by chunk."""
        for table in self._tables.values():
            if not table.exists:
                table.create()
            table.check_schema()
        self._begin_again()
        for interval in self._parts():
            self._take(interval)
        for name in self._chunked:
            self._progress[name] = replace(self._progress[name], done=self._basis.intervals)
        if SUMMED in self._tables and self._progress[SUMMED].done != self._basis.intervals:
            self._sum()
        self._record()

    def _record(self) -> None:
        """Commit the changed tables and their progress."""
        document = self._root.document.computing(self._progress)
        if document != self._root.document:
            self._root.commit(document)

    @property
    def _chunked(self) -> list[str]:
        """The tables that are computed chunk by chunk, in the order of writing; the open contracts last."""
        return [name for name in self._tables if name != SUMMED]

    def _parts(self) -> Iterator[Interval]:
        """The chunks that are not in all tables yet, in order."""
        for interval in self._basis.beyond(self._progress[_CARRIED].done):
            yield from self._history.parts(interval, [self._progress[name].done for name in self._chunked])

    def report(self) -> DeriveReport:
        """The report of this pass."""
        tables = {name: table for name, table in self._tables.items() if name != _CARRIED}
        rows = {name: table.size()["rows"] for name, table in tables.items()}
        written = {name: self._written[name] for name in tables}
        settled = tuple(map(str, self._basis.intervals))
        return DeriveReport(self._lake.url, rows, written, self._again, settled, self._commits)

    def _begin_again(self) -> None:
        """Empty the tables that cannot be continued."""
        for name, progress in self._progress.items():
            why = why_again(progress, name, self._basis)
            if not why and self._comes_late(progress):
                why = "an earlier migration has more updates"
            # Its state before a chunk is needed for the table that is furthest behind.
            others = (self._progress[other].done for other in self._chunked if other != _CARRIED)
            if not why and name == _CARRIED and any(beyond(progress.done, done) for done in others):
                why = "another table is further behind"
            if not why:
                continue
            table, basis = self._tables[name], self._basis
            self._progress[name] = Progress(rules=VERSIONS[name], changes=basis.changes, begun=basis.begun)
            files = [] if table.files is None else list(table.files.listed.values())
            if files:
                table.change(_empty(table), files)
                self._commits += 1
            if name != _CARRIED and why != NEW:
                self._again[name] = why
                _log.info("%s is computed again: %s", name, why)

    def _comes_late(self, progress: Progress) -> bool:
        """Whether an earlier migration than the last computed one has more, which may have ended contracts of that."""
        last = max((interval.migration_id for interval in progress.done), default=-1)
        return self._history.has_rows([part for part in self._basis.beyond(progress.done) if part.migration_id < last])

    def _take(self, interval: Interval) -> None:
        """Compute a chunk, and commit its changes to each table that lacks it."""
        rows = self._history.rows(interval)
        opening = opening_of(rows, self._tables[_CARRIED])
        # Parts never cross the end of the computed part of a table, so one place decides for all.
        end = Cursor(interval.migration_id, interval.hi)
        with together(rows, opening=Opening(opening), rows_only=True) as inputs:
            for name in self._chunked:
                if not lies_in(end, self._progress[name].done):
                    carried = name == _CARRIED
                    change = contracts_changed(rows, opening) if carried else changed(name, inputs, self._opened)
                    self._commit(name, change, with_interval(self._progress[name].done, interval))
        self._record()

    def _opened(self, name: str, wanted: pc.Expression) -> pa.Table:
        return open_rows(self._tables[name], wanted)

    def _commit(self, name: str, change: Change, done: tuple[Interval, ...]) -> None:
        table = self._tables[name]
        empty = _empty(table)
        progress = self._progress[name]
        progress = replace(progress, done=done, unknown=progress.unknown + change.unknown)
        key = table.table.key[0]
        files = files_with(table, key, change.keys)
        remaining = rows_beside(table, files, key, change.keys)
        changing = (part for part in (change.open, *remaining) if part.num_rows)
        table.change(_in_form(change.rows, empty), files, _each_in_form(changing, empty))
        self._progress[name] = progress
        self._written[name] += change.rows.num_rows + change.open.num_rows
        self._commits += 1
        if table.files is not None and len(table.files.listed) > _FILES:
            table.compact()

    def _sum(self) -> None:
        """Compute the supply of all rounds from `round_history` and `mint_burn`."""
        table = self._tables[SUMMED]
        below = [self._tables[name] for name in NEEDS[SUMMED]]
        with damage_named(below):
            rows = supply_rows({one.name: one.dataset() for one in below}, begun=self._basis.begun)
        files = [] if table.files is None else list(table.files.listed.values())
        self._progress[SUMMED] = replace(self._progress[SUMMED], done=self._basis.intervals)
        table.change(rows, files)
        self._written[SUMMED] += rows.num_rows
        self._commits += 1


def _empty(table: DeltaStoreTable) -> pa.Table:
    return table.table.schema.remove_metadata().empty_table()


def _in_form(rows: pa.Table, empty: pa.Table) -> pa.Table:
    return rows.select(empty.column_names).cast(empty.schema)


def _each_in_form(parts: Iterable[pa.Table], empty: pa.Table) -> Iterable[pa.Table]:
    return (_in_form(part, empty) for part in parts)
