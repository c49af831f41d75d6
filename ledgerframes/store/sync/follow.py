"""`Store.follow`: a live tail, sync after sync."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from ledgerframes.arguments import duration, suggesting
from ledgerframes.loaders.contracts import party_list
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, Duration
from ledgerframes.store.sync.committing import COMMIT_BYTES
from ledgerframes.store.sync.repeating import follow as repeat
from ledgerframes.store.sync.report import SyncReport
from ledgerframes.store.sync.sync import run_sync
from ledgerframes.store.sync_options import ordered, table_names

if TYPE_CHECKING:
    from ledgerframes.network import Network
    from ledgerframes.store.store import Store


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
    workers: int = 4,
    tables: Iterable[str] | None = None,
    parties: Iterable[str] | None = None,
    settle: Duration = "60s",
    page_size: int = MAXIMUM,
    commit_bytes: int = COMMIT_BYTES,
    on_error: Literal["raise", "reject"] = "raise",
    progress: bool | None = None,
    engine: Any = None,
    worker_token: str | None = None,
    replicas: bool = False,
) -> Iterator[SyncReport]:
    """Sync again and again: a live tail. A server that is away for a while does not end it.

    Args:
        self: the store.
        net: the network.
        every: from the beginning of one sync to that of the next.
        stop: ends it once set; the sync that runs is brought to a clean end first.
        start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"`.
        end: exclusive; likewise.
        last: count back from now: `"1h"`, `"7 days"`, a timedelta, or seconds; instead of `start`.
        workers: how many requests at once.
        tables: what to sync. The history is `updates`, `events` and `reassignments`, always together; snapshots
            (`licenses`, `instruments`, `holdings_summary`, …) are appended with their time of loading. Without
            it: the history.
        parties: whose holdings or preapprovals, for snapshots that are asked for party by party.
        settle: how long after its newest update a server may show an older one; see `sync`.
        page_size: items a request asks for; adapted to what the server can do.
        commit_bytes: rows of so many bytes in memory make a commit, a minute does too; less takes less memory and
            makes more files.
        on_error: `"raise"` stops before the commit of a page with an item that breaks the contract; `"reject"`
            puts such items whole into the table `rejects` and goes on.
        progress: True shows a bar, False nothing, None a bar where somebody looks.
        engine: a `dask.distributed.Client`: its workers fetch and decode, sharing the request budget.
        worker_token: where they find the scan's token: `"env:NAME"`, `"file:PATH"` or `"command:WORDS"`.
        replicas: several machines that are not in step answer behind one URL; see `sync`.

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
    order = partial(
        ordered, start=start, end=end, last=last, workers=workers, tables=table_names(tables),
        parties=None if parties is None else party_list(parties), settle=settle, now=None, page_size=page_size,
        commit_bytes=commit_bytes, on_error=on_error, progress=progress, engine=engine, worker_token=worker_token,
        replicas=replicas,
    )  # fmt: skip
    order()
    return repeat(lambda: run_sync(self._lake, net, order()), seconds, stop or threading.Event())
