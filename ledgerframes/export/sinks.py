"""What takes a table's rows, whatever the format, and how they get there; `exporting` and the loaders call it."""

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
        """Write what is left and end."""

    def give_up(self) -> None:
        """Let go of what was opened, without an error of its own."""


def pour(table: Opened, shape: Shape, sink: Sink, place: Path) -> None:
    """Read a table to its end into a sink, and close that; or let go of it if anything fails.

    Args:
        table: its rows.
        shape: what the rows look like in the sink.
        sink: takes them.
        place: where the sink's file will be in the end, for messages.

    Raises:
        InputError: the place cannot be written. An error of the source goes through as it is.
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
