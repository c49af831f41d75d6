"""The receivers of a table's rows, for every format, and the transfer to them; `exporting` and the loaders call it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ledgerframes.export.atomic_write import writing
from ledgerframes.export.shape import Shape
from ledgerframes.export.sources import Opened


class Sink(Protocol):
    """A file, or several, being written."""

    rows: int

    def add(self, batch: pa.RecordBatch) -> None:
        """Take rows."""

    def close(self) -> None:
        """Write the remaining rows and close."""

    def give_up(self) -> None:
        """Release opened files, without raising an error."""


def pour(table: Opened, shape: Shape, sink: Sink, place: Path) -> None:
    """Write all rows of a table to a sink and close it; or release it if anything fails.

    Args:
        table: its rows.
        shape: the form of the rows in the sink.
        sink: takes them.
        place: the final path of the sink's file, for messages.

    Raises:
        InputError: the place cannot be written. An error of the source is passed on unchanged.
    """
    try:
        for batch in table.batches:
            shaped = shape.apply(batch)
            with writing(place):
                sink.add(shaped)
        with writing(place):
            sink.close()
    except BaseException:
        sink.give_up()
        raise
