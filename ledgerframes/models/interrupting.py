"""`interruptible`: a query that Ctrl-C ends at once; models and `store.sql` call it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from ledgerframes.threads import SLICE, ended, result, spawn

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")
#: How often a query is interrupted after Ctrl-C; each waits a fifth of a second.
_INTERRUPTS: Final = 6


def interruptible(connection: duckdb.DuckDBPyConnection, call: Callable[[], T]) -> T:
    """What a call returns that queries a connection; in the main thread DuckDB makes an error of its own of Ctrl-C."""
    import duckdb

    running = spawn(call, "ledgerframes-sql")
    try:
        return result(running)
    except BaseException:
        for _ in range(_INTERRUPTS):  # one that comes before the query begins is lost
            with suppress(duckdb.Error):
                connection.interrupt()
            if ended(running, SLICE):
                break
        raise
