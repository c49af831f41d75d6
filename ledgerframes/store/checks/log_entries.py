"""Finds and fills entries of a table's log that are lost or empty; `check` and `repair` call it.

A log without its newest entry is that of an older state, and an empty entry is an empty commit: both are valid by
themselves. They are recognised by the versions that every sync records, and by the size of an entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ledgerframes.store.derive.kept import KEPT
from ledgerframes.store.derive.progress import UNSOUND
from ledgerframes.store.lake import STORED, Lake
from ledgerframes.store.sync.sync_log import SYNCS, all_runs

#: What deltalake writes for a commit that adds and removes nothing.
_NOTHING: Final = {"commitInfo": {"operation": "WRITE", "operationParameters": {"mode": "Append"}}}


@dataclass(frozen=True)
class LogDamage:
    """Damage to the log of one table.

    Attributes:
        table: the table's name.
        version: the version that the log shows.
        recorded: the version that a sync has left.
        empty: the entries of 0 bytes.
    """

    table: str
    version: int
    recorded: int
    empty: tuple[Path, ...]

    @property
    def count(self) -> int:
        """How many entries are lost or empty."""
        return max(self.recorded - self.version, 0) + len(self.empty)

    def __str__(self) -> str:
        if self.empty:
            return f"{self.empty[-1].name} is empty"
        return f"it ends with version {self.version}, and a sync has left version {self.recorded}"


def log_damages(lake: Lake) -> Iterator[LogDamage]:
    """The damage of every table whose log has lost entries or has empty ones.

    Raises:
        StoreError: a log, or a file of `syncs`, is damaged.
    """
    runs = all_runs(lake.table(SYNCS.name).refresh())
    for name in (*STORED, SYNCS.name):
        table = lake.table(name).refresh()
        if table.version is None:
            continue
        # A table that was created anew counts its versions from 0.
        own = (json.loads(row["versions"]) for row in runs if row["finished_at"] >= table.made_at)
        recorded = max((versions.get(name, 0) for versions in own), default=0)
        damage = LogDamage(name, table.version, recorded, tuple(_empty_entries(table.url)))
        if damage.count:
            yield damage


def fill_log(lake: Lake, damage: LogDamage) -> None:
    """Add empty commits for entries that are lost or empty, so that version numbers continue where they were.

    Rows and coverage are one commit, so the rows of a lost entry are no longer covered, and the next sync reads them.
    A computed table has one number for how far it goes, which later entries hold too: it is computed again.
    """
    for entry in damage.empty:
        # Written out as a commit of nothing, which is how readers of the log take an empty entry.
        entry.write_text(json.dumps(_NOTHING) + "\n")
    table = lake.table(damage.table).refresh()
    # One commit per lost entry: the versions that syncs have recorded must not come to mean later states.
    for _ in range(damage.recorded - damage.version):
        table.append((), {})
    if damage.table in KEPT and damage.empty:
        table.append((), UNSOUND)


def _empty_entries(url: str) -> list[Path]:
    """The entries of the log of a folder that have no bytes; in an object store an entry is complete or absent."""
    log = Path(url, "_delta_log")
    return [] if "://" in url else [entry for entry in sorted(log.glob("*.json")) if not entry.stat().st_size]
