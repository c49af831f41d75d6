"""`item_lines`: the items of a stored interval as lines of objects, in the order of the history; exports write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding.rebuild import lines_of_rows, row_dicts
from ledgerframes.errors import StoreError
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval, rows_of, window_of
from ledgerframes.store.lake import View
from ledgerframes.store.read.ranges import ranges_of, times_of
from ledgerframes.store.read.reading import Part

#: Updates that are loaded together, and those of them that are Python values at once.
_LOADED: Final = 8_192
_TOGETHER: Final = 512


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
    for lo, hi in ranges_of(parts["updates"], together):
        rows = rows_of([interval._replace(lo=lo, hi=hi)])
        tables = {name: part.load(part.table.table.names, rows) for name, part in parts.items()}
        yield from _lines(tables["updates"], tables["events"], row_dicts(tables["reassignments"]))


def first_time(view: View, interval: Interval) -> int | None:
    """The record time of the first update of an interval; None where it has none."""
    return next((int(times[0]) for times in times_of(_part(view, "updates", interval)) if len(times)), None)


def _part(view: View, name: str, interval: Interval) -> Part:
    return Part.of(view, name, window_of(interval), allow_partial=True)


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
