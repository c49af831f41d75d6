"""Files written from a stream of batches: Parquet, alone or in folders by month, and CSV; `exporting` calls it.

CSV is exact, and harmless in a spreadsheet: every text is in quotes and a null is nothing at all, so that null and
empty text stay apart.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import InputError
from ledgerframes.export.texts import amount_text, defuse, json_text, time_text
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.kinds import JSON

GROUP_ROWS: Final = 131_072  # a reader's unit of work: DuckDB's is 122,880, Spark's and Polars' are near
GROUP_BYTES: Final = 64 << 20
_ROWS: Final = 8192  # lines joined at a time
KEYS: Final = ("migration_id", "record_month")
_MONTH: Final = re.compile(r"\d{4}-\d\d", re.ASCII)
OPEN_FILES: Final = 32
WAITING_BYTES: Final = 128 << 20
Key = tuple[int, str]


class ParquetFile:
    """One file being written, until it is closed or given up."""

    def __init__(self, path: Path, schema: pa.Schema, *, table: str) -> None:
        """Begin a file.

        Args:
            path: where; its folder is there.
            schema: of every batch.
            table: the table of the rows; its JSON columns get no statistics, as nobody searches by them.
        """
        import pyarrow.parquet as pq
        from pyarrow import fs

        self._schema = schema
        self._writer = pq.ParquetWriter(str(path), schema, filesystem=fs.LocalFileSystem(), **_options(table, schema))
        self._waiting: list[pa.RecordBatch] = []
        self.waiting_rows = 0
        self.waiting_bytes = 0
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows; they are written once there are enough."""
        if not batch.num_rows:
            return
        self._waiting.append(batch)
        self.waiting_rows += batch.num_rows
        self.waiting_bytes += batch.nbytes
        if self.waiting_rows >= GROUP_ROWS or self.waiting_bytes >= GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the added rows as a row group."""
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema), row_group_size=GROUP_ROWS)
            self.rows += self.waiting_rows
            self._waiting, self.waiting_rows, self.waiting_bytes = [], 0, 0

    def close(self) -> None:
        """Write the remaining rows, and the footer."""
        self.flush()
        self._writer.close()

    def give_up(self) -> None:
        """Close the file without completing it."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()


def _options(table: str, schema: pa.Schema) -> dict[str, Any]:
    declared = CATALOGUE.get(table)
    opaque = {column.name for column in declared.columns if column.kind is JSON} if declared else set()
    searched = [field.name for field in schema if field.name not in opaque and not pa.types.is_list(field.type)]
    return {"compression": "zstd", "write_statistics": searched or False}


class CsvFile:
    """One file being written: UTF-8 without byte order mark, lines ending in CR LF (RFC 4180)."""

    def __init__(self, path: Path, schema: pa.Schema, *, foreign: Collection[str]) -> None:
        """Begin a file with the line of names.

        Args:
            path: where; its folder is there.
            schema: of every batch.
            foreign: the text columns whose cells may look like formulas and are defused.
        """
        self._sink = path.open("wb")
        self._foreign = foreign
        self.rows = 0
        self._sink.write(",".join(schema.names).encode() + b"\r\n")

    def add(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        for start in range(0, batch.num_rows, _ROWS):
            self._sink.write(self._lines(batch.slice(start, _ROWS)))
        self.rows += batch.num_rows

    def close(self) -> None:
        """End the file."""
        self._sink.close()

    def give_up(self) -> None:
        """Close the file without completing it."""
        with suppress(OSError):
            self._sink.close()

    def _lines(self, batch: pa.RecordBatch) -> bytes:
        columns = zip(batch.schema.names, batch.columns, strict=True)
        cells = [_cells(column, foreign=name in self._foreign) for name, column in columns]
        return "\r\n".join([*pc.binary_join_element_wise(*cells, ",").to_pylist(), ""]).encode()


def _cells(column: pa.Array, *, foreign: bool) -> pa.Array:
    """A column's cells as written in the file."""
    kind = column.type
    if pa.types.is_string(kind):
        return _quoted(defuse(column) if foreign else column)
    if pa.types.is_list(kind):
        return _quoted(json_text(column))
    if pa.types.is_timestamp(kind):
        return pc.coalesce(time_text(column), "")
    if pa.types.is_decimal(kind):
        return pc.coalesce(amount_text(column), "")
    return pc.coalesce(column.cast(pa.string()), "")


def _quoted(column: pa.Array) -> pa.Array:
    doubled = pc.replace_substring(column, '"', '""')
    return pc.coalesce(pc.binary_join_element_wise('"', doubled, '"', ""), "")


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
