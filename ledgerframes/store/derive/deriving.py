"""`derive_tables`: brings computed tables up to the final part of a store; `Store.derive` and syncs call it.

The history is processed in chunks. A chunk's changes to all tables, and their progress, are one commit of the root.
If the history changed below the computed part, a table is computed again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from ledgerframes.errors import PartialResultError, StoreError, visible
from ledgerframes.number_format import rows_text
from ledgerframes.paging.cursor import Cursor
from ledgerframes.results import Result
from ledgerframes.store.coverage import Interval, beyond, lies_in, merged
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.derive.chunks import HistoryReader
from ledgerframes.store.derive.kept_rows import files_of, open_rows
from ledgerframes.store.derive.progress import NEW, Basis, read, why_again
from ledgerframes.store.derive.rules import Change, changes, supply_rows
from ledgerframes.store.derive.tables import DERIVABLE, NEEDS, OPEN_CONTRACTS, SUMMED, VERSIONS
from ledgerframes.store.documents import Progress
from ledgerframes.store.lake import Lake
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY

_log = logging.getLogger("ledgerframes.store")
_CARRIED = OPEN_CONTRACTS.name


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
        rows = [f"{rows_text(self.rows[name])} of {name} ({count:,} written)" for name, count in new.items()]
        lines = [f"{self.store}: {', '.join(rows) or 'nothing new'}"]
        lines += [f"computed again: {name}, because {why}" for name, why in self.again.items()]
        lines += [f"computed for {interval}" for interval in self.settled]
        return "\n".join(map(visible, lines))


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
                " use lf.coin_history(store, opening=...)"
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
        self._begin_again()
        done = [self._progress[name].done for name in self._chunked]
        for interval in self._history.parts(beyond(self._basis.intervals, self._progress[_CARRIED].done), done):
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
            if table.size()["files"]:
                table.replace(table.table.schema.empty_table())
                self._commits += 1
            if name != _CARRIED and why != NEW:
                self._again[name] = why
                _log.info("%s is computed again: %s", name, why)

    def _comes_late(self, progress: Progress) -> bool:
        """Whether an earlier migration than the last computed one has more, which may have ended contracts of that."""
        last = max((interval.migration_id for interval in progress.done), default=-1)
        new = beyond(self._basis.intervals, progress.done)
        return any(self._history.parts(part for part in new if part.migration_id < last))

    def _take(self, interval: Interval) -> None:
        """Compute a chunk, and commit its changes to each table that lacks it."""
        # Parts never cross the end of the computed part of a table, so one place decides for all.
        end = Cursor(interval.migration_id, interval.hi)
        with changes(self._history.rows(interval), self._opened) as changed:
            for name in self._chunked:
                if not lies_in(end, self._progress[name].done):
                    self._commit(name, changed(name), interval)
        self._record()

    def _opened(self, name: str, wanted: pc.Expression) -> pa.Table:
        return open_rows(self._tables[name], wanted)

    def _commit(self, name: str, change: Change, interval: Interval) -> None:
        table, progress = self._tables[name], self._progress[name]
        data, replaced = table.dataset(), pc.field(table.table.key[0]).isin(change.keys)
        with damage_named([table]):
            opened = files_of(table, data, changing=True) if len(change.keys) else ()
            files = [(file, rows) for file, rows in opened if rows.scanner(filter=replaced).count_rows()]
        # One file at a time.
        kept = (rows.to_table(schema=data.schema, filter=~replaced) for _, rows in files)
        changing = (part for part in chain([change.open], kept) if part.num_rows)
        table.change(change.rows, [file for file, _ in files], changing)
        done, unknown = merged([*progress.done, interval]), progress.unknown + change.unknown
        self._progress[name] = replace(progress, done=done, unknown=unknown)
        self._written[name] += change.rows.num_rows + change.open.num_rows
        self._commits += 1
        table.compact_crowded()

    def _sum(self) -> None:
        """Compute the supply of all rounds from `round_history` and `mint_burn`."""
        table = self._tables[SUMMED]
        below = [self._tables[name] for name in NEEDS[SUMMED]]
        with damage_named(below):
            rows = supply_rows({one.name: one.dataset() for one in below}, begun=self._basis.begun)
        self._progress[SUMMED] = replace(self._progress[SUMMED], done=self._basis.intervals)
        table.replace(rows)
        self._written[SUMMED] += rows.num_rows
        self._commits += 1
