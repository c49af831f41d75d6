"""Clocks whose sleeps take no time."""

import threading
import time

NOON = 1_800_000_000.0


class SkippingClock:
    """Real time plus everything that was slept, at once."""

    def __init__(self):
        self.slept = 0.0
        self._lock = threading.Lock()

    def monotonic(self):
        return time.monotonic() + self.slept

    def now(self):
        return time.time() + self.slept

    def sleep(self, seconds):
        with self._lock:
            self.slept += seconds


class FakeClock:
    """Time that passes only by sleeping, which takes none."""

    def __init__(self):
        self.time = 0.0
        self.sleeps = []

    def monotonic(self):
        return self.time

    def now(self):
        return NOON + self.time

    def sleep(self, seconds):
        self.sleeps.append(seconds)
        self.time += seconds
