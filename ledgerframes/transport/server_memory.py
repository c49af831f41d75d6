"""Knows the servers of one `Transport`: which work, and their routes; and counts its requests."""

from __future__ import annotations

import inspect
import threading
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Final

from ledgerframes.config.settings import Interface
from ledgerframes.transport.request import DeprecatedEndpointWarning, Endpoint

#: The packages between a request and the caller of `net.scan.…`.
_BELOW: Final = {("ledgerframes", "transport"), ("ledgerframes", "interfaces")}


class ServerPreferences:
    """Shared by all threads of one `Transport`; each step is a single dictionary or set operation, so there is no lock.

    Attributes:
        preferred: by interface, the server that worked last, which is asked first.
        reached: the servers that have answered, whatever the answer.
        recognised: those that have answered as servers of their kind do, so that their address is right.
    """

    def __init__(self) -> None:
        self.preferred: dict[Interface, str] = {}
        self._routes: dict[tuple[str, Endpoint], int] = {}
        self._warned: set[Endpoint] = set()
        self.recognised: set[str] = set()
        self.reached: set[str] = set()

    def routes(self, server: str, endpoint: Endpoint, count: int) -> list[int]:
        """Positions of the alternatives in the order to try on a server, the known one first."""
        known = self._routes.get((server, endpoint), 0)
        return sorted(range(count), key=lambda position: (position != known, position))

    def found(self, server: str, endpoint: Endpoint, position: int) -> None:
        """Record that a server knows the route at this position."""
        self._routes[server, endpoint] = position

    def warn_once(self, endpoint: Endpoint) -> None:
        """Warn users of a deprecated endpoint the first time that they call it themselves."""
        if endpoint in self._warned or (level := _of_the_user()) is None:
            return
        self._warned.add(endpoint)
        warnings.warn(f"{endpoint}: {endpoint.deprecated}", DeprecatedEndpointWarning, stacklevel=level)


def _of_the_user() -> int | None:
    """How many frames above the caller of this function the caller of an interface is.

    None if the caller is part of the package: then the package chose the route, and its user cannot choose another.
    """
    frame, level = inspect.currentframe(), 0
    while frame is not None and _module(frame)[:2] in _BELOW:
        frame, level = frame.f_back, level + 1
    return None if frame is None or _module(frame)[0] == "ledgerframes" else level


def _module(frame: FrameType) -> tuple[str, ...]:
    return tuple(str(frame.f_globals.get("__name__", "")).split("."))


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
