"""`download`: fetches a file that a scan refers to, from the addresses that are allowed; `Transport` calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from ledgerframes.config.settings import is_loopback, origin_of, source_of
from ledgerframes.errors import InputError
from ledgerframes.stopping import Stop, held_back
from ledgerframes.transport.public_addresses import why_not_public
from ledgerframes.transport.request import AGENT, BodySink, Endpoint, Failure, Prepared, Received, Request
from ledgerframes.transport.retrying import Exchange

if TYPE_CHECKING:
    from ledgerframes.transport.transport import Transport

DOWNLOAD: Final = Endpoint("scan", "GET", "/v0/history/bulk/download/{object_key}")

_LONGEST: Final = 8_000


def download(transport: Transport, url: str, sink: BodySink, ending: Stop) -> None:
    """Fetch a file that a scan refers to; the limit on answers does not apply, and no other host gets a token.

    Args:
        transport: the connection to the scans.
        url: on a scan of this connection, or on any public https host.
        sink: receives the file.
        ending: ends it.

    Raises:
        InputError: the file's address may not be fetched from.
        RequestError: it could not be fetched; NotFoundError if it does not exist.
        LedgerframesError: the sink refuses it.
        OSError: the sink cannot write it.
        StoppedError: it was stopped, or the connection was closed meanwhile.
    """
    scans = transport.servers("scan")
    if (reason := why_refused(url, scans)) is not None:
        raise InputError(f"{transport.mask.text(url[:80])!r} is not fetched, because {reason}; ask another scan")
    scan = next((scan for scan in scans if origin_of(scan) == origin_of(url)), None)
    secret = None if scan is None else transport.token("scan", scan)
    prepared = Prepared(DOWNLOAD.method, url, {"Accept-Encoding": "identity", "User-Agent": AGENT})

    def attempt(request: Request, _server: str, seconds: float) -> Received | Failure:
        return transport.send_once(request, prepared, secret, seconds=seconds, stop=ending, sink=sink)

    with held_back(ending.set):
        file = Request(DOWNLOAD, DOWNLOAD.path)
        Exchange(transport, attempt, [file], bytes, ending, timed=False).run([source_of(url)])


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
