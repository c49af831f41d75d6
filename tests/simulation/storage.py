"""Delta tables in memory behind `DeltaStoreTable`'s interface; every write may be the last, and files may rot.

A commit is whole or not there, as Delta's is. A kill ends the machine: from then on every call raises `Killed`, in
whatever thread or handler it is made, until the history starts the next process by `Disk.revive`. That is harsher than
an exception, which a sync answers by saving what is whole.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import acero

from ledgerframes.errors import StoreError
from ledgerframes.store.delta.data_files import NewFile
from ledgerframes.store.delta.table import DeltaStoreTable, Named
from ledgerframes.store.documents import Document, Documents, sealed, unsealed
from ledgerframes.store.history_tables import PARTITIONS
from ledgerframes.store.lake import Lake
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY, declared, set_of
from ledgerframes.tables.table import Table

URL = "memory://lake"
#: What the disk calls the folder of the documents of coverage.
DOCUMENTS = "_coverage"
_NAMES = re.compile(r"[a-z_]+")
_loads = lru_cache(512)(json.loads)


class Killed(BaseException):
    """The process was killed; nobody may catch this and go on."""


@dataclass(frozen=True)
class State:
    """One version of a table.

    Attributes:
        commits: the rows of each commit.
        number: of the document that the log names.
        schema: of the rows.
    """

    commits: tuple[pa.RecordBatch, ...]
    number: int | None
    schema: pa.Schema

    @cached_property
    def rows(self) -> pa.Table:
        """All rows."""
        return pa.Table.from_batches(self.commits, self.schema)

    @cached_property
    def reads(self) -> dict[tuple[str, ...], pa.Table]:
        """What was read of them, by condition and columns."""
        return {}


@dataclass
class Disk:
    """Where the tables of one lake lie: every version of each, and what happens to writes.

    Attributes:
        versions: by table, its states, the oldest first.
        before: called before every write with the table's name; may raise, and marks the disk dead to kill.
        after: called after every write with the table's name.
        dead: whether the machine is off.
        file: the lake's `lake.json`.
        documents: its documents of coverage, by number.
        writes: how many writes there were.
    """

    versions: dict[str, list[State]] = field(default_factory=dict)
    before: Callable[[str], None] = lambda _name: None
    after: Callable[[str], None] = lambda _name: None
    dead: bool = False
    file: bytes | None = None
    documents: dict[int, bytes] = field(default_factory=dict)
    writes: int = 0

    def alive(self) -> None:
        """Raise if the machine is off."""
        if self.dead:
            raise Killed

    def kill(self) -> None:
        """Switch the machine off."""
        self.dead = True
        raise Killed

    def write(self, name: str, state: State, also: Callable[[], None] = lambda: None) -> None:
        """Add a version; `also` is done at the instant of the write."""
        self.alive()
        self.before(name)
        also()
        self.versions.setdefault(name, []).append(state)
        self.writes += 1
        self.after(name)

    @property
    def document(self) -> dict[str, Any]:
        """The document that the log of `updates` names."""
        states = self.versions.get(HISTORY.index)
        number = states[-1].number if states else None
        document: dict[str, Any] = {} if number is None else _loads(self.documents[number])["content"]
        return document

    def state(self, name: str) -> State | None:
        """A table as the document names it; the root in its newest state."""
        states = self.versions.get(name)
        if not states or name == HISTORY.index:
            return states[-1] if states else None
        named = self.document.get("tables", {}).get(name)
        return None if named is None else states[named["version"]]

    def copy(self) -> Disk:
        """The same tables on another disk, to damage them."""
        return Disk(
            {name: list(states) for name, states in self.versions.items()}, file=self.file, documents=self.documents
        )


class MemoryTable(DeltaStoreTable):
    """A table of a `Disk`.

    Args:
        table: its declaration.
        disk: where it lies.
        root: who is told of its changes.
    """

    def __init__(self, table: Table, disk: Disk, root: Root | None) -> None:
        partition_by = PARTITIONS if set_of(table.name) else ()
        super().__init__(table, f"{URL}/{table.name}", storage_options={}, partition_by=partition_by, root=root)
        self._disk = disk
        self._version: int | None = None

    @property
    def _state(self) -> State | None:
        self._disk.alive()
        return None if self._version is None else self._disk.versions[self.name][self._version]

    def refresh(self) -> MemoryTable:
        self._disk.alive()
        count = len(self._disk.versions.get(self.name, ()))
        self._version = count - 1 if count else None
        return self

    @property
    def exists(self) -> bool:
        self._disk.alive()
        return self._version is not None

    @property
    def handle(self) -> Any:
        return self if self.exists else None

    @property
    def version(self) -> int | None:
        self._disk.alive()
        return self._version

    def as_of(self, version: int | None) -> MemoryTable:
        self._disk.alive()
        self._version = version
        return self

    def dataset(self) -> Any:
        state = self._state
        if state is None:
            return MemoryDataset(self.table.schema.empty_table())
        return MemoryDataset(state.rows, reads=state.reads)

    def partition_files(self, *, small: bool = False) -> Counter[tuple[str, ...]]:
        del small  # all are
        state = self._state
        found: Counter[tuple[str, ...]] = Counter()
        for batch in () if state is None else state.commits:
            found.update(_partitions(batch, self._partition_by))
        return found

    def size(self) -> dict[str, Any]:
        state = self._state
        if state is None:
            return {"table": self.name, "rows": 0, "files": 0, "bytes": 0, "version": None}
        rows = state.rows.num_rows
        return {"table": self.name, "rows": rows, "files": len(state.commits), "bytes": rows, "version": self._version}

    def number(self) -> int | None:
        state = self._state
        return None if state is None else state.number

    @property
    def impersonal(self) -> bool:
        return False

    def create(self) -> None:
        self._disk.alive()
        if self._root is not None:
            self._root.making()
        if self.name in self._disk.versions:
            self.refresh()
            if self.restore(0):
                return
            self._tell()
            return
        self._put(State((), None, self.table.schema.remove_metadata()), self._really_create)

    def append(
        self, batches: Sequence[pa.RecordBatch], files: Sequence[NewFile] = (), number: int | None = None
    ) -> None:
        assert not files, "only the workers of a cluster store files"
        state = self._newest()
        rows = tuple(pa.RecordBatch.from_arrays(batch.columns, schema=state.schema) for batch in batches if len(batch))
        named = state.number if number is None else number
        after = replace(state, commits=(*state.commits, *rows), number=named)
        self._put(after, lambda: self._really_append(batches, number))

    def extend(self) -> None:
        self._disk.alive()

    def state(self) -> Named:
        size = self.size()
        return Named() if size["version"] is None else Named(size["version"], size["rows"])

    def compact(self, partition: Mapping[str, Any] | None = None) -> None:
        del partition
        if self._version is not None:
            state = self._newest()
            self._put(replace(state, commits=tuple(state.rows.combine_chunks().to_batches())))

    def restore(self, version: int) -> bool:
        if self._version is None or self._version <= version:
            return False
        older, number = self._disk.versions[self.name][version], self._newest().number
        self._put(replace(older, number=number), lambda: self._really_restore(version))
        return True

    def replace(self, data: pa.Table) -> None:
        state = self._newest()
        self._put(replace(state, commits=tuple(data.cast(state.schema).to_batches())))

    def _newest(self) -> State:
        state = self._state
        if state is None or self._version is None:
            raise StoreError(f"{self.url}: the table is not there; it has to be made first")
        if self._version != len(self._disk.versions[self.name]) - 1:
            raise StoreError(f"{self.url} cannot be written: another writer changed the store at the same time")
        return state

    def _really_create(self) -> None:
        """For storage that has more than memory."""

    def _really_append(self, batches: Sequence[pa.RecordBatch], number: int | None) -> None:
        """For storage that has more than memory."""

    def _really_restore(self, version: int) -> None:
        """For storage that has more than memory."""

    def _put(self, state: State, also: Callable[[], None] = lambda: None) -> None:
        self._disk.write(self.name, State(state.commits, state.number, state.schema), also)
        self._version = len(self._disk.versions[self.name]) - 1
        self._tell()

    def _tell(self) -> None:
        if self._root is not None:
            self._root.changed(self)


def _partitions(batch: pa.RecordBatch, names: Sequence[str]) -> set[tuple[str, ...]]:
    keys = zip(*(batch[name].to_pylist() for name in names), strict=True)
    return {tuple(map(str, key)) for key in keys}


class MemoryDataset:
    """As much of a pyarrow Dataset as the store uses, several times as fast on a few rows.

    Args:
        rows: all rows.
        where: which of them.
        reads: what was read before, by condition and columns; a version of a table is read many times in a history.
    """

    def __init__(
        self, rows: pa.Table, where: pc.Expression | None = None, reads: dict[tuple[str, ...], pa.Table] | None = None
    ) -> None:
        self._rows = rows
        self._where = where
        self._reads = {} if reads is None else reads

    @property
    def schema(self) -> pa.Schema:
        return self._rows.schema

    def replace_schema(self, schema: pa.Schema) -> MemoryDataset:
        if schema.equals(self._rows.schema):
            return self
        columns = {name: self._rows[name] for name in self._rows.column_names}
        count = self._rows.num_rows
        arrays = [columns.get(one.name, pa.nulls(count, one.type)) for one in schema]
        return MemoryDataset(pa.Table.from_arrays(arrays, schema=schema), self._where)

    def filter(self, rows: pc.Expression) -> MemoryDataset:
        return MemoryDataset(self._rows, rows if self._where is None else self._where & rows, self._reads)

    def to_table(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> pa.Table:  # noqa: A002
        rows = self._rows
        wanted = rows.column_names if columns is None else list(columns)
        where = self._where if filter is None else filter if self._where is None else self._where & filter
        if where is None or not rows.num_rows:
            return rows.select(wanted)
        text = str(where)
        key = (text, *wanted)
        if "..." in text:  # Arrow shortens a list of values, so this text may mean others as well
            return self._filtered(rows, wanted, where, text)
        if key not in self._reads:
            self._reads[key] = self._filtered(rows, wanted, where, text)
        return self._reads[key]

    @staticmethod
    def _filtered(rows: pa.Table, wanted: list[str], where: pc.Expression, text: str) -> pa.Table:
        named = set(_NAMES.findall(text)).intersection(rows.column_names)
        source = acero.Declaration(
            "table_source", acero.TableSourceNodeOptions(rows.select(list(dict.fromkeys([*wanted, *named]))))
        )
        kept = acero.Declaration("filter", acero.FilterNodeOptions(where), [source])
        return kept.to_table(use_threads=False).select(wanted)

    def to_batches(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> Iterator[Any]:  # noqa: A002
        yield from self.to_table(columns, filter).to_batches()

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> MemoryDataset:  # noqa: A002
        return MemoryDataset(self.to_table(columns, filter))

    def head(self, num_rows: int, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> pa.Table:  # noqa: A002
        return self.to_table(columns, filter).slice(0, num_rows)

    def to_reader(self) -> pa.RecordBatchReader:
        return self.to_table().to_reader()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_table().__arrow_c_stream__(requested_schema)

    def count_rows(self, filter: Any = None, **_: Any) -> int:  # noqa: A002
        return self.to_table([self._rows.column_names[0]], filter).num_rows


class SimDocuments(Documents):
    """The documents of a lake on a `Disk`.

    Args:
        disk: where it lies.
    """

    def __init__(self, disk: Disk) -> None:
        super().__init__(URL, {})
        object.__setattr__(self, "_disk", disk)

    _disk: Disk

    def lake_file(self) -> bytes | None:
        self._disk.alive()
        return self._disk.file

    def write_lake_file(self, content: bytes) -> None:
        self._disk.alive()  # a kill around it is one before or after the write of a table beside it
        self._disk.file = content

    def beside_tables(self) -> bool:
        return bool(self._disk.versions)

    def read(self, number: int) -> Document | None:
        self._disk.alive()
        content = self._disk.documents.get(number)
        return None if content is None else unsealed(content, Document)

    def add(self, document: Document) -> None:
        self._disk.alive()
        self._disk.before(DOCUMENTS)
        assert document.number not in self._disk.documents
        self._disk.documents[document.number] = sealed(document)
        self._disk.writes += 1
        self._disk.after(DOCUMENTS)

    def numbers(self) -> list[int]:
        self._disk.alive()
        return sorted(self._disk.documents)

    def remove(self, number: int) -> None:
        self._disk.alive()
        del self._disk.documents[number]


class SimLake(Lake):
    """A lake on a `Disk`.

    Args:
        disk: where it lies.
    """

    def __init__(self, disk: Disk) -> None:
        super().__init__(URL)
        self.disk = disk
        self.documents = SimDocuments(disk)

    def table(self, name: str, root: Root | None = None) -> DeltaStoreTable:
        return MemoryTable(declared(name), self.disk, root)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.disk.alive()
        yield
