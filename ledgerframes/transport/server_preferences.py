"""What one `Transport` has learnt about its servers: which one works, which routes it knows; read by the exchange."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Final

from ledgerframes.config.settings import Interface
from ledgerframes.transport.request import DeprecatedEndpointWarning, Endpoint

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
