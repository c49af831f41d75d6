"""`compact` joins the small files of a store and, if asked, forgets old states; `Store.compact` calls it."""

from __future__ import annotations

import time

from ledgerframes.errors import InputError
from ledgerframes.store.lake import STORED, Lake
from ledgerframes.store.snapshot_log import unfinished
from ledgerframes.store.sync.sync_log import SYNCS, forget_runs
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS


def compact(lake: Lake, forget_before: int | None) -> None:
    """Compact every table, and remove the files that only states before a time need.

    Args:
        lake: the store.
        forget_before: microseconds; None removes nothing.

    Raises:
        InputError: the time lies in the future.
        StoreError: a sync runs on the store, or it cannot be written.
    """
    now = time.time_ns() // 1000
    if forget_before is not None and forget_before > now:
        raise InputError("forget_before lies in the future; the newest state is always kept")
    with lake.writing():
        for name in (*STORED, SYNCS.name):
            table = lake.table(name).refresh()
            # A snapshot under way may yet be given up, and its rows are taken out by whole files.
            if name != ACTIVE_CONTRACTS.name or unfinished(table) is None:
                table.compact()
        if forget_before is not None:
            # Syncs first, then files: a kill in between leaves files that nobody needs, never a sync that cannot be
            # read.
            forget_runs(lake.table(SYNCS.name).refresh(), forget_before)
            for name in (*STORED, SYNCS.name):
                lake.table(name).refresh().forget(now - forget_before)
