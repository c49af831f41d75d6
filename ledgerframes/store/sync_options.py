"""Checks what callers of a store ask for, before anything is sent or read; `Store` calls it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from ledgerframes.arguments import choice, duration, flag, names, whole_number
from ledgerframes.errors import InputError
from ledgerframes.loaders.contracts import party_list
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, Duration, When, wanted_window
from ledgerframes.store.history_tables import ORDER
from ledgerframes.store.lake import declared
from ledgerframes.store.sync.history_sync import Wish
from ledgerframes.store.sync.snapshots import SNAPSHOTS, check_snapshots
from ledgerframes.store.sync.sync import SyncRequest
from ledgerframes.timestamps import to_micros


def table_names(tables: Iterable[str] | None) -> tuple[str, ...]:
    """The tables to sync; the history if none are named.

    Raises:
        InputError: they are not a list of names, or one is not a table that can be synced.
    """
    if tables is None:
        return ORDER
    wanted = names(tables, "tables")
    syncable = (*ORDER, *SNAPSHOTS)
    for name in wanted:
        declared(name)
        if name not in syncable:
            raise InputError(f"tables: {name!r} cannot be synced; {', '.join(syncable)} can")
    if not wanted:
        raise InputError("tables=[] names nothing to sync; leave it out for the history")
    return tuple(dict.fromkeys(wanted))


def ordered(
    *,
    start: Bound | None,
    end: Bound | None,
    last: Duration | None,
    workers: int,
    tables: Iterable[str] | None,
    parties: Iterable[str] | None,
    settle: Duration,
    now: When | None,
    page_size: int,
    commit_bytes: int,
    on_error: str,
    progress: bool | None,
    engine: Any,
    worker_token: str | None,
    replicas: bool = False,
) -> SyncRequest:
    """The arguments of `Store.sync`, checked.

    Raises:
        InputError: one of them breaks a rule.
    """
    moment = time.time_ns() // 1000 if now is None else to_micros(now, "now")
    wanted = table_names(tables)
    owners = () if parties is None else tuple(party_list(parties))
    snapshots = tuple(name for name in wanted if name in SNAPSHOTS)
    check_snapshots(snapshots, owners)
    shown = None if progress is None else flag(progress, "progress")
    wish = None
    if set(wanted) & set(ORDER):
        wish = Wish(
            window=wanted_window(start, end, last, now=moment),
            settle=duration(settle, "settle", zero=True),
            now=moment,
            workers=whole_number(workers, "workers", least=1, most=256),
            page_size=whole_number(page_size, "page_size", least=1, most=MAXIMUM),
            commit_bytes=whole_number(commit_bytes, "commit_bytes", least=1, most=2**40),
            replicas=flag(replicas, "replicas"),
        )
    choice(on_error, "on_error", ("raise", "reject"))
    if engine is not None:
        from ledgerframes.store.sync.dask_fetching import check_engine

        check_engine(engine)
        if on_error == "reject":
            raise InputError("on_error='reject' and engine= do not go together; leave one of them out")
    return SyncRequest(wish, snapshots, owners, on_error == "reject", shown, engine=engine, worker_token=worker_token)
