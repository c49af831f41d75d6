"""`Transport`: a connection to the servers of the four interfaces, over which `Sender` sends; `connect` makes one.

It makes one attempt at a time, with a token and at the configured rate, counts it, and remembers which servers work.
Its `Mask` removes tokens from everything that is shown: error messages, log lines, headers.
"""

from __future__ import annotations

import html
import json
import logging
import os
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote, urlsplit

from ledgerframes.config.settings import INTERFACES, Interface, Secret, Settings, is_loopback, origin_of
from ledgerframes.stopping import Clock, Stop, SystemClock
from ledgerframes.transport.rate_limiter import RateLimiter
from ledgerframes.transport.request import BodyFile, Endpoint, Failure, Received, Request
from ledgerframes.transport.token_server import Send, authorized, token_sources

if TYPE_CHECKING:
    import httpx

BEARER: Final = ("Authorization", "Bearer {}")
WEBSOCKET: Final = ("Sec-WebSocket-Protocol", "jwt.token.{}, daml.ws.auth")

log = logging.getLogger("ledgerframes.transport")
MASK: Final = "***"
# Short-lived tokens are renewed all the time; older ones may still occur in messages under way.
REMEMBERED: Final = 64
SHORTEST: Final = 4
# A JWT has three parts between dots, and no part may be shown; shorter ones would match ordinary words.
SHORTEST_PART: Final = 16

_QUERY: Final = re.compile(r'("[A-Z]+ [^\s"?]*)\?[^\s"]*')

# these log headers or URLs by themselves at DEBUG and INFO
LOUD: Final = tuple(
    logging.getLogger(name)
    for name in (
        *("urllib3.connection", "urllib3.connectionpool", "urllib3.poolmanager"),
        *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),  # of httpx.HTTPTransport
    )
)


class Mask:
    """Remembers recently sent tokens and masks them, and their long parts, in any text.

    Tokens of fewer than four characters are left alone: masking them would make every message unreadable.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, None] = {}
        self._pattern: re.Pattern[str] | None = None

    def __repr__(self) -> str:
        return "Mask(***)"

    def learn(self, token: str) -> None:
        """Remember a token that is about to be sent."""
        with self._lock:
            if token in self._tokens or len(token) < SHORTEST:
                return
            self._tokens[token] = None
            for forgotten in list(self._tokens)[:-REMEMBERED]:
                del self._tokens[forgotten]
            forms = {form for known in self._tokens for form in _forms(known)}
            # The longest first, or a part would be replaced inside its token and the rest stay readable.
            self._pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))

    def text(self, text: str) -> str:
        """Return the text without any token."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove tokens from a log record, and let it pass."""
        message = record.getMessage()
        # urllib3 logs whole targets, whose queries may contain signatures.
        masked = self.text(_QUERY.sub(r"\1?***", message) if record.name.startswith("urllib3.") else message)
        if masked != message:
            record.msg, record.args = masked, ()
        return True

    def attach(self) -> None:
        """Watch the loggers of the HTTP libraries."""
        for logger in LOUD:
            logger.addFilter(self)

    def detach(self) -> None:
        """Stop watching."""
        for logger in LOUD:
            logger.removeFilter(self)


def _forms(token: str) -> set[str]:
    """A token, its long parts, and their forms in a URL, JSON, HTML or Python text."""
    parts = {token, *(part for part in token.split(".") if len(part) >= SHORTEST_PART)}
    return {
        form
        for part in parts
        for form in (part, quote(part, safe=""), html.escape(part), json.dumps(part)[1:-1], repr(part)[1:-1])
    }


@dataclass
class Stats:
    """Counts since a `Transport` was made; any thread may read and add.

    Attributes:
        requests: requests sent, each attempt counted.
        bytes: bytes received in bodies, after decompression.
        retries: attempts after a failed one.
        waits_seconds: time spent waiting for the rate, for a free slot and between attempts, over all threads.
        statuses: answers by HTTP status; 0 counts requests without an answer.
    """

    requests: int = 0
    bytes: int = 0
    retries: int = 0
    waits_seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def received(self, status: int, size: int) -> None:
        """Count one request and its answer; status 0 means no answer."""
        with self._lock:
            self.requests += 1
            self.bytes += size
            self.statuses[status] += 1

    def retried(self) -> None:
        """Count one more attempt of the same request."""
        with self._lock:
            self.retries += 1

    def waited(self, seconds: float) -> None:
        """Add time spent waiting."""
        with self._lock:
            self.waits_seconds += seconds

    def snapshot(self) -> Stats:
        """A copy that does not change."""
        with self._lock:
            return replace(self, statuses=Counter(self.statuses), _lock=threading.Lock())


class Transport:
    """The only way to the servers: addresses, tokens and limits, and what it knows of them. Threads may share one.

    Args:
        settings: where the servers are and how to talk to them.
        clock: the clock for waits and budgets.
        transport: sends the requests in place of urllib3; closed with this.
        list_scans: returns the base URLs of further scans, which are asked without a token if the settings' scans fail;
            called before the first request to a scan.

    Attributes:
        stats: counts of requests, bytes and waits so far.
        mask: remembers the tokens that were sent.
        preferred: by interface, the server that worked last, which is asked first.
        reached: the servers that have answered, whatever the answer.
        recognised: those that have answered as servers of their kind do, so that their address is right.
        known_routes: by server and endpoint, the position of the alternative that it knows.
        largest_pages: by server, the largest page that it has named; each operator may set a maximum of his own.
        warned: the deprecated endpoints that the user has been warned of.
        stop: ends every operation; set once this is closed.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        transport: httpx.BaseTransport | None = None,
        list_scans: Callable[[], tuple[str, ...]] | None = None,
    ) -> None:
        from ledgerframes.transport.wire import HttpTransport

        self.settings = settings
        self.clock = clock or SystemClock()
        # What is known of servers has no lock: each step is a single operation on a dictionary or a set.
        self.preferred: dict[Interface, str] = {}
        self.reached: set[str] = set()
        self.recognised: set[str] = set()
        self.known_routes: dict[tuple[str, Endpoint], int] = {}
        self.largest_pages: dict[str, int] = {}
        self.warned: set[Endpoint] = set()
        self.stop = Stop()
        self._replacement = transport
        self._wire = transport or HttpTransport(settings)
        self._list_scans = list_scans
        self._listed: tuple[str, ...] | None = () if list_scans is None else None
        self._begin()
        _OPEN.add(self)

    def _begin(self) -> None:
        """Create the parts that belong to one process: locks, counts, tokens."""
        from ledgerframes.transport.http import send_once

        self.stats = Stats()
        self.mask = Mask()
        self.mask.attach()
        self._listing = threading.Lock()
        self._gates: dict[str, RateLimiter] = {}
        named = [url for interface in INTERFACES for url in getattr(self.settings, f"{interface}_url")]
        self._gate((*named, *(self._listed or ())))
        self._send: Send = partial(send_once, self._wire, self.settings)
        self._tokens = token_sources(self.settings, self.mask, self._send)
        self._finish = weakref.finalize(self, _finish, self.stop, self.mask, self._wire)

    def forked(self) -> None:
        """Begin again in a child process, since threads of the parent may hold the locks forever."""
        if not self.stop.is_set():
            self._finish.detach()
            self.mask.detach()
            self._begin()

    def shared(self) -> httpx.BaseTransport | None:
        """The transport in place of urllib3, for another connection that does not close it."""
        from ledgerframes.transport.http import Shared

        return None if self._replacement is None else Shared(self._replacement)

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """The base URLs of an interface, the one that last worked first.

        Raises:
            ConfigurationError: there is none.
        """
        urls = self.settings.urls(interface)
        if interface == "scan":
            urls += self._further_scans() if self._listed is None else self._listed
        preferred = self.preferred.get(interface, urls[0])
        return (preferred, *(url for url in urls if url != preferred))

    def _further_scans(self) -> tuple[str, ...]:
        """The scans that the configured ones list, asked for once."""
        if self._listed is None and self._list_scans is not None:
            with self._listing:
                if self._listed is None:
                    listed = self._list_scans()
                    self._gate(listed)
                    self._listed = listed
        return self._listed or ()

    def _gate(self, urls: Iterable[str]) -> None:
        """Limit the requests to each host, except this machine."""
        for host in {urlsplit(url).hostname or "" for url in urls if not is_loopback(url)} - self._gates.keys():
            own = self.settings
            self._gates[host] = RateLimiter(
                rate=own.rate, burst=own.burst, parallel=own.parallel, clock=self.clock, waited=self.stats.waited
            )

    def token(self, interface: Interface, url: str | None = None) -> Secret | None:
        """The token of an interface, which client credentials fetch through this connection.

        None for a server that the caller has not named, or a file on another host.
        """
        secret = self._tokens.get(interface)
        if secret is None or url is None:
            return secret
        named = {origin_of(server) for server in self.settings.urls(interface)}
        return secret if origin_of(url) in named and url not in (self._listed or ()) else None

    def close(self) -> None:
        """Close every connection; nothing can be sent afterwards."""
        self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def attempt(
        self, request: Request, server: str, *, seconds: float, stop: Stop, sink: BodyFile | None = None
    ) -> Received | Failure:
        """Send a request once, with the token, when the host's rate limiter allows it, and count it.

        Args:
            request: the request; a command is not interrupted, since it would be unknown whether it was carried out.
            server: the base URL to send it to.
            seconds: the time limit.
            stop: ends it.
            sink: receives the body of a success.

        Raises:
            StoppedError: it was stopped.
        """
        endpoint, prepared = request.endpoint, request.prepared(server)
        secret = self.token(endpoint.interface, request.url or server)
        send = partial(
            self._send, prepared, seconds=seconds, stop=stop if endpoint.safe else Stop(), sink=sink,
            extensions={"mask": self.mask.text},
        )  # fmt: skip
        gate = self._gates.get(urlsplit(prepared.url).hostname or "")
        with gate.passing(stop) if gate else nullcontext():
            began = self.clock.monotonic()
            if secret is None:
                outcome = send(None)
            else:
                outcome = authorized(send, secret, self.carrier(endpoint.interface), self.mask, again=endpoint.safe)
        status = size = 0
        if isinstance(outcome, Received):
            outcome = replace(outcome, with_token=secret is not None)
            status, size = outcome.status, outcome.poured or len(outcome.body)
        self.stats.received(status, size)
        if log.isEnabledFor(logging.DEBUG):
            took = (self.clock.monotonic() - began) * 1000
            log.debug("%s -> %d, %d bytes, %.0f ms", self.mask.text(str(request)), status, size, took)
        return outcome

    def carrier(self, interface: Interface) -> tuple[str, str]:
        """The header that carries the token of an interface, and its template."""
        return WEBSOCKET if (interface, self.settings.ledger_carrier) == ("ledger", "websocket") else BEARER


def _finish(stop: Stop, mask: Mask, transport: httpx.BaseTransport) -> None:
    """Close everything a transport holds open, also when garbage-collected; requests under way end first."""
    stop.set()
    mask.detach()
    transport.close()


#: The open transports, which need locks of their own in a forked child.
_OPEN: Final[weakref.WeakSet[Transport]] = weakref.WeakSet()


def _forked() -> None:
    for transport in tuple(_OPEN):
        transport.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
