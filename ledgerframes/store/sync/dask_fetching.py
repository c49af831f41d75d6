"""`ClusterFetcher` reads intervals of the history on the workers of a Dask cluster; `Store.sync(engine=)` uses it.

Workers fetch and decode, and return Arrow; a segment of objects is read by one worker, which stores its rows as files
and returns their names. The calling process commits, so that nothing is stored twice when a worker dies and its shard
is read again. The request budget of the settings is shared out among the workers.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count, pairwise
from typing import Any, Final

import pyarrow as pa

from ledgerframes.config.settings import Settings
from ledgerframes.errors import ConfigurationError
from ledgerframes.objects.page_source import ObjectIndex
from ledgerframes.objects.segments import Segment
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.new_files import Place
from ledgerframes.store.engines import worker_count
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.sync.driving import ThreadDrive
from ledgerframes.store.sync.fetched import Fetched
from ledgerframes.store.sync.probing import Prober
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.sync.shards import even_cuts, find_top
from ledgerframes.store.sync.worker_shard import ShardResult, ShardTask, read_shard
from ledgerframes.store.table_sets import HISTORY, TableSet

_log = logging.getLogger("ledgerframes.store")
# The second task waits at the worker, so that it does not idle while a result travels.
_TASKS_PER_WORKER: Final = 2
# The scheduler keeps the arguments of tasks, and often shows them on its dashboard.
_TOKENLESS: Final = frozenset({"scan_token", "validator_token", "registry_token", "ledger_token"})


def plain_settings(settings: Settings, *, workers: int, worker_token: str | None) -> dict[str, Any]:
    """Settings without tokens, each worker with its share of the request budget.

    Raises:
        ConfigurationError: the scan has a token, and `worker_token` is missing.
    """
    if settings.token("scan") is not None and worker_token is None:
        raise ConfigurationError(
            "a token is not sent to the workers of a cluster; give worker_token= with where they find it:"
            " env:NAME, file:PATH or command:WORDS"
        )
    kept = {option.name: getattr(settings, option.name) for option in fields(settings) if option.name not in _TOKENLESS}
    # Workers only read scan's history.
    for name in ("validator_url", "registry_url", "ledger_url"):
        kept[name] = ()
    # Each task would ask for the list of scans anew.
    kept["failover"] = "given"
    # The operator counts requests of all workers together, often by client address.
    kept["rate"] = settings.rate / workers
    kept["burst"] = max(1, settings.burst // workers)
    kept["parallel"] = max(1, settings.parallel // workers)
    return kept


@dataclass
class ClusterFetcher:
    """A `Fetcher` whose workers are those of a Dask cluster.

    Attributes:
        request: what the sync is asked to do; its `engine` is the cluster's client.
        settings: what the workers connect with.
        prober: finds out how far servers have got, from this process.
        of: the tables to fill.
        objects: the objects to read where there are some; the rows are then stored by the workers.
        places: where they store them.
        left: what could not be read for now, in words.
        seconds: not measured: the work is done elsewhere.
        cpu_seconds: likewise.
    """

    request: SyncRequest
    settings: dict[str, Any]
    prober: Prober
    of: TableSet = HISTORY
    objects: ObjectIndex | None = None
    places: tuple[Place, ...] = ()
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    _keys: Any = field(default_factory=count)

    def read(self, intervals: Sequence[Interval]) -> Generator[Fetched]:
        """Read all intervals; results of one shard come in order, shards mixed.

        Raises:
            LedgerframesError: what a worker met.
        """
        from distributed import as_completed

        workers = worker_count(self.request.engine)
        waiting = deque(
            _Rest(next(self._keys), shard, shard.lo, shard.lo, segment)
            for interval in intervals
            for shard, segment in self._shards(interval, workers)
        )
        running: dict[Any, _Rest] = {}
        done: Any = as_completed()  # type: ignore[no-untyped-call]
        try:
            while True:
                for _ in range(min(len(waiting), _TASKS_PER_WORKER * workers - len(running))):
                    self._submit(done, running, waiting.popleft())
                if not running:
                    return
                future = next(done)
                rest = running.pop(future)
                result: ShardResult = future.result()
                self.left += result.left
                if result.failed:
                    _log.warning("a worker could not read the objects of %s, and read pages instead", rest.interval)
                fetched = _fetched(rest, result)
                yield fetched
                if not result.ended:
                    interval = rest.interval._replace(lo=max(result.read_to, rest.interval.lo))
                    self._submit(done, running, replace(rest, interval=interval, settled=fetched.settled))
        finally:
            # Otherwise tasks of a sync that has failed would still be asking servers.
            self.request.engine.cancel(list(running))

    def _submit(self, done: Any, running: dict[Any, _Rest], rest: _Rest) -> None:
        proofs, request = self.prober.proofs, self.request
        task = ShardTask(
            # A worker has not looked at the servers: those that the sync has left out may be of another network.
            self.settings | {"scan_url": self.prober.source.servers},
            request.worker_token,
            rest.interval,
            request.page_size,
            proofs.now(),
            proofs.overlap,
            proofs.replicas,
            self.of.pages.endpoint,
            self.places,
            rest.segment,
        )
        # `pure=False`, or Dask would give the result of an earlier task with the same arguments.
        future = request.engine.submit(read_shard, task, pure=False)
        running[future] = rest
        done.add(future)

    def _shards(self, interval: Interval, workers: int) -> list[tuple[Interval, tuple[int, int] | None]]:
        """An interval, cut for the workers after probing where its items begin and end.

        Segments of objects are cut out whole; what has none is cut evenly.
        """
        probe = self.prober.time_after
        first = probe(interval.migration_id, interval.lo)
        if first is None or first >= interval.hi:
            return [(interval, None)]
        top = find_top(interval._replace(lo=first), probe, workers=4, each=ThreadDrive().each, scale=1_000_000)
        segments = [one for one in self._segments() if one.up_to > first and one.after < top]
        shards: list[tuple[Interval, tuple[int, int] | None]] = []
        lo = interval.lo
        for segment in segments:
            if segment.after > lo and segment is not segments[0]:
                shards.append((interval._replace(lo=lo, hi=segment.after), None))  # between two segments
            begin = lo if segment is segments[0] else max(lo, segment.after)
            hi = min(segment.up_to, interval.hi)
            if begin < hi:
                shards.append((interval._replace(lo=begin, hi=hi), (segment.after, segment.up_to)))
            lo = max(lo, hi)
        cuts = even_cuts(max(first, lo), top, _TASKS_PER_WORKER * workers) if top > max(first, lo) else []
        bounds = pairwise([lo, *cuts, interval.hi])
        return [*shards, *((interval._replace(lo=low, hi=high), None) for low, high in bounds if low < high)]

    def _segments(self) -> Sequence[Segment]:
        """The segments of objects that do not overlap, in order."""
        apart: list[Segment] = []
        for segment in () if self.objects is None else self.objects.segments:
            if not apart or segment.after >= apart[-1].up_to:
                apart.append(segment)
        return apart


def cluster_fetcher(
    request: SyncRequest,
    settings: Settings,
    prober: Prober,
    history: HistoryTables,
    objects: ObjectIndex | None = None,
) -> ClusterFetcher:
    """A fetcher for the cluster of a request.

    Raises:
        ConfigurationError: the scan has a token, and `worker_token` is missing.
    """
    workers = worker_count(request.engine)
    plain = plain_settings(settings, workers=workers, worker_token=request.worker_token)
    places = () if objects is None else tuple(history.places.values())
    return ClusterFetcher(request, plain, prober, history.of, objects, places)


@dataclass(frozen=True)
class _Rest:
    """What is left of a shard: where the shard begins, and up to where what was read of it is final."""

    key: int
    interval: Interval
    lo: int
    settled: int
    segment: tuple[int, int] | None = None


def _fetched(rest: _Rest, result: ShardResult) -> Fetched:
    # Settled means without a break: what follows a part that is not final is not settled either.
    joins = rest.settled >= rest.interval.lo
    return Fetched(
        key=rest.key, read=rest.interval._replace(lo=rest.lo, hi=result.read_to),
        settled=result.settled if joins else rest.settled, span=rest.interval._replace(hi=result.read_to),
        batches={name: _unpacked(own) for name, own in result.batches.items()},
        following=result.following, server=result.server, ended=result.ended, exhausted=result.exhausted,
        files=result.files, senders=result.senders, openings=result.openings,
    )  # fmt: skip


def _unpacked(packed: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(packed) as reader:
        return pa.concat_batches(list(reader))
