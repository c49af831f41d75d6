"""`Store`: a lake on disk or object storage; what `open_store` returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import flag, suggesting
from ledgerframes.frames import As, Decimals, check_shape, described, shape
from ledgerframes.loaders.planning import Plan, plan_windows
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, Duration, When, Window, wanted_window, window
from ledgerframes.store.checks.check import Check, check
from ledgerframes.store.checks.compact import compact
from ledgerframes.store.checks.repair import RepairReport, repair
from ledgerframes.store.checks.verify import verify
from ledgerframes.store.coverage import missing_windows
from ledgerframes.store.history_tables import ORDER
from ledgerframes.store.keywords import AsOf, LoadOptions, SqlOptions
from ledgerframes.store.lake import Lake, declared
from ledgerframes.store.read.dask_frames import dask_frame
from ledgerframes.store.read.exports import export
from ledgerframes.store.read.frames import coverage_frame, runs_frame
from ledgerframes.store.read.reading import Part, Where, conditions
from ledgerframes.store.sync.committing import COMMIT_BYTES
from ledgerframes.store.sync.follow import follow
from ledgerframes.store.sync.rejects import retry
from ledgerframes.store.sync.report import SyncReport
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.sync.sync import run_sync
from ledgerframes.store.sync.sync_log import SYNCS, all_runs
from ledgerframes.timestamps import to_micros

if TYPE_CHECKING:
    import pyarrow.dataset as ds

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

    @suggesting
    def sync(
        self,
        net: Network,
        *,
        start: Bound | None = None,
        end: Bound | None = None,
        last: Duration | None = None,
        workers: int = 4,
        tables: Iterable[str] | None = None,
        parties: Iterable[str] | None = None,
        settle: Duration = "60s",
        now: When | None = None,
        page_size: int = MAXIMUM,
        commit_bytes: int = COMMIT_BYTES,
        on_error: Literal["raise", "reject"] = "raise",
        progress: bool | None = None,
        engine: Any = None,
        worker_token: str | None = None,
        replicas: bool = False,
    ) -> SyncReport:
        """Bring the store up to date: read what is missing of a range, also what an interrupted sync left out.

        Rows and coverage are one commit, so no row is lost or stored twice however a sync ends (contract: POST
        /v2/updates).

        Args:
            net: the network; a store holds one network, identified by its first update.
            start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"`.
            end: exclusive; likewise.
            last: count back from now: `"1h"`, `"7 days"`, a timedelta, or seconds; instead of `start`.
            workers: how many requests are sent at once.
            tables: what to sync. The history is `updates`, `events` and `reassignments`, always together; snapshots
                (`licenses`, `instruments`, `holdings_summary`, …) are appended with their time of loading. Without
                it: the history.
            parties: whose holdings or preapprovals, for snapshots that are read party by party.
            settle: how long after its newest update a server may show an older one, for instance of a slow
                synchronizer. Newer rows than that are stored, and read again by the next sync.
            now: what `last` counts from; the clock's time by default.
            page_size: items per request; adapted to what the server can do.
            commit_bytes: commit once the rows take this many bytes in memory, or after a minute; less takes less
                memory and makes more files.
            on_error: `"raise"` stops before the commit of a page with an item that breaks the contract; `"reject"`
                keeps such items whole in the table `rejects` and continues.
            progress: True shows a bar, False nothing, None a bar on a terminal or in a notebook.
            engine: a `dask.distributed.Client`: its workers fetch and decode, sharing the request budget.
            worker_token: where they find the scan's token: `"env:NAME"`, `"file:PATH"` or `"command:WORDS"`.
            replicas: several machines that are not in step answer behind one URL, so that one answer proves nothing
                about the next. More of the history is read again.

        Returns:
            What was done; `store.syncs()` lists it.

        Raises:
            InputError: an argument breaks a rule.
            RequestError: the servers gave no answer; what was read before is kept.
            DecodeError: an answer breaks the contract; what was read before is kept.
            StoreError: the store cannot be written, another sync runs, or it holds another network.
        """
        request = SyncRequest(
            start=start, end=end, last=last, workers=workers, tables=tables, parties=parties, settle=settle, now=now,
            page_size=page_size, commit_bytes=commit_bytes, on_error=on_error, progress=progress, engine=engine,
            worker_token=worker_token, replicas=replicas,
        )  # fmt: skip
        return run_sync(self._lake, net, request)

    follow = follow

    @overload
    def load(self, table: str, *, as_: Literal["pandas"] = ..., **options: Unpack[LoadOptions]) -> pd.DataFrame: ...
    @overload
    def load(self, table: str, *, as_: Literal["arrow"], **options: Unpack[LoadOptions]) -> pa.Table: ...
    @overload
    def load(self, table: str, *, as_: Literal["polars"], **options: Unpack[LoadOptions]) -> Any: ...
    @suggesting
    def load(
        self,
        table: str,
        *,
        columns: Iterable[str] | None = None,
        start: Bound | None = None,
        end: Bound | None = None,
        last: Duration | None = None,
        where: Where = None,
        as_of: AsOf | None = None,
        allow_partial: bool = False,
        as_: As = "pandas",
        decimals: Decimals = "object",
    ) -> Any:
        """Load rows of a stored table; only the files, row groups and columns that are needed are read.

        Args:
            table: its name; `store.tables()` lists them.
            columns: the columns to keep; all by default.
            start: inclusive; a time for every migration from there, a pair (migration id, time), or `"begin"`.
            end: exclusive; likewise.
            last: count back from now; instead of `start`.
            where: `{column: value}` or `{column: [values]}`, `[(column, ">", value), …]`, or a pyarrow expression.
            as_of: read the state that a sync left: its id, or a time.
            allow_partial: return what is stored of a range that is not fully covered.
            as_: `"pandas"`, `"arrow"` or `"polars"`.
            decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.

        Returns:
            The rows; of the history in order of migration id and record time, of a snapshot table in order of loading.

        Raises:
            InputError: an argument breaks a rule.
            PartialResultError: the range is not fully covered.
        """
        check_shape(as_, decimals)
        named = declared(table)
        kept = named.pick(columns)
        part = wanted_window(start, end, last)
        read = Part.of(self._lake.existing(as_of, names=[table]), table, part, allow_partial=allow_partial)
        found = read.load(kept, conditions(where, named))
        attrs = read.provenance(self._lake.url, part).attrs() | {"as_of": as_of and str(as_of)}
        return shape(described(found, attrs), named, as_=as_, decimals=decimals, attrs=attrs)

    @suggesting
    def scan(
        self,
        table: str,
        *,
        start: Bound | None = None,
        end: Bound | None = None,
        as_of: AsOf | None = None,
        allow_partial: bool = False,
    ) -> ds.Dataset:
        """A stored table as a pyarrow Dataset, limited to what is covered; for engines that read lazily.

        Args:
            table: its name; `store.tables()` lists them.
            start: see `load`, as for `end`.
            end: exclusive.
            as_of: read the state that a sync left: its id, or a time.
            allow_partial: return what is stored of a range that is not fully covered.

        Returns:
            A dataset of the rows.

        Raises:
            InputError: an argument breaks a rule.
            PartialResultError: the range is not fully covered.
        """
        declared(table)
        view = self._lake.existing(as_of, names=[table])
        return Part.of(view, table, window(start, end), allow_partial=allow_partial).dataset

    @suggesting
    def dask(
        self,
        table: str,
        *,
        columns: Iterable[str] | None = None,
        start: Bound | None = None,
        end: Bound | None = None,
        as_of: AsOf | None = None,
        allow_partial: bool = False,
        decimals: Decimals = "object",
    ) -> Any:
        """A stored table as a Dask DataFrame: one partition per file, the types of `load`, rows read when computed.

        Args:
            table: its name; `store.tables()` lists them.
            columns: the columns to keep; all by default.
            start: see `load`, as for `end`.
            end: exclusive.
            as_of: read the state that a sync left: its id, or a time.
            allow_partial: return what is stored of a range that is not fully covered.
            decimals: how amounts are held; see `load`.

        Returns:
            A Dask DataFrame.

        Raises:
            InputError: Dask is not installed, or an argument breaks a rule.
            PartialResultError: the range is not fully covered.
        """
        check_shape("pandas", decimals)
        names = declared(table).pick(columns)
        view = self._lake.existing(as_of, names=[table])
        return dask_frame(
            self._lake, view, table, names, window(start, end), allow_partial=allow_partial, decimals=decimals
        )

    @overload
    def sql(self, query: str, *, as_: Literal["pandas"] = ..., **options: Unpack[SqlOptions]) -> pd.DataFrame: ...
    @overload
    def sql(self, query: str, *, as_: Literal["arrow"], **options: Unpack[SqlOptions]) -> pa.Table: ...
    @overload
    def sql(self, query: str, *, as_: Literal["polars"], **options: Unpack[SqlOptions]) -> Any: ...
    @suggesting
    def sql(
        self, query: str, *, as_of: AsOf | None = None, allow_partial: bool = False,
        as_: As = "pandas", parameters: Sequence[Any] | None = None,
    ) -> Any:  # fmt: skip
        """Query the store in DuckDB's SQL; every table goes by its name.

        Args:
            query: one statement; `?` stands for parameters.
            as_of: read the state that a sync left: its id, or a time.
            allow_partial: query a history with holes.
            as_: the form of the result.
            parameters: values for the `?`, in order.

        Returns:
            The result of the query, with its columns.

        Raises:
            InputError: DuckDB is not installed, or the query is wrong.
        """
        from ledgerframes.store.read.sql import ask

        partly = flag(allow_partial, "allow_partial")
        view = self._lake.existing(as_of)

        def dataset(name: str) -> ds.Dataset:
            return Part.of(view, name, Window(), allow_partial=partly).dataset

        return ask(query, dataset, view.tables, as_=as_, parameters=parameters)

    export = export

    def check(self, *, full: bool = False) -> Check:
        """Check from the files alone that they are there, keys are unique, counts add up, and counters are sound.

        Args:
            full: also hash every byte of every file and compare with what was written.

        Returns:
            What was found; true if there is no error.

        Raises:
            StoreError: there is no store, or a log cannot be read.
        """
        return check(self._lake, full=full)

    @suggesting
    def repair(self, *, unsettled: bool = False) -> RepairReport:
        """Take out what is damaged, lost or unsound, so that the next sync reads it again by update id.

        Every file is read to its last byte. The rows of a damaged file leave the table and its coverage in one commit;
        a table whose log is lost is created anew, empty. Nothing is deleted: earlier states stay for `as_of=`. A
        damaged snapshot cannot be read again; its files are taken out and reported.

        Args:
            unsettled: also take out what is covered and not final yet (see `coverage`), so that the next sync reads
                what the network says now; for servers that were restored and whose history continued differently.

        Returns:
            What was damaged, and what the next sync has to read again.

        Raises:
            StoreError: there is no store, a sync runs on it, or it cannot be written.
        """
        return repair(self._lake, unsettled=flag(unsettled, "unsettled"))

    verify = verify

    def retry_rejects(self) -> pd.DataFrame:
        """Decode the rejected items again, by this version; those that can be decoded move to the history.

        Returns:
            The remaining rejects, one row per item.
        """
        retry(self._lake)
        return self.load("rejects")

    @suggesting
    def compact(self, *, forget_before: When | None = None) -> pd.DataFrame:
        """Join small files; a sync does so by itself where a partition has many.

        Args:
            forget_before: also remove the files that only states before this time need; `as_of=` can no longer read
                those states. Without it nothing is removed.

        Returns:
            What `tables()` returns afterwards.

        Raises:
            StoreError: a sync runs on the store, or it cannot be written.
        """
        before = None if forget_before is None else to_micros(forget_before, "forget_before")
        compact(self._lake, before)
        return self.tables()

    def tables(self) -> pd.DataFrame:
        """The stored tables.

        Returns:
            One row per table: table, rows, files, bytes, version.
        """
        view = self._lake.view()
        rows = [table.size() for name, table in view.tables.items() if name in view.versions]
        return pd.DataFrame(rows, columns=["table", "rows", "files", "bytes", "version"])

    @suggesting
    def coverage(self, *, as_of: AsOf | None = None) -> pd.DataFrame:
        """Which intervals of the history the store covers: what `load` returns without a PartialResultError.

        Args:
            as_of: read the state that a sync left: its id, or a time.

        Returns:
            One row per interval: migration_id, after (exclusive), up_to (inclusive) and settled (inclusive: up to here
            rows are final; null if none are, the end of the year 9999 if all are) as datetime64[us, UTC], and
            from_beginning and to_end where a migration is covered from its first or up to its last update.
        """
        return coverage_frame(self._lake.view(as_of, names=ORDER).slots)

    @suggesting
    def plan(self, net: Network, *, start: Bound | None = None, end: Bound | None = None) -> Plan:
        """Estimate what a sync would read, from small samples.

        Args:
            net: the network; its scan is asked.
            start: see `load`, as for `end`.
            end: exclusive.

        Returns:
            The estimate: updates, requests, bytes and time.

        Raises:
            RequestError: the servers gave no answer.
        """
        wanted = window(start, end)
        return plan_windows(
            net, missing_windows(wanted, self._lake.view(names=ORDER).covered), f"what is missing of {wanted}"
        )

    def syncs(self) -> pd.DataFrame:
        """The syncs so far, the newest last: their ids, when they ended, what they added.

        Returns:
            One row per sync: sync_id, finished_at, complete, rows (a dict), requests, seconds, error.
        """
        return runs_frame(all_runs(self._lake.table(SYNCS.name).refresh()))
