"""`interruptible`: a query that Ctrl-C ends at once; models and `store.sql` call it."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from ledgerframes.stopping import SLICE, held_back
from ledgerframes.threads import ended, spawn

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")
#: The number of interrupts of a query after Ctrl-C; each waits a fifth of a second.
_INTERRUPTS: Final = 6


def interruptible(connection: duckdb.DuckDBPyConnection, call: Callable[[], T]) -> T:
    """Make a call that queries a connection; in the main thread, DuckDB turns Ctrl-C into an error of its own."""
    stopped = threading.Event()
    # Held back from before the thread begins: an error in between would close a connection that is in use.
    with held_back(stopped.set):
        running = spawn(call, "ledgerframes-sql")
        end = partial(_end, connection, running)
        # Until Python 3.14 a thread that comes out of DuckDB while the program ends takes the process down by an abort.
        atexit.register(end)
        running.add_done_callback(lambda _: atexit.unregister(end))
        try:
            while not (ended(running, SLICE) or stopped.is_set() or sys.is_finalizing()):
                pass
            if stopped.is_set():
                end()
            return running.result(0)
        except BaseException:
            end()
            raise


def _end(connection: duckdb.DuckDBPyConnection, running: Future[T]) -> None:
    import duckdb

    for _ in range(_INTERRUPTS):  # one that comes before the query begins is lost
        with suppress(duckdb.Error):
            connection.interrupt()
        if ended(running, SLICE):
            return
