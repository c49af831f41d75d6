"""`StoredSnapshot`: how much of a snapshot of active contracts is stored; syncs, reads and checks use it.

A snapshot of millions of contracts takes many commits. Each adds rows and names a coverage document that records the
number of rows so far and the next page. So a killed sync resumes there, and readers can tell complete snapshots from
partial ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final

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
        loaded_at: microseconds; identifies its rows among those of other snapshots.
        rows: the number of rows stored.
        state: whether these are all.
    """

    cursor: Cursor
    loaded_at: int
    rows: int = 0
    state: State = State.READING

    @property
    def own_rows(self) -> pc.Expression:
        """Its rows among all rows of the table."""
        return pc.field("loaded_at") == pa.scalar(self.loaded_at, _TIME)


def unfinished(snapshots: Sequence[StoredSnapshot]) -> StoredSnapshot | None:
    """The snapshot that a sync has begun but not finished; only the newest can be one."""
    return next((snapshot for snapshot in snapshots if snapshot.state is State.READING), None)


def rows_of_whole(snapshots: Sequence[StoredSnapshot]) -> pc.Expression | None:
    """The rows of complete snapshots; None if all are complete."""
    whole = [snapshot.loaded_at for snapshot in snapshots if snapshot.state is State.WHOLE]
    return None if len(whole) == len(snapshots) else pc.field("loaded_at").isin(pa.array(whole, _TIME))


def as_they_are(snapshots: Sequence[StoredSnapshot], table: DeltaStoreTable) -> tuple[StoredSnapshot, ...]:
    """The same snapshots, those that lack rows marked as damaged."""
    data = table.dataset()
    return tuple(
        one if data.count_rows(filter=one.own_rows) == one.rows else replace(one, state=State.DAMAGED)
        for one in snapshots
    )


def files_of(table: DeltaStoreTable, snapshot: StoredSnapshot) -> list[StoredFile]:
    """The files that contain rows of this snapshot only."""
    listed, own = table.files.listed, []
    for fragment in table.dataset().get_fragments() if listed else ():
        times = pc.unique(fragment.to_table(columns=["loaded_at"])["loaded_at"]).cast(pa.int64()).to_pylist()
        if times == [snapshot.loaded_at]:
            own.append(listed[fragment.path])
    return own
