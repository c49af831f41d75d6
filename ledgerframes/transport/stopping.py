"""The clock for every wait, and `Stop`, which ends one operation from another thread; requests take both."""

from __future__ import annotations

import time
from typing import Protocol

from ledgerframes.errors import StoppedError
from ledgerframes.threads import SLICE


class Clock(Protocol):
    """The clock functions that the transport needs; all in seconds."""

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


class Stop:
    """A cancellation flag; once set, it stays set. Any thread may set it.

    Args:
        above: other flags that also end this operation: that of a surrounding operation, that of the connection.

    Example:
        >>> import ledgerframes as lf
        >>> net, stop = lf.connect(scan_url="https://scan.example.com/api/scan"), Stop()
        >>> scan = net.scan.stoppable(stop)  # another thread that calls stop.set() ends its requests and pauses
    """

    def __init__(self, *above: Stop) -> None:
        self._above = above
        self._told = False

    def set(self) -> None:
        """End the operation: its waits and reads raise a StoppedError in less than a second."""
        self._told = True

    def is_set(self) -> bool:
        """Whether the operation is to end."""
        # Looked up rather than passed down, so that a long-lived parent keeps no list of its operations.
        return self._told or any(stop.is_set() for stop in self._above)

    def check(self) -> None:
        """Raise if the operation was stopped.

        Raises:
            StoppedError: the operation was stopped.
        """
        if self.is_set():
            raise StoppedError("the operation was stopped before it was done; start it again to continue")

    def sleep(self, clock: Clock, seconds: float) -> None:
        """Wait by a clock.

        Raises:
            StoppedError: the operation was stopped.
        """
        # a test's clock does not sleep and records each wait once
        longest = SLICE if isinstance(clock, SystemClock) else seconds
        left = seconds
        while left > 0:
            self.check()
            clock.sleep(min(left, longest))
            left -= longest
        self.check()
