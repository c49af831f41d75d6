"""Which routes each release has, and the headers of the deprecated ones; the server calls it.

A deprecated route says so in the header `Deprecation` (RFC 9745), whose value is a date. The contract names releases,
not dates, so the sandbox sends the day on which its simulated participant started. There is no `Sunset` header (RFC
8594) for the same reason: no date of removal is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.world import timestamps

#: The releases that a sandbox can serve: all of the newest with the contract's older routes, or one release.
CONTRACT: Final = "contract"
RELEASES: Final = (CONTRACT, "0.9", "0.7", "0.6", "0.5")
SINCE: Final = timestamps.parse("2025-03-03T09:00:00Z") // timestamps.SECOND


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Which releases have a route; releases are Splice's, each with the ledger of its time.

    Attributes:
        since: the first release with it, of those that the sandbox has.
        removed_in: the first release without it, if there is one.
        deprecated_in: the first release that calls it deprecated, if one does.
        successor: the path of its replacement on the same interface, if there is one.
        in_contract: whether the contract describes it, so that it is served with everything.
    """

    since: str = "0.5"
    removed_in: str = ""
    deprecated_in: str = ""
    successor: str = ""
    in_contract: bool = False

    def includes(self, release: str) -> bool:
        """Whether a release has the route."""
        if release == CONTRACT:
            return self.in_contract or self.includes("0.9")
        return self.since <= release and (not self.removed_in or release < self.removed_in)

    def is_deprecated(self, release: str) -> bool:
        """Whether a release marks the route as deprecated."""
        return bool(self.deprecated_in) and (release == CONTRACT or release >= self.deprecated_in)


_EARLIEST: Final = "reward-accounting-process/rounds/earliest-available"

#: The routes that not every release has, or that are deprecated, by interface and path; every release has the others.
#: 0.5 and 0.6 have a ledger of Canton 3.4, 0.7 of 3.5, 0.9 of 3.6.
LIFETIMES: Final[Mapping[tuple[str, str], Lifetime]] = MappingProxyType(
    {
        ("ledger", "/v2/commands/submit-and-wait-for-transaction-tree"): Lifetime(deprecated_in="0.5"),
        ("ledger", "/v2/updates/transaction-by-id"): Lifetime(
            removed_in="0.9", deprecated_in="0.5", successor="/v2/updates/update-by-id", in_contract=True
        ),
        ("ledger", "/v2/updates/update-by-hash"): Lifetime(since="0.9"),
        ("ledger", "/v2/updates/get-updates-page"): Lifetime(since="0.7"),
        ("ledger", "/v2/state/active-contracts-page"): Lifetime(since="0.7"),
        ("scan", "/v1/updates/{update_id:path}"): Lifetime(removed_in="0.9", deprecated_in="0.5", in_contract=True),
        ("scan", "/v2/updates/hash/{hash:path}"): Lifetime(since="0.6"),
        ("scan", f"/v0/{_EARLIEST}"): Lifetime(since="0.6", removed_in="0.7"),
        ("scan", f"/v0/internal/{_EARLIEST}"): Lifetime(since="0.7"),
        ("scan", "/v0/state/acs"): Lifetime(removed_in="0.9", deprecated_in="0.7", successor="/v1/state/acs"),
        ("scan", "/v1/state/acs"): Lifetime(since="0.7", removed_in="0.9"),
        ("scan", "/v2/state/acs"): Lifetime(since="0.9"),
        ("scan", "/v0/holdings/state"): Lifetime(removed_in="0.9", successor="/v1/holdings/state"),
        ("scan", "/v1/holdings/state"): Lifetime(since="0.7", removed_in="0.9"),
        ("scan", "/v2/holdings/state"): Lifetime(since="0.9"),
        ("scan", "/v0/holdings/summary"): Lifetime(deprecated_in="0.7", successor="/v1/holdings/summary"),
        ("scan", "/v1/holdings/summary"): Lifetime(since="0.7"),
        ("scan", "/v0/events/latest-record-time"): Lifetime(since="0.9"),
        ("scan", "/v0/history/bulk/updates"): Lifetime(since="0.7"),
        ("scan", "/v0/history/bulk/acs"): Lifetime(since="0.7"),
        ("scan", "/v0/history/bulk/download/{object_key:path}"): Lifetime(since="0.7"),
        ("validator", "/v0/scan-proxy/holdings/summary"): Lifetime(
            deprecated_in="0.7", successor="/v1/scan-proxy/holdings/summary"
        ),
        ("validator", "/v1/scan-proxy/holdings/summary"): Lifetime(since="0.7"),
    }
)


def check_release(release: str) -> None:
    """Refuse a release that the sandbox does not have.

    Raises:
        ValueError: it is not one of `RELEASES`.
    """
    if not isinstance(release, str) or release not in RELEASES:
        raise ValueError(f"release={release!r} is unknown; the sandbox serves as one of {', '.join(RELEASES)}")


def has_newest_members(release: str) -> bool:
    """Whether a release has the changes of 0.8, 0.9 and Canton 3.6: new members, and shorter lists in requests."""
    return release in (CONTRACT, "0.9")


def served_routes(routes: Iterable[BaseRoute], *, interface: str, prefix: str, release: str) -> list[BaseRoute]:
    """The routes of an interface that a release has; the deprecated ones send the headers that say so.

    Args:
        routes: the routes of every release, without the prefix.
        interface: whose they are.
        prefix: where the interface is served.
        release: one of `RELEASES`.
    """
    always = Lifetime()
    lives = [(route, LIFETIMES.get((interface, _path(route)), always)) for route in routes]
    kept = [(route, lifetime) for route, lifetime in lives if lifetime.includes(release)]
    paths = {_path(route) for route, _ in kept}
    return [
        _deprecated(route, lifetime, prefix=prefix, paths=paths) if lifetime.is_deprecated(release) else route
        for route, lifetime in kept
    ]


def _path(route: BaseRoute) -> str:
    assert isinstance(route, Route)
    return route.path


def _deprecated(route: BaseRoute, lifetime: Lifetime, *, prefix: str, paths: set[str]) -> BaseRoute:
    """The same route with the headers of a deprecated one."""
    assert isinstance(route, Route)
    headers = [(b"deprecation", b"@%d" % SINCE)]
    if lifetime.successor in paths:
        headers.append((b"link", f'<{prefix}{lifetime.successor}>; rel="successor-version"'.encode()))
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
