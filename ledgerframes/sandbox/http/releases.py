"""Which release a sandbox serves as; the app and the start options ask."""

from __future__ import annotations

from typing import Final

from ledgerframes.sandbox.http.routes import CONTRACT

RELEASES: Final = (CONTRACT, "0.9", "0.7", "0.6", "0.5")


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
