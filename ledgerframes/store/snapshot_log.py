"""How much of each snapshot of active contracts is stored, as numbers in a log; syncs, reads and checks use it.

A snapshot of millions of contracts takes many commits. Each commit adds rows and says, in the same entry of the log,
how many there are by now and which page follows. So a sync that was killed resumes there, and readers tell whole
snapshots from others. Numbers of the snapshot n have the names `snapshot/n/…`, with n from 0 without gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.interfaces.scan_snapshots import Route
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.tokens import Token
from ledgerframes.store.delta.stored_files import StoredFile
from ledgerframes.store.delta.table import DeltaStoreTable

if TYPE_CHECKING:
    import pyarrow.dataset as ds

_TIME: Final = pa.timestamp("us", "UTC")
# A number of the log is a signed 64-bit integer, so seven bytes of a text always fit one.
_BYTES: Final = 7
#: Route and token of the page that follows; a bare token, as earlier versions kept it, lacks its route.
_following: Final = msgspec.json.Decoder(tuple[Route, Token] | Token | None)


class State(IntEnum):
    """How much of a snapshot is stored."""

    READING = 0
    WHOLE = 1
    REMOVED = 2
    DAMAGED = 3


@dataclass(frozen=True)
class StoredSnapshot:
    """One snapshot in the log.

    Attributes:
        number: n.
        cursor: its migration id and record time.
        loaded_at: microseconds; what tells its rows from those of other snapshots.
        rows: how many rows were stored.
        state: whether these are all.
    """

    number: int
    cursor: Cursor
    loaded_at: int
    rows: int = 0
    state: State = State.READING

    @property
    def numbers(self) -> dict[str, int]:
        """What the log keeps of it."""
        return {
            f"snapshot/{self.number}/migration": self.cursor.migration_id,
            f"snapshot/{self.number}/record_time": self.cursor.micros,
            f"snapshot/{self.number}/loaded_at": self.loaded_at,
            f"snapshot/{self.number}/rows": self.rows,
            f"snapshot/{self.number}/state": int(self.state),
        }

    @property
    def own_rows(self) -> pc.Expression:
        """Its rows among all of the table."""
        return pc.field("loaded_at") == pa.scalar(self.loaded_at, _TIME)


def stored_snapshots(table: DeltaStoreTable) -> list[StoredSnapshot]:
    """All snapshots that the log names, the oldest first."""
    snapshots: list[StoredSnapshot] = []
    while True:
        number = len(snapshots)
        values = [
            table.number(f"snapshot/{number}/{name}")
            for name in ("migration", "record_time", "loaded_at", "rows", "state")
        ]
        migration_id, micros, loaded_at, rows, state = values
        if migration_id is None or micros is None or loaded_at is None or rows is None or state is None:
            return snapshots
        snapshots.append(StoredSnapshot(number, Cursor(migration_id, micros), loaded_at, rows, State(state)))


def unfinished(table: DeltaStoreTable) -> StoredSnapshot | None:
    """The snapshot that a sync has begun and not ended; at most the newest is one."""
    return next((snapshot for snapshot in stored_snapshots(table) if snapshot.state is State.READING), None)


def rows_of_whole(snapshots: Sequence[StoredSnapshot]) -> pc.Expression | None:
    """The rows of whole snapshots; None where all rows are such."""
    if all(snapshot.state in {State.WHOLE, State.REMOVED} for snapshot in snapshots):
        return None
    whole = [snapshot.loaded_at for snapshot in snapshots if snapshot.state is State.WHOLE]
    return pc.field("loaded_at").isin(pa.array(whole, _TIME))


def count_rows(data: ds.Dataset, snapshots: Sequence[StoredSnapshot]) -> dict[int, int]:
    """How many rows each snapshot has among some rows, by its number."""
    return {snapshot.number: data.count_rows(filter=snapshot.own_rows) for snapshot in snapshots}


def lacking_without(table: DeltaStoreTable, files: Iterable[StoredFile]) -> dict[str, int]:
    """The numbers that say which snapshots lack rows once some files are taken out."""
    paths = {file.path for file in files}
    left = [fragment for fragment in table.dataset().get_fragments() if fragment.path not in paths]
    numbers: dict[str, int] = {}
    for snapshot in stored_snapshots(table):
        rows = sum(fragment.count_rows(filter=snapshot.own_rows) for fragment in left)
        if rows != snapshot.rows and snapshot.state in {State.READING, State.WHOLE}:
            numbers |= replace(snapshot, state=State.DAMAGED).numbers
    return numbers


def following_numbers(following: tuple[Route, Token] | None) -> dict[str, int]:
    """Route and token of the page that follows, as numbers; a token can be any text."""
    text = msgspec.json.encode(following)
    parts = [text[start : start + _BYTES] for start in range(0, len(text), _BYTES)]
    return {
        "following/bytes": len(text),
        **{f"following/{number}": int.from_bytes(part) for number, part in enumerate(parts)},
    }


def following_page(table: DeltaStoreTable) -> tuple[Route, Token] | None:
    """Route and token of the page that follows what is stored of the unfinished snapshot; None where it is unknown."""
    size = table.number("following/bytes") or 0
    lengths = [min(_BYTES, size - start) for start in range(0, size, _BYTES)]
    numbers = [table.number(f"following/{number}") for number in range(len(lengths))]
    if not size or any(number is None for number in numbers):
        return None
    parts = [(number or 0).to_bytes(length) for number, length in zip(numbers, lengths, strict=True)]
    following = _following.decode(b"".join(parts))
    return following if isinstance(following, tuple) else None


def files_of(table: DeltaStoreTable, snapshot: StoredSnapshot) -> list[Any]:
    """The files that hold rows of a snapshot and of no other."""
    listed: Mapping[str, Any] = {} if table.files is None else table.files.listed
    own = []
    for fragment in table.dataset().get_fragments() if listed else ():
        times = pc.unique(fragment.to_table(columns=["loaded_at"])["loaded_at"]).cast(pa.int64()).to_pylist()
        if times == [snapshot.loaded_at]:
            own.append(listed[fragment.path])
    return own
