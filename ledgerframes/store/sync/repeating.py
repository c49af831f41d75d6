"""Repeats a sync until it is stopped; `Store.follow` and the command line use it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

from ledgerframes.arguments import enough_memory
from ledgerframes.errors import DecodeError, PagingError, PartialResultError, RequestError
from ledgerframes.stopping import SLICE
from ledgerframes.store.sync.report import SyncReport

_log = logging.getLogger("ledgerframes.store")


def follow(sync: Callable[[], SyncReport], seconds: float, stop: threading.Event) -> Iterator[SyncReport]:
    """Run a sync every `seconds`; a server's fault ends one sync, and the next one tries again.

    Raises:
        LedgerframesError: no later sync would succeed: the store, the settings or the arguments are at fault.
    """
    while not stop.is_set():
        began = time.monotonic()
        try:
            with enough_memory("follow"):
                report = sync()
            yield report
        # A StoreError is not among them: no later sync would fix the store by itself.
        except (RequestError, DecodeError, PagingError, PartialResultError) as error:
            _log.warning("the sync ended early; the next one starts in %g s: %s", seconds, error)
        # A wait for an event does not notice a signal that another thread received.
        while not stop.is_set() and (left := began + seconds - time.monotonic()) > 0:
            time.sleep(min(left, SLICE))
