"""`run_sync`: a sync from the lock to the report; `Store.sync` and `Store.follow` call it."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ledgerframes.config.settings import source_of
from ledgerframes.errors import LedgerframesError
from ledgerframes.interfaces.history import PageSource
from ledgerframes.loaders.progress import progress_of
from ledgerframes.store.history_tables import NETWORK, ORDER
from ledgerframes.store.lake import Lake
from ledgerframes.store.sync.driving import Drive, ThreadDrive
from ledgerframes.store.sync.history_sync import HistorySync, Wish
from ledgerframes.store.sync.rejects import LenientSource, RejectingDecoder, rejected_ids
from ledgerframes.store.sync.report import SyncReport
from ledgerframes.store.sync.servers import AgreedServers, PageSizes
from ledgerframes.store.sync.snapshots import load_snapshot, network_for
from ledgerframes.store.sync.sync_log import SYNCS, is_known, keep
from ledgerframes.timestamps import EPOCH, MICROSECOND
from ledgerframes.transport import Clock, SystemClock

if TYPE_CHECKING:
    from ledgerframes.store.sync.dask_fetching import ClusterFetchers

if TYPE_CHECKING:
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.store")


@dataclass(frozen=True)
class SyncRequest:
    """What a caller of `Store.sync` wants, checked.

    Attributes:
        wish: the part of the history; None where the history is not wanted.
        snapshots: the snapshot tables to append to.
        parties: for those that are asked for party by party.
        reject: keep broken items in `rejects` and go on.
        progress: as the loaders take it.
        engine: a client of a Dask cluster whose workers read, or None.
        worker_token: where they find the scan's token.
        drive: runs workers and commits.
        clock: the time of the report, and of commits.
    """

    wish: Wish | None
    snapshots: tuple[str, ...]
    parties: tuple[str, ...]
    reject: bool
    progress: bool | None
    engine: Any = None
    worker_token: str | None = None
    drive: Drive = field(default_factory=ThreadDrive)
    clock: Clock = field(default_factory=SystemClock)


def run_sync(lake: Lake, net: Network, order: SyncRequest) -> SyncReport:
    """Bring a store up to date.

    Raises:
        LedgerframesError: what ended it early; the report of it is kept in the store.
    """
    with lake.writing():
        run = _Run(lake, net, order)
        try:
            run.carry_out()
        except BaseException as error:
            run.note(error)
            raise
        return run.finish()


class _Run:
    """One sync while it runs."""

    def __init__(self, lake: Lake, net: Network, order: SyncRequest) -> None:
        self._lake = lake
        self._net = net
        self._order = order
        self._before = net.stats.snapshot()
        self._began = self._order.clock.monotonic()
        now = EPOCH + self._now() * MICROSECOND
        self._report = SyncReport(f"{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}", f"{now:%Y-%m-%dT%H:%M:%SZ}")
        self._sync: HistorySync | None = None
        self._rows: dict[str, int] = {}
        self._sources: dict[str, None] = {}

    def _now(self) -> int:
        return int(self._order.clock.now() * 1_000_000)

    def carry_out(self) -> None:
        order = self._order
        known = self._lake.network()
        if order.wish is not None and known is not None and not self._lake.table(ORDER[0]).refresh().exists:
            network_for(self._net, known)  # a store of snapshots gets its history
        if order.wish is not None:
            with progress_of("sync", shown=order.progress) as shown:
                pages = PageSizes(order.clock.monotonic, self._lake.page_sizes)
                self._sync = HistorySync(
                    AgreedServers(self._source(), pages), self._lake.history(), order.wish, shown,
                    rejected=rejected_ids(self._lake.table("rejects")), drive=order.drive, clock=order.clock,
                )  # fmt: skip
                if order.reject:
                    self._sync.rejecting = RejectingDecoder(self._lake.table("rejects"))
                if order.engine is not None:
                    self._sync.fetchers = self._cluster(self._sync)
                self._sync.run()
        network = network_for(self._net, known) if order.snapshots else None
        for name in order.snapshots:
            self._append(name, network)

    def _cluster(self, sync: HistorySync) -> ClusterFetchers:
        from ledgerframes.store.sync.dask_fetching import ClusterFetchers, plain_settings

        engine, token = self._order.engine, self._order.worker_token
        workers = max(len(engine.scheduler_info(n_workers=-1)["workers"]), 1)
        settings = plain_settings(self._net.settings, workers=workers, worker_token=token)
        return ClusterFetchers(engine, sync.servers, sync.prober, settings, token, sync.wish.page_size)

    def _source(self) -> PageSource:
        return LenientSource(self._net.scan) if self._order.reject else self._net.scan

    def _append(self, name: str, network: str | None) -> None:
        batch = load_snapshot(self._net, name, self._order.parties)
        table = self._lake.table(name).refresh()
        if not table.exists:
            table.create({} if network is None else {NETWORK: network})
        table.check_schema()
        table.append([batch], {})
        self._rows[name] = batch.num_rows
        for source in batch["source"].unique().to_pylist():
            self._sources[source] = None

    def finish(self) -> SyncReport:
        """The report; kept in the store unless nothing changed since the sync before."""
        report = self._filled()
        if not is_known(self._lake.table(SYNCS.name).refresh(), report):
            keep(self._lake.table(SYNCS.name), report, self._now())
        return report

    def note(self, error: BaseException) -> None:
        """Keep a report of a sync that ended early, if the store can still be written."""
        text = str(error) if isinstance(error, LedgerframesError) else type(error).__name__
        try:
            view = self._lake.view()
            if not view.versions:
                return
            report = replace(self._filled(), complete=False, error=text)
            keep(self._lake.table(SYNCS.name), report, self._now())
        except LedgerframesError as failed:
            _log.warning("the report of a sync that ended early could not be kept: %s", failed)

    def _filled(self) -> SyncReport:
        view = self._lake.view()
        sync, stats = self._sync, self._net.stats.snapshot()
        report = replace(
            self._report,
            seconds=round(self._order.clock.monotonic() - self._began, 3),
            covered=tuple(str(one) for one in view.covered),
            versions=view.versions,
            requests=stats.requests - self._before.requests,
            bytes=stats.bytes - self._before.bytes,
            retries=stats.retries - self._before.retries,
            waits_seconds=round(stats.waits_seconds - self._before.waits_seconds, 3),
        )
        if sync is None:
            return replace(report, rows=self._rows, sources=tuple(self._sources))
        return replace(
            report,
            rows={**{name: sync.committer.rows[name] for name in sync.history.tables}, **self._rows},
            commits=sync.committer.commits,
            stages=_stages(sync),
            left=tuple(sync.left),
            rejected=0 if sync.rejecting is None else sync.rejecting.count,
            sources=tuple({**sync.sources, **self._sources}) or tuple(map(source_of, sync.servers.servers)),
            complete=not sync.left,
        )


def _stages(sync: HistorySync) -> dict[str, dict[str, float]]:
    times = {
        "fetch": (0.0, 0.0) if sync.fetchers is None else (sync.fetchers.seconds, sync.fetchers.cpu_seconds),
        "decode": (sync.decode_seconds, sync.decode_cpu_seconds),
        "commit": (sync.committer.seconds, sync.committer.cpu_seconds),
    }
    return {
        name: {"seconds": round(seconds, 3), "cpu_seconds": round(cpu, 3)} for name, (seconds, cpu) in times.items()
    }
