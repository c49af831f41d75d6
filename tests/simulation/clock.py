"""One clock for everything in a simulated history; it moves only when somebody waits or a request is sent."""

from __future__ import annotations

from ledgerframes.stopping import Clock


class SimClock(Clock):
    """Time that stands still until it is moved.

    Args:
        micros: the time since 1970 that the machine believes it is.
    """

    def __init__(self, micros: int) -> None:
        self.micros = micros
        self._waited = 0.0

    def monotonic(self) -> float:
        """Seconds since the history began."""
        return self._waited

    def now(self) -> float:
        """Seconds since 1970, as this machine believes."""
        return self.micros / 1_000_000

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self._waited += seconds
        self.micros += int(seconds * 1_000_000)
