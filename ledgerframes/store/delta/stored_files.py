"""The files that a table's log names: opened with checks, and examined for damage; `delta` and `check` call it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.fs as pa_fs

from ledgerframes.errors import StoreError
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.data_files import filesystem, footer_size, has_own_footer
from ledgerframes.store.delta.storage_errors import is_panic, plain_errors
from ledgerframes.timestamps import format_timestamp

if TYPE_CHECKING:
    from deltalake import DeltaTable

#: The folder of a table for the files of rows that a later commit may replace.
CHANGING: Final = "open"
_END: Final = 8  # the length of the footer and the magic bytes


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

    def __str__(self) -> str:
        return Path(self.path).name

    @property
    def changes(self) -> bool:
        """Whether a later commit may replace its rows."""
        return self.path.startswith(f"{CHANGING}/")


@dataclass(frozen=True)
class Damage:
    """A file that differs from the log.

    Attributes:
        table: the table's name.
        file: the file.
        why: what is wrong, in words: "it is gone".
    """

    table: str
    file: StoredFile
    why: str

    @property
    def is_gone(self) -> bool:
        """Whether there is no such file."""
        return self.why.startswith("it is gone")

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
        handle: the table in that state.
    """

    table: str
    url: str
    options: Mapping[str, str]
    handle: DeltaTable

    @cached_property
    def listed(self) -> dict[str, StoredFile]:
        """The files by path."""
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

    def check(self, paths: Iterable[str]) -> None:
        """Check size and footer of files that are about to be read.

        Raises:
            StoreError: one is damaged.
        """
        for path in paths:
            listed = self.listed[path]
            if why := self.harm(listed, full=False):
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
                return "it is gone (if compact(forget_before=) has just removed it, read again)"
            if info.size != file.size:
                return f"it has {info.size:,} bytes, and the log says {file.size:,}"
            with self.filesystem.open_input_file(file.path) as opened:
                if not has_own_footer(file.path, _tail(opened, info.size)):
                    return "its footer was changed"
                if full:
                    opened.seek(0)
                    # Of a bucket all bytes at first: what cannot be read of them is damage, not the network.
                    return _unreadable(opened if self.local else pa.BufferReader(opened.read()))
        except OSError as error:
            # Where it says nothing of the file itself, that may be sound, and repair() must not remove it.
            owned = isinstance(error, PermissionError)
            if owned or not (self.local or isinstance(error, FileNotFoundError)):
                advice = "check its owner and permissions" if owned else "check the network, then try again"
                raise StoreError(f"{self.table}: the file {file.path} cannot be read: {error}; {advice}") from error
            return f"it cannot be read ({error})"
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
    least, greatest, migration = (row.get(f"{name}") for name in (
        "min.record_time", "max.record_time", "partition.migration_id",
    ))  # fmt: skip
    interval = None if None in {least, greatest, migration} else Interval(int(migration), least, greatest)  # type: ignore[arg-type]
    partition = {name.removeprefix("partition."): row[name] for name in row if name.startswith("partition.")}
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
        return f"it cannot be read ({' '.join(str(error).split())[:200]})"
    except BaseException as error:
        if not is_panic(error):
            raise
        return "it cannot be read"
    return ""


def _tail(opened: pa.NativeFile, size: int) -> bytes:
    tail = _last(opened, size, _END)
    return _last(opened, size, min(size, footer_size(tail)))


def _last(opened: pa.NativeFile, size: int, count: int) -> bytes:
    opened.seek(max(0, size - count))
    return bytes(opened.read(min(count, size)))
