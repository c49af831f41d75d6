"""Downloads a file that a scan refers to, in bounded memory, with retries; `Transport.download` calls it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from ledgerframes.config.settings import is_loopback, source_of
from ledgerframes.errors import RequestError
from ledgerframes.transport.backoff import jittered
from ledgerframes.transport.classify import judge_broken, judge_refusal
from ledgerframes.transport.outcome import Broken, Received
from ledgerframes.transport.public_addresses import why_not_public
from ledgerframes.transport.request import Endpoint, Request
from ledgerframes.transport.retrying import Sending
from ledgerframes.transport.stopping import Stop

DOWNLOAD: Final = Endpoint(interface="scan", method="GET", path="/v0/history/bulk/download/{object_key}")

_LONGEST: Final = 8_000

log = logging.getLogger("ledgerframes.transport")


@dataclass(frozen=True)
class Download:
    """One file, fetched until it is there in whole or the attempts are used up.

    Attributes:
        sender: what the transport lends.
        attempt: sends the request once, within the given seconds.
        url: the file's address; its query may be a signature and is shown nowhere.
        stop: ends it.
    """

    sender: Sending
    attempt: Callable[[float], Received | Broken]
    url: str
    stop: Stop

    def run(self) -> None:
        """Fetch the file.

        Raises:
            RequestError: it could not be fetched; NotFoundError where it is not there.
            LedgerframesError: the sink does not take it.
        """
        sender = self.sender
        for tries in range(1, sender.settings.attempts + 1):
            self.stop.check()
            error, wait = self._once()
            if error is None:
                return
            pause = jittered(tries) if wait is None else wait
            if wait == 0.0 or tries == sender.settings.attempts or pause > sender.settings.budget:
                raise error
            sender.stats.retried()
            log.warning("%s Downloading it again in %.1f s.", error, pause)
            self.stop.sleep(sender.clock, pause)
            sender.stats.waited(pause)

    def _once(self) -> tuple[RequestError | None, float | None]:
        """The error of one attempt, and what the server wants to be waited; 0 where another attempt is of no use."""
        sender, mask = self.sender, self.sender.mask.text
        server = source_of(self.url)
        request = Request(DOWNLOAD, DOWNLOAD.path)
        outcome = self.attempt(sender.settings.deadline)
        status, size = (outcome.status, _size(outcome)) if isinstance(outcome, Received) else (0, 0)
        sender.stats.received(status, size)
        if isinstance(outcome, Broken):
            failure = judge_broken(outcome, request, server, mask=mask)
        elif status == 200:
            return None, None
        else:
            failure = judge_refusal(outcome, request, server, mask=mask, now=sender.clock.now())
        return failure.request_error(), failure.wait if failure.transient else 0.0


def why_refused(url: str, scans: tuple[str, ...]) -> str | None:
    """Why a file is not fetched from where a scan says that it lies; None if it may be.

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
        return f"it has more than {_LONGEST} characters, or some that no URL has"
    if known:
        return None
    # A made-up network on this machine may keep its files on another port of it.
    if is_loopback(url) and all(is_loopback(scan) for scan in scans):
        return None
    return why_not_public(url)


def origin_of(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of a URL: a token goes to the same origin only.

    Raises:
        ValueError: it is not a URL.
    """
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)


def _size(received: Received) -> int:
    announced = received.headers.get("content-length", "")
    return int(announced) if announced.isdecimal() and len(announced) < 20 else 0
