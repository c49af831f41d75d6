"""`Fetched`: the rows that a fetcher has read of a shard; `HistorySync` and `Finality` use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.new_files import NewFile


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
    """The rows of one or more pages of a shard, and the progress of the shard including them.

    Attributes:
        key: the shard.
        read: the interval of the shard read so far, including these pages.
        settled: the record time up to which it is final.
        span: the interval that these pages cover.
        batches: the rows, by table; empty if none count.
        following: the first cursor of a later migration, if seen.
        server: the sender of the pages, or of the last one.
        breaks: how often that server had shown less than before when the pages were requested.
        ended: whether the shard is finished.
        exhausted: whether the server had nothing more in this migration.
        files: rows in files stored by a worker, by table.
        openings: the pages before which items may have been pruned.
    """

    key: int
    read: Interval
    settled: int
    span: Interval
    batches: Mapping[str, pa.RecordBatch] = field(default_factory=dict)
    following: Cursor | None = None
    server: str = ""
    breaks: int = 0
    ended: bool = False
    exhausted: bool = False
    files: Mapping[str, Sequence[NewFile]] = field(default_factory=dict)
    openings: tuple[Opening, ...] = ()

    @property
    def has_rows(self) -> bool:
        """Whether there are any rows."""
        return bool(self.batches or self.files)
