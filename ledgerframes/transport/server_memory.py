"""What one `Transport` has learnt about its servers: which work, which routes they know, how large pages may be."""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Final, NamedTuple

from ledgerframes.config.settings import Interface, source_of
from ledgerframes.transport.request import DeprecatedEndpointWarning, Endpoint
from ledgerframes.transport.stopping import Clock, SystemClock

#: What lies between a request and the caller of `net.scan.…`.
_BELOW: Final = {("ledgerframes", "transport"), ("ledgerframes", "interfaces")}


class ServerPreferences:
    """Shared by all threads of one `Transport`; each step is one of a dictionary or a set, so there is no lock.

    Attributes:
        reached: the servers that have answered, whatever the answer.
        met: those that have answered as one of their kind does, so that their address is right whatever comes now.
    """

    def __init__(self) -> None:
        self._preferred: dict[Interface, str] = {}
        self._routes: dict[tuple[str, Endpoint], int] = {}
        self._warned: set[Endpoint] = set()
        self.met: set[str] = set()
        self.reached: set[str] = set()

    def order(self, interface: Interface, servers: Sequence[str]) -> tuple[str, ...]:
        """The servers of an interface, the one that worked last first."""
        preferred = self._preferred.get(interface, servers[0])
        return (preferred, *(server for server in servers if server != preferred))

    def prefer(self, interface: Interface, server: str) -> None:
        """Stay with a server."""
        self._preferred[interface] = server

    def routes(self, server: str, endpoint: Endpoint, count: int) -> list[int]:
        """Positions of the alternatives in the order to be tried on a server, the known one first."""
        known = self._routes.get((server, endpoint), 0)
        return sorted(range(count), key=lambda position: (position != known, position))

    def found(self, server: str, endpoint: Endpoint, position: int) -> None:
        """A server knows the route at this position."""
        self._routes[server, endpoint] = position

    def warn_once(self, endpoint: Endpoint) -> None:
        """Tell users of a deprecated endpoint, the first time that they call it themselves."""
        if endpoint.deprecated is None or endpoint in self._warned or (level := _of_the_user()) is None:
            return
        self._warned.add(endpoint)
        warnings.warn(f"{endpoint}: {endpoint.deprecated}", DeprecatedEndpointWarning, stacklevel=level)


def _of_the_user() -> int | None:
    """How far up the stack the caller of an interface stands, counted from the caller of this function.

    None where the caller is part of the package: then the package chose the route, and its user cannot choose another.
    """
    frame, level = inspect.currentframe(), 0
    while frame is not None and _module(frame)[:2] in _BELOW:
        frame, level = frame.f_back, level + 1
    return None if frame is None or _module(frame)[0] == "ledgerframes" else level


def _module(frame: FrameType) -> tuple[str, ...]:
    return tuple(str(frame.f_globals.get("__name__", "")).split("."))


log = logging.getLogger("ledgerframes.transport")


class PageLimits(NamedTuple):
    """How many items may be asked of a server at once.

    Attributes:
        maximum: the largest page that it has named, if it has.
        manageable: what it managed within the last hour, where more was too much for it or for a gateway before it.
    """

    maximum: int | None = None
    manageable: int | None = None


#: No server is known that manages less; a probe of one item that fails says nothing of pages.
_SMALL: Final = 64
#: Seconds that a smaller page is remembered, before a larger one is tried again.
_HOUR: Final = 3_600.0


@dataclass
class PageSizes:
    """Shared by all threads, without a lock: a size that two threads change at once is at worst tried once more.

    Attributes:
        largest: by server, the largest page that it has named; each operator may set a maximum of his own.
        clock: what the hour goes by for which a smaller page is remembered.
    """

    largest: dict[str, int] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    _manageable: dict[str, tuple[int, float]] = field(default_factory=dict)
    # The largest page that came; a fault of the moment is not taken for a page that is too much.
    _came: dict[str, int] = field(default_factory=dict)

    def limits(self, server: str) -> PageLimits:
        """How many items may be asked of a server at once."""
        size, until = self._manageable.get(server, (None, 0.0))
        return PageLimits(self.largest.get(server), size if self.clock.monotonic() < until else None)

    def note(self, server: str, size: int, *, came: bool) -> None:
        """A page of a size came, or failed as one that is too much does: by a time-out, 413, 503 or 504.

        A size that came before counts as too much only when it fails again before it comes once more; a small one, as
        of a probe, never does.
        """
        largest = self._came.get(server, 0)
        if came:
            self._came[server] = max(size, largest)
        elif size <= max(_SMALL, largest):
            self._came[server] = min(size - 1, largest)
        else:
            self._manageable[server] = size // 2, self.clock.monotonic() + _HOUR

    def learn(self, server: str, maximum: int) -> None:
        """A server named the largest page that it returns; logged once per network."""
        if maximum < self.largest.get(server, maximum + 1):
            self.largest[server] = maximum
            log.info("%s returns at most %d updates per page and is asked for no more", source_of(server), maximum)
