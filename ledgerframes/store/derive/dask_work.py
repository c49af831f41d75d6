"""`ClusterWork` computes chunks of the history on the workers of a Dask cluster; `Store.derive(engine=)` uses it.

Workers read the history from the store themselves, as of the versions that this process sees, and return Arrow. A chunk
takes two tasks: one finds out which contracts it names, begins and ends, and the other computes its rows for all tables
with the contracts that were open before. In between this process says which ones were, in the order of the history, and
it alone commits; so a worker that dies, and whose task runs again, stores nothing twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Final, Literal

import pyarrow as pa

from ledgerframes.errors import StoreError
from ledgerframes.loaders.opening import Opening
from ledgerframes.models.computing import together
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.change import Change
from ledgerframes.store.derive.chunks import HistoryReader
from ledgerframes.store.derive.contracts import EVENT_COLUMNS, Contracts, opening_of
from ledgerframes.store.derive.kept import VERSIONS
from ledgerframes.store.derive.rules import Computed, computed
from ledgerframes.store.derive.work import Work
from ledgerframes.store.engines import worker_count
from ledgerframes.store.lake import Lake, View
from ledgerframes.store.table_sets import HISTORY

# The second one waits at the worker, so that it does not idle while a result travels.
_TASKS_PER_WORKER: Final = 2


@dataclass(frozen=True)
class Source:
    """Where a worker reads the history: plain values, no secret among them.

    Attributes:
        url: of the store, or its folder, which workers find under the same path.
        versions: of the tables of the history.
        verify: as in `Lake`.
        rules: the versions of the rules, which have to be those of the worker.
    """

    url: str
    versions: Mapping[str, int]
    verify: Literal["pages", "files"]
    rules: Mapping[str, int]

    def reader(self) -> HistoryReader:
        """The history, on a worker.

        Raises:
            StoreError: the worker does not find it, or has another version of ledgerframes.
        """
        if dict(self.rules) != VERSIONS:
            raise StoreError(
                "a worker of the cluster has another version of ledgerframes, which computes tables by other rules;"
                " install the same version everywhere"
            )
        lake = Lake(self.url, verify=self.verify)
        view = View({name: lake.table(name).as_of(self.versions[name]) for name in HISTORY.order})
        if not view.has(HISTORY):
            raise StoreError(
                f"{self.url}: a worker of the cluster finds no store here; all workers need it under the same path. Or"
                " compute here: leave out engine=, in a sync by derive=[] and store.derive() afterwards"
            )
        return HistoryReader(view)


def contracts_in(source: Source, interval: Interval) -> list[bytes]:
    """What a chunk says of contracts; runs on a worker."""
    contracts = Contracts.of(source.reader().rows(interval, EVENT_COLUMNS))
    named, ended = (pa.table({"id": ids}) for ids in (contracts.named, contracts.ended))
    return [_packed(rows) for rows in (named, contracts.begun, ended)]


def rows_for(source: Source, interval: Interval, names: Sequence[str], opening: bytes) -> dict[str, tuple[bytes, int]]:
    """The rows of a chunk for some tables, and how much was not understood; runs on a worker."""
    history, before = source.reader().rows(interval), _unpacked(opening)
    with together(history, opening=Opening(before)) as inputs:
        every = {name: computed(name, inputs) for name in names}
    return {name: (_packed(own.rows), own.unknown) for name, own in every.items()}


@dataclass
class ClusterWork:
    """Chunks on their way through a cluster.

    Attributes:
        engine: the cluster's client.
        source: where workers read the history.
        carried: the table of open contracts.
        lacking: the tables that lack a chunk.
    """

    engine: Any
    source: Source
    carried: DeltaStoreTable
    lacking: Callable[[Interval], Sequence[str]]
    _pending: deque[Change] = field(default_factory=deque)

    def of(self, parts: Iterable[Interval]) -> Generator[Work]:
        """Compute chunks in the order given, several at once; the caller commits one before it asks for the next.

        Raises:
            LedgerframesError: what a worker met.
        """
        most = _TASKS_PER_WORKER * worker_count(self.engine)
        waiting = iter(parts)
        seen: deque[tuple[Interval, Any]] = deque()
        running: deque[tuple[Interval, Change, Any]] = deque()
        try:
            while True:
                seen.extend((part, self._submit(contracts_in, part)) for part in islice(waiting, most - len(seen)))
                for _ in range(min(len(seen), most - len(running))):
                    running.append(self._begun(*seen.popleft()))
                if not running:
                    return
                interval, contracts, future = running.popleft()
                rows = future.result()
                yield Work(interval, partial(_unpacked_rows, rows), partial(_itself, contracts))
                self._pending.popleft()  # committed by now
        finally:
            # Otherwise a cluster would still be computing for a derive that has failed.
            self.engine.cancel([future for *_, future in (*seen, *running)])

    def _begun(self, interval: Interval, looked: Any) -> tuple[Interval, Change, Any]:
        """Hand out the second task of a chunk, once it is known which contracts were open before it."""
        named, begun, ended = map(_unpacked, looked.result())
        contracts = Contracts(named["id"].combine_chunks(), begun, ended["id"].combine_chunks())
        opening = opening_of(contracts.named, self.carried, self._pending)
        change = contracts.change(opening)
        self._pending.append(change)
        return interval, change, self._submit(rows_for, interval, self.lacking(interval), _packed(opening))

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        # `pure=False`, or Dask would give the result of an earlier task with the same arguments.
        return self.engine.submit(function, self.source, *arguments, pure=False)


def source_of(lake: Lake, view: View) -> Source:
    """Where workers read the history of a store, as of this view."""
    versions = {name: view.versions[name] for name in HISTORY.order}
    return Source(lake.url if lake.folder is None else str(lake.folder), versions, lake.verify, VERSIONS)


def _packed(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(packed: bytes) -> pa.Table:
    with pa.ipc.open_stream(packed) as reader:
        return reader.read_all()


def _itself(change: Change) -> Change:
    return change


def _unpacked_rows(every: Mapping[str, tuple[bytes, int]], name: str) -> Computed:
    packed, unknown = every[name]
    return Computed(_unpacked(packed), unknown)
