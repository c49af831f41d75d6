"""Checks what callers of a store ask for, before anything is sent or read; `Store` calls it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ledgerframes.errors import InputError
from ledgerframes.instants import EPOCH, MICROSECOND, to_duration
from ledgerframes.paging.window import Bound, Window, window
from ledgerframes.store.history import ORDER
from ledgerframes.store.lake import declared
from ledgerframes.store.snapshots import SNAPSHOTS


def table_names(tables: Sequence[str] | None) -> tuple[str, ...]:
    """The tables to sync; without a word, the history.

    Raises:
        InputError: a name is none, or none that can be synced.
    """
    if tables is None:
        return ORDER
    if isinstance(tables, str):
        raise InputError(f'tables={tables!r}: give a list of names, for example tables=["{tables}"]')
    syncable = (*ORDER, *SNAPSHOTS)
    for name in tables:
        declared(name)
        if name not in syncable:
            raise InputError(f"tables: {name!r} cannot be synced; {', '.join(syncable)} can")
    if not tables:
        raise InputError("tables=[] names nothing to sync; leave it out for the history")
    return tuple(dict.fromkeys(tables))


def wanted_window(start: Bound | None, end: Bound | None, last: str | timedelta | None, now: int) -> Window:
    """The window that start and end, or last, name; `now` is what last counts from.

    Raises:
        InputError: they contradict each other, or are no times.
    """
    if last is None:
        return window(start, end)
    if start is not None:
        raise InputError(f"last={last!r} and start={start!r} both say where to begin; give one of them")
    return window(EPOCH + (now - to_duration(last, "last")) * MICROSECOND, end)


def duration(value: str | timedelta, name: str) -> int:
    """A duration that may be zero."""
    zero = value == timedelta(0) or (isinstance(value, str) and value.strip() in {"0", "0s"})
    return 0 if zero else to_duration(value, name)


def whole_number(value: int, name: str, most: int) -> int:
    """A whole number from 1.

    Raises:
        InputError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InputError(f"{name}={value!r} is not a whole number from 1 to {most}")
    return value
