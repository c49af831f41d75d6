"""`Fetched`: rows of a history and the progress of their shard, from a sync's workers to its commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval
from ledgerframes.store.coverage_document import Begin
from ledgerframes.store.delta.data_files import NewFile


class Opening(NamedTuple):
    """A page before which its server may have pruned items, as no earlier page had shown everything.

    Attributes:
        server: its sender.
        migration_id: of the shard.
        lo: items after this record time are to be known.
        first: the record time of its first item in the migration; None if it has none.
    """

    server: str
    migration_id: int
    lo: int
    first: int | None


@dataclass(frozen=True)
class Fetched:
    """The rows of a page of a shard, and the progress of the shard including it.

    Attributes:
        key: the shard.
        read: the interval of the shard read so far, including this page.
        settled: the record time up to which it is final, without a gap from `lo`.
        span: the interval that the page covers.
        batches: the rows, by table; empty if none count.
        following: the first cursor of a later migration, if seen.
        server: the sender of the page.
        broken: whether that server had shown less than before when the page was requested.
        exhausted: whether the server had nothing more in this migration.
        files: rows in files stored by a worker but not committed yet, by table; no table and no page has any of them.
        opening: the place before which items may have been pruned, if the page overlaps none before it.
        begins: where the servers' history begins, if the interval begins there.
    """

    key: int
    read: Interval
    settled: int
    span: Interval
    batches: Mapping[str, pa.RecordBatch] = field(default_factory=dict)
    following: Cursor | None = None
    server: str = ""
    broken: bool = False
    exhausted: bool = False
    files: Mapping[str, Sequence[NewFile]] = field(default_factory=dict)
    opening: Opening | None = None
    begins: Begin | None = None

    @property
    def has_rows(self) -> bool:
        """Whether there are any rows."""
        return bool(self.batches or self.files)

    @property
    def bytes(self) -> int:
        """The memory that the rows take, plus the size of the files."""
        stored = sum(file.size for files in self.files.values() for file in files)
        decoded: int = sum(batch.nbytes for batch in self.batches.values())
        return stored + decoded
