"""`Transport`: sends requests of the four interfaces and returns answers; `connect` makes one per network.

An interface has a `Sender`: the same for one operation, or to some of the servers.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from ledgerframes.config.settings import INTERFACES, Interface, Secret, Settings, is_loopback, source_of
from ledgerframes.errors import InputError
from ledgerframes.stopping import Clock, Stop, SystemClock, held_back
from ledgerframes.transport.downloads import download
from ledgerframes.transport.masking import MASK, Mask
from ledgerframes.transport.rate_limiter import RateLimiter
from ledgerframes.transport.request import (
    AGENT,
    Answer,
    BodySink,
    Failure,
    Prepared,
    Received,
    Request,
)
from ledgerframes.transport.retrying import Exchange, Revise
from ledgerframes.transport.server_memory import PageSizes, ServerPreferences, Stats
from ledgerframes.transport.token_server import authorized, token_sources

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
Read = Callable[[bytes], Any]

BEARER: Final = ("Authorization", "Bearer {}")
WEBSOCKET: Final = ("Sec-WebSocket-Protocol", "jwt.token.{}, daml.ws.auth")

log = logging.getLogger("ledgerframes.transport")


class Transport:
    """The only way to the servers: one request out, one answer in. Any number of threads may share one.

    Args:
        settings: where the servers are and how to talk to them.
        clock: the clock for waits and budgets.
        transport: sends the requests in place of urllib3; closed with this.
        list_scans: returns the base URLs of further scans, which are asked without a token if the settings' scans fail;
            called before the first request to a scan.

    Attributes:
        stats: counts of requests, bytes and waits so far.
        mask: remembers the tokens that were sent.
        memory: which servers work, and which routes they know.
        page_sizes: the maximum number of items per request, by server.
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
        self.memory = ServerPreferences()
        self.page_sizes = PageSizes(clock=self.clock)
        self._replacement = transport
        self._wire = transport or HttpTransport(settings)
        self._list_scans = list_scans
        self._listed: tuple[str, ...] | None = () if list_scans is None else None
        self._closed = False
        self._begin()
        _OPEN.add(self)

    def _begin(self) -> None:
        """Create the parts that belong to one process: locks, counts, tokens."""
        from ledgerframes.transport.http import Http

        self.stats = Stats()
        self.mask = Mask()
        self.mask.attach()
        self._stop = Stop()
        self._listing = threading.Lock()
        self._gates: dict[str, RateLimiter] = {}
        named = [url for interface in INTERFACES for url in getattr(self.settings, f"{interface}_url")]
        self._gate((*named, *(self._listed or ())))
        self._http = Http(self.settings, self._wire)
        self._tokens = token_sources(self.settings, self.mask, self._http)
        self._finish = weakref.finalize(self, _finish, self._stop, self.mask, self._wire)

    def forked(self) -> None:
        """Begin again in a child process, since threads of the parent may hold the locks forever."""
        if not self._closed:
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
        urls = self._urls(interface)
        preferred = self.memory.preferred.get(interface, urls[0])
        return (preferred, *(url for url in urls if url != preferred))

    def _urls(self, interface: Interface) -> tuple[str, ...]:
        """Those configured, and the scans that the configured ones list, asked for once."""
        configured = self.settings.urls(interface)
        if interface != "scan":
            return configured
        if self._listed is None and self._list_scans is not None:
            with self._listing:
                if self._listed is None:
                    listed = self._list_scans()
                    self._gate(listed)
                    self._listed = listed
        return (*configured, *(self._listed or ()))

    def _gate(self, urls: Iterable[str]) -> None:
        """Limit the requests to each host, except this machine."""
        for host in {urlsplit(url).hostname or "" for url in urls if not is_loopback(url)} - self._gates.keys():
            own = self.settings
            self._gates[host] = RateLimiter(
                rate=own.rate, burst=own.burst, parallel=own.parallel, clock=self.clock, stats=self.stats
            )

    def token(self, interface: Interface, server: str | None = None) -> Secret | None:
        """The token of an interface, which client credentials fetch through this connection.

        None for a server that the caller has not named.
        """
        listed = interface == "scan" and server in (self._listed or ())
        return None if listed else self._tokens.get(interface)

    def prepare(self, request: Request, *, among: Sequence[str] = ()) -> Prepared:
        """The request as it would be sent to the first of the servers, with `***` for the token.

        Args:
            request: the request.
            among: as for `send`.
        """
        interface = request.endpoint.interface
        server = self._chosen(interface, among)[0]
        prepared = self._prepared(request, server)
        if self.token(interface, server) is None:
            return prepared
        name, template = self._carrier(interface)
        return replace(prepared, headers={**prepared.headers, name: template.format(MASK)})

    def send(
        self,
        request: Request,
        *alternatives: Request,
        read: Callable[[bytes], T],
        among: Sequence[str] = (),
        revise: Revise | None = None,
        attempts: int | None = None,
        stop: Stop | None = None,
    ) -> Answer[T]:
        """Send a request until it is answered, within the settings' attempts and budget; a command is sent once.

        Args:
            request: the request.
            alternatives: the same on routes that older or newer releases know; not used for commands.
            read: decodes the body of a successful answer. A `msgspec.DecodeError` that is not a `ValidationError`
                means the body is truncated, which counts as a broken connection.
            among: the servers to ask, of the interface's base URLs; all of them by default.
            revise: called after each failed attempt of a safe request; if it returns a request, that is sent next.
            attempts: the maximum number of attempts; by default that of the settings.
            stop: ends the request from another thread.

        Raises:
            ConfigurationError: the interface has no server, or its token cannot be fetched.
            NoAnswerError: no complete answer arrived, or one larger than `max_answer_bytes`.
            StatusError: the server refused the request.
            DecodeError: the body breaks the contract, or was incomplete at every attempt.
            StoppedError: it was stopped, or this was closed meanwhile.
        """
        self.check_open()
        safe = request.endpoint.safe
        servers = self._chosen(request.endpoint.interface, among)
        ending = self.ending(stop)
        exchange = Exchange(
            self, partial(self._attempt, ending), [request, *alternatives] if safe else [request], read,
            ending, revise, attempts,
        )  # fmt: skip
        # A command cannot be interrupted, so Ctrl-C is raised at once there.
        with held_back(ending.set) if safe else nullcontext():
            return exchange.run(servers)

    def download(self, url: str, sink: BodySink, *, stop: Stop | None = None) -> None:
        """As `downloads.download`, until it is stopped or this is closed."""
        self.check_open()
        download(self, url, sink, self.ending(stop))

    def pause(self, seconds: float, *, stop: Stop | None = None) -> None:
        """Wait by the clock of all waits; counted in `stats`.

        Raises:
            StoppedError: it was stopped, or this was closed meanwhile.
        """
        self.ending(stop).sleep(self.clock, seconds)
        self.stats.waited(seconds)

    def close(self) -> None:
        """Close every connection; nothing can be sent afterwards."""
        self._closed = True
        self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check_open(self) -> None:
        """Refuse to begin an operation.

        Raises:
            InputError: this was closed.
        """
        if self._closed:
            raise InputError("this connection was closed; call connect() again")

    def ending(self, stop: Stop | None) -> Stop:
        """The flag that ends one operation: its own, or that of the connection."""
        return Stop(self._stop, *(() if stop is None else (stop,)))

    def _chosen(self, interface: Interface, among: Sequence[str]) -> tuple[str, ...]:
        """The servers to ask, in order."""
        servers = self.servers(interface)
        for url in among:
            if url not in servers:
                raise InputError(f"server={source_of(url)!r} is not a {interface} server; there are {servers}")
        return tuple(server for server in servers if server in among) or servers

    def _attempt(self, stop: Stop, request: Request, server: str, seconds: float) -> Received | Failure:
        """Send one request once."""
        interface = request.endpoint.interface
        if server not in self._urls(interface):
            raise InputError(f"{server} is not one of this connection's {interface} servers; its token stays here")
        self.check_open()
        secret = self.token(interface, server)
        return self.send_once(request, self._prepared(request, server), secret, seconds=seconds, stop=stop)

    def send_once(
        self, request: Request, prepared: Prepared, secret: Secret | None, *, seconds: float, stop: Stop,
        sink: BodySink | None = None,
    ) -> Received | Failure:  # fmt: skip
        """Make one attempt, with the token, when the host's rate limiter allows it, and count it.

        Args:
            request: the request.
            prepared: the same as it is sent, without the token.
            secret: the token. After a 401 it is fetched once more, and a read is repeated.
            seconds: the time limit.
            stop: ends it, unless it is a command.
            sink: receives the body of a success.

        Raises:
            StoppedError: it was stopped.
        """
        endpoint = request.endpoint
        # A command is not interrupted: it would be unknown whether it was carried out.
        send = partial(
            self._http.send, prepared, seconds=seconds, stop=stop if endpoint.safe else Stop(), sink=sink,
            extensions={"mask": self.mask.text},
        )  # fmt: skip
        gate = self._gates.get(urlsplit(prepared.url).hostname or "")
        with gate.passing(stop) if gate else nullcontext():
            began = self.clock.monotonic()
            if secret is None:
                outcome = send(None)
            else:
                outcome = authorized(send, secret, self._carrier(endpoint.interface), self.mask, again=endpoint.safe)
        status = size = 0
        if isinstance(outcome, Received):
            outcome = replace(outcome, with_token=secret is not None)
            status, size = outcome.status, outcome.poured or len(outcome.body)
        self.stats.received(status, size)
        if log.isEnabledFor(logging.DEBUG):
            took = (self.clock.monotonic() - began) * 1000
            log.debug("%s -> %d, %d bytes, %.0f ms", self.mask.text(str(request)), status, size, took)
        return outcome

    def _prepared(self, request: Request, server: str) -> Prepared:
        """The request as it is sent, except for the token."""
        query = f"?{urlencode(request.query, quote_via=quote)}" if request.query else ""
        # gzip only: the standard library decompresses it within a limit, whatever else is installed.
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": AGENT}
        if request.content_type is not None:
            headers["Content-Type"] = request.content_type
        return Prepared(request.endpoint.method, server + request.path + query, headers, request.content)

    def _carrier(self, interface: Interface) -> tuple[str, str]:
        return WEBSOCKET if (interface, self.settings.ledger_carrier) == ("ledger", "websocket") else BEARER


@dataclass(frozen=True)
class Sender:
    """A way to send over a connection: for one interface, one operation, or some of the servers.

    Attributes:
        transport: the connection.
        among: the servers to ask; all of the interface if it is empty.
        stop: ends its requests and waits; None ends with the connection.
        passed_on: converts a request, and the function that reads its answer, for an interface that forwards it.
    """

    transport: Transport
    among: tuple[str, ...] = ()
    stop: Stop | None = None
    passed_on: Callable[[Request, Read], tuple[Request, Read]] | None = None

    def on(self, *servers: str) -> Sender:
        """The same to some servers."""
        return replace(self, among=tuple(url.rstrip("/") for url in servers))

    def stoppable(self, stop: Stop) -> Sender:
        """The same for one operation, which ends once `stop` is set."""
        return replace(self, stop=stop if self.stop is None else Stop(self.stop, stop))

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """The interface's base URLs, as far as they are to be asked, the preferred one first."""
        if len(self.among) == 1:
            return self.among
        servers = self.transport.servers(interface if self.passed_on is None else "validator")
        return tuple(server for server in servers if server in self.among) or servers

    def send(
        self,
        request: Request,
        *alternatives: Request,
        read: Callable[[bytes], T],
        revise: Revise | None = None,
        attempts: int | None = None,
    ) -> Answer[T]:
        """As `Transport.send`."""
        if self.passed_on is not None:
            (request, read), alternatives = self.passed_on(request, read), ()
        return self.transport.send(
            request, *alternatives, read=read, among=self.among, revise=revise, attempts=attempts, stop=self.stop
        )

    def prepare(self, request: Request) -> Prepared:
        """As `Transport.prepare`."""
        effective = request if self.passed_on is None else self.passed_on(request, bytes)[0]
        return self.transport.prepare(effective, among=self.among)

    def download(self, url: str, sink: BodySink) -> None:
        """As `Transport.download`."""
        self.transport.download(url, sink, stop=self.stop)

    def pause(self, seconds: float) -> None:
        """As `Transport.pause`."""
        self.transport.pause(seconds, stop=self.stop)


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
