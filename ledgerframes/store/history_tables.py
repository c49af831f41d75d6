"""`HistoryTables`: the tables of a history in a store; commits what was `Fetched`, rows and coverage as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import BEGINNING, Begin, Coverage, Interval, intersection, merged, rows_of
from ledgerframes.store.delta.data_files import NewFile
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.delta.stored_files import StoredFile
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY, KNOWN_BY, TableSet

if TYPE_CHECKING:
    import pyarrow.dataset as ds

#: The tables of the update history, in the order in which they are written.
ORDER: Final = HISTORY.order
PARTITIONS: Final = ("migration_id", "record_month")

_HOUR: Final = 3_600_000_000


class Opening(NamedTuple):
    """A page before which its server may have pruned items, as no earlier page had shown everything.

    Attributes:
        server: its sender.
        migration_id: of the shard.
        lo: items after this record time are to be known.
        first: the record time of its first item in the migration; None if it has none.
    """

    server: str
    migration_id: int
    lo: int
    first: int | None


@dataclass(frozen=True)
class Fetched:
    """The rows of a page of a shard, and the progress of the shard including it.

    Attributes:
        key: the shard.
        read: the interval of the shard read so far, including this page.
        settled: the record time up to which it is final, without a gap from `lo`.
        span: the interval that the page covers.
        batches: the rows, by table; empty if none count.
        following: the first cursor of a later migration, if seen.
        server: the sender of the page.
        broken: whether that server had shown less than before when the page was requested.
        exhausted: whether the server had nothing more in this migration.
        files: rows in files stored by a worker but not committed yet, by table; no table and no page has any of them.
        opening: the place before which items may have been pruned, if the page overlaps none before it.
        begins: where the servers' history begins, if the interval begins there.
    """

    key: int
    read: Interval
    settled: int
    span: Interval
    batches: Mapping[str, pa.RecordBatch] = field(default_factory=dict)
    following: Cursor | None = None
    server: str = ""
    broken: bool = False
    exhausted: bool = False
    files: Mapping[str, Sequence[NewFile]] = field(default_factory=dict)
    opening: Opening | None = None
    begins: Begin | None = None

    @property
    def has_rows(self) -> bool:
        """Whether there are any rows."""
        return bool(self.batches or self.files)

    @property
    def bytes(self) -> int:
        """The memory that the rows take, plus the size of the files."""
        stored = sum(file.size for files in self.files.values() for file in files)
        decoded: int = sum(batch.nbytes for batch in self.batches.values())
        return stored + decoded


class HistoryTables:
    """The tables of one set in one store, such as `updates`, `events` and `reassignments`.

    Args:
        root: the root of the lake, which commits their changes.
        of: which set.
    """

    def __init__(self, root: Root, of: TableSet = HISTORY) -> None:
        self.of = of
        self.tables = {name: root.own(name) for name in of.order}
        self.coverage = root.document.coverage(of.name)
        self.written = 0  # commits so far
        self._root = root
        self._data: dict[str, tuple[int | None, ds.Dataset]] = {}  # by table, the rows of its last version read

    @property
    def network(self) -> str | None:
        """The first item of the history, as migration and id, which names the network; None before a first sync."""
        document = self._root.document
        return document.network.get(self.of.first) if self.of.name in document.histories else None

    @property
    def first_id(self) -> str:
        """The id of the item that names the network, also if only a snapshot or another history is stored so far."""
        return self._root.document.network.get(self.of.first, "").partition("/")[2]

    @property
    def known_by(self) -> frozenset[str]:
        """The network's synchronizers and the party of its DSO, as named on its first page."""
        return frozenset(self._root.document.network.get(KNOWN_BY, "").split())

    def prepare(self, network: str, known_by: Collection[str]) -> None:
        """Create the tables that are missing, before anything is written."""
        self._root.bind({self.of.first: network, KNOWN_BY: " ".join(sorted(known_by))})
        for table in self.tables.values():
            if not table.exists:
                table.create()
        if self.of.name not in self._root.document.histories:
            self.record(self.coverage)

    def note(self, migrations: Iterable[int]) -> None:
        """Note migrations that servers have shown, for the next commit."""
        self.coverage = replace(self.coverage, known=self.coverage.known.union(migrations))

    def commit(self, pages: Sequence[Fetched]) -> Counter[str]:
        """Write the rows of pages and their coverage, with the root's commit last.

        Rows that a table may have already are skipped by update id: a late update can lie anywhere in a range read
        again, so its record time proves nothing.

        Returns:
            The number of rows written, by table.

        Raises:
            StoreError: the storage refused, or another writer was first; earlier commits stay.
        """
        pages = sorted(pages, key=lambda page: page.span)  # neighbours in time become neighbours in the file
        files = {name: [file for page in pages for file in page.files.get(name, ())] for name in self.tables}
        fresh = {name: self._fresh(table, pages) for name, table in self.tables.items()}
        after = self.coverage.advanced(pages)
        # Otherwise the rows just read are already stored.
        if after != self.coverage or any(fresh.values()) or any(files.values()):
            self.record(after, fresh, files)
            self.written += 1
        counts = {name: sum(batch.num_rows for batch in batches) for name, batches in fresh.items()}
        return Counter({name: count + sum(file.rows for file in files[name]) for name, count in counts.items()})

    def add(self, rows: Mapping[str, pa.RecordBatch]) -> None:
        """Add rows of updates within the coverage, skipping updates that a table already has."""
        fresh = {
            name: _without(rows[name], self._stored_ids(table, pc.field("update_id").isin(rows[name]["update_id"])))
            for name, table in self.tables.items()
        }
        batches = {name: [batch] if batch.num_rows else [] for name, batch in fresh.items()}
        self.record(replace(self.coverage, changes=self.coverage.changes + any(batches.values())), batches)

    def record(
        self,
        coverage: Coverage,
        batches: Mapping[str, Sequence[pa.RecordBatch]] = MappingProxyType({}),
        files: Mapping[str, Sequence[NewFile]] = MappingProxyType({}),
        replaced: tuple[pa.Table, Sequence[StoredFile]] | None = None,
    ) -> None:
        """Add rows to the tables and record their coverage, with the root's commit last; see `Root.commit`."""
        root = self._root.table
        for name, table in self.tables.items():
            rows, stored = batches.get(name, ()), files.get(name, ())
            if (rows or stored) and table is not root:
                table.append(rows, stored)
        document = self._root.document
        document = replace(document, histories={**document.histories, self.of.name: coverage})
        self._root.commit(document, batches.get(root.name, ()), files.get(root.name, ()), replaced)
        self.coverage = coverage  # so that a comparison of servers never sees coverage without rows

    def compact_crowded(self) -> None:
        """Compact the partitions with too many files, as a live tail adds one per table with each commit."""
        for table in self.tables.values():
            table.compact_crowded()

    def stored(self, interval: Interval) -> dict[str, int]:
        """The updates stored in an interval, with their record times in microseconds."""
        rows = self._read(self._index, ["update_id", "record_time"], rows_of([interval]))
        times = rows["record_time"].cast(pa.int64()).to_pylist()
        return dict(zip(rows["update_id"].to_pylist(), times, strict=True))

    def holds(self, update_ids: Sequence[str]) -> bool:
        """Whether any of some updates is stored."""
        chosen = pc.field("update_id").isin(list(update_ids))
        return len(self._stored_ids(self._index, chosen)) > 0

    def last_stored(self, migration_id: int, hi: int) -> int | None:
        """The record time of the last update stored up to `hi`; searches close to the end of what is covered first."""
        covered = intersection(self.coverage.common, [Interval(migration_id, BEGINNING, hi)])
        if not covered:
            return None
        # The last update is usually close to it; a filter on an hour opens a file or two, one on the migration all of
        # them.
        end = covered[-1].hi
        for back in (_HOUR, 24 * _HOUR, 24 * 31 * _HOUR, None):
            lo = BEGINNING if back is None else max(end - back, BEGINNING)
            rows = rows_of([Interval(migration_id, lo, end)])
            times = self._read(self._index, ["record_time"], rows)
            if times.num_rows:
                last: int = pc.max(times["record_time"].cast(pa.int64())).as_py()
                return last
        return None

    @property
    def _index(self) -> DeltaStoreTable:
        """The table whose ids are compared with those of servers."""
        return self.tables[self.of.index]

    def _fresh(self, table: DeltaStoreTable, pages: Sequence[Fetched]) -> list[pa.RecordBatch]:
        """The rows of pages that a table does not contain yet."""
        # Rows are identified by update id, not by time: using time lost rows in 1 of 270 simulated histories.
        read_again = merged(interval for page in pages for interval in intersection([page.span], self.coverage.common))
        stored = self._stored_ids(table, rows_of(read_again)) if read_again else None
        fresh = []
        for position, page in enumerate(pages):
            batch = page.batches.get(table.name)
            if batch is None or not batch.num_rows:
                continue
            if page.span.lo < page.read.lo:  # a server may have pruned the part before it
                batch = batch.filter(pc.greater(batch["record_time"].cast(pa.int64()), page.read.lo))
            if intersection([page.span], read_again):
                batch = _without(batch, stored)
            for other in _overlapping(pages[:position], page.span):
                if table.name in other.batches:
                    batch = _without(batch, other.batches[table.name]["update_id"])
            fresh.append(batch)
        return [batch for batch in fresh if batch.num_rows]

    def _stored_ids(self, table: DeltaStoreTable, rows: pc.Expression) -> pa.Array:
        """The updates of some stored rows."""
        stored = self._read(table, ["update_id"], rows)
        return pc.unique(stored["update_id"]).cast(pa.string())

    def _read(self, table: DeltaStoreTable, columns: Sequence[str], rows: pc.Expression) -> pa.Table:
        known, version = self._data.get(table.name), table.version
        if known is None or known[0] != version:  # 0.2 s for 1,500 files, of which a read mostly opens one or two
            self._data[table.name] = known = (version, table.dataset())
        with damage_named([table]):
            return known[1].to_table(columns=list(columns), filter=rows)


def _overlapping(pages: Sequence[Fetched], span: Interval) -> list[Fetched]:
    """The pages whose rows overlap a span, which was therefore read twice in one sync."""
    same = (page for page in pages if page.batches and page.span.migration_id == span.migration_id)
    return [page for page in same if page.span.hi > span.lo and page.span.lo < span.hi]


def _without(batch: pa.RecordBatch, update_ids: pa.Array | None) -> pa.RecordBatch:
    if update_ids is None or not len(update_ids):
        return batch
    return batch.filter(pc.invert(pc.is_in(batch["update_id"], update_ids)))
