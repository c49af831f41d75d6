"""A history table as a tree of Parquet files, one folder a migration and month; `exporting` calls it."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import InputError
from ledgerframes.export.files import ParquetFile

KEYS: Final = ("migration_id", "record_month")
_MONTH: Final = re.compile(r"\d{4}-\d\d", re.ASCII)
OPEN_FILES: Final = 32
WAITING_BYTES: Final = 128 << 20

Key = tuple[int, str]


def partitioned(schema: pa.Schema) -> bool:
    """Whether a table has the columns that its partitions would be named by."""
    return set(KEYS) <= set(schema.names)


class Partitions:
    """The files of one table, opened as rows for them come; rows may come in any order.

    At most 32 files are open and 128 MB of rows wait; a partition seen again continues in another file.
    """

    def __init__(self, folder: Path, schema: pa.Schema, *, table: str) -> None:
        """Begin a tree.

        Args:
            folder: the table's, made here; it stays empty if no row comes.
            schema: of every batch, the partition columns among them.
            table: its name.
        """
        self._folder = folder
        self._schema = pa.schema([field for field in schema if field.name not in KEYS], metadata=schema.metadata)
        self._table = table
        self._open: OrderedDict[Key, ParquetFile] = OrderedDict()
        self._parts: dict[Key, int] = {}
        self.rows = 0
        folder.mkdir()

    def add(self, batch: pa.RecordBatch) -> None:
        """Take rows of any partitions.

        Raises:
            InputError: a row's migration id or month is null, or the month is not written as YYYY-MM.
        """
        for key, rows in self._split(batch):
            self._file(key).add(rows)
            self.rows += rows.num_rows
        if sum(file.waiting_bytes for file in self._open.values()) > WAITING_BYTES:
            max(self._open.values(), key=lambda file: file.waiting_bytes).flush()

    def close(self) -> None:
        """End every file."""
        while self._open:
            self._end_oldest()

    def give_up(self) -> None:
        """Close every file without completing it."""
        for file in self._open.values():
            file.give_up()

    def _split(self, batch: pa.RecordBatch) -> Iterator[tuple[Key, pa.RecordBatch]]:
        rest = pa.record_batch([batch.column(name) for name in self._schema.names], schema=self._schema)
        columns = [batch.column(name) for name in KEYS]
        for migration, month in sorted(_keys(self._table, *columns)):
            mine = pc.and_(pc.equal(columns[0], migration), pc.equal(columns[1], month))
            yield (migration, month), rest.filter(mine)

    def _file(self, key: Key) -> ParquetFile:
        if key not in self._open:
            if len(self._open) >= OPEN_FILES:
                self._end_oldest()
            part = self._parts[key] = self._parts.get(key, -1) + 1
            folder = self._folder / f"{KEYS[0]}={key[0]}" / f"{KEYS[1]}={key[1]}"
            folder.mkdir(parents=True, exist_ok=True)
            self._open[key] = ParquetFile(folder / f"part-{part}.parquet", self._schema, table=self._table)
        self._open.move_to_end(key)
        return self._open[key]

    def _end_oldest(self) -> None:
        oldest = next(iter(self._open))
        self._open[oldest].close()
        del self._open[oldest]  # only now: a file that cannot be closed is still to be given up


def _keys(table: str, migrations: pa.Array, months: pa.Array) -> set[Key]:
    pairs = pa.table([migrations, months], names=KEYS).group_by(list(KEYS)).aggregate([]).to_pylist()
    for pair in pairs:
        migration, month = (pair[name] for name in KEYS)
        if not isinstance(migration, int) or not isinstance(month, str) or _MONTH.fullmatch(month) is None:
            raise InputError(
                f"{table!r} has a row with migration_id={migration!r} and record_month={month!r}, which name no"
                ' partition; use layout="file", or give whole numbers and months as YYYY-MM'
            )
    return {(pair[KEYS[0]], pair[KEYS[1]]) for pair in pairs}
