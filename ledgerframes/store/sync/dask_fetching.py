"""`ClusterFetcher` reads intervals of the history on the workers of a Dask cluster; `Store.sync(engine=)` uses it.

Workers fetch and decode, and return Arrow. The calling process commits, so that nothing is stored twice when a worker
dies and its shard is read again. The request budget of the settings is shared out among the workers.
"""

from __future__ import annotations

import os
import shlex
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, fields
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.config.settings import Settings
from ledgerframes.config.token_sources import CommandToken
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY
from ledgerframes.errors import ConfigurationError
from ledgerframes.network import Network
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import Proof, Proofs
from ledgerframes.store.coverage import Interval
from ledgerframes.store.engines import worker_count
from ledgerframes.store.sync.driving import OneByOne, ThreadDrive
from ledgerframes.store.sync.fetched import Fetched
from ledgerframes.store.sync.fetching import LocalFetcher
from ledgerframes.store.sync.gathering import Gathering
from ledgerframes.store.sync.history_sync import PageDecoder
from ledgerframes.store.sync.probing import Prober
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.store.sync.shards import even_cuts, find_top
from ledgerframes.store.table_sets import HISTORY, SETS, TableSet
from ledgerframes.transport.stopping import Stop

# Rows of a task are in memory on both sides; a page of 1,000 updates is about 9 MB of JSON.
_PAGES_PER_TASK: Final = 20
# The second task waits at the worker, so that it does not idle while a result travels.
_TASKS_PER_WORKER: Final = 2
# The scheduler keeps the arguments of tasks, and often shows them on its dashboard.
_TOKENLESS: Final = frozenset({"scan_token", "validator_token", "registry_token", "ledger_token"})


@dataclass(frozen=True)
class ShardTask:
    """What a worker is sent: plain values, no token among them.

    Attributes:
        settings: what to connect with.
        worker_token: where the worker finds the scan's token: `env:NAME`, `file:PATH` or `command:WORDS`.
        interval: what to read, 20 pages of it at most.
        page_size: items a request asks for.
        proof: what the servers had shown before the task was handed out.
        overlap: as in `Proofs`.
        replicas: as in `Proofs`.
        history: the endpoint of the history to read.
    """

    settings: dict[str, Any]
    worker_token: str | None
    interval: Interval
    page_size: int
    proof: Proof
    overlap: int
    replicas: bool
    history: str = UPDATE_HISTORY.endpoint


@dataclass(frozen=True)
class ShardResult:
    """What a worker returns.

    Attributes:
        batches: rows by table, as Arrow's IPC bytes.
        read_to: everything up to this record time is read.
        settled: up to this record time it is final.
        ended: whether the task's interval is finished.
        exhausted: as in `Fetched`.
        following: as in `Fetched`.
        server: who answered last.
        left: what could not be read for now, in words.
    """

    batches: dict[str, bytes]
    read_to: int
    settled: int
    ended: bool
    exhausted: bool
    following: Cursor | None
    server: str
    left: tuple[str, ...] = ()


def read_shard(task: ShardTask) -> ShardResult:
    """Fetch and decode up to 20 pages; runs on a worker."""
    pages = next(of.pages for of in SETS if of.pages.endpoint == task.history)
    batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in pages.tables}
    seen: dict[str, set[str]] = {name: set() for name in pages.tables}
    following: list[Cursor] = []
    server, read, ended, exhausted = "", 0, False, False
    settings = Settings(**task.settings, scan_token=worker_secret(task.worker_token))
    proofs = Proofs(task.proof.settle, task.overlap, replicas=task.replicas)
    # The worker starts with what was proven before the task was handed out, so it need not probe again.
    for name, newest in task.proof.newest.items():
        proofs.saw(name, [Cursor(task.interval.migration_id, newest)])
    with Network(settings) as net:
        stop = Stop()
        servers = AgreedServers(net.scan.pages(pages)).stoppable(stop)
        prober = Prober(servers, proofs, 0, task.interval.migration_id)
        # Each page by itself, since a task ends after a number of pages.
        gathering = Gathering(PageDecoder(pages), most=0)
        fetcher = LocalFetcher(servers, prober, gathering, 1, task.page_size, OneByOne(), stop.set)
        for fetched in fetcher.read([task.interval]):
            read_to, settled = fetched.read.hi, fetched.settled
            server, ended, exhausted = fetched.server or server, fetched.ended, exhausted or fetched.exhausted
            following += [] if fetched.following is None else [fetched.following]
            read += 1
            # The unsettled end is read again, and one result must not hold an update twice.
            for name, batch in fetched.batches.items():
                batches[name].append(_unseen(batch, seen[name]))
            if read == _PAGES_PER_TASK:
                break
    packed = {name: _packed(own) for name, own in batches.items() if own}
    first_following = min(following, default=None)
    return ShardResult(packed, read_to, settled, ended, exhausted, first_following, server, tuple(fetcher.left))


def _unseen(batch: pa.RecordBatch, seen: set[str]) -> pa.RecordBatch:
    """The rows of updates that were not read before; a page has all rows of an update. Notes them as read."""
    ids = batch["update_id"].cast(pa.string())
    fresh = pc.invert(pc.is_in(ids, pa.array(sorted(seen), pa.string())))
    seen.update(pc.unique(ids).to_pylist())
    return batch.filter(fresh)


def worker_secret(source: str | None) -> Any:
    """The token that a worker finds where `worker_token=` says.

    Raises:
        ConfigurationError: it is not of a known form, or there is no token.
    """
    if source is None:
        return None
    kind, _, name = source.partition(":")
    if kind == "env" and name in os.environ:
        return os.environ[name]
    if kind == "file":
        try:
            return Path(name).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ConfigurationError(f"worker_token={source!r}: the worker cannot read it: {error}") from error
    if kind == "command" and name.strip():
        return CommandToken(shlex.split(name), "worker_token")
    raise ConfigurationError(
        f"worker_token={source!r}: give env:NAME with a variable that the workers have, file:PATH, or command:WORDS"
    )


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
        left: what could not be read for now, in words.
        seconds: not measured: the work is done elsewhere.
        cpu_seconds: likewise.
    """

    request: SyncRequest
    settings: dict[str, Any]
    prober: Prober
    of: TableSet = HISTORY
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
        shards = [shard for interval in intervals for shard in self._shards(interval, workers)]
        waiting = deque(_Rest(next(self._keys), shard, shard.lo, shard.lo) for shard in shards)
        running: dict[Any, _Rest] = {}
        done: Any = as_completed()  # type: ignore[no-untyped-call]
        try:
            while waiting or running:
                while waiting and len(running) < _TASKS_PER_WORKER * workers:
                    self._submit(done, running, waiting.popleft())
                future = next(done)
                rest = running.pop(future)
                result: ShardResult = future.result()
                self.left += result.left
                fetched = _fetched(rest, result)
                yield fetched
                if not result.ended:
                    interval = rest.interval._replace(lo=max(result.read_to, rest.interval.lo))
                    self._submit(done, running, _Rest(rest.key, interval, rest.lo, fetched.settled))
        finally:
            # Otherwise tasks of a sync that has failed would still be asking servers.
            self.request.engine.cancel(list(running))

    def _submit(self, done: Any, running: dict[Any, _Rest], rest: _Rest) -> None:
        proofs, request = self.prober.proofs, self.request
        task = ShardTask(
            self.settings,
            request.worker_token,
            rest.interval,
            request.page_size,
            proofs.now(),
            proofs.overlap,
            proofs.replicas,
            self.of.pages.endpoint,
        )
        # `pure=False`, or Dask would give the result of an earlier task with the same arguments.
        future = request.engine.submit(read_shard, task, pure=False)
        running[future] = rest
        done.add(future)

    def _shards(self, interval: Interval, workers: int) -> list[Interval]:
        """An interval, cut evenly for the workers after probing where its items begin and end."""
        probe = self.prober.time_after
        first = probe(interval.migration_id, interval.lo)
        if first is None or first >= interval.hi:
            return [interval]
        top = find_top(interval._replace(lo=first), probe, workers=4, each=ThreadDrive().each, scale=1_000_000)
        cuts = even_cuts(first, top, _TASKS_PER_WORKER * workers)
        return [interval._replace(lo=lo, hi=hi) for lo, hi in pairwise([interval.lo, *cuts, interval.hi]) if lo < hi]


def cluster_fetcher(request: SyncRequest, settings: Settings, prober: Prober, of: TableSet = HISTORY) -> ClusterFetcher:
    """A fetcher for the cluster of a request.

    Raises:
        ConfigurationError: the scan has a token, and `worker_token` is missing.
    """
    workers = worker_count(request.engine)
    plain = plain_settings(settings, workers=workers, worker_token=request.worker_token)
    return ClusterFetcher(request, plain, prober, of)


@dataclass(frozen=True)
class _Rest:
    """What is left of a shard: where the shard begins, and up to where what was read of it is final."""

    key: int
    interval: Interval
    lo: int
    settled: int


def _fetched(rest: _Rest, result: ShardResult) -> Fetched:
    # Settled means without a break: what follows a part that is not final is not settled either.
    joins = rest.settled >= rest.interval.lo
    return Fetched(
        key=rest.key, read=rest.interval._replace(lo=rest.lo, hi=result.read_to),
        settled=result.settled if joins else rest.settled, span=rest.interval._replace(hi=result.read_to),
        batches={name: _unpacked(own) for name, own in result.batches.items()},
        following=result.following, server=result.server, ended=result.ended, exhausted=result.exhausted,
    )  # fmt: skip


def _packed(batches: list[pa.RecordBatch]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(packed: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(packed) as reader:
        return pa.concat_batches(list(reader))
