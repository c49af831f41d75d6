"""Runs a step on parts of a column at once, a thread each; analyses call it where Arrow itself would use one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import pyarrow as pa

from ledgerframes.threads import together

T = TypeVar("T")
_LEAST: Final = 10_000  # rows of a part; with fewer, to wake a thread takes as long as it saves
_THREAD: Final = "ledgerframes-part"


def run_parallel(calls: Sequence[Callable[[], T]], rows: int) -> list[T]:
    """The results of calls, in order; one per core runs at a time, unless there are few rows."""
    return together(calls, _THREAD, at_once=pa.cpu_count()) if rows > _LEAST else [call() for call in calls]


def map_chunks(call: Callable[..., T], *columns: Any) -> list[T]:
    """The results of a call for each part of the rows, in order; few rows are one part.

    Args:
        call: takes a part of each of the columns.
        columns: columns, or tables, of equal length.
    """
    rows = len(columns[0])
    size = max(-(-rows // pa.cpu_count()), _LEAST)
    starts = range(0, max(rows, 1), size)
    return together([partial(call, *(column.slice(start, size) for column in columns)) for start in starts], _THREAD)
