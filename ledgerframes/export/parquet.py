"""A Parquet file written from a stream of batches, in row groups of a sensible size; `exporting` calls it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.kinds import JSON

GROUP_ROWS: Final = 131_072  # a reader's unit of work: DuckDB's is 122,880, Spark's and Polars' are near
GROUP_BYTES: Final = 64 << 20


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
