"""Snapshots in a store: a loader's rows at once, active contracts page by page; `run_sync` calls it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from ledgerframes.config.settings import source_of
from ledgerframes.errors import PagingError, StoreError
from ledgerframes.interfaces.scan_snapshots import Route
from ledgerframes.loaders import public
from ledgerframes.loaders.acs.pages import SnapshotReader
from ledgerframes.loaders.acs.times import snapshot_at
from ledgerframes.loaders.active_contracts import needing_snapshots, read_contracts
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.table_loader import OneServer, Origin
from ledgerframes.paging.cursor import Bound, Cursor, Window
from ledgerframes.paging.tokens import Token
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.root import Root
from ledgerframes.store.stored_snapshots import State, StoredSnapshot, files_of, unfinished
from ledgerframes.store.stored_tables import snapshot_table
from ledgerframes.store.sync.committing import CommitSize
from ledgerframes.store.sync.request import BY_PARTY, SyncRequest
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS
from ledgerframes.timestamps import EPOCH, MICROSECOND, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.store")
#: A slow server's pages survive a kill after at most this many seconds.
_SECONDS: Final = 60.0


@dataclass
class SnapshotSync:
    """A snapshot being written to a store, in commits of bounded size.

    Attributes:
        root: the root of the lake, whose commits record the snapshot's progress.
        table: the table that receives the rows; it exists.
        request: the arguments of the sync.
        shown: the progress display.
        rows: the number of rows committed.
        sources: the servers that sent them.
    """

    root: Root
    table: DeltaStoreTable
    request: SyncRequest
    shown: Progress
    rows: int = 0
    sources: dict[str, None] = field(default_factory=dict)
    _snapshot: StoredSnapshot | None = None
    _pages: list[pa.RecordBatch] = field(default_factory=list)
    _following: tuple[Route, Token] | None = None
    _since: float = 0.0
    _resumed: bool = False

    def run(self, net: Network) -> None:
        """Store the newest snapshot before the end of the requested range, unless it is already stored.

        Raises:
            RequestError: no server sent the whole snapshot; what was read before is kept.
            DecodeError: an answer breaks the contract; what was read before is kept.
            PagingError: the pages repeat or do not end; nothing of the snapshot is kept.
            StoreError: the store cannot be written.
        """
        with needing_snapshots():
            cursor = snapshot_at(net, _before_end(self.request.window))
            stored = self.root.document.snapshots
            if any(known.cursor == cursor and known.state is State.WHOLE for known in stored):
                _log.info("the snapshot of %s is stored already", cursor)
                return
            one = OneServer(net.scan, Origin())
            reader = SnapshotReader(one, ACTIVE_CONTRACTS, cursor, [{}], self.request.page_size)
            begun = unfinished(stored)
            server = None if begun is None else self._server_of(begun, cursor, net.scan.servers)
            following = self.root.document.following
            if begun is not None and server is not None and following is not None:
                _log.info("the snapshot of %s is resumed after %d contracts", cursor, begun.rows)
                self._snapshot, self._resumed = begun, True
                reader.resume(server, *following)
            else:
                self._begin(cursor)
            self._read(reader)

    def _server_of(self, begun: StoredSnapshot, cursor: Cursor, servers: Iterable[str]) -> str | None:
        """The server from which an unfinished snapshot can be resumed; None if it has to be read again."""
        data = self.table.dataset()
        if begun.cursor != cursor or data.count_rows(filter=begun.own_rows) != begun.rows:
            return None
        first = data.filter(begun.own_rows).head(1, columns=["source"])["source"].to_pylist()
        return next((server for server in servers if [source_of(server)] == first), None)

    def _begin(self, cursor: Cursor) -> None:
        """Begin a snapshot, in place of one that is not resumed, or whose server failed."""
        now = int(self.request.clock.now() * 1_000_000)
        loaded_at = max([now, *(known.loaded_at + 1 for known in self.root.document.snapshots)])
        self._snapshot = StoredSnapshot(cursor, loaded_at)
        self._pages, self._following, self._resumed, self.rows = [], None, False, 0
        self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        """Remove the stored part of a snapshot that cannot be resumed."""
        begun = unfinished(self.root.document.snapshots)
        if begun is not None:
            none = self.table.table.schema.remove_metadata().empty_table()
            self.table.change(none, files_of(self.table, begun))
            self._record()

    def _read(self, reader: SnapshotReader) -> None:
        clock, enough = self.request.clock.monotonic, CommitSize(self.request.commit_bytes)
        try:
            for items in reader.pages(partial(self._begin, reader.place)):
                if not self._pages:
                    self._since = clock()
                self._add(items, source_of(reader.one.url))
                self._following = reader.next_page
                size = sum(page.nbytes for page in self._pages)
                full = size >= enough.bytes
                if reader.following is not None and (full or clock() - self._since >= _SECONDS):
                    if full:
                        enough.grow()
                    self._commit(State.READING)
            if self._resumed:
                self._check_once()
        except PagingError:
            # The pages contradict each other, so no sync may resume after them.
            self._remove_unfinished()
            self.rows = 0
            raise
        except BaseException:
            # Whole pages need not be read again, however the read ended.
            if self._pages:
                with suppress(StoreError):
                    self._commit(State.READING)
            raise
        self._commit(State.WHOLE)

    def _check_once(self) -> None:
        """Refuse contracts that a snapshot has twice, as a server may order them differently when it is resumed.

        Raises:
            PagingError: there are some, and others are missing in their place.
        """
        assert self._snapshot is not None
        stored = self.table.dataset().filter(self._snapshot.own_rows).to_batches(columns=["contract_id"])
        ids = (batch["contract_id"].to_pylist() for batch in chain(stored, self._pages))
        # Hashes of 64 bits instead of the texts, of which a snapshot may have more than fit into memory.
        hashes = np.concatenate([np.fromiter(map(hash, some), np.int64, len(some)) for some in ids])
        if len(np.unique(hashes)) < len(hashes):
            raise PagingError(
                f"{ACTIVE_CONTRACTS.endpoints[0]}: the pages of the snapshot have contracts twice since it was resumed,"
                " so the server orders them differently now; the next sync reads it from its beginning"
            )

    def _add(self, items: list[Any], source: str) -> None:
        """Decode a page and keep it for the next commit."""
        assert self._snapshot is not None
        begun = self._snapshot
        batch = read_contracts(items)
        first = begun.rows + sum(page.num_rows for page in self._pages)
        kind = pa.timestamp("us", "UTC")
        supplied = {
            "snapshot_migration_id": pa.repeat(pa.scalar(begun.cursor.migration_id, pa.int64()), len(items)),
            "snapshot_record_time": pa.repeat(pa.scalar(begun.cursor.micros, pa.int64()), len(items)).cast(kind),
            "position": pa.array(range(first, first + len(items)), pa.int64()),
            "source": pa.repeat(pa.scalar(source), len(items)),
            "loaded_at": pa.repeat(pa.scalar(begun.loaded_at, pa.int64()), len(items)).cast(kind),
        }
        schema = self.table.table.schema
        columns = [supplied[name] if name in supplied else batch.column(name) for name in schema.names]
        self._pages.append(pa.RecordBatch.from_arrays(columns, schema=schema))
        self.sources[source] = None
        self.shown.advance(len(items), format_timestamp(begun.cursor.micros))

    def _commit(self, state: State) -> None:
        """Add the pages, and record the snapshot's progress in the same commit."""
        assert self._snapshot is not None
        # Removed first: a commit that failed half-way may be in the log, and must not be repeated.
        pages, self._pages = self._pages, []
        added = sum(page.num_rows for page in pages)
        snapshot = replace(self._snapshot, rows=self._snapshot.rows + added, state=state)
        self.table.append(pages)
        self._record(snapshot)
        self._snapshot = snapshot
        self.rows += added

    def _record(self, *now: StoredSnapshot) -> None:
        """Commit the progress of the current snapshot, or that there is none."""
        document = self.root.document
        finished = [known for known in document.snapshots if known.state is not State.READING]
        self.root.commit(document.having([*finished, *now], self._following if now else None))


def _before_end(window: Window) -> Bound | None:
    """The last instant before the end of a window, which bounds the snapshot's time."""
    if window.end is not None:
        return window.end.migration_id, EPOCH + (window.end.micros - 1) * MICROSECOND
    return None if window.until is None else EPOCH + (window.until - 1) * MICROSECOND


def load_snapshot(net: Network, name: str, parties: Sequence[str] | None) -> pa.RecordBatch:
    """Load the current rows of a table, with the columns that a store keeps."""
    arguments = [parties] if name in BY_PARTY else []
    table = snapshot_table(name)
    loaded: pa.Table = getattr(public, f"load_{name}")(net, *arguments, as_="arrow")
    now = pa.scalar(time.time_ns() // 1000, pa.timestamp("us", "UTC"))
    supplied = {"loaded_at": now}
    # Instruments have their own column for the registry.
    if "source" not in loaded.column_names:
        attrs = json.loads(loaded.schema.metadata[b"ledgerframes"])
        supplied["source"] = pa.scalar(str(attrs["source"]), pa.string())
    columns = [
        pa.repeat(supplied[name], loaded.num_rows) if name in supplied else loaded[name].combine_chunks()
        for name in table.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)
