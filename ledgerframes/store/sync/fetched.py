"""`Fetched`: what a fetcher has read of a shard; `HistorySync` and `Finality` take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.new_files import NewFile


class Opening(NamedTuple):
    """A page before which something may be missing that its server has pruned, as no page before it had shown all.

    Attributes:
        server: who sent it.
        migration_id: of the shard.
        lo: what is to be known begins after this record time.
        first: the record time of its first item in the migration; None where it has none.
    """

    server: str
    migration_id: int
    lo: int
    first: int | None


@dataclass(frozen=True)
class Fetched:
    """The rows of one or more pages of a shard, and how far the shard is read with them.

    Attributes:
        key: which shard.
        read: the interval of the shard that is read, these pages included.
        settled: up to this record time what was read is final.
        span: the interval that these pages cover.
        batches: the rows, by table; empty if none count.
        following: the first cursor of a later migration that was seen.
        server: who sent them, or the last of them.
        breaks: how often that server had shown less than before when they were asked for.
        ended: whether the shard is finished.
        exhausted: whether the server had nothing more in this migration.
        files: rows that a worker has stored, by table.
        senders: everybody who sent them, where there may be several.
        openings: those of the pages before which something may have been pruned.
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
    senders: tuple[str, ...] = ()
    openings: tuple[Opening, ...] = ()

    @property
    def has_rows(self) -> bool:
        """Whether there are any rows."""
        return bool(self.batches or self.files)
