"""What one `Transport` has learnt about its servers: which one works, which routes it knows; read by the exchange."""

from __future__ import annotations

import inspect
import logging
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Final, NamedTuple

from ledgerframes.config.settings import Interface, source_of
from ledgerframes.transport.request import DeprecatedEndpointWarning, Endpoint

log = logging.getLogger("ledgerframes.transport")

LARGEST_PAGE: Final = 1_000
#: What lies between a request and the caller of `net.scan.…`.
_BELOW: Final = {("ledgerframes", "transport"), ("ledgerframes", "interfaces")}


class PageLimits(NamedTuple):
    """How many items may be asked of a server at once.

    Attributes:
        maximum: the largest page that it has named, if it has.
        manageable: what it manages for now, where more was too much for it or for a gateway before it.
    """

    maximum: int | None = None
    manageable: int | None = None


#: No server is known that manages less; a probe of one item that fails says nothing of pages.
_SMALL: Final = 64


@dataclass
class _Manageable:
    """The page that a server manages; after enough good pages a larger one is tried, each time after more of them."""

    size: int
    good: int = 0
    patience: int = 8
    trying: bool = False


class ServerPreferences:
    """Shared by all threads of one `Transport`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._preferred: dict[Interface, str] = {}
        self._routes: dict[tuple[str, Endpoint], int] = {}
        self._warned: set[Endpoint] = set()
        self._met: set[str] = set()
        self._reached: set[str] = set()
        # Per server, because each operator may set a maximum of his own.
        self._largest: dict[str, int] = {}
        self._manageable: dict[str, _Manageable] = {}
        # The largest page that came; a fault of the moment is not taken for a page that is too much.
        self._came: dict[str, int] = {}

    def order(self, interface: Interface, servers: Sequence[str]) -> tuple[str, ...]:
        """The servers of an interface, the one that worked last first."""
        preferred = self._preferred.get(interface, servers[0])
        return (preferred, *(server for server in servers if server != preferred))

    def prefer(self, interface: Interface, server: str) -> None:
        """Stay with a server."""
        with self._lock:
            self._preferred[interface] = server

    def routes(self, server: str, endpoint: Endpoint, count: int) -> list[int]:
        """Positions of the alternatives in the order to be tried on a server, the known one first."""
        known = self._routes.get((server, endpoint), 0)
        return sorted(range(count), key=lambda position: (position != known, position))

    def found(self, server: str, endpoint: Endpoint, position: int) -> None:
        """A server knows the route at this position."""
        with self._lock:
            self._routes[server, endpoint] = position

    def meet(self, server: str) -> None:
        """A server has answered as one of its kind does."""
        self._met.add(server)

    def has_met(self, server: str) -> bool:
        """Whether a server has answered before, so that its address is right whatever it answers now."""
        return server in self._met

    def reached(self, server: str) -> bool:
        """Whether a server has answered at all so far."""
        return server in self._reached

    def answered(self, server: str) -> None:
        """A server has answered, whatever the answer."""
        with self._lock:
            self._reached.add(server)

    def page_limits(self, server: str) -> PageLimits:
        """How many updates may be asked of a server at once."""
        manageable = self._manageable.get(server)
        return PageLimits(self._largest.get(server), None if manageable is None else manageable.size)

    def note_page(self, server: str, size: int, *, came: bool) -> None:
        """A page of a size came, or failed as one that is too much does: by a time-out, 413, 503 or 504.

        A size that came before counts as too much only when it fails again before it comes once more; a small one, as
        of a probe, never does.
        """
        with self._lock:
            known = self._manageable.get(server)
            if came:
                self._came[server] = max(size, self._came.get(server, 0))
            if not came and size <= max(_SMALL, self._came.get(server, 0)):
                self._came[server] = min(size - 1, self._came.get(server, 0))
            elif not came:
                known = self._manageable.setdefault(server, known or _Manageable(size))
                known.patience *= 1 + known.trying
                known.size, known.good, known.trying = max(1, min(size, known.size) // 2), 0, False
            elif known is not None and size >= known.size:
                known.good, known.trying = known.good + 1, False
                if known.good >= known.patience:
                    known.size, known.good, known.trying = known.size * 2, 0, True
                if size >= LARGEST_PAGE:
                    del self._manageable[server]

    def learn_page_maximum(self, server: str, maximum: int) -> None:
        """A server named the largest page of updates it gives; logged once per network."""
        with self._lock:
            new = maximum < self._largest.get(server, maximum + 1)
            if new:
                self._largest[server] = maximum
        if new:
            log.info("%s gives %d updates per page at most and is asked for no more", source_of(server), maximum)

    def copy(self) -> ServerPreferences:
        """The same knowledge with a lock of its own."""
        twin = ServerPreferences()
        twin._preferred, twin._routes = dict(self._preferred), dict(self._routes)
        # Copied without the locks: in a forked child a thread of the parent may hold them for ever.
        twin._warned, twin._reached = set(self._warned), set(self._reached)
        twin._largest, twin._met = dict(self._largest), set(self._met)
        twin._came = dict(self._came)
        twin._manageable = {server: replace(known) for server, known in tuple(self._manageable.items())}
        return twin

    def warn_once(self, endpoint: Endpoint) -> None:
        """Tell users of a deprecated endpoint, the first time that they call it themselves."""
        if endpoint.deprecated is None or endpoint in self._warned or (level := _of_the_user()) is None:
            return
        with self._lock:
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
