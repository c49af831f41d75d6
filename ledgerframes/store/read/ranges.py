"""`ranges_of`: cuts a stored interval into parts of about as many updates each, read in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.store.read.reading import Part

#: Record times in memory at once.
_TIMES: Final = 5_000_000


def ranges_of(updates: Part, together: int) -> Iterator[tuple[int, int]]:
    """Ranges (lo, hi] of record times with about `together` updates each, never splitting one record time."""
    lo: int | None = None
    for times in times_of(updates):
        if not len(times):
            continue
        ends = {int(times[at]) for at in range(together - 1, len(times), together)} | {int(times[-1])}
        for hi in sorted(ends):
            yield (int(times[0]) - 1 if lo is None else lo), hi
            lo = hi


def times_of(updates: Part) -> Iterator[np.ndarray[Any, np.dtype[np.int64]]]:
    """The record times in order, together or month by month."""
    data = updates.dataset
    few = data.count_rows() <= _TIMES
    for month in [None] if few else _months(updates):
        own = data if month is None else data.filter(pc.field("record_month") == month)
        yield np.sort(own.to_table(columns=["record_time"])["record_time"].cast(pa.int64()).to_numpy())


def _months(part: Part) -> list[str]:
    """The months that have rows, in order, by the folders of the files."""
    import pyarrow.dataset as ds

    fragments = part.data.get_fragments(filter=part.rows)
    keys = (ds.get_partition_keys(fragment.partition_expression) for fragment in fragments)
    return sorted({str(own["record_month"]) for own in keys})
