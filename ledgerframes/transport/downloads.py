"""`why_refused`: which files that a scan refers to may be fetched, by their address; `Transport.download` calls it."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from ledgerframes.config.settings import is_loopback, origin_of
from ledgerframes.transport.public_addresses import why_not_public
from ledgerframes.transport.request import Endpoint

DOWNLOAD: Final = Endpoint("scan", "GET", "/v0/history/bulk/download/{object_key}")

_LONGEST: Final = 8_000


def why_refused(url: str, scans: tuple[str, ...]) -> str | None:
    """Explain why a file is not fetched from the address that a scan gives; None if it may be.

    Args:
        url: the file's address.
        scans: the base URLs of the scans; files on them may be fetched.
    """
    try:
        parts = urlsplit(url)
        known = origin_of(url) in {origin_of(scan) for scan in scans}
    except ValueError:
        return "it is not a URL"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "it is not an http or https URL"
    if parts.username or parts.password or "@" in parts.netloc:
        return "it contains a user name"
    if len(url) > _LONGEST or not url.isascii() or any(sign <= " " for sign in url):
        return f"it has more than {_LONGEST} characters, or some that are not valid in a URL"
    if known:
        return None
    # A simulated network on this machine may serve its files on another port.
    if is_loopback(url) and all(is_loopback(scan) for scan in scans):
        return None
    return why_not_public(url)
