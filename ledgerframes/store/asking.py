"""Checks what callers of a store ask for, before anything is sent or read; `Store` calls it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ledgerframes.errors import InputError
from ledgerframes.instants import to_duration, to_micros
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, When, wanted_window
from ledgerframes.store.history import ORDER
from ledgerframes.store.lake import declared
from ledgerframes.store.run import Order
from ledgerframes.store.snapshots import SNAPSHOTS, check_snapshots
from ledgerframes.store.syncing import Wish


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


def ordered(
    *,
    start: Bound | None,
    end: Bound | None,
    last: str | timedelta | None,
    workers: int,
    tables: Sequence[str] | None,
    parties: Sequence[str] | None,
    settle: str | timedelta,
    now: When | None,
    page_size: int,
    commit_bytes: int,
    on_error: str,
    progress: bool | None,
    engine: Any,
    worker_token: str | None,
    replicas: bool = False,
) -> Order:
    """The arguments of `Store.sync`, checked.

    Raises:
        InputError: one of them breaks a rule.
    """
    moment = time.time_ns() // 1000 if now is None else to_micros(now, "now")
    names = table_names(tables)
    snapshots = tuple(name for name in names if name in SNAPSHOTS)
    check_snapshots(snapshots, parties)
    wish = None
    if set(names) & set(ORDER):
        wish = Wish(
            window=wanted_window(start, end, last, now=moment),
            settle=duration(settle, "settle"),
            now=moment,
            workers=whole_number(workers, "workers", 256),
            page_size=whole_number(page_size, "page_size", MAXIMUM),
            commit_bytes=whole_number(commit_bytes, "commit_bytes", 2**40),
            replicas=replicas,
        )
    if on_error not in {"raise", "reject"}:
        raise InputError(f"on_error={on_error!r} is neither 'raise' nor 'reject'")
    if engine is not None:
        from ledgerframes.store.engine import check_engine

        check_engine(engine)
        if on_error == "reject":
            raise InputError("on_error='reject' and engine= do not go together; leave one of them out")
    return Order(
        wish, snapshots, tuple(parties or ()), on_error == "reject", progress, engine=engine, worker_token=worker_token
    )
