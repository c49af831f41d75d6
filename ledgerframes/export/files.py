"""Files written from a stream of batches: Parquet in row groups of a sensible size, and CSV; `exporting` calls it.

CSV is exact, and harmless in a spreadsheet: every text is in quotes and a null is nothing at all, so that null and
empty text stay apart.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.export.texts import amount_text, defuse, list_text, time_text
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.kinds import JSON

GROUP_ROWS: Final = 131_072  # a reader's unit of work: DuckDB's is 122,880, Spark's and Polars' are near
GROUP_BYTES: Final = 64 << 20
_ROWS: Final = 8192  # lines joined at a time


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
        return _quoted(list_text(column))
    if pa.types.is_timestamp(kind):
        return pc.coalesce(time_text(column), "")
    if pa.types.is_decimal(kind):
        return pc.coalesce(amount_text(column), "")
    return pc.coalesce(column.cast(pa.string()), "")


def _quoted(column: pa.Array) -> pa.Array:
    doubled = pc.replace_substring(column, '"', '""')
    return pc.coalesce(pc.binary_join_element_wise('"', doubled, '"', ""), "")
