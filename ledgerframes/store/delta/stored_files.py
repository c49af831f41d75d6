"""The files that a table's log names: opened with checks, examined for damage, and joined where they are small."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.fs as pa_fs

from ledgerframes.errors import StoreError, storage_words
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.data_files import (
    ROWS_PER_GROUP,
    filesystem,
    has_own_footer,
    sorted_by,
    windows,
)
from ledgerframes.store.delta.storage_errors import is_panic, plain_errors
from ledgerframes.tables.table import Table
from ledgerframes.timestamps import format_timestamp

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from deltalake import DeltaTable
    from deltalake.transaction import RemoveAction

#: The folder of a table for the files of rows that a later commit may replace.
CHANGING: Final = "open"
GONE: Final = "it is gone"
#: Maximum bytes of a joined file; one is held in memory while it is written.
_TARGET: Final = 64_000_000


@dataclass(frozen=True)
class StoredFile:
    """A file that the log names.

    Attributes:
        path: below the table's folder.
        size: bytes, by the log.
        rows: the number of rows, by the log; None if unknown.
        interval: the least and greatest record time of its rows, both inclusive; None if the log lacks it.
        partition: the values of its folder.
    """

    path: str
    size: int
    rows: int | None
    interval: Interval | None
    partition: Mapping[str, Any]

    @property
    def changes(self) -> bool:
        """Whether a later commit may replace its rows."""
        return self.path.startswith(f"{CHANGING}/")

    @property
    def small(self) -> bool:
        """Whether it should be joined with others once there are many; two larger ones never fit one file."""
        return 2 * self.size <= _TARGET

    def removed(self, *, changes: bool) -> RemoveAction:
        """The log action that removes a file from the table."""
        from deltalake.transaction import RemoveAction

        values: dict[str, str | None] = {name: str(value) for name, value in self.partition.items()}
        # Delta counts in milliseconds.
        now = time.time_ns() // 1_000_000
        return RemoveAction(self.path, changes, now, size=self.size, partition_values=values)


@dataclass(frozen=True)
class Damage:
    """A file that differs from the log.

    Attributes:
        table: the table's name.
        file: the file.
        why: what is wrong, in words that begin with `GONE` if there is no such file.
    """

    table: str
    file: StoredFile
    why: str

    def __str__(self) -> str:
        where = f", which holds {_span(self.file.interval)}," if self.file.interval else ""
        return (
            f"{self.table}: the file {self.file.path}{where} is damaged: {self.why}. store.repair() removes it, and"
            " the next sync reads its rows again"
        )


@dataclass(frozen=True)
class Files:
    """The files of one table in one state.

    Attributes:
        table: the table's name.
        url: the location of the table.
        options: for the object store.
        handle: the table in that state; None if there is none.
    """

    table: str
    url: str
    options: Mapping[str, str] = field(repr=False)
    handle: DeltaTable | None

    @cached_property
    def listed(self) -> dict[str, StoredFile]:
        """The files by path."""
        if self.handle is None:
            return {}
        with plain_errors(self.url, "be read"):
            # The log has size and times of every file, so none has to be opened to plan a read.
            actions = pa.table(self.handle.get_add_actions(flatten=True))
        # A table whose files all lack statistics has no such columns.
        times = [name for name in ("min.record_time", "max.record_time") if name in actions.column_names]
        for name in times:
            actions = actions.set_column(actions.column_names.index(name), name, actions[name].cast(pa.int64()))
        return {row["path"]: _file(row) for row in actions.to_pylist()}

    @cached_property
    def filesystem(self) -> pa_fs.FileSystem:
        """The files as a file system for Arrow."""
        sizes = None if self.local else {path: file.size for path, file in self.listed.items()}
        return filesystem(self.url, self.options, sizes)

    @property
    def local(self) -> bool:
        """Whether the files lie in a folder."""
        return "://" not in self.url

    def check(self, paths: Iterable[str], *, full: bool = False) -> None:
        """Check size and footer of files that are about to be read, or each of their pages as well.

        Raises:
            StoreError: one is damaged.
        """
        for path in paths:
            listed = self.listed[path]
            if why := self.harm(listed, full=full):
                raise StoreError(str(Damage(self.table, listed, why)))

    def harm(self, file: StoredFile, *, full: bool) -> str:
        """Describe what is wrong with a file; empty if nothing is.

        Args:
            file: the file.
            full: read all its pages; otherwise only existence, size and footer are checked.

        Raises:
            StoreError: this user may not read it, or the object storage does not answer.
        """
        try:
            info = self.filesystem.get_file_info(file.path)
            if info.type == pa_fs.FileType.NotFound:
                # A reader that opened its view before a compact(forget_before=) still names the files that were
                # removed.
                return f"{GONE} (if compact(forget_before=) has just removed it, read again)"
            if info.size != file.size:
                return f"it has {info.size:,} bytes, and the log says {file.size:,}"
            with self.filesystem.open_input_file(file.path) as opened:
                if not has_own_footer(file.path, opened, info.size):
                    return "its footer was changed"
                if full:
                    opened.seek(0)
                    # Of a bucket all bytes at first: what cannot be read of them is damage, not the network.
                    return _unreadable(opened if self.local else pa.BufferReader(opened.read()))
        except OSError as error:
            # Where it says nothing of the file itself, that may be sound, and repair() must not remove it.
            owned, words = isinstance(error, PermissionError), storage_words(error)
            if owned or not (self.local or isinstance(error, FileNotFoundError)):
                advice = "check its owner and permissions" if owned else "check the network, then try again"
                raise StoreError(f"{self.table}: the file {file.path} cannot be read: {words}; {advice}") from error
            return f"it cannot be read ({words})"
        return ""

    def damages(self, *, full: bool) -> Iterator[Damage]:
        """Find the damaged files of the table.

        Args:
            full: read all their pages.
        """
        for file in self.listed.values():
            if why := self.harm(file, full=full):
                yield Damage(self.table, file, why)


def _file(row: Mapping[str, Any]) -> StoredFile:
    partition = {name.removeprefix("partition."): row[name] for name in row if name.startswith("partition.")}
    bounds: list[Any] = [partition.get("migration_id"), row.get("min.record_time"), row.get("max.record_time")]
    interval = None if None in bounds else Interval(*bounds)
    return StoredFile(row["path"], row["size_bytes"], row.get("num_records"), interval, partition)


def _span(interval: Interval) -> str:
    return (
        f"record times {format_timestamp(interval.lo)} to {format_timestamp(interval.hi)} of migration"
        f" {interval.migration_id}"
    )


def _unreadable(opened: pa.NativeFile) -> str:
    """Describe why a file cannot be read to its end, checking all pages; empty if it can."""
    import pyarrow.parquet as pq

    try:
        reader = pq.ParquetFile(opened, page_checksum_verification=True)
        # In small batches, so that a large file is not held in memory. Arrow reads text unchecked, so it is validated.
        for batch in reader.iter_batches(batch_size=8_192):
            batch.validate(full=True)
    except (OSError, pa.ArrowException, ValueError) as error:
        return f"it cannot be read ({storage_words(error)[:200]})"
    except BaseException as error:
        if not is_panic(error):
            raise
        return "it cannot be read"
    return ""


def groups_to_join(files: Iterable[StoredFile], partition: Mapping[str, Any] | None) -> Iterator[list[StoredFile]]:
    """The groups of small files to join, of one partition or of each, in order of time."""
    parts: dict[tuple[Any, ...], list[StoredFile]] = defaultdict(list)
    for file in files:
        if partition is None or file.partition == partition:
            parts[(file.changes, *file.partition.values())].append(file)
    for part in parts.values():
        ordered = sorted(part, key=lambda file: (file.interval or (0, 0, 0), file.path))
        yield from (group for group in _groups(ordered) if len(group) > 1)


def _groups(part: Sequence[StoredFile]) -> Iterator[list[StoredFile]]:
    group: list[StoredFile] = []
    size = 0
    for file in part:
        if file.size >= _TARGET:
            continue
        if size + file.size > _TARGET:
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    yield group


def joined_rows(
    table: Table, data: ds.FileSystemDataset, paths: Iterable[str], schema: pa.Schema
) -> Iterator[pa.Table]:
    """The rows of some files of a table, a row group or a slab at a time."""
    import pyarrow.dataset as ds

    fragments = {fragment.path: fragment for fragment in data.get_fragments()}
    chosen = [fragments[path] for path in paths]
    if not sorted_by(table):
        yield from _row_groups(chosen, schema)
        return
    files = ds.FileSystemDataset(chosen, data.schema, data.format, data.filesystem)
    for part in windows(files):
        yield files.to_table(columns=schema.names, filter=part).cast(schema).sort_by("record_time")


def _row_groups(fragments: Iterable[ds.Fragment], schema: pa.Schema) -> Iterator[pa.Table]:
    buffered = schema.empty_table()
    for fragment in fragments:
        for batch in fragment.to_batches(schema=schema, batch_size=ROWS_PER_GROUP, batch_readahead=1):
            buffered = pa.concat_tables([buffered, pa.Table.from_batches([batch]).cast(schema)])
            while buffered.num_rows >= ROWS_PER_GROUP:
                yield buffered.slice(0, ROWS_PER_GROUP)
                buffered = buffered.slice(ROWS_PER_GROUP)
    if buffered.num_rows:
        yield buffered
