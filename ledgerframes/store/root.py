"""`Root`: the log of `updates`, the document it names, and the tables in the state named there; `Lake` opens it.

Every change of a lake ends with one commit here. Rows of other tables beyond the state that the document names do not
exist yet: readers ignore them, and the next writer takes them back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec.structs import replace

from ledgerframes.errors import StoreError
from ledgerframes.store.coverage import Coverage
from ledgerframes.store.delta.data_files import NewFile
from ledgerframes.store.delta.stored_files import StoredFile
from ledgerframes.store.delta.table import DeltaStoreTable, Named
from ledgerframes.store.derive.tables import DERIVED_TABLES
from ledgerframes.store.documents import Document
from ledgerframes.store.stored_tables import HISTORY, STORED, TableSet, set_of

if TYPE_CHECKING:
    from ledgerframes.store.lake import Lake


@dataclass(frozen=True)
class Loss:
    """A table that differs from the state in which it was left.

    Attributes:
        table: the table's name.
        named: the state in which it was left.
        version: the last version in its log; None if there is no log.
        rows: the rows of that state according to the log; None if that state is gone.
    """

    table: str
    named: Named
    version: int | None = None
    rows: int | None = None

    @property
    def gone(self) -> bool:
        """Whether there is no log at all."""
        return self.version is None

    @property
    def shorter(self) -> int:
        """The number of entries missing at the end of the log."""
        return 0 if self.version is None else max(self.named.version - self.version, 0)

    def __str__(self) -> str:
        if self.gone:
            what = f"the table {self.table!r} is missing: its log is lost. store.repair() makes it again, empty"
        elif self.shorter:
            what = (
                f"entries of the log of {self.table!r} are lost: it ends with version {self.version}, and was left at"
                f" {self.named.version}. store.repair() makes it sound"
            )
        else:
            what = (
                f"entries of the log of {self.table!r} are damaged: it lists {self.rows:,} rows, and was left with"
                f" {self.named.rows:,}. store.repair() removes what is in doubt"
            )
        return f"{what}, {filled_by(self.table)}; or restore its folder from a copy"


def filled_by(name: str) -> str:
    """Say what fills a table again whose rows are lost."""
    if set_of(name) is not None:
        return "and the next sync fills it"
    if name in DERIVED_TABLES:
        return "and the next derive computes it again"
    return "and its lost rows cannot be recovered"


def loss_of(table: DeltaStoreTable, named: Named) -> Loss | None:
    """Compare a table with the state in which it was left; None if nothing is missing.

    Args:
        table: in that state, or returned to it by a later commit.
        named: the state in which it was left.
    """
    version = table.version
    if version is None or version < named.version:
        return Loss(table.name, named, version)
    rows = table.state().rows
    return None if rows == named.rows else Loss(table.name, named, version, rows)


class Root:
    """The root of a lake in one state.

    Args:
        lake: the lake.
        writes: whether its tables are opened for writing, which takes back what a killed writer left in them.
        strict: refuse tables of which a part is lost.

    Attributes:
        table: `updates`.
        document: the one that the log names, with the changes of the next commit; empty in a new lake.
        continued: what the part that is not final adds to the kept rows of tables, once it was computed.
    """

    def __init__(self, lake: Lake, *, writes: bool = False, strict: bool = True) -> None:
        self.table = lake.table(HISTORY.index, self)
        self.document = Document()
        self.continued: dict[str, Any] = {}
        self._lake = lake
        self._writes = writes
        self._strict = strict
        self._named = self.document  # as last read or committed
        self._tables: dict[str, DeltaStoreTable] = {}
        self._changed: dict[str, Named] = {}  # not named yet
        self._lock = threading.Lock()

    def open(self, version: int | None = None) -> Root:
        """Read the newest state, or that of a version of `updates`.

        Raises:
            StoreError: the document is lost or damaged, or part of `updates` is lost.
        """
        self._lake.file()  # refuses another format
        if version is None:
            self.table.refresh()
        else:
            self.table.as_of(version)
        number = self.table.number()
        document = Document() if number is None else self._lake.documents.read(number)
        if document is None:
            raise StoreError(
                f"{self.table.url}: the document {number}, which records what the lake covers, is lost or damaged."
                " store.repair() goes back to the one before, and the next sync reads what is missing; or restore the"
                " folder _coverage from a copy"
            )
        self.document = self._named = document
        for loss in self._own_losses() if self._strict else ():
            raise StoreError(f"{self._lake.url}: {loss}")
        return self

    def is_same(self, other: Root) -> bool:
        """Whether both are one state of a lake that is not empty."""
        state = self.document.number, self.table.version
        return self.document.number > 0 and state == (other.document.number, other.table.version)

    def own(self, name: str) -> DeltaStoreTable:
        """A table in the state that the document names; every call returns the same object.

        Raises:
            StoreError: part of it is lost, or it cannot be opened.
        """
        if name == self.table.name:
            return self.table
        if name not in self._tables:
            table, named = self._lake.table(name, self), self.document.tables.get(name)
            if named is not None:
                table.refresh()
                if self._writes and table.exists:
                    table.restore(named.version)
                elif (table.version or 0) > named.version:
                    table.as_of(named.version)
                if self._strict and (loss := loss_of(table, named)) is not None:
                    raise StoreError(f"{self._lake.url}: {loss}")
            self._tables[name] = table
        return self._tables[name]

    def shown(self, name: str) -> DeltaStoreTable:
        """A table as readers see it: one of a history with the others of its set, and `updates` once there is one.

        Raises:
            StoreError: part of it, or of another one of its set, is lost, or it cannot be opened.
        """
        of = set_of(name)
        for other in () if of is None else of.order:
            self.own(other)
        # The log of `updates` names documents even where there is no history.
        absent = name == self.table.name and HISTORY.name not in self.document.histories
        return self._lake.table(name) if absent else self.own(name)

    @property
    def stored(self) -> dict[str, DeltaStoreTable]:
        """The tables that readers can see, in the order in which people name them."""
        return {name: table for name in STORED if (table := self.shown(name)).exists}

    @property
    def coverage(self) -> Coverage:
        """The coverage of the update history."""
        return self.coverage_of(HISTORY)

    def coverage_of(self, tables: TableSet) -> Coverage:
        """The coverage of one set of tables."""
        return self.document.coverage(tables.name)

    def has(self, tables: TableSet) -> bool:
        """Whether all tables of a set exist."""
        return all(self.shown(name).exists for name in tables.order)

    def losses(self) -> list[Loss]:
        """The tables that lost rows since a sync, derive or repair left them, according to their logs alone."""
        named = self.document.tables
        others = (loss_of(self.own(name), state) for name, state in named.items())
        return [*self._own_losses(), *(loss for loss in others if loss is not None)]

    def _own_losses(self) -> list[Loss]:
        """The losses of `updates`; if there is a document, the table must exist."""
        if not self.table.exists:
            return [Loss(self.table.name, Named())] if self._lake.documents.numbers() else []
        if not self.document.number:
            return []
        loss = loss_of(self.table, Named(self.document.version, self.document.rows))
        return [] if loss is None else [loss]

    def making(self) -> None:
        """Prepare for a table that is about to be created."""
        self._lake.make_file()

    def changed(self, table: DeltaStoreTable) -> None:
        """Name the state of a table in the next commit."""
        if table.name != self.table.name:
            state = table.state()
            with self._lock:
                self._changed[table.name] = state

    def forget(self, name: str) -> None:
        """Leave a table out of the next document, as if it had never been stored."""
        with self._lock:
            self._changed.pop(name, None)
        self.document = replace(self.document, tables={k: v for k, v in self.document.tables.items() if k != name})

    def finish(self) -> None:
        """Commit any changes that are not named yet."""
        if self._changed or self.document != self._named:
            self.commit(self.document)

    def commit(
        self,
        document: Document,
        batches: Sequence[pa.RecordBatch] = (),
        files: Sequence[NewFile] = (),
        replaced: tuple[pa.Table, Sequence[StoredFile]] | None = None,
    ) -> None:
        """Commit a document with the current tables as the state that readers see.

        Args:
            document: the last one, with the changes.
            batches: rows to add to `updates`.
            files: files with further rows.
            replaced: instead, rows to add and files to remove.

        Raises:
            StoreError: another writer was first, or the storage refused; then nothing has changed.
        """
        if not self.table.exists:
            self.table.create()
        self.table.extend()
        with self._lock:
            changed = dict(self._changed)
        rows = self.table.state().rows + sum(batch.num_rows for batch in batches) + sum(file.rows for file in files)
        if replaced is not None:
            rows += replaced[0].num_rows - sum(file.rows or 0 for file in replaced[1])
        document = replace(
            document,
            # A name is never used twice, not even by a writer that was killed before its commit.
            number=max(self.document.number + 1, time.time_ns() // 1_000),
            before=self.document.number,
            version=(self.table.version or 0) + 1,
            rows=rows,
            tables={**document.tables, **changed},
        )
        self._lake.documents.add(document)
        if replaced is None:
            self.table.append(batches, files, document.number)
        else:
            self.table.change(*replaced, (), (), document.number)
        self.document = self._named = document
        with self._lock:  # a decoding thread may have stored a reject meanwhile
            self._changed = {name: one for name, one in self._changed.items() if one is not changed.get(name)}

    def take_back(self) -> None:
        """Take back rows that tables have beyond the document, as the next writer would."""
        self.document = self._named
        for name in self._changed:
            named = self.document.tables.get(name)
            self._tables[name].restore(0 if named is None else named.version)
        with self._lock:
            self._changed = {name: one for name, one in self._changed.items() if name in self.document.tables}

    @property
    def names(self) -> Collection[str]:
        """The tables of the lake, except `updates`."""
        return self.document.tables.keys()

    def bind(self, network: Mapping[str, str]) -> None:
        """Set the identity of the network, for the next commit."""
        self.document = self.document.known_as(network)
