"""Reads stretches of the history on the workers of a Dask cluster; `run` puts it in the place of `Fetchers`.

Workers fetch and decode, and hand Arrow back; the commits stay with the calling process, so that nothing is there twice
when a worker dies and its piece is read again. The request budget of the settings is shared out among the workers.
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

from ledgerframes.config.settings import Settings
from ledgerframes.config.token_sources import CommandToken
from ledgerframes.decoding.history import decode_page
from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.network import Network
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.proofs import Proof, Proofs
from ledgerframes.store.coverage import Interval
from ledgerframes.store.sync.driving import OneByOne, ThreadDrive
from ledgerframes.store.sync.fetching import Fetched, Fetchers
from ledgerframes.store.sync.probing import Prober, first_after
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.store.sync.shards import even_cuts, find_top
from ledgerframes.transport.stopping import Stop

_PAGES_A_PIECE: Final = 20
_PIECES_A_WORKER: Final = 2
_TOKENLESS: Final = frozenset({"scan_token", "validator_token", "registry_token", "ledger_token"})


@dataclass(frozen=True)
class ShardTask:
    """What a worker is told: plain values, no token among them.

    Attributes:
        settings: what to connect with.
        worker_token: where the worker finds the scan's token: `env:NAME`, `file:PATH` or `command:WORDS`.
        gap: what to read, 20 pages of it at most.
        page_size: items a request asks for.
        proof: what the servers had shown before the piece was handed out.
        overlap: as in `Proofs`.
        replicas: as in `Proofs`.
    """

    settings: dict[str, Any]
    worker_token: str | None
    gap: Interval
    page_size: int
    proof: Proof
    overlap: int
    replicas: bool


@dataclass(frozen=True)
class Read:
    """What a worker gives back.

    Attributes:
        batches: rows by table, as Arrow's IPC bytes.
        reached: everything up to this record time is read.
        settled: up to here it is final.
        ended: whether the piece's gap is finished.
        exhausted: as in `Fetched`.
        following: as in `Fetched`.
        server: who answered last.
    """

    batches: dict[str, bytes]
    reached: int
    settled: int
    ended: bool
    exhausted: bool
    following: Cursor | None
    server: str


def read_piece(piece: ShardTask) -> Read:
    """Fetch and decode up to 20 pages; runs on a worker."""
    batches: dict[str, list[pa.RecordBatch]] = {"updates": [], "events": [], "reassignments": []}
    following: list[Cursor] = []
    server, pages, ended, exhausted = "", 0, False, False
    settings = Settings(**piece.settings, scan_token=worker_secret(piece.worker_token))
    proofs = Proofs(piece.proof.settle, piece.overlap, replicas=piece.replicas)
    for name, newest in piece.proof.newest.items():
        proofs.saw(name, [Cursor(piece.gap.migration_id, newest)])
    with Network(settings) as net:
        stop = Stop()
        servers = AgreedServers(net.scan).stoppable(stop)
        prober = Prober(servers, proofs, 0, piece.gap.migration_id)
        fetchers = Fetchers(servers, prober, 1, piece.page_size, OneByOne(), stop.set)
        for fetched in fetchers.read([piece.gap]):
            reached, settled = fetched.read.at, fetched.settled
            server, ended, exhausted = fetched.server or server, fetched.ended, exhausted or fetched.exhausted
            following += [] if fetched.following is None else [fetched.following]
            pages += 1
            if fetched.page is not None:
                for name, batch in decode_page(fetched.page.page.raw, rows=fetched.page.rows).batches.items():
                    batches[name].append(batch)
            if pages == _PAGES_A_PIECE:
                break
    packed = {name: _packed(own) for name, own in batches.items() if own}
    return Read(packed, reached, settled, ended, exhausted, min(following, default=None), server)


def worker_secret(place: str | None) -> Any:
    """A token where a worker finds it.

    Raises:
        ConfigurationError: the place is none, or holds nothing.
    """
    if place is None:
        return None
    kind, _, name = place.partition(":")
    if kind == "env" and name in os.environ:
        return os.environ[name]
    if kind == "file":
        try:
            return Path(name).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ConfigurationError(f"worker_token={place!r}: the worker cannot read it: {error}") from error
    if kind == "command" and name.strip():
        return CommandToken(shlex.split(name), "worker_token")
    raise ConfigurationError(
        f"worker_token={place!r}: give env:NAME with a variable that the workers have, file:PATH, or command:WORDS"
    )


def plain_settings(settings: Settings, *, workers: int, worker_token: str | None) -> dict[str, Any]:
    """Settings without tokens, each worker with its share of the request budget.

    Raises:
        ConfigurationError: the scan has a token that could not go along.
    """
    if settings.token("scan") is not None and worker_token is None:
        raise ConfigurationError(
            "a token is not sent to the workers of a cluster; give worker_token= with the place where they find it:"
            " env:NAME, file:PATH or command:WORDS"
        )
    kept = {one.name: getattr(settings, one.name) for one in fields(settings) if one.name not in _TOKENLESS}
    for name in ("validator_url", "registry_url", "ledger_url"):
        kept[name] = ()
    kept["rate"] = settings.rate / workers
    kept["burst"] = max(1, settings.burst // workers)
    kept["parallel"] = max(1, settings.parallel // workers)
    return kept


@dataclass
class ClusterFetchers:
    """As `Fetchers`, on a cluster.

    Attributes:
        client: a `dask.distributed.Client`.
        source: where probes are sent, from this process.
        prober: looks how far servers have got, from this process.
        settings: what the workers connect with.
        worker_token: where they find the scan's token.
        page_size: items a request asks for.
        seconds: not measured here: the work is elsewhere.
        cpu_seconds: likewise.
    """

    client: Any
    source: AgreedServers
    prober: Prober
    settings: dict[str, Any]
    worker_token: str | None
    page_size: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    _keys: Any = field(default_factory=count)

    def read(self, gaps: Sequence[Interval]) -> Generator[Fetched]:
        """Read all gaps; pieces of one stretch come in order, stretches mixed.

        Raises:
            LedgerframesError: what a worker met.
        """
        from distributed import as_completed

        workers = max(len(self.client.scheduler_info(n_workers=-1)["workers"]), 1)
        parts = [part for gap in gaps for part in self._parts(gap, workers)]
        waiting = deque(_Rest(next(self._keys), part, part.lo, part.lo) for part in parts)
        running: dict[Any, _Rest] = {}
        done: Any = as_completed()  # type: ignore[no-untyped-call]
        try:
            while waiting or running:
                while waiting and len(running) < _PIECES_A_WORKER * workers:
                    self._submit(done, running, waiting.popleft())
                future = next(done)
                rest = running.pop(future)
                read: Read = future.result()
                fetched = _fetched(rest, read)
                yield fetched
                if not read.ended:
                    left = rest.gap._replace(lo=max(read.reached, rest.gap.lo))
                    self._submit(done, running, _Rest(rest.key, left, rest.lo, fetched.settled))
        finally:
            self.client.cancel(list(running))

    def _submit(self, done: Any, running: dict[Any, _Rest], rest: _Rest) -> None:
        proofs = self.prober.proofs
        piece = ShardTask(
            self.settings, self.worker_token, rest.gap, self.page_size, proofs.now(), proofs.overlap, proofs.replicas
        )
        future = self.client.submit(read_piece, piece, pure=False)
        running[future] = rest
        done.add(future)

    def _parts(self, gap: Interval, workers: int) -> list[Interval]:
        """A gap, cut evenly for the workers after a look at where its items begin and end."""
        first = self._probe(gap.migration_id, gap.lo)
        if first is None or first >= gap.at:
            return [gap]
        top = find_top(gap._replace(lo=first), self._probe, workers=4, each=ThreadDrive().each, scale=1_000_000)
        cuts = even_cuts(first, top, _PIECES_A_WORKER * workers)
        return [gap._replace(lo=lo, at=at) for lo, at in pairwise([gap.lo, *cuts, gap.at]) if lo < at]

    def _probe(self, migration_id: int, micros: int) -> int | None:
        after = before(Cursor(migration_id, micros + 1))
        place = first_after(self.source, after, self.prober.proofs)
        return place.micros if place is not None and place.migration_id == migration_id else None


@dataclass(frozen=True)
class _Rest:
    """What is left of a part: where the part begins, and up to where what was read of it is final."""

    key: int
    gap: Interval
    lo: int
    settled: int


def _fetched(rest: _Rest, read: Read) -> Fetched:
    joins = rest.settled >= rest.gap.lo
    return Fetched(
        key=rest.key, read=rest.gap._replace(lo=rest.lo, at=read.reached),
        settled=read.settled if joins else rest.settled, span=rest.gap._replace(at=read.reached), page=None,
        following=read.following, server=read.server, ended=read.ended, exhausted=read.exhausted,
        batches={name: _unpacked(own) for name, own in read.batches.items()},
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


def check_engine(engine: Any) -> None:
    """Refuse what is no client of a cluster.

    Raises:
        InputError: it cannot take work.
    """
    if not all(hasattr(engine, name) for name in ("submit", "scheduler_info", "cancel")):
        raise InputError(f"engine={type(engine).__name__} is no dask.distributed Client; make one with Client(address)")
