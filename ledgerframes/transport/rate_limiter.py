"""Limits the requests to one host, per second and at a time; the transport keeps one limiter per host."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ledgerframes.stopping import SLICE, Clock, Stop


class RateLimiter:
    """A token bucket and a limit on requests under way, shared by all threads.

    Args:
        rate: requests per second in the long run.
        burst: requests that may go at once after a pause.
        parallel: requests under way at the same time.
        clock: the clock for waits.
        waited: counts the seconds of a wait.
    """

    def __init__(
        self, *, rate: float, burst: int, parallel: int, clock: Clock, waited: Callable[[float], None]
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._slots = threading.Semaphore(parallel)
        self._clock = clock
        self._waited = waited
        self._lock = threading.Lock()
        self._left = float(burst)
        self._at = clock.monotonic()

    @contextmanager
    def passing(self, stop: Stop) -> Iterator[None]:
        """Wait for a slot and for the rate, and hold the slot until the request is over.

        Raises:
            StoppedError: the operation was stopped.
        """
        began = self._clock.monotonic()
        # The slot before the rate: tokens taken while waiting for a slot would be spent in one burst.
        stop.check()
        while not self._slots.acquire(timeout=SLICE):
            stop.check()
        try:
            queued = self._clock.monotonic() - began
            pause = self._reserve()
            stop.sleep(self._clock, pause)
            self._waited(queued + pause)
            yield
        finally:
            self._slots.release()

    def _reserve(self) -> float:
        """Reserve a token and return the seconds until it is available."""
        with self._lock:
            now = self._clock.monotonic()
            # Below zero it is a debt: each thread reserves its own later instant, and none has to check again.
            self._left = min(self._burst, self._left + (now - self._at) * self._rate) - 1
            self._at = now
            return max(0.0, -self._left / self._rate)
