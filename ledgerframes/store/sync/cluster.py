"""`ClusterReader` reads segments of objects on the workers of a Dask cluster; `Store.sync(engine=)` uses it.

A worker reads a segment, stores its rows as files and returns their names. The calling process commits, so nothing is
stored twice when a worker dies and its segment is read again. This process reads by pages whatever objects lack: a
scan limits requests per client, so more machines would not be faster.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import count
from typing import Any, Final

import pyarrow as pa

from ledgerframes.config.settings import Settings
from ledgerframes.errors import ConfigurationError, DecodeError, PagingError, RequestError, StoreError
from ledgerframes.interfaces.history import HistorySession
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY
from ledgerframes.network import Network
from ledgerframes.objects.history import ObjectHistory
from ledgerframes.objects.names import Segment, complete_segments
from ledgerframes.objects.page_source import ObjectPages
from ledgerframes.objects.readers import Readers
from ledgerframes.objects.sources import scan_objects
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import BEGINNING, Interval, beyond, window_of
from ledgerframes.store.delta.data_files import NewFile
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.history_tables import Fetched, HistoryTables, Opening
from ledgerframes.store.lake import Lake
from ledgerframes.store.sync.fetching import Prober

_log = logging.getLogger("ledgerframes.store")
# The second task waits at the worker, so that it does not idle while a result travels.
_TASKS_PER_WORKER: Final = 2
# The scheduler keeps the arguments of tasks, and often shows them on its dashboard.
_NOT_SENT: Final = frozenset({"scan_token", "validator_token", "registry_token", "ledger_token"})
#: Bytes of rows in memory that trigger writing on a worker.
_BYTES: Final = 64_000_000


@dataclass
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


def read_segment(settings: dict[str, Any], times: tuple[int, int], interval: Interval, lake: str) -> SegmentRows:
    """Fetch, decode and store the rows of a segment; the message to a worker has plain values, without tokens.

    Args:
        settings: the connection settings.
        times: the record times, (after, up_to], of the segment's objects. The worker lists them itself, as their URLs
            may be short-lived and may contain a signature.
        interval: the part of it to read.
        lake: the folder or URL of the store that takes the rows.

    Raises:
        StoreError: the worker does not see the store, or the storage refused.
    """
    tables = [Lake(lake).table(name).refresh() for name in UPDATE_HISTORY.tables]
    if not all(table.exists for table in tables):
        raise StoreError(
            f"{lake!r} does not exist on a worker: workers write into the store, so they need its folder under the"
            " same path. Share it, or leave engine= or source= out"
        )
    rows = SegmentRows({table.name: [] for table in tables})
    try:
        with Network(Settings(**settings)) as net, scan_objects(net.scan) as source:
            listed = complete_segments(source.updates(*times) or ())
            segment = next((one for one in listed if (one.after, one.up_to) == times), None)
            if segment is None:
                return SegmentRows(failed="it is not listed any more")
            _read(ObjectHistory(source, Readers(source, segment.objects)), interval, tables, rows)
    except BaseException as error:
        for table in tables:
            table.remove(rows.files[table.name])
        if isinstance(error, (RequestError, DecodeError, PagingError)):
            return SegmentRows(failed=str(error))
        raise
    return rows


def _read(objects: ObjectHistory, interval: Interval, tables: Sequence[DeltaStoreTable], rows: SegmentRows) -> None:
    """Store the rows of an interval, a part of them at a time."""
    session, more = HistorySession(objects, objects.reader(window_of(interval))), True
    waiting: dict[str, list[pa.RecordBatch]] = {table.name: [] for table in tables}
    later: list[Cursor] = []
    while more:
        page, more = session.step()
        cursors = page.page.page_index.cursors
        if page.rows:
            rows.first = cursors[page.rows[0]].micros if rows.first is None else rows.first
            rows.last = cursors[page.rows[-1]].micros
            for name, batch in UPDATE_HISTORY.decode_pages([(page.page, page.rows)]).items():
                waiting[name].append(batch)
        later += [cursor for cursor in cursors if cursor.migration_id > interval.migration_id][:1]
        if not more or sum(batch.nbytes for batches in waiting.values() for batch in batches) >= _BYTES:
            for table in tables:
                rows.files[table.name] += table.store(waiting[table.name])
                waiting[table.name] = []
    rows.following = min(later, default=None)


def plain_settings(settings: Settings, *, workers: int) -> dict[str, Any]:
    """Settings without tokens; each worker gets its share of the request budget.

    Raises:
        ConfigurationError: the scan has a token, which is not sent to workers.
    """
    if settings.token("scan") is not None:
        raise ConfigurationError(
            "engine=: the scan has a token, which is not sent to the workers of a cluster; leave engine= out, or name a"
            " scan that asks for none"
        )
    sent = {option.name: getattr(settings, option.name) for option in fields(settings) if option.name not in _NOT_SENT}
    for name in ("validator_url", "registry_url", "ledger_url"):
        sent[name] = ()
    # Otherwise each task would ask for the list of scans.
    sent["failover"] = "given"
    # The operator counts the requests of all workers together, often by client address.
    sent["rate"] = settings.rate / workers
    sent["burst"] = max(1, settings.burst // workers)
    sent["parallel"] = max(1, settings.parallel // workers)
    return sent


@dataclass
class ClusterReader:
    """Lets the workers of a cluster read segments of objects; the `Fetcher` that calls it reads what they lack.

    Attributes:
        engine: the cluster's client.
        settings: the workers' connection settings.
        prober: finds out where a migration begins and ends.
        objects: the objects to read.
        lake: where workers find the store.
        history: the tables; workers read only what none of them has, so that their files can be added unread.
    """

    engine: Any
    settings: dict[str, Any]
    prober: Prober
    objects: ObjectPages
    lake: str
    history: HistoryTables
    _keys: Iterator[int] = field(default_factory=lambda: count(-1, -1))  # those of pages count upwards

    def read(self, intervals: Sequence[Interval]) -> Generator[Fetched]:
        """The rows of all segments within some intervals.

        Raises:
            LedgerframesError: an error of a worker.
        """
        unstored = beyond(intervals, self.history.coverage.common)
        parts = [part for interval in unstored for part in self._parts(interval)]
        broken = not self.prober.proofs.proves_ahead(self.objects.lister)
        for interval, rows in self._worked(parts):
            if rows.failed:
                _log.warning(
                    "a worker could not read the objects of %s: %s Pages are read instead.", interval, rows.failed
                )
            if rows.last is not None:
                read = interval._replace(hi=rows.last)
                opening = Opening(self.objects.name, read.migration_id, read.lo, rows.first)
                yield Fetched(
                    next(self._keys), read, read.hi, read, following=rows.following, server=self.objects.lister,
                    broken=broken, files=rows.files, opening=opening,
                )  # fmt: skip

    def _worked(self, parts: Sequence[tuple[Interval, Segment]]) -> Generator[tuple[Interval, SegmentRows]]:
        """The results of the workers by interval, in any order."""
        from distributed import as_completed

        workers = worker_count(self.engine)
        waiting, running = deque(parts), dict[Any, Interval]()
        done: Any = as_completed()  # type: ignore[no-untyped-call]
        settings = self.settings | {"scan_url": (self.objects.lister,)}
        try:
            while waiting or running:
                for _ in range(min(len(waiting), _TASKS_PER_WORKER * workers - len(running))):
                    interval, segment = waiting.popleft()
                    times = (segment.after, segment.up_to)
                    # Without `pure=False`, Dask would return the result of an earlier task with the same arguments.
                    future = self.engine.submit(read_segment, settings, times, interval, self.lake, pure=False)
                    running[future] = interval
                    done.add(future)
                future = next(done)
                yield running.pop(future), future.result()
        finally:
            # Otherwise tasks of a failed sync would continue to download.
            self.engine.cancel(list(running))

    def _parts(self, interval: Interval) -> list[tuple[Interval, Segment]]:
        """The parts of an interval in its segments, each without its last `settle`, which may be incomplete."""
        segments = self.objects.index.segments
        if not self.objects.known or not segments:
            return []
        shown, own = self.prober.servers.first_after(interval.after), self._first_of(interval)
        shown = None if shown is None or shown.migration_id > interval.migration_id else shown
        first = min((at for at in (shown and shown.micros, own) if at is not None), default=None)
        if first is None or first >= interval.hi:
            return []
        top = self.prober.end_of(interval._replace(lo=first))
        parts: list[tuple[Interval, Segment]] = []
        low = interval.lo
        for segment in segments:
            begins = segment.after
            if own is not None and interval.lo <= BEGINNING and segment is segments[0]:
                begins = interval.lo  # there are no earlier ones
            lo, hi = max(low, begins), min(interval.hi, segment.up_to - self.objects.index.settle - 1)
            # Pages decide where a later migration begins, as its first items may appear late.
            unsure = interval.lo <= BEGINNING and lo <= first and begins != interval.lo
            if segment.up_to <= first or segment.after >= top or unsure:
                continue
            if segment.is_worth(hi - max(lo, segment.after)):
                parts.append((interval._replace(lo=lo, hi=hi), segment))
                low = hi
        return parts

    def _first_of(self, interval: Interval) -> int | None:
        """The record time of the first item of all objects, if it lies in the interval."""
        page = self.objects.first(1)
        cursor = page.page_index.cursors[0] if page is not None else None
        inside = cursor is not None and cursor.migration_id == interval.migration_id and cursor.micros > interval.lo
        return cursor.micros if cursor is not None and inside else None


def worker_count(engine: Any) -> int:
    """The number of workers of a cluster, at least 1."""
    return max(len(engine.scheduler_info(n_workers=-1)["workers"]), 1)
