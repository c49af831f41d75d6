"""`Spool`: rows in files, spread over parts by a key, so that rows which belong together are read together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class Spool:
    """Rows on disk; only one part of them is in memory when they are read.

    Args:
        folder: for its files; made here.
        schema: of the rows.
        parts: how many parts.
    """

    def __init__(self, folder: Path, schema: pa.Schema, parts: int = 32) -> None:
        folder.mkdir()
        self._paths = [folder / f"part-{part}.arrow" for part in range(parts)]
        self._schema = schema
        self._writers = [pa.ipc.new_file(str(path), schema) for path in self._paths]

    def add(self, rows: pa.Table, keys: pa.Array) -> None:
        """Write rows; those of one key come to one part."""
        parts = keys.to_numpy() % len(self._paths)
        for part in np.unique(parts).tolist():
            chosen = pa.array(np.flatnonzero(parts == part))
            self._writers[part].write_table(rows.take(chosen).combine_chunks().cast(self._schema))

    def finish(self) -> None:
        """Write what is left; afterwards parts can be read."""
        for writer in self._writers:
            writer.close()

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._paths)

    def part(self, number: int) -> pa.Table:
        """The rows of a part, in the order of adding."""
        with pa.memory_map(str(self._paths[number])) as file:
            read: Any = pa.ipc.open_file(file).read_all()
            # Copied out of the mapped file, which is closed here.
            return read.take(pa.array(range(read.num_rows), pa.int64()))


def first_of_each(rows: pa.Table, name: str) -> pa.Table:
    """The first row of each value of a column."""
    numbered = rows.select([name]).append_column("place", pa.array(range(rows.num_rows), pa.int64()))
    first = numbered.group_by(name).aggregate([("place", "min")])["place_min"]
    return rows.take(first.combine_chunks().take(pc.sort_indices(first)))
