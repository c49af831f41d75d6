"""The clock that every wait and every pause goes through, so that a test can hand in its own."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What the transport needs of time; all in seconds."""

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""
        ...

    def now(self) -> float:
        """Seconds since 1970 in UTC."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The real time."""

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""
        return time.monotonic()

    def now(self) -> float:
        """Seconds since 1970 in UTC."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
