"""`Store.follow`: a live tail, sync after sync; `repeat` runs them until it is stopped."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ledgerframes.arguments import duration, enough_memory, suggesting
from ledgerframes.errors import DecodeError, PagingError, PartialResultError, RequestError
from ledgerframes.paging.cursor import Bound, Duration
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.stopping import SLICE
from ledgerframes.store.lake import InUseError
from ledgerframes.store.sync.report import SyncReport
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.sync.sync import run_sync

if TYPE_CHECKING:
    from ledgerframes.network import Network
    from ledgerframes.store.store import Store

_log = logging.getLogger("ledgerframes.store")


@suggesting
def follow(
    self: Store,
    net: Network,
    *,
    every: Duration = "30s",
    stop: threading.Event | None = None,
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    workers: int | None = None,
    tables: Iterable[str] | None = None,
    parties: Iterable[str] | None = None,
    settle: Duration = "60s",
    page_size: int = MAXIMUM,
    commit_bytes: int | None = None,
    on_error: Literal["raise", "reject"] = "raise",
    progress: bool | None = None,
    engine: Any = None,
    derive: Iterable[str] | None = None,
    source: Literal["auto", "pages", "objects"] = "pages",
) -> Iterator[SyncReport]:
    """Sync repeatedly, as a live tail, which neither a server that is away nor another writer of the lake ends.

    Args:
        self: the store.
        net: the network.
        every: time from the start of one sync to the start of the next.
        stop: ends it once set, after the running sync has finished.
        start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"`.
        end: exclusive, in the same forms as `start`.
        last: `"1h"`, `"7 days"` or a timedelta, back from the network's newest update; instead of `start`.
        workers: how many requests are sent at once, by default `parallel` of `connect`, 4; more than that wait.
        tables: what to sync. The history is `updates`, `events` and `reassignments`, always together; so are
            `verdicts`, `views` and `app_activity`; snapshots (`licenses`, `instruments`, …) are appended with their
            time of loading. Without it: the history.
        parties: whose holdings or preapprovals, for snapshots that are read party by party.
        settle: how long after its newest update a server may still add an older one; see `sync`.
        page_size: items per request; adapted to what the server can do.
        commit_bytes: commit once the rows take this many bytes in memory, or after a minute; less takes less
            memory and makes more files. By default 64 MB at first, growing to 192 MB in a long sync.
        on_error: `"raise"` stops before the commit of a page with an item that breaks the contract; `"reject"`
            keeps such items whole in the table `rejects` and continues.
        progress: True shows a bar, False nothing, None a bar on a terminal or in a notebook.
        engine: a `dask.distributed.Client`, whose workers read objects; see `sync`.
        derive: the computed tables to bring up to date after each sync; by default those that the store has.
        source: where the update history is read from; see `sync`. Objects save time where much is missing.

    Yields:
        A report after every sync.

    Raises:
        InputError: an argument breaks a rule; raised by the call itself.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     reports = store.follow(net, every="1s")
        ...     next(reports).complete
        True
    """
    seconds = duration(every, "every") / 1e6
    workers = net.settings.parallel if workers is None else workers
    request = SyncRequest(
        start=start, end=end, last=last, workers=workers, tables=tables, parties=parties, settle=settle,
        page_size=page_size, commit_bytes=commit_bytes, on_error=on_error, progress=progress, engine=engine,
        derive=derive, source=source,
    )  # fmt: skip
    return repeat(lambda: run_sync(self._lake, net, replace(request)), seconds, stop or threading.Event())


def repeat(sync: Callable[[], SyncReport], seconds: float, stop: threading.Event) -> Iterator[SyncReport]:
    """Run a sync every `seconds`; a server's fault, or another writer, ends one sync, and the next one tries again.

    Raises:
        LedgerframesError: no later sync would succeed: the store, the settings or the arguments are at fault.
    """
    while not stop.is_set():
        began = time.monotonic()
        try:
            with enough_memory("follow"):
                report = sync()
            yield report
        # No other StoreError is among them: no later sync would fix the store by itself.
        except (RequestError, DecodeError, PagingError, PartialResultError, InUseError) as error:
            _log.warning("the sync ended early; the next one starts in %g s: %s", seconds, error)
        # A wait for an event does not notice a signal that another thread received.
        while not stop.is_set() and (left := began + seconds - time.monotonic()) > 0:
            time.sleep(min(left, SLICE))
