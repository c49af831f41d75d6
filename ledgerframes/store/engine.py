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
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding.history import decode_page
from ledgerframes.decoding.peek import Cursor
from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.interfaces.history import HistorySession, PageSource
from ledgerframes.network import Network
from ledgerframes.paging.history import HistoryReader
from ledgerframes.profiles.tokens import CommandToken
from ledgerframes.settings import Settings
from ledgerframes.store.driving import ThreadDrive
from ledgerframes.store.fetching import Fetched, Task, probe
from ledgerframes.store.intervals import Interval
from ledgerframes.store.stretches import even_cuts, find_top, window_of

_PAGES_A_PIECE: Final = 20
_PIECES_A_WORKER: Final = 2
_TOKENLESS: Final = frozenset({"scan_token", "validator_token", "registry_token", "ledger_token"})


@dataclass(frozen=True)
class Piece:
    """What a worker is told: plain values, no token among them.

    Attributes:
        settings: what to connect with.
        worker_token: where the worker finds the scan's token: `env:NAME`, `file:PATH` or `command:WORDS`.
        gap: what to read, 20 pages of it at most.
        again: whether the instant before it is to be read again.
        page_size: items a request asks for.
    """

    settings: dict[str, Any]
    worker_token: str | None
    gap: Interval
    again: bool
    page_size: int


@dataclass(frozen=True)
class Read:
    """What a worker gives back.

    Attributes:
        batches: rows by table, as Arrow's IPC bytes.
        reached: everything up to this record time is read.
        ended: whether the piece's stretch is finished; whole: as in `Fetched`.
        following: as in `Fetched`.
        server: who answered last.
    """

    batches: dict[str, bytes]
    reached: int
    ended: bool
    whole: bool
    following: Cursor | None
    server: str


def read_piece(piece: Piece) -> Read:
    """Fetch and decode up to 20 pages; runs on a worker."""
    reader = HistoryReader(window_of(piece.gap, again=piece.again), page_size=piece.page_size)
    batches: dict[str, list[pa.RecordBatch]] = {"updates": [], "events": [], "reassignments": []}
    following, server, more = None, "", True
    settings = Settings(**piece.settings, scan_token=worker_secret(piece.worker_token))
    with Network(settings) as net:
        session = HistorySession(net.scan, reader)
        for _ in range(_PAGES_A_PIECE):
            page, more = session.step()
            server = page.server
            places = [one for one in page.page.glimpse.cursors if one.migration_id > piece.gap.migration_id]
            following = min(places, default=following)
            if page.rows:
                for name, batch in decode_page(page.page.raw, rows=page.rows).batches.items():
                    batches[name].append(batch)
            if not more:
                break
    whole = not more and reader.beyond
    reached = piece.gap.at if whole else piece.gap.lo if reader.last is None else reader.last.micros
    return Read(
        {name: _packed(own) for name, own in batches.items() if own}, reached, not more, whole, following, server
    )


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
        settings: what the workers connect with.
        worker_token: where they find the scan's token.
        page_size: items a request asks for.
        seconds: not measured here: the work is elsewhere.
        cpu_seconds: likewise.
    """

    client: Any
    source: PageSource
    settings: dict[str, Any]
    worker_token: str | None
    page_size: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    _keys: Any = field(default_factory=count)

    def read(self, tasks: Sequence[Task]) -> Generator[Fetched]:
        """Read all gaps; pieces of one stretch come in order, stretches mixed.

        Raises:
            LedgerframesError: what a worker met.
        """
        from distributed import as_completed

        workers = max(len(self.client.scheduler_info(n_workers=-1)["workers"]), 1)
        waiting = deque((next(self._keys), one) for task in tasks for one in self._parts(task, workers))
        running: dict[Any, tuple[int, Task, int]] = {}
        done: Any = as_completed()  # type: ignore[no-untyped-call]
        try:
            while waiting or running:
                while waiting and len(running) < _PIECES_A_WORKER * workers:
                    key, task = waiting.popleft()
                    self._submit(done, running, key, task, task.gap.lo)
                future = next(done)
                key, task, lo = running.pop(future)
                read: Read = future.result()
                yield _fetched(key, task, lo, read)
                if not read.ended:
                    rest = Task(task.gap._replace(lo=max(read.reached, task.gap.lo)), again=False)
                    self._submit(done, running, key, rest, lo)
        finally:
            self.client.cancel(list(running))

    def _submit(self, done: Any, running: dict[Any, tuple[int, Task, int]], key: int, task: Task, lo: int) -> None:
        piece = Piece(self.settings, self.worker_token, task.gap, task.again, self.page_size)
        future = self.client.submit(read_piece, piece, pure=False)
        running[future] = (key, task, lo)
        done.add(future)

    def _parts(self, task: Task, workers: int) -> list[Task]:
        """A gap, cut evenly for the workers after a look at where its items begin and end."""
        first = probe(self.source, task.gap.migration_id, task.gap.lo)
        if first is None or first >= task.gap.at:
            return [task]
        look = partial(probe, self.source)
        top = find_top(task.gap._replace(lo=first), look, workers=4, each=ThreadDrive().each, scale=1_000_000)
        cuts = even_cuts(first, top, _PIECES_A_WORKER * workers)
        bounds = [task.gap.lo, *cuts, task.gap.at]
        parts = [task.gap._replace(lo=lo, at=at) for lo, at in pairwise(bounds) if lo < at]
        return [Task(part, again=task.again and part.lo == task.gap.lo) for part in parts]


def _fetched(key: int, task: Task, lo: int, read: Read) -> Fetched:
    return Fetched(
        key=key, read=task.gap._replace(lo=lo, at=read.reached), page=None, ended=read.ended, whole=read.whole,
        following=read.following, batches={name: _unpacked(own) for name, own in read.batches.items()},
        server=read.server,
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
