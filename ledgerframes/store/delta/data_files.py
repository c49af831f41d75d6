"""The Parquet files of a store: written with a checksum per page, and one of the footer in the name.

Events are sorted by template within a slab of time, so a read of a short range skips the rest of a month, and a read of
one template skips the others.

Parquet has checksums of pages only, and a changed footer can hide rows. A read verifies the pages that it uses,
`check(full=True)` all of them.
"""

from __future__ import annotations

import json
import re
import time
import uuid
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pa_fs
import pyarrow.parquet as pq

from ledgerframes.tables.kinds import JSON
from ledgerframes.tables.table import Table
from ledgerframes.timestamps import format_timestamp, to_micros

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from deltalake.transaction import AddAction

#: A name with the CRC-32 of the file's footer.
_NAME: Final = re.compile(r"part-[0-9a-f]{32}-([0-9a-f]{8})\.zstd\.parquet$")
# The log repeats the statistics of each file and is read completely whenever a table is opened.
_LONGEST_STATISTIC: Final = 200
#: The types of values whose extremes the log has.
_COMPARED: Final = (str, int, datetime)
_TAIL: Final = 8  # length of the footer and the magic bytes
_TIME: Final = pa.timestamp("us", "UTC")
#: The columns that events are sorted by; a table that lacks one is written in the order of arrival.
_SORTED: Final = ("template_name", "choice")
#: Rows of consecutive times that are sorted together: the minimum that a read of a short range decodes.
SLAB: Final = 50_000
#: A fifth of a slab: the part that a read of a rare template decodes. Smaller groups make larger files.
_SORTED_GROUP: Final = 10_000
#: The minimum that a read of a short range of any other table decodes.
ROWS_PER_GROUP: Final = 20_000


def sorted_by(table: Table) -> Sequence[str]:
    """The columns that a table's rows are sorted by within a slab; each row group stores their extremes."""
    return _SORTED if {*_SORTED} <= {*table.names} else ()


def windows(data: ds.Dataset, rows: pc.Expression | None = None, size: int = SLAB) -> Iterator[pc.Expression]:
    """Parts of a dataset by record time, in order, of `size` rows each at most; rows of one time are not split.

    Args:
        data: has a column `record_time`.
        rows: a filter; None for all rows.
        size: the number of rows per part.
    """
    times = data.to_table(columns=["record_time"], filter=rows)["record_time"].cast(pa.int64()).to_numpy()
    times = np.sort(times)
    field, start = pc.field("record_time"), 0
    while start < len(times):
        end = start + size
        if end < len(times):
            # Before the time that would be split, or after it if it has more rows than a part.
            end = int(np.searchsorted(times, times[end], "left"))
            end = end if end > start else int(np.searchsorted(times, times[start], "right"))
        part = (field >= _time(times[start])) & (field <= _time(times[min(end, len(times)) - 1]))
        yield part if rows is None else rows & part
        start = end


def _time(micros: Any) -> pa.Scalar:
    return pa.scalar(int(micros), _TIME)


def parted(rows: pa.Table, names: Sequence[str]) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """The rows by partition, in the given order; empty if there are no rows."""
    parts: dict[tuple[Any, ...], list[pa.RecordBatch]] = defaultdict(list)
    for batch in rows.to_batches():
        for values, part in _parts(batch, names):
            parts[values].append(part)
    for values in list(parts):
        yield dict(zip(names, values, strict=True)), pa.Table.from_batches(parts.pop(values))


def _parts(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
    """The rows of a batch by partition; most batches have one, and are not copied."""
    if not batch.num_rows:
        return
    ends = [pc.min_max(batch[name]).as_py() for name in names]
    if all(end["min"] == end["max"] and not batch[name].null_count for name, end in zip(names, ends, strict=True)):
        yield tuple(end["min"] for end in ends), batch
        return
    for values in pa.table(batch.select(names)).group_by(list(names)).aggregate([]).to_pylist():
        same = [pc.equal(batch[name], pa.scalar(values[name], batch[name].type)) for name in names]
        yield tuple(values[name] for name in names), batch.filter(reduce(pc.and_, same))


@dataclass(frozen=True)
class NewFile:
    """A stored file of rows that is not in the log yet.

    Attributes:
        path: below the table.
        size: bytes.
        rows: the number of its rows.
        partition: the values of the columns that form folders, as texts.
        statistics: the statistics of its rows for the log, as JSON.
    """

    path: str
    size: int
    rows: int
    partition: Mapping[str, str]
    statistics: str

    def added(self, *, changes: bool) -> AddAction:
        """The log action that adds it.

        Args:
            changes: whether its rows are new to the table.
        """
        from deltalake.transaction import AddAction

        # Delta counts in milliseconds.
        now = time.time_ns() // 1_000_000
        return AddAction(self.path, self.size, dict(self.partition), now, changes, self.statistics)


@dataclass
class FileWriter:
    """Collects rows into one Parquet file in memory.

    zstd; statistics for the columns that reads filter by, dictionaries for repeated values; rows sorted within
    each slab.

    Attributes:
        table: the declaration.
        schema: the columns to write, partition columns left out.
    """

    table: Table
    schema: pa.Schema
    _sink: pa.BufferOutputStream = field(default_factory=pa.BufferOutputStream)
    _footers: list[pq.FileMetaData] = field(default_factory=list)  # once it is closed

    def __post_init__(self) -> None:
        # JSON and event ids hardly repeat, so a dictionary would only cost time.
        alone = {column.name for column in self.table.columns if column.kind is JSON or column.name == "event_id"}
        leaves = [_leaf(column) for column in self.schema if column.name not in alone]
        # Measured against pyarrow's defaults: twice the speed, half the bytes. Page checksums are off by default there.
        self._writer = pq.ParquetWriter(
            self._sink, self.schema, compression="zstd", compression_level=1, use_dictionary=leaves,
            write_statistics=[*indexed_columns(self.table), *sorted_by(self.table)], write_page_checksum=True,
            store_schema=False, metadata_collector=self._footers,
        )  # fmt: skip

    def write(self, rows: pa.Table) -> None:
        """Add rows, in the order of time as far as they arrive in it."""
        order = [(name, "ascending") for name in sorted_by(self.table)]
        if not order:
            self._writer.write_table(rows, row_group_size=ROWS_PER_GROUP)
            return
        for start in range(0, rows.num_rows, SLAB):  # at most a slab is copied
            # Stable, so rows of one template and choice stay in the order of time.
            slab = rows.slice(start, SLAB).sort_by(order)
            self._writer.write_table(slab, row_group_size=_SORTED_GROUP)

    def store(self, url: str, options: Mapping[str, str], partition: Mapping[str, Any], folder: str = "") -> NewFile:
        """Store the finished file below a table, in the folder of its partition.

        Args:
            url: the table's folder or object-store URL.
            options: for the object store.
            partition: the values of the columns that form folders.
            folder: a folder above these.
        """
        self._writer.close()
        data = self._sink.getvalue().to_pybytes()
        values = {name: str(value) for name, value in partition.items()}
        folders = [f"{name}={value}" for name, value in values.items()]
        checksum = zlib.crc32(_footer(pa.BufferReader(data), len(data)))
        name = f"part-{uuid.uuid4().hex}-{checksum:08x}.zstd.parquet"
        path = "/".join([*([folder] if folder else []), *folders, name])
        put_file(url, options, path, data)
        (footer,) = self._footers
        return NewFile(path, len(data), footer.num_rows, values, json.dumps(self._statistics(footer)))

    def _statistics(self, footer: pq.FileMetaData) -> dict[str, Any]:
        """The statistics of its rows for the log, from those of its row groups."""
        found: dict[str, list[pq.Statistics]] = {}
        for group in map(footer.row_group, range(footer.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                if column.path_in_schema in indexed_columns(self.table):
                    found.setdefault(column.path_in_schema, []).append(column.statistics)
        least: dict[str, str | int] = {}
        greatest: dict[str, str | int] = {}
        for name, own in found.items():
            with_values = [one for one in own if one.num_values]
            # deltalake treats a column without extremes as one between null and null, in which filters find no row.
            # Parquet has none for very long texts.
            if with_values and all(one.has_min_max and isinstance(one.max, _COMPARED) for one in with_values):
                last = max(one.max for one in with_values)
                if len(str(last)) <= _LONGEST_STATISTIC:
                    least[name] = _as_statistic(min(one.min for one in with_values))
                    greatest[name] = _as_statistic(last)
        nulls = {name: sum(one.null_count for one in own) for name, own in found.items()}
        return {"numRecords": footer.num_rows, "minValues": least, "maxValues": greatest, "nullCount": nulls}


def _as_statistic(value: str | int | datetime) -> str | int:
    return format_timestamp(to_micros(value, "value")) if isinstance(value, datetime) else value


def indexed_columns(table: Table) -> Sequence[str]:
    """The columns whose least and greatest value the files store."""
    wanted = ("record_time", "update_id", "contract_id", "unassign_id", "party_id", "loaded_at")
    return [name for name in table.names if name in wanted] or table.names[:1]


def has_own_footer(path: str, opened: pa.NativeFile, size: int) -> bool:
    """Whether a file of that size has the footer of the checksum in its name; True if the name has none."""
    match = _NAME.search(path)
    return match is None or f"{zlib.crc32(_footer(opened, size)):08x}" == match[1]


def _footer(opened: pa.NativeFile, size: int) -> bytes:
    """The footer of a file, whose length is in its last eight bytes; all of a file that is shorter than it says."""
    length = int.from_bytes(opened.read_at(min(size, _TAIL), max(size - _TAIL, 0))[:-4], "little") + _TAIL
    return bytes(opened.read_at(min(size, length), max(size - length, 0)))


def _leaf(column: pa.Field) -> str:
    return f"{column.name}.list.element" if pa.types.is_list(column.type) else column.name


def filesystem(url: str, options: Mapping[str, str], sizes: Mapping[str, int] | None = None) -> pa_fs.FileSystem:
    """The files below a folder or object-store URL, for Arrow; `sizes` that are known by path spare it requests."""
    if "://" not in url:
        return pa_fs.SubTreeFileSystem(url, pa_fs.LocalFileSystem())
    from deltalake.fs import DeltaStorageHandler

    return pa_fs.PyFileSystem(DeltaStorageHandler(url, dict(options), None if sizes is None else dict(sizes)))


def put_file(url: str, options: Mapping[str, str], path: str, data: bytes) -> None:
    """Store a new file of a table; an existing one is an error, since some state of the table names it.

    Args:
        url: the table's folder or object-store URL.
        options: for the object store.
        path: below the table.
        data: its bytes.
    """
    if "://" in url:
        from deltalake.fs import DeltaStorageHandler

        # pyarrow's wrapper hands a Buffer on, and this stream takes bytes only
        handler: Any = DeltaStorageHandler(url, dict(options))
        stream = handler._handler.open_output_stream(path, None)  # noqa: SLF001
        stream.write(data)
        stream.close()
        return
    target = Path(url, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as file:
        file.write(data)
