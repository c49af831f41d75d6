"""`compact` joins the small files of a store and, if asked, forgets old states; `Store.compact` calls it."""

from __future__ import annotations

import time

from ledgerframes.errors import InputError
from ledgerframes.store.coverage_document import Document
from ledgerframes.store.delta.forgetting import forget, forget_log
from ledgerframes.store.documents import Documents
from ledgerframes.store.lake import Lake
from ledgerframes.store.stored_snapshots import unfinished
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
            forget_runs(root.own(SYNCS.name), forget_before)
            root.finish()
            handles = [(table, table.handle) for table in tables.values() if table.handle is not None]
            for table, handle in handles:
                forget(handle, now - forget_before)
                root.changed(table)
            root.commit(root.document)
            for table, handle in handles:
                forget_log(handle)
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
