"""`Store`: a lake on disk or object storage, as `open_store` returns it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import flag, suggesting
from ledgerframes.errors import InputError, LedgerframesError
from ledgerframes.loaders.planning import Plan, plan_missing
from ledgerframes.paging.cursor import Bound, Duration, When, wanted_window
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.results import html_pairs
from ledgerframes.store.checks.check import Check, check
from ledgerframes.store.checks.compact import compact
from ledgerframes.store.checks.repair import RepairReport, repair
from ledgerframes.store.checks.verify import verify
from ledgerframes.store.coverage import missing_windows
from ledgerframes.store.derive.deriving import DeriveReport, derive_tables
from ledgerframes.store.derive.kept_rows import derived_rows
from ledgerframes.store.derive.tables import derivable
from ledgerframes.store.lake import Lake
from ledgerframes.store.read.exports import export
from ledgerframes.store.read.frames import coverage_frame, runs_frame, store_html
from ledgerframes.store.read.loading import dask, load, part_of, scan, sql, whole
from ledgerframes.store.read.reporting import report
from ledgerframes.store.stored_tables import SETS, set_of
from ledgerframes.store.sync.follow import follow
from ledgerframes.store.sync.report import SYNCS, AsOf, SyncReport, all_runs
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.sync.retrying import retry_rejects
from ledgerframes.store.sync.sync import run_sync
from ledgerframes.timestamps import to_micros

if TYPE_CHECKING:
    from ledgerframes.network import Network


class Store:
    """A lake: `sync` brings it up to date, `load`, `scan`, `sql` and `dask` read it.

    Args:
        lake: where the tables are.
    """

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def __repr__(self) -> str:
        return f"Store({self._lake.url!r})"

    def _repr_html_(self) -> str:
        """The stored tables and the covered ranges, for notebooks."""
        try:
            return store_html(self._lake.url, self.tables(), self.coverage())
        except LedgerframesError as error:
            return html_pairs([("Store", self._lake.url), ("state", str(error))])

    @suggesting
    def sync(
        self,
        net: Network,
        *,
        start: Bound | None = None,
        end: Bound | None = None,
        last: Duration | None = None,
        workers: int | None = None,
        tables: Iterable[str] | None = None,
        parties: Iterable[str] | None = None,
        settle: Duration = "60s",
        now: When | None = None,
        page_size: int = MAXIMUM,
        commit_bytes: int | None = None,
        on_error: Literal["raise", "reject"] = "raise",
        progress: bool | None = None,
        engine: Any = None,
        derive: Iterable[str] | None = None,
        source: Literal["auto", "pages", "objects"] = "pages",
    ) -> SyncReport:
        """Bring the store up to date: fetch whatever a range lacks, including what an interrupted sync left behind.

        Rows and coverage are one commit, so no row is lost or stored twice however a sync ends (contract: POST
        /v2/updates).

        Args:
            net: the network; a store holds one network, identified by its first update.
            start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"`.
            end: exclusive, in the same forms as `start`.
            last: `"1h"`, `"7 days"` or a timedelta, back from the network's newest update; instead of `start`.
            workers: how many requests are sent at once, by default `parallel` of `connect`, 4; more than that wait.
            tables: what to sync. The history is `updates`, `events` and `reassignments`, always together; so are
                `verdicts`, `views` and `app_activity`; snapshots (`licenses`, `instruments`, …) are appended with their
                time of loading. `active_contracts` is streamed: the newest snapshot before `end`, unless the store has
                it; a sync that was stopped resumes. Without it: the history.
            parties: whose holdings or preapprovals, for snapshots that are read party by party.
            settle: how long after its newest update a server may still add an older one, for instance of a slow
                synchronizer. Newer rows than that are stored, and read again by the next sync.
            now: what `last` counts from; by default the newest update that the network shows.
            page_size: items per request; adapted to what the server can do.
            commit_bytes: commit once the rows take this many bytes in memory, or after a minute; less takes less
                memory and makes more files. By default 64 MB at first, and half a megabyte more after each full commit,
                up to 192 MB.
            on_error: `"raise"` stops before the commit of a page with an item that breaks the contract; `"reject"`
                keeps such items whole in the table `rejects` and continues.
            progress: True shows a bar, False nothing, None a bar on a terminal or in a notebook.
            engine: a `dask.distributed.Client`, with `source="objects"` or `"auto"`: a worker takes a whole segment of
                objects and stores its rows in the store, which it needs under the same path or URL. Not for pages: a
                scan limits requests by client.
            derive: the computed tables to bring up to date afterwards; see `Store.derive`. By default those that the
                store has; `[]` leaves them as they are.
            source: where the update history is read from: `"pages"`; `"auto"`, the compressed files that newer scans
                write about once a day where the scan has them (young), and pages for the rest; `"objects"`, the same,
                which refuses a scan that has none. A sync that was killed resumes with any of them.

        Returns:
            A report of the sync: rows added by table, requests, seconds, coverage; `store.syncs()` keeps it.

        Raises:
            InputError: an argument breaks a rule.
            RequestError: the servers did not answer; what was read before is kept.
            DecodeError: an answer breaks the contract; what was read before is kept.
            StoreError: the store cannot be written, another process writes to it, or it holds another network.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     store = lf.open_store(folder)
            ...     store.sync(net).rows
            {'events': 285, 'reassignments': 9, 'updates': 50}
        """
        workers = net.settings.parallel if workers is None else workers
        request = SyncRequest(
            start=start, end=end, last=last, workers=workers, tables=tables, parties=parties, settle=settle, now=now,
            page_size=page_size, commit_bytes=commit_bytes, on_error=on_error, progress=progress, engine=engine,
            derive=derive, source=source,
        )  # fmt: skip
        return run_sync(self._lake, net, request)

    @suggesting
    def derive(self, tables: Iterable[str] | None = None) -> DeriveReport:
        """Compute tables from the stored events and keep them next to these, up to where rows are final.

        Only what is new is read: contracts that began earlier are carried over. Rows and how far the table is computed
        are one commit, so no row is lost or stored twice however this ends. After rows were added to, or removed from,
        the final part, and under a newer version of the rules, a table is computed again.

        Args:
            tables: `round_history`, `rewards`, `transfers`, `token_transfers`, `traffic_purchases`,
                `mint_burn`, `coin_history` and `supply_per_round`; by default those that the store has.
                Tables that they are computed from are computed, too.

        Returns:
            A report. `store.load("rewards")`, `sql` and `export` read the tables; `settled` in the provenance
            shows up to where they are computed.

        Raises:
            InputError: a store does not keep one of the tables.
            PartialResultError: `coin_history` is wanted, and the store does not begin at ledger begin.
            StoreError: there is no history, a sync runs on the store, or it cannot be written.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=200) as net:
            ...     store = lf.open_store(folder)
            ...     report = store.sync(net)
            ...     report = store.derive(["traffic_purchases"])
            ...     len(store.load("traffic_purchases")) == report.rows["traffic_purchases"]
            True
        """
        wanted = None if tables is None else derivable(tables, "tables")
        self._lake.existing()
        with self._lake.writing():
            names = self._lake.derived() if wanted is None else wanted
            return derive_tables(self._lake, names)

    def _pinned(self, as_of: AsOf | None = None) -> Store:
        """The same in one state, for what reads it several times."""
        return type(self)(self._lake.pinned(self._lake.existing(as_of)))

    def _derived_rows(self, name: str) -> tuple[pa.Table, int] | None:
        """Rows that computed tables read instead of the history; see `derived_rows`."""
        return derived_rows(self._lake, name)

    def _model_input(self, name: str, needed: set[str], listed: set[str], room: int) -> Any:
        """Input of computed tables from the history; see `Part.give`."""
        return part_of(self._lake, name).give(needed, listed, room)

    follow = follow

    __getitem__ = whole
    load = load
    scan = scan
    dask = dask
    sql = sql
    export = export
    report = report

    def check(self, *, full: bool = False) -> Check:
        """Check the files alone: they exist, keys are unique, and counts add up.

        Args:
            full: also read every page of every file and compare it with its checksum.

        Returns:
            A `Check` with the findings; true if none is an error.

        Raises:
            StoreError: there is no store, or a log cannot be read.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     store = lf.open_store(folder)
            ...     report = store.sync(net)
            ...     bool(store.check(full=True))
            True
        """
        return check(self._lake, full=full)

    @suggesting
    def repair(self, *, unsettled: bool = False) -> RepairReport:
        """Remove what is damaged, lost or unsound, so that the next sync reads it again by update id.

        Every file is read to its last byte. The rows of a damaged file leave the table and its coverage in one commit;
        a table whose log is lost is created again, empty. Nothing is deleted: earlier states stay for `as_of=`. A
        damaged snapshot cannot be read again; its files are removed and reported.

        Args:
            unsettled: also remove what is covered but not final yet (see `coverage`), so that the next sync reads the
                network's current data; for servers that were restored and whose history continued differently.

        Returns:
            A report of what was damaged and what the next sync has to read again.

        Raises:
            StoreError: there is no store, a sync runs on it, or it cannot be written.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     store = lf.open_store(folder)
            ...     report = store.sync(net)
            ...     bool(store.repair())
            True
        """
        return repair(self._lake, unsettled=flag(unsettled, "unsettled"))

    verify = verify
    retry_rejects = retry_rejects

    @suggesting
    def compact(self, *, forget_before: When | None = None) -> pd.DataFrame:
        """Join small files; a sync does so by itself for partitions that have many.

        Args:
            forget_before: also remove the files that only states before this time need; `as_of=` can no longer read
                those states. While a later sync is kept, a file goes two hours after the newest state that needs it.
                Without it nothing is removed.

        Returns:
            The frame that `tables()` returns afterwards.

        Raises:
            StoreError: a sync runs on the store, or it cannot be written.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     store = lf.open_store(folder)
            ...     report = store.sync(net)
            ...     store.compact().columns.to_list()
            ['table', 'rows', 'files', 'bytes', 'version']
        """
        before = None if forget_before is None else to_micros(forget_before, "forget_before")
        compact(self._lake, before)
        return self.tables()

    def tables(self) -> pd.DataFrame:
        """The stored tables: name, rows, files, bytes, version.

        Returns:
            One row per stored table: table, rows, files, bytes and version (of the Delta table).

        Raises:
            StoreError: a table of the history is lost, or a log cannot be read.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     store = lf.open_store(folder)
            ...     report = store.sync(net)
            ...     store.tables().set_index("table").rows["updates"].item()
            50
        """
        rows = [table.size() for table in self._lake.at().stored.values()]
        return pd.DataFrame(rows, columns=["table", "rows", "files", "bytes", "version"])

    @suggesting
    def coverage(self, *, table: str = "updates", as_of: AsOf | None = None) -> pd.DataFrame:
        """The intervals of the history that the store covers, which `load` returns without a PartialResultError.

        A lake is complete where its intervals reach from the beginning to the end of each migration without a gap.

        Args:
            table: any table of the history, or one of `verdicts`, `views` and `app_activity`, which have their own.
            as_of: an older state: a sync's id, the number of a document, or a time.

        Returns:
            One row per interval: migration_id, after (exclusive), up_to (inclusive) and settled (inclusive: up to here
            rows are final; null if none are, the end of the year 9999 if all are) as datetime64[us, UTC], and
            from_beginning (null where nothing shows it) and to_end where a migration is covered from its first or up to
            its last update; begins_late: the first update that servers had, where older ones had existed.

        Raises:
            InputError: `as_of` is not valid, or `table` has no place in a history.
            StoreError: a table of the history is lost, or a log cannot be read.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     store = lf.open_store(folder)
            ...     report = store.sync(net)
            ...     store.coverage().from_beginning.to_list()
            [True, True, True]
        """
        of = set_of(table) if isinstance(table, str) else None
        if of is None:
            covered = ", ".join(name for table_set in SETS for name in table_set.shown)
            raise InputError(f"table={table!r} has no coverage: give one of {covered}")
        return coverage_frame(self._lake.at(as_of).coverage_of(of))

    @suggesting
    def plan(self, net: Network, *, start: Bound | None = None, end: Bound | None = None) -> Plan:
        """Estimate the size of a sync from small samples.

        Args:
            net: the network; its scan is asked.
            start: see `load`, as for `end`.
            end: exclusive.

        Returns:
            A `Plan`: updates, requests, megabytes and minutes, approximately.

        Raises:
            RequestError: the servers did not answer.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     store = lf.open_store(folder)
            ...     store.plan(net).rows
            50
        """
        wanted = wanted_window(start, end)
        missing = missing_windows(wanted, self._lake.at().coverage.common)
        return plan_missing(net, wanted, missing)

    def syncs(self) -> pd.DataFrame:
        """The syncs so far, newest last, with id, end time and added rows.

        Returns:
            One row per sync: sync_id, finished_at, complete, rows (a dict), requests, seconds, error.

        Raises:
            StoreError: a table of the history is lost, or a log cannot be read.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     store = lf.open_store(folder)
            ...     report = store.sync(net)
            ...     store.syncs().complete.to_list()
            [True]
        """
        return runs_frame(all_runs(self._lake.at().own(SYNCS.name)))
