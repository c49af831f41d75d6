"""`derive_tables`: brings computed tables up to what is final in a store; `Store.derive` and a sync call it.

The history is gone through in chunks. A chunk is one commit per table, with its rows and how far the table is computed
by then, and the open contracts come last: so every table is at least as far as these, and what a chunk needs from
before is there until all tables have the chunk, whatever is killed.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ledgerframes.errors import PartialResultError, StoreError, visible
from ledgerframes.paging.cursor import Cursor
from ledgerframes.results import Result
from ledgerframes.store.coverage import Interval, lies_in
from ledgerframes.store.derive.chunks import Chunk, HistoryReader, fresh
from ledgerframes.store.derive.kept import DERIVABLE, OPEN_CONTRACTS, VERSIONS, function_of
from ledgerframes.store.derive.open_rows import files_with, rows_beside
from ledgerframes.store.derive.progress import Basis, Progress, with_interval
from ledgerframes.store.derive.rules import RULES, Change
from ledgerframes.store.derive.supply import supply_rows
from ledgerframes.store.lake import Lake, View
from ledgerframes.store.table_sets import HISTORY, NETWORK

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
        rows: rows added or changed, by table.
        again: the tables that were computed again from the beginning, and why.
        settled: up to where the tables are computed, in words; one interval per migration.
        commits: how many commits were made.
    """

    store: str
    rows: dict[str, int] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    settled: tuple[str, ...] = ()
    commits: int = 0

    def __str__(self) -> str:
        rows = ", ".join(f"{count:,} {name}" for name, count in self.rows.items() if count) or "nothing new"
        lines = [f"{self.store}: {rows}", *(f"computed again: {name}, for {why}" for name, why in self.again.items())]
        lines += [f"computed for {interval}" for interval in self.settled]
        return "\n".join(map(visible, lines))


def derived_tables(lake: Lake) -> tuple[str, ...]:
    """The computed tables that a store has."""
    return tuple(name for name in DERIVABLE if lake.table(name).refresh().exists)


def derive_tables(lake: Lake, wanted: Sequence[str]) -> DeriveReport:
    """Bring computed tables up to date; the caller holds the store.

    Args:
        lake: the store.
        wanted: names of tables, with those that they are computed with, as `derivable` gives them.

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
    run.carry_out()
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
        self._history = HistoryReader(view)
        self._basis = basis
        if "coin_history" in wanted and self._basis.intervals and not self._basis.begun:
            raise PartialResultError(
                f"{lake.url}: coin_history needs the history from ledger begin, and this store begins later; sync it"
                f' with start="begin", or use {function_of("coin_history")}(store, opening=...)'
            )
        names = [name for name in VERSIONS if name in wanted or name == _CARRIED]
        self._tables = {name: lake.table(name).refresh() for name in names}
        # Another table's rule may read a table that is not wanted, but never one that does not exist.
        self._progress = {name: Progress.of(table) for name, table in self._tables.items()}
        self._rows: Counter[str] = Counter()
        self._again: dict[str, str] = {}
        self._commits = 0

    def carry_out(self) -> None:
        """Compute what is new, chunk by chunk."""
        for table in self._tables.values():
            if not table.exists:
                network = self._lake.network()
                table.create({} if network is None else {NETWORK: network})
            table.check_schema()
        self._begin_again()
        chunked = [name for name in self._tables if name in RULES]
        for interval in fresh(self._basis.intervals, self._progress[_CARRIED].done):
            done = [self._progress[name].done for name in chunked]
            for part in self._history.parts(interval, done):
                self._compute(self._history.chunk(part, self._tables[_CARRIED]), chunked)
        for name in chunked:
            if self._progress[name].done != self._basis.intervals:
                self._commit(name, None, self._basis.intervals)
        if _SUMMED in self._tables and self._progress[_SUMMED].done != self._basis.intervals:
            self._sum()

    def report(self) -> DeriveReport:
        """What was done."""
        rows = {name: self._rows[name] for name in self._tables if name != _CARRIED}
        settled = tuple(map(str, self._basis.intervals))
        return DeriveReport(self._lake.url, rows, self._again, settled, self._commits)

    def _begin_again(self) -> None:
        """Empty the tables that cannot be continued."""
        for name, progress in self._progress.items():
            why = progress.why_again(name, self._basis)
            new = fresh(self._basis.intervals, progress.done)
            last = max((interval.migration_id for interval in progress.done), default=None)
            if not why and last is not None:
                # A later migration may have ended what an earlier one only now shows.
                earlier = [part for part in new if part.migration_id < last]
                why = "an earlier migration has more updates" if self._history.has_rows(earlier) else ""
            if why:
                self._empty(name, "" if why == "new" else why)
        # Its state before a chunk has to be there for the table that is furthest behind.
        carried = self._progress[_CARRIED]
        behind = [name for name in RULES if name in self._tables and fresh(carried.done, self._progress[name].done)]
        if behind:
            self._empty(_CARRIED, "")

    def _empty(self, name: str, why: str) -> None:
        table, progress = self._tables[name], self._progress[name]
        self._progress[name] = progress.begin(name, self._basis)
        files = [] if table.files is None else list(table.files.listed.values())
        if files or progress.done:
            empty = table.table.schema.remove_metadata().empty_table()
            table.change(empty, files, self._progress[name].numbers())
            self._commits += 1
        if why and name != _CARRIED:
            self._again[name] = why
            _log.info("%s is computed again from the beginning: %s", name, why)

    def _compute(self, chunk: Chunk, names: Iterable[str]) -> None:
        """Commit what a chunk does to each table that does not have it yet."""
        interval = chunk.interval
        for name in names:
            done = self._progress[name].done
            # Parts never lie across the end of what a table has, so one place tells for all.
            if not lies_in(Cursor(interval.migration_id, interval.hi), done):
                change = RULES[name](chunk, self._tables)
                self._commit(name, change, with_interval(done, interval))

    def _commit(self, name: str, change: Change | None, done: tuple[Interval, ...]) -> None:
        table = self._tables[name]
        empty = table.table.schema.remove_metadata().empty_table()
        change = change or Change(empty, empty)
        progress = self._progress[name].reaching(done, change.unknown)
        key = table.table.key[0]
        files = files_with(table, key, change.keys)
        kept = rows_beside(table, files, key, change.keys)
        changing = (part for part in (change.open, *kept) if part.num_rows)
        table.change(_in_form(change.rows, empty), files, progress.numbers(), _each_in_form(changing, empty))
        self._progress[name] = progress
        self._rows[name] += change.rows.num_rows + change.open.num_rows
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
        self._rows[_SUMMED] += rows.num_rows
        self._commits += 1


def _in_form(rows: pa.Table, empty: pa.Table) -> pa.Table:
    return rows.select(empty.column_names).cast(empty.schema)


def _each_in_form(parts: Iterable[pa.Table], empty: pa.Table) -> Iterable[pa.Table]:
    return (_in_form(part, empty) for part in parts)
