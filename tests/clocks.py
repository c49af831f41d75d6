"""A clock whose sleeps take no time."""

import threading
import time


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
