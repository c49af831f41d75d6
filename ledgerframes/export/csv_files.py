"""CSV written from a stream of batches: exact, and harmless in a spreadsheet; `exporting` and the loaders call it.

Every text is in quotes and a null is nothing at all, so that null and empty text stay apart.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.export.formulas import defuse
from ledgerframes.export.texts import amount_text, list_text, time_text

_ROWS: Final = 8192  # lines joined at a time


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
