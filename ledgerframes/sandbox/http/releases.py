"""Which routes each release has, and the headers of the deprecated ones; the server calls it.

A deprecated route says so in the header `Deprecation` (RFC 9745), whose value is a date. The contract names releases,
not dates, so the sandbox sends the day on which its made-up participant started. There is no `Sunset` header (RFC 8594)
for the same reason: no date of removal is known.
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
class Deprecation:
    """What replaces a deprecated route, and when the route goes away; `openapi.json` has the wording.

    Attributes:
        successor: the path of its replacement on the same interface, if the contract gives one.
        removed_in: the first release without it, if there is one.
    """

    successor: str = ""
    removed_in: str = ""


#: The deprecated routes, by interface and path.
DEPRECATIONS: Final[Mapping[tuple[str, str], Deprecation]] = MappingProxyType(
    {
        ("ledger", "/v2/commands/submit-and-wait-for-transaction-tree"): Deprecation(removed_in=NEWER),
        ("ledger", "/v2/updates/transaction-by-id"): Deprecation("/v2/updates/update-by-id", removed_in=NEWER),
        ("scan", "/v1/updates/{update_id:path}"): Deprecation(removed_in=NEWER),
        ("scan", "/v0/holdings/summary"): Deprecation("/v1/holdings/summary"),
        ("validator", "/v0/scan-proxy/holdings/summary"): Deprecation("/v1/scan-proxy/holdings/summary"),
    }
)


def check_release(release: str) -> None:
    """Refuse a release that the sandbox does not have.

    Raises:
        ValueError: it is not one of `RELEASES`.
    """
    if not isinstance(release, str) or release not in RELEASES:
        raise ValueError(f"release={release!r} is unknown; the sandbox serves as one of {', '.join(RELEASES)}")


def served_routes(routes: Iterable[BaseRoute], *, interface: str, prefix: str, release: str) -> list[BaseRoute]:
    """The routes of an interface that a release has; the deprecated ones send the headers that say so.

    Args:
        routes: the routes of every release, without the prefix.
        interface: whose they are.
        prefix: where the interface is served.
        release: one of `RELEASES`.
    """
    deprecations = {path: value for (owner, path), value in DEPRECATIONS.items() if owner == interface}
    kept = [route for route in routes if not _is_removed(deprecations.get(_path(route)), release)]
    paths = {_path(route) for route in kept}
    served = []
    for route in kept:
        deprecation = deprecations.get(_path(route))
        served.append(route if deprecation is None else _deprecated(route, deprecation, prefix=prefix, paths=paths))
    return served


def _path(route: BaseRoute) -> str:
    assert isinstance(route, Route)
    return route.path


def _is_removed(deprecation: Deprecation | None, release: str) -> bool:
    if deprecation is None or not deprecation.removed_in:
        return False
    return RELEASES.index(release) >= RELEASES.index(deprecation.removed_in)


def _deprecated(route: BaseRoute, deprecation: Deprecation, *, prefix: str, paths: set[str]) -> BaseRoute:
    """The same route with the headers of a deprecated one."""
    assert isinstance(route, Route)
    links = [f'<{DOCUMENT}>; rel="deprecation"; type="application/json"']
    if deprecation.successor in paths:
        links.append(f'<{prefix}{deprecation.successor}>; rel="successor-version"')
    headers = [(b"deprecation", b"@%d" % SINCE), (b"link", ", ".join(links).encode())]
    middleware = [Middleware(_ExtraHeaders, headers=headers)]
    return Route(route.path, route.endpoint, methods=list(route.methods or ()), middleware=middleware)


class _ExtraHeaders:
    """An ASGI app around another that adds headers to its responses."""

    def __init__(self, app: Any, *, headers: list[tuple[bytes, bytes]]) -> None:
        self._app = app
        self._headers = headers

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        await self._app(scope, receive, send_with_headers)
