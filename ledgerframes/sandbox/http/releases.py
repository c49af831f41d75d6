"""Which routes a release has, and what it says about those that are on their way out; the server asks.

A deprecated route says so in the header `Deprecation` (RFC 9745), whose value is a date. The contract names releases,
not dates; so the date is the made-up participant's own first day, since which it has called the route deprecated. For
the same reason there is no `Sunset` (RFC 8594): no date of removal is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.world import timestamps

RELEASES: Final = ("3.5", "3.6")
CURRENT: Final = RELEASES[0]
NEWER: Final = RELEASES[1]
SINCE: Final = timestamps.parse("2025-03-03T09:00:00Z") // timestamps.SECOND
DOCUMENT: Final = "/openapi.json"


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a route.

    Attributes:
        why: since when it is deprecated, and in whose favour, as far as the contract says.
        successor: the path of its replacement on the same interface, if the contract gives one.
        gone: the first release without it, if there is one.
    """

    why: str
    successor: str = ""
    gone: str = ""


#: By interface and path.
FATES: Final[Mapping[tuple[str, str], Fate]] = MappingProxyType(
    {
        ("ledger", "/v2/commands/submit-and-wait-for-transaction-tree"): Fate(
            "Deprecated since ledger release 3.4; the operation submit-and-wait-for-transaction replaces it.",
            gone=NEWER,
        ),
        ("ledger", "/v2/updates/transaction-by-id"): Fate(
            "Deprecated since ledger release 3.4; update-by-id replaces it.",
            successor="/v2/updates/update-by-id",
            gone=NEWER,
        ),
        ("scan", "/v1/updates/{update_id:path}"): Fate(
            "Deprecated since scan release 0.5.10; the look-up under /v2 replaces it.",
            gone=NEWER,
        ),
        ("scan", "/v0/holdings/summary"): Fate(
            "Deprecated since release 0.6.3; the summary under /v1 replaces it.",
            successor="/v1/holdings/summary",
        ),
        ("validator", "/v0/scan-proxy/holdings/summary"): Fate(
            "Deprecated since release 0.6.3; the summary under /v1 replaces it.",
            successor="/v1/scan-proxy/holdings/summary",
        ),
    }
)


def check_release(release: str) -> None:
    """Refuse a release that the sandbox cannot be.

    Raises:
        ValueError: it is none of `RELEASES`.
    """
    if not isinstance(release, str) or release not in RELEASES:
        raise ValueError(f"release={release!r} is unknown; the sandbox serves as one of {', '.join(RELEASES)}")


def served_routes(routes: Iterable[BaseRoute], *, interface: str, prefix: str, release: str) -> list[BaseRoute]:
    """An interface's routes that a release has; the deprecated ones say that they are.

    Args:
        routes: all of them, without the prefix.
        interface: whose they are.
        prefix: where the interface is served.
        release: one of `RELEASES`.
    """
    kept = [route for route in routes if not _is_gone(interface, route, release)]
    paths = {route.path for route in kept if isinstance(route, Route)}
    return [_announced(route, interface, prefix, paths) for route in kept]


def _is_gone(interface: str, route: BaseRoute, release: str) -> bool:
    fate = FATES.get((interface, getattr(route, "path", "")))
    return fate is not None and bool(fate.gone) and RELEASES.index(release) >= RELEASES.index(fate.gone)


def _announced(route: BaseRoute, interface: str, prefix: str, paths: set[str]) -> BaseRoute:
    fate = FATES.get((interface, getattr(route, "path", "")))
    if fate is None:
        return route
    assert isinstance(route, Route)
    links = [f'<{DOCUMENT}>; rel="deprecation"; type="application/json"']
    if fate.successor in paths:
        links.append(f'<{prefix}{fate.successor}>; rel="successor-version"')
    headers = [(b"deprecation", b"@%d" % SINCE), (b"link", ", ".join(links).encode())]
    return Route(
        route.path, route.endpoint, methods=list(route.methods or ()), middleware=[Middleware(_Saying, headers=headers)]
    )


class _Saying:
    """An ASGI app around another that adds headers to whatever it answers."""

    def __init__(self, app: Any, *, headers: list[tuple[bytes, bytes]]) -> None:
        self._app = app
        self._headers = headers

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def say(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        await self._app(scope, receive, say)
