"""Whether the stored snapshots of active contracts are complete, with each contract once; `check` calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ledgerframes.store.checks.findings import CheckFinding
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.stored_snapshots import State, StoredSnapshot
from ledgerframes.store.view import View
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS

if TYPE_CHECKING:
    import pyarrow.dataset as ds


def check_active_contracts(view: View) -> tuple[int, list[CheckFinding]]:
    """Compare every snapshot with its entry in the document; ids are compared by hashes, so memory stays small.

    Returns:
        The number of rows checked, and the findings.
    """
    table = view.tables[ACTIVE_CONTRACTS.name]
    data = table.dataset()
    findings: list[CheckFinding] = []
    rows = 0
    with damage_named([table]):
        for snapshot in view.document.snapshots:
            count, distinct = _counted(data, snapshot)
            rows += count
            findings += _found(table.name, snapshot, count, distinct)
        total = data.count_rows()
    if total != rows:
        advice = "they belong to no known snapshot: sync into a new store"
        findings.append(
            CheckFinding(f"{table.name}: rows of no snapshot", "error", total - rows, f"{total:,} rows", advice)
        )
    return rows, findings


def _counted(data: ds.Dataset, snapshot: StoredSnapshot) -> tuple[int, int]:
    """The number of rows of a snapshot, and of distinct contracts."""
    scanner = data.scanner(
        columns=["contract_id"], filter=snapshot.own_rows, batch_size=65_536, batch_readahead=1, fragment_readahead=1
    )
    parts = [
        np.fromiter(map(hash, batch.column(0).to_pylist()), np.int64, batch.num_rows) for batch in scanner.to_batches()
    ]
    hashes = np.concatenate([np.empty(0, np.int64), *parts])
    return len(hashes), len(np.unique(hashes))


def _found(name: str, snapshot: StoredSnapshot, count: int, distinct: int) -> list[CheckFinding]:
    where = f"the snapshot of {snapshot.cursor}"
    findings = []
    if snapshot.state is State.READING:
        advice = "readers do not see it; the next sync of the same snapshot resumes it"
        findings.append(CheckFinding(f"{name}: a snapshot that is not whole", "note", 1, where, advice))
    if snapshot.state is State.DAMAGED:
        advice = "readers do not see it; a sync reads it again if it is still the newest"
        findings.append(CheckFinding(f"{name}: a snapshot that lost rows to a repair", "note", 1, where, advice))
    elif count != snapshot.rows:
        advice = f"there were {snapshot.rows:,}: run store.repair()"
        example = f"{count:,} in {where}"
        findings.append(
            CheckFinding(f"{name}: a snapshot has more or fewer rows than stored", "error", 1, example, advice)
        )
    if distinct != count:
        advice = "load another snapshot and go by its loaded_at"
        findings.append(
            CheckFinding(f"{name}: the key contract_id occurs more than once", "error", count - distinct, where, advice)
        )
    return findings
