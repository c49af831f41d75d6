"""`compact` joins the small files of a store and, if asked, forgets old states; `Store.compact` calls it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ledgerframes.errors import InputError
from ledgerframes.store.delta.storage_errors import plain_errors
from ledgerframes.store.delta.table import KEEP, properties
from ledgerframes.store.documents import Document, Documents
from ledgerframes.store.lake import Lake
from ledgerframes.store.stored_snapshots import unfinished
from ledgerframes.store.sync.report import SYNCS, forget_runs
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS

if TYPE_CHECKING:
    from deltalake import DeltaTable

_HOUR: Final = 3_600_000_000


def compact(lake: Lake, forget_before: int | None) -> None:
    """Compact every table, and remove the files that only states before a time need.

    Args:
        lake: the store.
        forget_before: microseconds; None removes nothing.

    Raises:
        InputError: the time lies in the future.
        StoreError: a sync runs on the store, or it cannot be written.
    """
    if forget_before is not None and forget_before > time.time_ns() // 1000:
        raise InputError("forget_before= lies in the future; the newest state is always kept")
    with lake.writing():
        root = lake.root()
        if not root.table.exists:
            return
        tables = {name: root.own(name) for name in (root.table.name, *root.names)}
        for name, table in tables.items():
            # A snapshot in progress may still be abandoned, which removes its rows by whole files.
            if name != ACTIVE_CONTRACTS.name or unfinished(root.document.snapshots) is None:
                table.compact()
        root.finish()
        if forget_before is not None:
            # Syncs first, then files: a kill in between leaves files that nobody needs, never a sync that cannot be
            # read.
            remaining = forget_runs(root.own(SYNCS.name), forget_before)
            root.finish()
            # Delta counts in whole hours, back from when each table's turn comes; what kept states need has to stay.
            hours = (time.time_ns() // 1000 - forget_before) // _HOUR + 2 if remaining else 0
            handles = [(table, table.handle) for table in tables.values() if table.handle is not None]
            for table, handle in handles:
                _forget(handle, hours)
                root.changed(table)
            root.commit(root.document)
            for table, handle in handles:
                _forget_log(handle)
                root.changed(table)
            root.commit(root.document)
            _forget_documents(lake.documents, root.document, forget_before)


def _forget_documents(documents: Documents, newest: Document, before: int) -> None:
    """Remove the documents of states before a time, and those of killed writers, which are not in the chain."""
    reachable, document = {newest.number}, newest
    while document.number >= before and (earlier := documents.read(document.before)) is not None:
        document = earlier
        reachable.add(document.number)
    for number in documents.numbers():
        if number < before and number not in reachable:
            documents.remove(number)


def _forget(handle: DeltaTable, hours: int) -> None:
    """Remove the files that only states older than this need, and allow the log of those states to be removed.

    The log's own setting keeps everything, so that no other program shortens it; that setting is suspended until
    `_forget_log`.

    Args:
        handle: the table.
        hours: the age.

    Raises:
        StoreError: the storage refused.
    """
    with plain_errors(handle.table_uri, "be cleaned"):
        # Delta refuses retentions below a week by default; here the caller chose the time.
        handle.vacuum(retention_hours=hours, dry_run=False, enforce_retention_duration=False)
        handle.update_incremental()
        # The clean-up obeys the table's own setting and takes no argument.
        _retain(handle, f"interval {hours} hours")
        handle.create_checkpoint()


def _forget_log(handle: DeltaTable) -> None:
    """Remove the log of the states that `_forget` dropped; until then the state that it left can be opened.

    Raises:
        StoreError: the storage refused.
    """
    with plain_errors(handle.table_uri, "be cleaned"):
        handle.cleanup_metadata()
        _retain(handle, KEEP)
        handle.create_checkpoint()


def _retain(handle: DeltaTable, duration: str) -> None:
    handle.alter.set_table_properties({"delta.logRetentionDuration": duration}, commit_properties=properties())
