"""`Part`: the rows of a stored table that a caller sees, never more than all tables cover; every read uses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import flag
from ledgerframes.errors import PartialResultError
from ledgerframes.frames import provenance
from ledgerframes.interfaces.paged_histories import EVENT_HISTORY
from ledgerframes.loaders.opening import proof
from ledgerframes.models.inputs import in_batches
from ledgerframes.paging.cursor import Cursor, Window
from ledgerframes.store.coverage import CLOSED, Coverage, Interval, holes_of, intersection, rows_of
from ledgerframes.store.delta.data_files import SLAB, windows
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.progress import read as read_progress
from ledgerframes.store.derive.tables import DERIVED_TABLES
from ledgerframes.store.read.windows import (
    LakeWindow,
    check_computed,
    check_migrations,
    check_reach,
    reach_of,
    rows_by_time,
)
from ledgerframes.store.root import Root
from ledgerframes.store.stored_snapshots import State, StoredSnapshot, rows_of_whole
from ledgerframes.store.stored_tables import VERDICTS, TableSet, set_of
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS
from ledgerframes.tables.ledger import REJECTS
from ledgerframes.tables.table import Table
from ledgerframes.timestamps import EARLIEST, format_timestamp

if TYPE_CHECKING:
    import pyarrow.dataset as ds

_ORDER: Final[tuple[str, ...]] = ("loaded_at", "position", "migration_id", "record_time", "update_id", "node_index")
# Taking all rows at once overflows the 32-bit offsets of text columns of more than 2 GB.
_ROWS_AT_ONCE: Final = 500_000
# Slices of this many rows on average cost less than copying each.
_RUN: Final = 100
#: Maximum bytes of a table's columns that are held in memory for models.
_COPIED: Final = 100_000_000


def visible(coverage: Coverage, window: Window, *, allow_partial: bool, name: str) -> tuple[tuple[Interval, ...], bool]:
    """The intervals of a window that a read shows, and whether they are everything that was requested.

    Without a start, the window begins where the store does: at a time in every migration, or with the servers' history.

    Raises:
        PartialResultError: a requested part is not covered, and the caller did not allow that.
    """
    covered, late = coverage.common, coverage.begin and coverage.begin.late
    holes = holes_of(coverage, window)
    first = late or coverage.start
    # A lake that begins at a time does so in every migration.
    end = window.end if window.end is not None and coverage.starts_at_a_time(window.end.migration_id) else None
    before = first is not None and (window.ends_before(first) or (end is not None and end.micros <= first.micros))
    if before and first is not None and not allow_partial:
        why = "nothing earlier is stored" if late is None else "the scans that it was filled from had pruned the rest"
        raise PartialResultError(
            f"{name}: the store begins at {format_timestamp(first.micros)} of migration {first.migration_id}, and"
            f" {window} ends before that: {why}. Give a later end=, or pass allow_partial=True to get what there is"
        )
    if not covered and not allow_partial:
        raise PartialResultError(
            f"{name}: nothing of the history is covered yet, though it was synced: what was asked for lies outside of"
            " what the scans have. Sync another range, or pass allow_partial=True to get no rows"
        )
    late = late if window.names_start else None
    if holes and not allow_partial and late is not None and holes[0] < (late.migration_id, late.micros - 1):
        raise PartialResultError(
            f"{name}: the store begins at {format_timestamp(late.micros)} of migration {late.migration_id}, after the"
            " start asked for: the scans that it was filled from had pruned what was before. Give that as start=, leave"
            " start= out, or pass allow_partial=True to get what there is"
        )
    if holes and not allow_partial:
        ways, parts = [], coverage.within(window) if window.since is None and window.until is None else ()
        hole, last = holes[0].first, holes[-1].last
        closed = last.micros >= CLOSED
        rest = Cursor(last.migration_id + closed, EARLIEST if closed else last.micros + 1)
        if any(part.last < hole for part in parts):
            ways.append(f"what comes before it with end={_pair(hole)}")
        if any(part.first >= rest for part in parts):
            ways.append(f"what comes after it with start={_pair(rest)}")
        less = f"read {' or '.join(ways)}" if ways else "ask for less"
        raise PartialResultError(
            f"{name}: the store does not cover {holes[0]}"
            f"{f' and {len(holes) - 1} more intervals' if len(holes) > 1 else ''}. Sync that range first or {less}, or"
            " pass allow_partial=True to get what there is"
        )
    return coverage.within(window), bool(covered) and not (holes or before)


def _pair(place: Cursor) -> str:
    return f"({place.migration_id}, {format_timestamp(place.micros)!r})"


def folders_of(data: ds.Dataset, rows: pc.Expression | None) -> Iterator[ds.Dataset]:
    """The parts of a dataset that have some rows, by migration and month, in order."""
    import pyarrow.dataset as ds

    for _, files in groupby(sorted(data.get_fragments(filter=rows), key=_folder), _folder):
        yield ds.FileSystemDataset([*files], data.schema, data.format, data.filesystem)


def _folder(fragment: ds.Fragment) -> tuple[int, str]:
    import pyarrow.dataset as ds

    keys = ds.get_partition_keys(fragment.partition_expression)
    return keys.get("migration_id", 0), keys.get("record_month", "")


def _order(table: Table) -> list[str]:
    """The columns that a table's rows are sorted by when read: the order of the history, or of loading."""
    order: list[str] = [name for name in _ORDER if name in table.names] or [*table.key]
    return order + [name for name in table.key if name not in order] if set_of(table.name) is VERDICTS else order


def load_table(data: ds.Dataset, names: Sequence[str], rows: pc.Expression | None, table: Table) -> pa.Table:
    """Read columns and rows, in the order of the history or of loading, in the declared types."""
    order = _order(table)
    read = data.to_table(columns=list(dict.fromkeys([*names, *order])), filter=rows)
    read = sorted_rows(read, order).select(list(names))
    schema = pa.schema([table.schema.field(name) for name in names], metadata=table.schema.metadata)
    return pa.Table.from_arrays([read[name].cast(schema.field(name).type) for name in names], schema=schema)


def sorted_rows(found: pa.Table, order: Sequence[str]) -> pa.Table:
    """The rows in the order of some columns."""
    if not order or not found.num_rows:
        return found
    # Late rows come after newer ones in the files, so reading in file order is not enough.
    index = pc.sort_indices(found, sort_keys=[(name, "ascending") for name in order]).to_numpy().astype(np.int64)
    # Usually the rows are nearly in order, and copying each would double the memory.
    bounds = np.flatnonzero(np.diff(index, prepend=-2, append=-2) != 1)
    if len(bounds) * _RUN < len(index):
        return pa.concat_tables(found.slice(index[start], end - start) for start, end in pairwise(bounds))
    wide = [
        field.with_type(pa.large_string()) if pa.types.is_string(field.type) else field for field in found.schema
    ]  # a text column of over 2 GB cannot be sorted otherwise
    spread = found.cast(pa.schema(wide))
    slices = [spread.take(index[start : start + _ROWS_AT_ONCE]) for start in range(0, len(index), _ROWS_AT_ONCE)]
    return pa.concat_tables(slices).cast(found.schema)


@dataclass(frozen=True)
class Part:
    """A part of a stored table; its files exist and have the size and footer recorded in the log.

    Attributes:
        table: the table.
        data: all its rows.
        rows: a filter on them; None for all.
        complete: whether everything requested is available.
        from_beginning: whether it begins at ledger begin; None if unknown.
        begins_late: the first item that servers had, if it begins there and older ones are known to have existed.
        settled: its rows are final up to this cursor, in the order of migrations and times.
        left_out: personal data that the table was created without.
        snapshots: the stored snapshots of active contracts.
        rejected: how many items of its history are in `rejects`, whatever their time.
    """

    table: DeltaStoreTable
    data: ds.Dataset
    rows: pc.Expression | None
    complete: bool
    from_beginning: bool | None = False
    begins_late: Cursor | None = None
    settled: Cursor | None = None
    left_out: tuple[str, ...] = ()
    snapshots: Sequence[StoredSnapshot] = ()
    rejected: int = 0

    @classmethod
    def of(cls, root: Root, name: str, wanted: Window, *, allow_partial: bool) -> Part:
        """The part of a table that a window names.

        Raises:
            InputError: the table is not part of the history, and the window names a part of it.
            PartialResultError: the window is not wholly covered, or no snapshot is complete, and that is not allowed.
            StoreError: a file is damaged; in an object store that is noticed when it is read.
        """
        partly = flag(allow_partial, "allow_partial")
        table = root.shown(name)
        data = table.dataset()
        of, kept = set_of(name), name in DERIVED_TABLES
        progress = read_progress(root.document, name)
        reach = None if wanted.whole else reach_of(root, name)
        # Where a computed table begins, if that is after ledger begin.
        first = progress.done[0].first if progress.done and not progress.begun else None
        late, by_time = False, rows_by_time(table, wanted) if of is None else None
        covered = progress.done if of is None else root.coverage_of(of).common
        try:
            check_migrations(root, name, covered, wanted)
            check_reach(name, wanted, reach, first, computed=kept)
            if kept:
                visible(root.coverage, wanted, allow_partial=False, name=name)
                check_computed(root, name, wanted)
        except PartialResultError:
            if not partly:
                raise
            late = True
        if kept:
            begin = root.coverage.begin
            pruned = begin is not None and begin.late is not None and begin.late == first
            shows = first is not None and pruned and (not wanted.names_start or wanted.wants_before(first))
            settled = progress.done[-1].last if progress.done else None
            begun = progress.begun and by_time is None
            return cls(table, data, by_time, not late, begun, first if shows else None, settled).checked()
        if of is None:
            snapshots = root.document.snapshots if name == ACTIVE_CONTRACTS.name else ()
            rows, complete = _whole_snapshots(snapshots, allow_partial=partly)
            both = rows if by_time is None else by_time if rows is None else rows & by_time
            return cls(
                table, data, both, complete=complete and not late, left_out=table.left_out, snapshots=snapshots
            ).checked()
        coverage = root.coverage_of(of)
        shown, complete = visible(coverage, wanted, allow_partial=partly, name=name)
        begin = coverage.begin
        begin = begin if begin is not None and shown and shown[0][:2] == begin[:2] else None
        rows = rows_of(shown)
        return cls(
            table, data, rows, complete and not late, False if begin is None else begin.proven,
            None if begin is None else begin.late, _settled(shown, coverage.settled), left_out=table.left_out,
            rejected=rejected_in(root, of),
        ).checked()  # fmt: skip

    def attrs(self, url: str, window: LakeWindow) -> dict[str, Any]:
        """The origin of its rows."""
        late, low = self.begins_late, "ledger begin" if self.from_beginning else ""
        if late is not None:
            low = f"{format_timestamp(late.micros)} of migration {late.migration_id} (the first update there)"
        return ({"rejected": self.rejected} if self.rejected else {}) | provenance(
            sources=(url,), range=window.in_words(low), cursor=None,
            complete=self.complete, from_beginning=self.from_beginning, begins_late=self.begins_late,
            settled=self.settled, left_out=self.left_out, counted_from=window.counted_from,
            bounds=window.bounds(),
        )  # fmt: skip

    def proof(self, loaded: pa.Table, rows: pc.Expression | None) -> dict[str, Any]:
        """Attributes that show that loaded contracts are all of one stored snapshot, so they can be an opening.

        Args:
            loaded: the result of `load`.
            rows: the requested rows; rows that are not a whole snapshot get no attributes.
        """
        if self.table.name != ACTIVE_CONTRACTS.name or "contract_id" not in loaded.column_names:
            return {}
        data = self.dataset if rows is None else self.dataset.filter(rows)
        for snapshot in self.snapshots:
            likely = snapshot.state is State.WHOLE and snapshot.rows == len(loaded)
            if likely and data.count_rows(filter=snapshot.own_rows) == len(loaded):
                place = [snapshot.cursor.migration_id, format_timestamp(snapshot.cursor.micros)]
                return {"cursor": place, **proof(loaded, templates=None, parties=None, snapshot=True)}
        return {}

    def checked(self) -> Part:
        """The same, with its files checked; not in object storage, where each takes a request."""
        files = self.table.files
        if files.local:
            files.check(fragment.path for fragment in self.data.get_fragments(filter=self.rows))
        return self

    @property
    def dataset(self) -> ds.Dataset:
        """The rows, to be read lazily."""
        return self.data if self.rows is None else self.data.filter(self.rows)

    def batches(self, texts: Mapping[bytes, bytes]) -> pa.RecordBatchReader:
        """All rows in batches, folder by folder: migrations and months in order, rows of a history in order of time.

        Rows of other tables come as stored. Reading raises a StoreError if a file is damaged.

        Args:
            texts: metadata of the schema, in addition to what the columns mean.
        """
        schema = self.data.schema.with_metadata({**(self.data.schema.metadata or {}), **texts})
        order = [] if set_of(self.table.name) is None else _order(self.table.table)

        def batches() -> Iterator[pa.RecordBatch]:
            with damage_named([self.table]):
                for folder in folders_of(self.data, self.rows):
                    if not order:
                        yield from folder.scanner(filter=self.rows, batch_readahead=2).to_batches()
                        continue
                    for part in windows(folder, self.rows):
                        yield from sorted_rows(folder.to_table(filter=part), order).to_batches()

        return pa.RecordBatchReader.from_batches(schema, batches())

    def give(self, needed: set[str], listed: set[str], room: int) -> Any:
        """The columns that models need: in memory if they fit into `room` bytes, otherwise read by each step.

        Never many: a step reads only the row groups of its own templates, while a copy has all rows.
        """
        names = [name for name in self.table.table.names if name in needed | listed]
        most = min(room, _COPIED)
        with damage_named([self.table]):
            if self._exceeds(most, names):
                return self.dataset
            # All slabs have the same templates, but the first rows of a slab have one template. Reading ahead as by
            # default would read most of the lake.
            found = self.dataset.head(SLAB, columns=names, batch_readahead=1, fragment_readahead=1)
            whole = len(found) < SLAB
            if found.nbytes * (SLAB if whole else self.dataset.count_rows()) > most * SLAB:
                return self.dataset
            return in_batches(found if whole else self.dataset.to_table(columns=names))

    def _exceeds(self, most: int, names: Sequence[str]) -> bool:
        """Whether columns have more bytes than that by the footers of their files; in memory most take more."""
        size = 0
        for fragment in self.data.get_fragments(filter=self.rows):
            for group in map(fragment.metadata.row_group, range(fragment.metadata.num_row_groups)):
                columns = map(group.column, range(group.num_columns))
                size += sum(one.total_uncompressed_size for one in columns if one.path_in_schema.split(".")[0] in names)
            if size > most:
                return True
        return False

    def load(self, columns: Sequence[str], rows: pc.Expression | None = None) -> pa.Table:
        """Columns and rows in memory, in the order of the history or of loading, in the declared types.

        Raises:
            StoreError: a file is damaged.
        """
        with damage_named([self.table]):
            return load_table(self.dataset, columns, rows, self.table.table)


def _whole_snapshots(snapshots: Sequence[StoredSnapshot], *, allow_partial: bool) -> tuple[pc.Expression | None, bool]:
    """The rows of a snapshot table to show, and whether no others are stored.

    Raises:
        PartialResultError: only a part of a snapshot is stored, and that is not allowed.
    """
    rows = rows_of_whole(snapshots)
    if rows is not None and not allow_partial and all(snapshot.state is not State.WHOLE for snapshot in snapshots):
        what = f"of a snapshot that is not whole there are {snapshots[-1].rows:,} contracts"
        how = "Run the same sync again, which resumes where it stopped"
        if snapshots[-1].state is State.DAMAGED:
            what = "rows of its newest snapshot are lost"
            how = f'Read one with store.sync(net, tables=["{ACTIVE_CONTRACTS.name}"])'
        how += ", or pass allow_partial=True to get what there is"
        raise PartialResultError(f"{ACTIVE_CONTRACTS.name}: {what}. {how}")
    return (None, rows is None) if allow_partial else (rows, True)


def rejected_in(root: Root, of: TableSet) -> int:
    """How many items of a history were put aside, because they could not be decoded."""
    table = root.shown(REJECTS.name)
    if not table.exists:
        return 0
    verdict = pc.field("endpoint") == EVENT_HISTORY.endpoint
    rows: int = table.dataset().count_rows(filter=verdict if of.pages is EVENT_HISTORY else ~verdict)
    return rows


def _settled(shown: Sequence[Interval], settled: Sequence[Interval]) -> Cursor | None:
    """The cursor up to which intervals are final without a gap, in the order of migrations and times."""
    cursor = None
    for interval in shown:
        final = next((inner for inner in intersection([interval], settled) if inner.lo == interval.lo), None)
        if final is not None:
            cursor = final.last
        # The parts after one that is not final cannot be named by one cursor.
        if final is None or final.hi < interval.hi:
            break
    return cursor
