"""`read_shard` reads a part of the history on a worker of a Dask cluster; `ClusterFetcher` hands the parts out."""

from __future__ import annotations

import os
import shlex
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ledgerframes.config.settings import Settings
from ledgerframes.config.token_sources import command_token
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY
from ledgerframes.errors import ConfigurationError
from ledgerframes.network import Network
from ledgerframes.objects.page_source import ObjectIndex, ObjectPages
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import Proof, Proofs
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.new_files import NewFile, Place
from ledgerframes.store.sync.driving import OneByOne
from ledgerframes.store.sync.fetched import Opening
from ledgerframes.store.sync.fetching import LocalFetcher
from ledgerframes.store.sync.from_objects import objects_of
from ledgerframes.store.sync.gathering import Gathering, PageDecoder
from ledgerframes.store.sync.probing import Prober
from ledgerframes.store.sync.row_files import RowFiles, Unrepeated
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.store.table_sets import SETS
from ledgerframes.transport.stopping import Stop

# Rows of a task are in memory on both sides; a page of 1,000 updates is about 9 MB of JSON.
_PAGES_PER_TASK: Final = 20


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
        places: where to store the rows; empty if they are to be returned.
        segment: the record times of the objects to read; None where there are none. The worker lists them itself, as
            their URLs may be good for a short time only, and may hold a signature.
    """

    settings: dict[str, Any]
    worker_token: str | None
    interval: Interval
    page_size: int
    proof: Proof
    overlap: int
    replicas: bool
    history: str = UPDATE_HISTORY.endpoint
    places: tuple[Place, ...] = ()
    segment: tuple[int, int] | None = None


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
        senders: everybody who gave pages.
        left: what could not be read for now, in words.
        files: the rows that were stored, by table.
        failed: how many segments of objects could not be read, so that pages were read instead.
        openings: as in `Fetched`.
    """

    batches: dict[str, bytes]
    read_to: int
    settled: int
    ended: bool
    exhausted: bool
    following: Cursor | None
    server: str
    left: tuple[str, ...] = ()
    files: dict[str, list[NewFile]] = field(default_factory=dict)
    failed: int = 0
    senders: tuple[str, ...] = ()
    openings: tuple[Opening, ...] = ()


def read_shard(task: ShardTask) -> ShardResult:
    """Fetch and decode up to 20 pages, or a segment of objects; runs on a worker."""
    for place in task.places:
        place.check()
    files = RowFiles(task.places)
    try:
        return _read_shard(task, files)
    except BaseException:
        files.remove()
        raise


def _read_shard(task: ShardTask, files: RowFiles) -> ShardResult:
    pages = next(of.pages for of in SETS if of.pages.endpoint == task.history)
    batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in pages.tables}
    # The unsettled end is read again, and one result must not hold an update twice.
    unrepeated = Unrepeated()
    following: list[Cursor] = []
    server, read, ended, exhausted, shard = "", 0, False, False, None
    openings: list[Opening] = []
    senders: dict[str, None] = {}
    settings = Settings(**task.settings, scan_token=worker_secret(task.worker_token))
    proofs = Proofs(task.proof.settle, task.overlap, replicas=task.replicas)
    # The worker starts with what was proven before the task was handed out, so it need not probe again.
    for name, newest in task.proof.newest.items():
        proofs.saw(name, [Cursor(task.interval.migration_id, newest)])
    stop = Stop()
    with Network(settings) as net, _objects(task, net, stop) as objects:
        servers = AgreedServers(net.scan.pages(pages)).stoppable(stop)
        prober = Prober(servers, proofs, 0, task.interval.migration_id)
        # Each page by itself, since a task ends after a number of pages.
        gathering = Gathering(PageDecoder(pages), most=0)
        source = servers if objects is None else replace(servers, source=ObjectPages(servers, objects))
        fetcher = LocalFetcher(source, prober, gathering, 1, task.page_size, OneByOne(), stop.set)
        for fetched in fetcher.read([task.interval]):
            # What follows a part that a server pruned meanwhile is another shard: that part is not read.
            if shard not in {None, fetched.key}:
                ended = False
                break
            shard = fetched.key
            openings += fetched.openings
            read_to, settled = fetched.read.hi, fetched.settled
            server, ended, exhausted = fetched.server or server, fetched.ended, exhausted or fetched.exhausted
            senders.update({fetched.server: None} if fetched.server else {})
            following += [] if fetched.following is None else [fetched.following]
            read += 1
            fresh = unrepeated.rows(fetched)
            if task.places:
                files.add(fresh)
            else:
                for name, batch in fresh.items():
                    batches[name].append(batch)
            if read == _PAGES_PER_TASK and task.segment is None:
                break
        files.store()
    packed = {name: _packed(own) for name, own in batches.items() if own}
    first_following = min(following, default=None)
    failed = 0 if objects is None else len(objects.failed)
    return ShardResult(
        packed, read_to, settled, ended, exhausted, first_following, server, tuple(fetcher.left), files.files, failed,
        tuple(senders), tuple(openings),
    )  # fmt: skip


def _objects(task: ShardTask, net: Network, stop: Stop) -> AbstractContextManager[ObjectIndex | None]:
    """The objects of the task's segment."""
    if task.segment is None:
        return nullcontext()
    return objects_of(net.scan, task.proof.settle, stop, listed=task.segment)


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
        return command_token(shlex.split(name), "worker_token")
    raise ConfigurationError(
        f"worker_token={source!r}: give env:NAME with a variable that the workers have, file:PATH, or command:WORDS"
    )


def _packed(batches: list[pa.RecordBatch]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed
