"""`run_sync`: a sync from the lock to the report; `Store.sync` and `Store.follow` call it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ledgerframes.config.settings import source_of
from ledgerframes.decoding.pages import choice
from ledgerframes.errors import IncompleteFiguresWarning, InputError, LedgerframesError, StoppedError, warn
from ledgerframes.loaders.progress import Progress, progress_of
from ledgerframes.models.computing import unknown_movers
from ledgerframes.objects.page_source import ObjectIndex, ObjectPages, object_index
from ledgerframes.paging.proofs import Proofs
from ledgerframes.stopping import Stop, held_back
from ledgerframes.store.coverage import holes_of
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.deriving import derive_tables
from ledgerframes.store.lake import Lake
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY, SETS, TableSet
from ledgerframes.store.sync.agreement import Agreement, network_for
from ledgerframes.store.sync.committing import CommitSize, Committer, Finality
from ledgerframes.store.sync.fetching import Fetcher, Prober
from ledgerframes.store.sync.history_sync import HistorySync
from ledgerframes.store.sync.rejects import RejectingDecoder, rejected_ids
from ledgerframes.store.sync.report import SyncReport, is_known, keep
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.store.sync.snapshots import SnapshotSync, load_snapshot
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS
from ledgerframes.timestamps import EPOCH, MICROSECOND, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.store")
#: The number of names listed in a warning.
_FEW: Final = 5


def run_sync(lake: Lake, net: Network, request: SyncRequest) -> SyncReport:
    """Bring a store up to date.

    Raises:
        LedgerframesError: the error that ended it early; its report is kept in the store.
    """
    with lake.writing():
        for name in lake.root().names:
            lake.root().own(name)  # refuses a damaged store before anything is read for it
        run = _Run(lake, net, request)
        try:
            run.carry_out()
        except BaseException as error:
            # Also for KeyboardInterrupt: the committed rows are a state of their own that as_of= can name.
            run.note(error)
            raise
        return run.finish()


class _Run:
    """One sync while it runs."""

    def __init__(self, lake: Lake, net: Network, request: SyncRequest) -> None:
        self._lake = lake
        self._net = net
        self._request = request
        self._before = net.stats.snapshot()
        self._began = request.clock.monotonic()
        now = EPOCH + self._now() * MICROSECOND
        self._report = SyncReport(f"{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}", f"{now:%Y-%m-%dT%H:%M:%SZ}")
        self._syncs: list[HistorySync] = []
        self._rows: dict[str, int] = {}
        self._sources: dict[str, None] = {}

    def _now(self) -> int:
        return int(self._request.clock.now() * 1_000_000)

    def carry_out(self) -> None:
        self._request = request = self._request.counting_back(self._net)
        self._report = replace(self._report, counted_from=request.counted_from)
        if request.engine is not None and not self._net.is_remote:
            raise InputError("engine= does not go together with open_objects: workers would not find the objects")
        if request.engine is not None and request.source == "pages":
            raise InputError(
                "engine= reads objects, and source='pages' (the default) reads none: a scan limits how many pages one"
                " client gets, so that a cluster reads them no faster. Give source='objects' or 'auto', or leave out"
                " engine="
            )
        if request.engine is not None and self._lake.options:
            raise InputError(
                f"source={request.source!r}: workers write the rows of objects to the store, and its storage_options"
                " are not sent to them. What to do: give them the credentials in their environment and open the store"
                " without storage_options, or leave engine= or source= out"
            )
        for of in request.sets:
            stop = Stop()
            # Also while nothing waits: finalizers and C++ drop what a signal's handler raises. The wait for a cluster
            # does not check the flag.
            with nullcontext() if request.engine is not None else held_back(stop.set):
                self._recognise(of)
                with progress_of("sync", shown=request.progress) as shown, self._objects(of, stop) as objects:
                    self._syncs.append(_history_sync(self._lake, self._net, request, shown, of, stop, objects))
                    self._syncs[-1].run()
            if self._syncs[-1].history.written:
                self._syncs[-1].history.compact_crowded()
        network = network_for(self._net, self._lake, self._request.settle_micros) if request.snapshots else {}
        for name in request.snapshots:
            self._append(name, network)
        self._derive()

    def _objects(self, of: TableSet, stop: Stop) -> AbstractContextManager[ObjectIndex | None]:
        """The objects that a sync reads; None if it reads pages only."""
        request = self._request
        # Pages of an opened folder come from objects already.
        if request.source == "pages" or of is not HISTORY or not self._net.is_remote:
            return nullcontext()
        return object_index(
            self._net.scan.stoppable(stop), request.settle_micros,
            workers=request.workers, required=request.source == "objects", ahead=request.scheduler.ahead,
        )  # fmt: skip

    def _derive(self) -> None:
        """Bring the computed tables up to date."""
        chosen = self._request.derive
        wanted = self._lake.derived() if chosen is None else tuple(chosen)
        if wanted:
            written = derive_tables(self._lake, wanted).written
            self._rows |= {name: count for name, count in written.items() if count}

    def _recognise(self, of: TableSet) -> None:
        """Check the network before syncing a history that the store does not have yet.

        Raises:
            StoreError: the store was filled from another network.
        """
        root = self._lake.root()
        # Without stored updates, comparing them would not notice another network.
        if of.name not in root.document.histories and (of is not HISTORY or root.document.network):
            root.bind(network_for(self._net, self._lake, self._request.settle_micros))

    def _append(self, name: str, network: Mapping[str, str]) -> None:
        if name == ACTIVE_CONTRACTS.name:
            self._stream(network)
            return
        batch = load_snapshot(self._net, name, self._request.owners)
        table = self._ready(name, network)
        table.append([batch])
        table.compact_crowded()
        self._lake.root().finish()
        self._rows[name] = batch.num_rows
        for source in batch["source"].unique().to_pylist():
            self._sources[source] = None

    def _ready(self, name: str, network: Mapping[str, str]) -> DeltaStoreTable:
        """Prepare a snapshot table for appending."""
        root = self._lake.root()
        root.bind(network)
        table = root.own(name)
        if not table.exists:
            table.create()
        return table

    def _stream(self, network: Mapping[str, str]) -> None:
        table = self._ready(ACTIVE_CONTRACTS.name, network)
        with progress_of("sync", shown=self._request.progress, unit="contracts") as shown:
            sync = SnapshotSync(self._lake.root(), table, self._request, shown)
            try:
                sync.run(self._net)
            finally:
                self._rows[ACTIVE_CONTRACTS.name] = sync.rows
                self._sources |= sync.sources

    def finish(self) -> SyncReport:
        """Finish the report; it is kept in the store unless nothing changed since the last sync."""
        root = self._lake.root()
        root.finish()
        report = self._filled()
        if not is_known(root, report):
            keep(root, report, self._now())
        self._warn()
        return report

    def _warn(self) -> None:
        """Warn of stored events that may move coin in a way that computed tables do not know."""
        seen = frozenset(pair for sync in self._syncs for pair in sync.commit.seen)
        if seen and (unknown := unknown_movers(seen)):
            warn(
                f"{self._lake.url}: this version does not know {', '.join(unknown[:_FEW])}"
                f"{f' and {len(unknown) - _FEW:,} more' if len(unknown) > _FEW else ''}, which are like rewards or may"
                " move coin; the history has them, and computed tables do not",
                IncompleteFiguresWarning,
            )

    def note(self, error: BaseException) -> None:
        """Store a report of a sync that ended early, if the store can still be written."""
        text = str(error) if isinstance(error, LedgerframesError) else type(error).__name__
        try:
            root = self._lake.root()
            root.take_back()
            root.finish()
            if not self._lake.at().stored:
                return
            report = replace(self._filled(), complete=False, error=text)
            if isinstance(error, (KeyboardInterrupt, StoppedError)):
                _log.warning(
                    "the sync was stopped: %s of its updates are stored, and stay; %s. The same sync resumes there",
                    f"{report.rows.get('updates', 0):,}", f"covered: {'; '.join(report.covered) or 'nothing yet'}",
                )  # fmt: skip
            keep(root, report, self._now())
        except LedgerframesError as failed:
            if str(failed) != text:
                _log.warning("the report of a sync that ended early could not be kept: %s", failed)

    def _filled(self) -> SyncReport:
        root = self._lake.root()
        stats = self._net.stats.snapshot()
        report = replace(
            self._report,
            seconds=round(self._request.clock.monotonic() - self._began, 3),
            covered=_covered(root),
            gaps=_gaps(root, self._request),
            begins_late=_begins_late(root),
            requests=stats.requests - self._before.requests,
            bytes=stats.bytes - self._before.bytes,
            retries=stats.retries - self._before.retries,
            waits_seconds=round(stats.waits_seconds - self._before.waits_seconds, 3),
        )
        syncs = self._syncs
        if not syncs:
            return replace(report, rows=self._rows, sources=tuple(self._sources))
        rows = {name: sync.commit.rows[name] for sync in syncs for name in sync.history.tables}
        sources = {source: None for sync in syncs for source in sync.sources} | self._sources
        left = tuple(text for sync in syncs for text in sync.left)
        return replace(
            report,
            rows={**rows, **self._rows},
            commits=sum(sync.history.written for sync in syncs),
            decoder=str(choice()),
            left=left,
            rejected=sum(sync.fetch.rejecting.count for sync in syncs if sync.fetch.rejecting is not None),
            sources=tuple(sources) or tuple(map(source_of, syncs[-1].servers.servers)),
            complete=not left,
        )


def _covered(root: Root) -> tuple[str, ...]:
    """The coverage of each history of a store, in words."""
    return tuple(
        str(interval) if of is HISTORY else f"{of.name}: {interval}"
        for of in SETS
        for interval in root.coverage_of(of).common
    )


def _gaps(root: Root, request: SyncRequest) -> tuple[str, ...]:
    """The requested parts before the end of a history's coverage that are not covered, in words."""
    return tuple(
        str(interval) if of is HISTORY else f"{of.name}: {interval}"
        for of in request.sets
        if (coverage := root.coverage_of(of)).common
        for interval in holes_of(coverage, request.window)
        if interval < coverage.common[-1]
    )


def _begins_late(root: Root) -> str | None:
    begin = root.coverage.begin if root.has(HISTORY) else None
    return None if begin is None or begin.late is None else format_timestamp(begin.late.micros)


def _history_sync(
    lake: Lake,
    net: Network,
    request: SyncRequest,
    shown: Progress,
    of: TableSet,
    stop: Stop,
    objects: ObjectIndex | None,
) -> HistorySync:
    """Assemble the stages of a sync."""
    source = net.scan.pages(of.pages)
    source = source.leniently() if request.reject else source
    lately = replace(lake.lately, clock=request.clock.monotonic)  # of the same observations
    proofs = Proofs(request.settle_micros, request.overlap)
    servers = AgreedServers(source, proofs, lately, begins_after=net.begins_after).stoppable(stop)
    history = lake.history(of)
    prober = Prober(servers, request.now_micros, newest=0)
    rejects = lake.root().own("rejects")
    rejected = rejected_ids(rejects, of.pages) if rejects.exists else set[str]()
    agreement = Agreement(servers, history, request.page_size, rejected)
    # Only rows are read from objects; servers show the network and its newest items.
    pages = None if objects is None else ObjectPages(servers, objects, servers.left_out, servers.begins)
    read = replace(servers, objects=pages)
    fetch = Fetcher(read, prober, request.workers, request.page_size, request.scheduler, stop.set)
    if request.reject:
        fetch.rejecting = RejectingDecoder(rejects, of.pages, ids=rejected)
    if request.engine is not None and pages is not None:
        from ledgerframes.store.sync.cluster import ClusterReader, plain_settings, worker_count

        settings = plain_settings(net.settings, workers=worker_count(request.engine))
        fetch.segments = ClusterReader(request.engine, settings, prober, pages, lake.base, history).read
    size = CommitSize(request.commit_bytes)
    commit = Committer(Finality(agreement), request.scheduler, size, request.clock.monotonic)
    return HistorySync(request, agreement, shown, fetch, commit)
