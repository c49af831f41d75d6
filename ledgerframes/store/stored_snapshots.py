"""`StoredSnapshot`: how much of a snapshot of the active contracts a lake has; syncs, reads and checks use it.

A snapshot of millions of contracts takes many commits. Each adds rows, and the document of coverage that it names says
how many there are by now and which page follows. So a sync that was killed resumes there, and readers tell whole
snapshots from others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from ledgerframes.paging.cursor import Cursor

if TYPE_CHECKING:
    from ledgerframes.store.delta.stored_files import StoredFile
    from ledgerframes.store.delta.table import DeltaStoreTable

_TIME: Final = pa.timestamp("us", "UTC")


class State(IntEnum):
    """How much of a snapshot is stored."""

    READING = 0
    WHOLE = 1
    DAMAGED = 2


class StoredSnapshot(msgspec.Struct, frozen=True):
    """One snapshot.

    Attributes:
        cursor: its migration id and record time.
        loaded_at: microseconds; what tells its rows from those of other snapshots.
        rows: how many rows were stored.
        state: whether these are all.
    """

    cursor: Cursor
    loaded_at: int
    rows: int = 0
    state: State = State.READING

    @property
    def own_rows(self) -> pc.Expression:
        """Its rows among all of the table."""
        return pc.field("loaded_at") == pa.scalar(self.loaded_at, _TIME)


def unfinished(snapshots: Sequence[StoredSnapshot]) -> StoredSnapshot | None:
    """The snapshot that a sync has begun and not ended; at most the newest is one."""
    return next((snapshot for snapshot in snapshots if snapshot.state is State.READING), None)


def rows_of_whole(snapshots: Sequence[StoredSnapshot]) -> pc.Expression | None:
    """The rows of whole snapshots; None where all are such."""
    whole = [snapshot.loaded_at for snapshot in snapshots if snapshot.state is State.WHOLE]
    return None if len(whole) == len(snapshots) else pc.field("loaded_at").isin(pa.array(whole, _TIME))


def as_they_are(snapshots: Sequence[StoredSnapshot], table: DeltaStoreTable) -> tuple[StoredSnapshot, ...]:
    """The same snapshots, those damaged that lack rows."""
    data = table.dataset()
    return tuple(
        one if data.count_rows(filter=one.own_rows) == one.rows else replace(one, state=State.DAMAGED)
        for one in snapshots
    )


def files_of(table: DeltaStoreTable, snapshot: StoredSnapshot) -> list[StoredFile]:
    """The files that hold rows of a snapshot and of no other."""
    listed: Mapping[str, Any] = {} if table.files is None else table.files.listed
    own = []
    for fragment in table.dataset().get_fragments() if listed else ():
        times = pc.unique(fragment.to_table(columns=["loaded_at"])["loaded_at"]).cast(pa.int64()).to_pylist()
        if times == [snapshot.loaded_at]:
            own.append(listed[fragment.path])
    return own
