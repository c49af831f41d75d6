"""The same history on real deltalake in a temporary folder: every write is made twice, every read comes from Delta.

So the invariants, which look at the simulated disk, speak of what lies in the folder, as long as both are equal; that
is looked at in the end, rows and documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import declared
from tests.simulation.storage import Disk, MemoryTable, SimLake


class MirroredTable(MemoryTable):
    """A table of a `Disk`, and the same in a folder.

    Args:
        real: the table in the folder.
        disk: where the other one lies.
        root: who is told of its changes.
    """

    def __init__(self, real: DeltaStoreTable, disk: Disk, root: Root | None) -> None:
        super().__init__(real.table, disk, root)
        self._real = real

    def refresh(self) -> MirroredTable:
        super().refresh()
        self._real.refresh()
        assert self._real.version == self._version, f"{self.name}: {self._real.version} is not {self._version}"
        return self

    def as_of(self, version: int | None) -> MirroredTable:
        super().as_of(version)
        self._real.as_of(version)
        return self

    @property
    def exists(self) -> bool:
        self._disk.alive()
        return self._real.exists

    @property
    def handle(self) -> Any:
        self._disk.alive()
        return self._real.handle

    def dataset(self) -> Any:
        self._disk.alive()
        return self._real.dataset()

    def partition_files(self, *, small: bool = False) -> Counter[tuple[str, ...]]:
        self._disk.alive()
        return self._real.partition_files(small=small)

    def size(self) -> dict[str, Any]:
        self._disk.alive()
        return self._real.size()

    def number(self) -> int | None:
        self._disk.alive()
        return self._real.number()

    def _really_create(self) -> None:
        self._real.create()

    def _really_restore(self, version: int) -> None:
        self._real.restore(version)

    def _really_append(self, batches: Sequence[pa.RecordBatch], number: int | None) -> None:
        self._real.append(batches, (), number)


class MirroredLake(SimLake):
    """A lake on a `Disk`, and the same in a folder.

    Args:
        disk: where the one lies.
        folder: where the other one lies.
    """

    def __init__(self, disk: Disk, folder: Path) -> None:
        super().__init__(disk)
        self._folder = folder

    def table(self, name: str, root: Root | None = None) -> DeltaStoreTable:
        return MirroredTable(self._in_folder(name), self.disk, root)

    def _in_folder(self, name: str) -> DeltaStoreTable:
        partition_by = MemoryTable(declared(name), self.disk, None)._partition_by
        return DeltaStoreTable(declared(name), str(self._folder / name), storage_options={}, partition_by=partition_by)

    def differences(self) -> list[str]:
        """Where rows, documents or versions of the two are not the same."""
        found = []
        for name, states in self.disk.versions.items():
            real, state = self._in_folder(name).refresh(), states[-1]
            if real.version != len(states) - 1:
                found.append(f"{name}: version {real.version}, in memory {len(states) - 1}")
            if real.number() != state.number:
                found.append(f"{name}: its log names {real.number()}, in memory {state.number}")
            columns = [column for column in state.schema.names if column != "report"]
            theirs, ours = (_rows(rows, columns) for rows in (real.dataset().to_table(), state.rows))
            if theirs != ours:
                found.append(f"{name}: rows {theirs}, in memory {ours}")
        return found


def _rows(rows: pa.Table, columns: Sequence[str]) -> list[str]:
    return sorted(map(repr, rows.select(columns).to_pylist()))
