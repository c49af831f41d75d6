"""The order of rows in files: events by template within a slab of time; files, compaction and exports use it.

So a read of a short range skips the rest of a month, and a read of one template skips the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.tables.table import Table

if TYPE_CHECKING:
    import pyarrow.dataset as ds

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


def group_size(table: Table) -> int:
    """The number of rows per row group of a table."""
    return _SORTED_GROUP if sorted_by(table) else ROWS_PER_GROUP


def slabs(table: Table, rows: pa.Table) -> Iterator[pa.Table]:
    """The rows of a table in the order of its files, a slab at a time, so that at most a slab is copied."""
    order = [(name, "ascending") for name in sorted_by(table)]
    if not order:
        yield rows
        return
    for start in range(0, rows.num_rows, SLAB):
        slab = rows.slice(start, SLAB)
        # Stable, so rows of one template and choice stay in the order of time.
        yield slab.take(pc.sort_indices(slab, sort_keys=order))


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
