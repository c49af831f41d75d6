"""Knows the servers of one `Transport`: which work, their routes and page limits; and counts its requests."""

from __future__ import annotations

import inspect
import logging
import threading
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Final, NamedTuple

from ledgerframes.config.settings import Interface, source_of
from ledgerframes.stopping import Clock, SystemClock
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


log = logging.getLogger("ledgerframes.transport")


class PageLimits(NamedTuple):
    """The maximum number of items per request to a server.

    Attributes:
        maximum: the largest page that it has named, if any.
        manageable: a size that worked within the last hour, after a larger one failed at it or at a gateway before it.
    """

    maximum: int | None = None
    manageable: int | None = None


#: No known server fails below this size; a failed probe of one item shows nothing about pages.
_SMALL: Final = 64
#: Seconds that a smaller page is remembered, before a larger one is tried again.
_HOUR: Final = 3_600.0


@dataclass
class PageSizes:
    """Shared by all threads, without a lock: if two threads change a size at once, it is at worst tried once more.

    Attributes:
        largest: by server, the largest page that it has named; each operator may set a maximum of his own.
        clock: times how long a smaller page is remembered.
    """

    largest: dict[str, int] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    _manageable: dict[str, tuple[int, float]] = field(default_factory=dict)
    # The largest page that arrived; a temporary fault is not taken for a page that is too large.
    _came: dict[str, int] = field(default_factory=dict)

    def limits(self, server: str) -> PageLimits:
        """The maximum number of items per request to a server."""
        size, until = self._manageable.get(server, (None, 0.0))
        return PageLimits(self.largest.get(server), size if self.clock.monotonic() < until else None)

    def note(self, server: str, size: int, *, came: bool) -> None:
        """Record that a page arrived, or failed in the way of one that is too large: by a time-out, 413, 503 or 504.

        A size that worked before counts as too large only when it fails twice without working in between; a small one,
        as of a probe, never does.
        """
        largest = self._came.get(server, 0)
        if came:
            self._came[server] = max(size, largest)
        elif size <= max(_SMALL, largest):
            self._came[server] = min(size - 1, largest)
        else:
            self._manageable[server] = size // 2, self.clock.monotonic() + _HOUR

    def learn(self, server: str, maximum: int) -> None:
        """Record the largest page that a server returns; logged once per network."""
        if maximum < self.largest.get(server, maximum + 1):
            self.largest[server] = maximum
            log.info("%s returns at most %d updates per page and is asked for no more", source_of(server), maximum)


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
