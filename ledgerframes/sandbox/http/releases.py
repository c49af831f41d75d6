"""Which release a sandbox serves as, and the headers of deprecated routes; the app and the start options ask.

A deprecated route says so in the header `Deprecation` (RFC 9745), whose value is a date. The contract names releases,
not dates, so the sandbox sends the day on which its simulated participant started. There is no `Sunset` header (RFC
8594) for the same reason: no date of removal is known.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ledgerframes.sandbox.http.routes import CONTRACT, Route
from ledgerframes.sandbox.world import timestamps

RELEASES: Final = (CONTRACT, "0.9", "0.7", "0.6", "0.5")
SINCE: Final = timestamps.parse("2025-03-03T09:00:00Z") // timestamps.SECOND


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


def deprecation(route: Route, release: str, paths: Collection[str]) -> dict[str, str]:
    """The headers that a route has in a release because it is deprecated there; its successor must be served too."""
    if not route.is_deprecated(release):
        return {}
    link = {"Link": f'<{route.successor}>; rel="successor-version"'} if route.successor in paths else {}
    return {"Deprecation": f"@{SINCE}", **link}
