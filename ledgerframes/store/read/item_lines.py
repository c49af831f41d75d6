"""`item_lines`: the items of a stored interval as lines of objects, in the order of the history; exports write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.decoding.rebuild import lines_of_rows, row_dicts
from ledgerframes.errors import StoreError
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval, rows_of, window_of
from ledgerframes.store.lake import View
from ledgerframes.store.read.reading import Part

#: Updates that are loaded together, and those of them that are Python values at once.
_LOADED: Final = 8_192
_TOGETHER: Final = 512
#: Record times that are in memory at once.
_TIMES: Final = 5_000_000


def item_lines(view: View, interval: Interval, *, together: int = _LOADED) -> Iterator[tuple[Cursor, bytes]]:
    """The items of an interval, each with its cursor, in bounded memory.

    Args:
        view: the tables.
        interval: covered and settled.
        together: how many updates to load at once, more if they share a record time.

    Raises:
        StoreError: an update has not all of its rows, or a file is damaged.
        InputError: personal data was left out of a row, so that its item cannot be rebuilt.
    """
    parts = {name: _part(view, name, interval) for name in ("updates", "events", "reassignments")}
    for lo, hi in _ranges(parts["updates"], together):
        rows = rows_of([interval._replace(lo=lo, hi=hi)])
        tables = {name: part.load(part.table.table.names, rows) for name, part in parts.items()}
        yield from _lines(tables["updates"], tables["events"], row_dicts(tables["reassignments"]))


def first_time(view: View, interval: Interval) -> int | None:
    """The record time of the first update of an interval; None where it has none."""
    return next((int(times[0]) for times in _times(_part(view, "updates", interval)) if len(times)), None)


def _part(view: View, name: str, interval: Interval) -> Part:
    return Part.of(view, name, window_of(interval), allow_partial=True)


def _ranges(updates: Part, together: int) -> Iterator[tuple[int, int]]:
    """Ranges (lo, hi] of record times with about so many updates; none cuts updates of one record time apart."""
    lo: int | None = None
    for times in _times(updates):
        if not len(times):
            continue
        ends = {int(times[at]) for at in range(together - 1, len(times), together)} | {int(times[-1])}
        for hi in sorted(ends):
            yield (int(times[0]) - 1 if lo is None else lo), hi
            lo = hi


def _times(updates: Part) -> Iterator[np.ndarray[Any, np.dtype[np.int64]]]:
    """The record times in order, together or month by month."""
    data = updates.dataset
    few = data.count_rows() <= _TIMES
    for month in [None] if few else _months(updates):
        own = data if month is None else data.filter(pc.field("record_month") == month)
        yield np.sort(own.to_table(columns=["record_time"])["record_time"].cast(pa.int64()).to_numpy())


def _months(part: Part) -> list[str]:
    """The months of which there are rows, in order, by the folders of the files."""
    import pyarrow.dataset as ds

    fragments = part.data.get_fragments(filter=part.rows)
    keys = (ds.get_partition_keys(fragment.partition_expression) for fragment in fragments)
    return sorted({str(own["record_month"]) for own in keys})


def _lines(
    updates: pa.Table, events: pa.Table, reassignments: Sequence[dict[str, Any]]
) -> Iterator[tuple[Cursor, bytes]]:
    legs = {row["update_id"]: row for row in reassignments}
    first = 0
    for at in range(0, len(updates), _TOGETHER):
        rows = row_dicts(updates.slice(at, _TOGETHER))
        count = sum(row["event_count"] for row in rows if row["kind"] == "transaction")
        events_of: dict[str, list[dict[str, Any]]] = {}
        for event in row_dicts(events.slice(first, count)):
            events_of.setdefault(event["update_id"], []).append(event)
        first += count
        for row in rows:
            _check_whole(row, events_of, legs)
        for row, line in zip(rows, lines_of_rows(rows, events_of, legs), strict=True):
            yield Cursor(row["migration_id"], row["record_time"]), line


def _check_whole(row: dict[str, Any], events_of: dict[str, list[dict[str, Any]]], legs: dict[str, Any]) -> None:
    update_id = row["update_id"]
    whole = (
        len(events_of.get(update_id, ())) == row["event_count"] if row["kind"] == "transaction" else update_id in legs
    )
    if not whole:
        raise StoreError(
            f"update {update_id} has not all of its rows in the store; run store.check() and store.repair(), then sync"
        )
