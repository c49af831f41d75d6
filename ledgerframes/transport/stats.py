"""Counts of requests, bytes and waits; the transport counts, run reports show them."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, replace


@dataclass
class Stats:
    """Counts since a `Transport` was made; any thread may read and add.

    Attributes:
        requests: requests sent, each attempt counted.
        bytes: bytes received in bodies, after decompression.
        retries: attempts after a failed one.
        waits_seconds: time spent waiting for the rate, for a free slot and between attempts, over all threads.
        statuses: answers by HTTP status; 0 counts requests without an answer.
    """

    requests: int = 0
    bytes: int = 0
    retries: int = 0
    waits_seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def received(self, status: int, size: int) -> None:
        """Count one request and its answer; status 0 means no answer."""
        with self._lock:
            self.requests += 1
            self.bytes += size
            self.statuses[status] += 1

    def retried(self) -> None:
        """Count one more attempt of the same request."""
        with self._lock:
            self.retries += 1

    def waited(self, seconds: float) -> None:
        """Add time spent waiting."""
        with self._lock:
            self.waits_seconds += seconds

    def snapshot(self) -> Stats:
        """A copy that does not change."""
        with self._lock:
            return replace(self, statuses=Counter(self.statuses), _lock=threading.Lock())
