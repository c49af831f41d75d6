"""`read_segment` reads a segment of objects on a worker of a Dask cluster; `ClusterReader` hands segments out.

A worker writes the rows as files of the store, so that they need not be transferred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from ledgerframes.config.settings import Settings
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY
from ledgerframes.errors import DecodeError, PagingError, RequestError, StoreError
from ledgerframes.interfaces.history import HistorySession
from ledgerframes.network import Network
from ledgerframes.objects.history import ObjectHistory
from ledgerframes.paging.cursor import Cursor
from ledgerframes.stopping import Stop
from ledgerframes.store.coverage import Interval, window_of
from ledgerframes.store.delta.data_files import NewFile
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.lake import Lake
from ledgerframes.store.sync.from_objects import objects_of

#: Bytes of rows in memory that trigger writing.
_BYTES: Final = 64_000_000


@dataclass(frozen=True)
class SegmentTask:
    """The message to a worker: plain values, without tokens.

    Attributes:
        settings: the connection settings.
        segment: the record times, (after, up_to], of its objects. The worker lists them itself, as their URLs may be
            short-lived and may contain a signature.
        interval: the part of it to read.
        settle: how long before its end a segment may lack updates, in microseconds.
        lake: the folder or URL of the store that takes the rows.
    """

    settings: dict[str, Any]
    segment: tuple[int, int]
    interval: Interval
    settle: int
    lake: str


@dataclass(frozen=True)
class SegmentRows:
    """The answer of a worker.

    Attributes:
        files: the stored rows, by table.
        first: the record time of the first update.
        last: that of the last one; nothing is known of what follows, as a segment may lack all of a migration that
            overlaps another one.
        following: the first cursor of a later migration, if seen.
        failed: why the objects could not be read; then nothing is stored.
    """

    files: dict[str, list[NewFile]] = field(default_factory=dict)
    first: int | None = None
    last: int | None = None
    following: Cursor | None = None
    failed: str = ""


def read_segment(task: SegmentTask) -> SegmentRows:
    """Fetch, decode and store the rows of a segment.

    Raises:
        StoreError: the worker does not see the store, or the storage refused.
    """
    lake = Lake(task.lake)
    files = RowFiles([lake.table(name).refresh() for name in UPDATE_HISTORY.tables])
    if not all(table.exists for table in files.tables):
        raise StoreError(
            f"{task.lake!r} does not exist on a worker: workers write into the store, so they need its folder under the"
            " same path. Share it, or leave engine= or source= out"
        )
    try:
        return _read(task, files)
    except (RequestError, DecodeError, PagingError) as error:
        files.remove()
        return SegmentRows(failed=str(error))
    except BaseException:
        files.remove()
        raise


def _read(task: SegmentTask, files: RowFiles) -> SegmentRows:
    first: int | None = None
    last: int | None = None
    later: list[Cursor] = []
    with (
        Network(Settings(**task.settings)) as net,
        objects_of(net.scan, task.settle, Stop(), required=True, listed=task.segment) as index,
    ):
        segment = next((one for one in index.segments if (one.after, one.up_to) == task.segment), None)
        if segment is None:
            return SegmentRows(failed="it is not listed any more")
        objects = ObjectHistory(index.source.place, segment, index.readers)
        session, more = HistorySession(objects, objects.reader(window_of(task.interval))), True
        while more:
            page, more = session.step()
            cursors = page.page.page_index.cursors
            if page.rows:
                first, last = cursors[page.rows[0]].micros if first is None else first, cursors[page.rows[-1]].micros
                files.add(UPDATE_HISTORY.decode_pages([(page.page.content, page.rows)]).batches)
            later += [cursor for cursor in cursors if cursor.migration_id > task.interval.migration_id][:1]
    files.store()
    return SegmentRows(files.files, first, last, min(later, default=None))


@dataclass
class RowFiles:
    """The rows of one task, as they are written to files; used by one thread.

    Attributes:
        tables: they exist.
        files: the stored files, by table.
    """

    tables: Sequence[DeltaStoreTable]
    files: dict[str, list[NewFile]] = field(default_factory=dict)
    _waiting: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)
    _bytes: int = 0

    def add(self, batches: Mapping[str, pa.RecordBatch]) -> None:
        """Add rows, and store the collected ones if there are enough.

        Raises:
            StoreError: the storage refused.
        """
        for name, batch in batches.items():
            if batch.num_rows:
                self._waiting.setdefault(name, []).append(batch)
                self._bytes += batch.nbytes
        if self._bytes >= _BYTES:
            self.store()

    def store(self) -> None:
        """Store the collected rows.

        Raises:
            StoreError: the storage refused.
        """
        waiting, self._waiting, self._bytes = self._waiting, {}, 0
        for table in self.tables:
            if table.name in waiting:
                self.files.setdefault(table.name, []).extend(table.store(waiting[table.name]))

    def remove(self) -> None:
        """Remove the stored files: the task failed."""
        for table in self.tables:
            table.remove(self.files.pop(table.name, []))
