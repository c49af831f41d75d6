"""`derive_tables`: brings computed tables up to what is final in a store; `Store.derive` and a sync call it.

The history is gone through in chunks. A chunk is one commit per table, with its rows and how far the table is computed
by then, and the open contracts come last: so every table is at least as far as these, and what a chunk needs from
before is there until all tables have the chunk, whatever is killed.

Where the history changed below what is computed, a table goes back to the last chunk that ended before the change, and
is computed again from there; see `restoring`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ledgerframes.errors import PartialResultError, StoreError, visible
from ledgerframes.paging.cursor import Cursor
from ledgerframes.results import Result
from ledgerframes.store.changes import BEFORE_ALL
from ledgerframes.store.coverage import Interval, lies_in
from ledgerframes.store.derive.change import Change
from ledgerframes.store.derive.chunks import HistoryReader, fresh
from ledgerframes.store.derive.dask_work import ClusterWork, source_of
from ledgerframes.store.derive.from_kept import supply_rows
from ledgerframes.store.derive.kept import DERIVABLE, NEEDS, OPEN_CONTRACTS, VERSIONS, function_of
from ledgerframes.store.derive.open_rows import files_with, rows_beside
from ledgerframes.store.derive.progress import NEW, Basis, Progress, with_interval
from ledgerframes.store.derive.restoring import restored
from ledgerframes.store.derive.rules import RULES
from ledgerframes.store.derive.work import Work, work_here
from ledgerframes.store.lake import Lake, View
from ledgerframes.store.table_sets import HISTORY

_log = logging.getLogger("ledgerframes.store")
_CARRIED = OPEN_CONTRACTS.name
_SUMMED = "supply_per_round"
# Every file costs a read one open.
_FILES = 100


@dataclass(frozen=True, repr=False)
class DeriveReport(Result):
    """What was computed.

    Attributes:
        store: which.
        rows: rows that each table has.
        written: rows added or changed, by table; one that changes later is written again.
        again: the tables that were computed again, and why.
        kept: up to where earlier rows of these stayed, in words; those not named were computed from the beginning.
        settled: up to where the tables are computed, in words; one interval per migration.
        commits: how many commits were made.
    """

    store: str
    rows: dict[str, int] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    settled: tuple[str, ...] = ()
    commits: int = 0

    def __str__(self) -> str:
        if not self.rows:
            return visible(f"{self.store}: it keeps no computed table; name some of {', '.join(DERIVABLE)}")
        new = {name: count for name, count in self.written.items() if count}
        rows = [f"{self.rows[name]:,} rows of {name} ({count:,} written)" for name, count in new.items()]
        lines = [f"{self.store}: {', '.join(rows) or 'nothing new'}"]
        for name, why in self.again.items():
            since = f"what follows {self.kept[name]}" if name in self.kept else "from the beginning"
            lines.append(f"computed again: {name}, {since}, because {why}")
        lines += [f"computed for {interval}" for interval in self.settled]
        return "\n".join(map(visible, lines))


def derived_tables(lake: Lake) -> tuple[str, ...]:
    """The computed tables that a store has."""
    return tuple(name for name in DERIVABLE if lake.table(name).refresh().exists)


def derive_tables(lake: Lake, wanted: Sequence[str], *, engine: Any = None) -> DeriveReport:
    """Bring computed tables up to date; the caller holds the store.

    Args:
        lake: the store.
        wanted: names of tables, with those that they are computed with, as `derivable` gives them.
        engine: the client of a Dask cluster whose workers compute.

    Raises:
        StoreError: there is no history, a newer version computed a table, or the store cannot be written.
        PartialResultError: coins are wanted, and the history does not begin at ledger begin.
    """
    if not wanted:
        return DeriveReport(lake.url)
    view = lake.view(names=HISTORY.order)
    if not view.has(HISTORY):
        raise StoreError(f"{lake.url}: there is no history to compute tables from; sync it first: store.sync(net)")
    run = _Run(lake, view, wanted, Basis.of(view))
    run.carry_out(engine)
    return run.report()


def derive_aside(lake: Lake, view: View, wanted: Sequence[str], basis: Basis) -> None:
    """Compute tables of one store into another, which holds nothing else and is thrown away afterwards.

    Args:
        lake: where the tables are made.
        view: the store whose history they are computed from.
        wanted: names of tables, with those that they are computed with.
        basis: the part of the history.
    """
    _Run(lake, view, wanted, basis).carry_out()


class _Run:
    """One pass over what is new."""

    def __init__(self, lake: Lake, view: View, wanted: Sequence[str], basis: Basis) -> None:
        self._lake = lake
        self._view = view
        self._history = HistoryReader(view)
        self._basis = basis
        if "coin_history" in wanted and self._basis.intervals and not self._basis.begun:
            late = None if view.slots.begin is None else view.slots.begin.late
            how = 'sync it with start="begin"'
            if late is not None:
                how = f"older updates than {late} had been pruned; sync it from a scan that has them, or with source="
                how += '"objects"'
            raise PartialResultError(
                f"{lake.url}: coin_history needs the history from ledger begin, and this store begins later; {how}, or"
                f" use {function_of('coin_history')}(store, opening=...)"
            )
        names = [name for name in VERSIONS if name in wanted or name == _CARRIED]
        self._tables = {name: lake.table(name).refresh() for name in names}
        # Another table's rule may read a table that is not wanted, but never one that does not exist.
        self._progress = {name: Progress.of(table) for name, table in self._tables.items()}
        self._looked: dict[tuple[Interval, ...], bool] = {}
        self._written: Counter[str] = Counter()
        self._again: dict[str, str] = {}
        self._kept: dict[str, str] = {}
        self._commits = 0

    def carry_out(self, engine: Any = None) -> None:
        """Compute what is new, chunk by chunk, in this process or by the workers of a cluster."""
        for table in self._tables.values():
            if not table.exists:
                table.create(self._lake.network())
            table.check_schema()
        self._begin_again()
        carried, parts = self._tables[_CARRIED], self._parts()
        if engine is None:
            chunks = work_here(self._history, parts, carried)
        else:
            chunks = ClusterWork(engine, source_of(self._lake, self._view), carried, self._lacking).of(parts)
        with closing(chunks):
            for work in chunks:
                self._take(work)
                del work  # its rows would be in memory beside those of the next chunk
        for name in self._chunked:
            if self._progress[name].done != self._basis.intervals:
                self._commit(name, None, self._basis.intervals)
        if _SUMMED in self._tables and self._progress[_SUMMED].done != self._basis.intervals:
            self._sum()

    @property
    def _chunked(self) -> list[str]:
        """The tables that are computed chunk by chunk, in the order of writing; the open contracts last."""
        return [name for name in self._tables if name != _SUMMED]

    def _parts(self) -> Iterator[Interval]:
        """The chunks that are not in all tables yet, in order."""
        for interval in fresh(self._basis.intervals, self._progress[_CARRIED].done):
            yield from self._history.parts(interval, [self._progress[name].done for name in self._chunked])

    def report(self) -> DeriveReport:
        """What was done."""
        tables = {name: table for name, table in self._tables.items() if name != _CARRIED}
        rows = {name: table.dataset().count_rows() for name, table in tables.items()}
        written = {name: self._written[name] for name in tables}
        settled = tuple(map(str, self._basis.intervals))
        return DeriveReport(self._lake.url, rows, written, self._again, self._kept, settled, self._commits)

    def _begin_again(self) -> None:
        """Take the tables that cannot be continued back to where they can."""
        for name, progress in self._progress.items():
            why = self._why_again(name, progress)
            self._progress[name] = self._taken_back(name, why) if why else progress.on(self._basis)

    def _why_again(self, name: str, progress: Progress) -> str:
        """Why a table cannot be continued from a state; empty if it can."""
        why = progress.why_again(name, self._basis)
        if why or not progress.done:
            return why
        # A later migration may have ended what an earlier one only now shows.
        last = max(interval.migration_id for interval in progress.done)
        earlier = [part for part in fresh(self._basis.intervals, progress.done) if part.migration_id < last]
        if self._has_rows(tuple(earlier)):
            return "an earlier migration has more updates"
        # Its state before a chunk has to be there for the table that is furthest behind.
        others = [self._progress[other].done for other in self._chunked if other != _CARRIED]
        if name == _CARRIED and any(fresh(progress.done, done) for done in others):
            return "another table is less far"
        return ""

    def _has_rows(self, intervals: tuple[Interval, ...]) -> bool:
        if intervals not in self._looked:
            self._looked[intervals] = self._history.has_rows(intervals)
        return self._looked[intervals]

    def _taken_back(self, name: str, why: str) -> Progress:
        """Take a table back to its newest state that can be continued, or empty it where there is none."""
        table = self._tables[name]
        back = None
        # The sums of all rounds are taken anew in any case.
        if name != _SUMMED:
            back = restored(
                self._lake, table, self._progress[name], self._basis, lambda state: not self._why_again(name, state)
            )
        if back is not None:
            self._commits += 1
        kept = "" if back is None else "; ".join(map(str, back.done))
        if name != _CARRIED and why != NEW:
            self._again[name] = why
            self._kept.update({name: kept} if kept else {})
            _log.info("%s is computed again %s: %s", name, f"after {kept}" if kept else "from the beginning", why)
        return back or self._emptied(name)

    def _emptied(self, name: str) -> Progress:
        table, progress = self._tables[name], self._progress[name]
        begun = progress.begin(name, self._basis)
        files = [] if table.files is None else list(table.files.listed.values())
        if files or progress.done:
            table.change(table.table.schema.remove_metadata().empty_table(), files, begun.numbers())
            self._commits += 1
        return begun

    def _lacking(self, interval: Interval) -> list[str]:
        return [name for name in self._chunked if name != _CARRIED and self._lacks(name, interval)]

    def _lacks(self, name: str, interval: Interval) -> bool:
        # Parts never lie across the end of what a table has, so one place tells for all.
        return not lies_in(Cursor(interval.migration_id, interval.hi), self._progress[name].done)

    def _take(self, work: Work) -> None:
        """Commit what a chunk does to each table that does not have it yet."""
        for name in self._chunked:
            if self._lacks(name, work.interval):
                change = work.contracts() if name == _CARRIED else RULES[name].change(work.rows_of(name), self._tables)
                self._commit(name, change, with_interval(self._progress[name].done, work.interval))

    def _commit(self, name: str, change: Change | None, done: tuple[Interval, ...]) -> None:
        table = self._tables[name]
        empty = table.table.schema.remove_metadata().empty_table()
        change = change or Change(empty, empty)
        # Rows depend on the tables that they are computed with, and these may be further.
        reach = max((self._progress[needed].reach for needed in NEEDS.get(name, ())), default=BEFORE_ALL)
        progress = self._progress[name].reaching(done, change.unknown, reach)
        key = table.table.key[0]
        files = files_with(table, key, change.keys)
        kept = rows_beside(table, files, key, change.keys)
        changing = (part for part in (change.open, *kept) if part.num_rows)
        table.change(_in_form(change.rows, empty), files, progress.numbers(), _each_in_form(changing, empty))
        self._progress[name] = progress
        self._written[name] += change.rows.num_rows + change.open.num_rows
        self._commits += 1
        if table.files is not None and len(table.files.listed) > _FILES:
            table.compact()

    def _sum(self) -> None:
        """Compute the supply of all rounds from the tables of rounds and of what updates mint and burn."""
        table = self._tables[_SUMMED]
        begun = self._basis.begun
        rows = supply_rows(self._tables["mint_burn"], self._tables["round_history"], begun=begun)
        files = [] if table.files is None else list(table.files.listed.values())
        self._progress[_SUMMED] = self._progress[_SUMMED].reaching(self._basis.intervals)
        table.change(rows, files, self._progress[_SUMMED].numbers())
        self._written[_SUMMED] += rows.num_rows
        self._commits += 1


def _in_form(rows: pa.Table, empty: pa.Table) -> pa.Table:
    return rows.select(empty.column_names).cast(empty.schema)


def _each_in_form(parts: Iterable[pa.Table], empty: pa.Table) -> Iterable[pa.Table]:
    return (_in_form(part, empty) for part in parts)
