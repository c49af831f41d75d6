"""`Transport`: sends requests of the four interfaces and brings back answers; `connect` makes one for each network."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from ledgerframes.config.settings import INTERFACES, Interface, Secret, Settings, is_loopback, source_of
from ledgerframes.errors import InputError, NoAnswerError
from ledgerframes.signals import held_back
from ledgerframes.transport.classify import Answer
from ledgerframes.transport.clock import Clock, SystemClock
from ledgerframes.transport.downloads import DOWNLOAD, Download, origin_of, why_refused
from ledgerframes.transport.masking import MASK, Mask
from ledgerframes.transport.outcome import Broken, Credential, Received, Sink
from ledgerframes.transport.page_sizes import PageSizes
from ledgerframes.transport.rate_limiter import RateLimiter
from ledgerframes.transport.request import Endpoint, Prepared, Request
from ledgerframes.transport.retrying import RetryingRequest, Revise, Sending
from ledgerframes.transport.stats import Stats
from ledgerframes.transport.stopping import Stop
from ledgerframes.transport.token_server import token_sources
from ledgerframes.version import __version__

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

BEARER: Final = ("Authorization", "Bearer {}")
WEBSOCKET: Final = ("Sec-WebSocket-Protocol", "jwt.token.{}, daml.ws.auth")

log = logging.getLogger("ledgerframes.transport")


class Transport:
    """The only way to the servers: one request out, one answer in. Any number of threads may share one.

    Args:
        settings: where the servers are and how to talk to them.
        clock: what waits and budgets go by.
        transport: what sends, in place of urllib3; closed with this.
        list_scans: gives the base URLs of further scans, asked where the settings' scans fail, and without a token;
            called before the first request to a scan.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        transport: httpx.BaseTransport | None = None,
        list_scans: Callable[[], tuple[str, ...]] | None = None,
    ) -> None:
        self._agent = f"ledgerframes/{__version__}"
        self._given = transport
        self._list_scans = list_scans
        self._listed: tuple[str, ...] | None = () if list_scans is None else None
        self._closed = False
        self._opening = threading.Lock()
        self._open(Sending(settings, clock or SystemClock(), self._attempt))

    def _open(self, sender: Sending) -> None:
        """Make what belongs to one process alone: connections, locks, counts."""
        from ledgerframes.transport.http import Http
        from ledgerframes.transport.wire import Wire

        self._shared = sender
        named = [url for interface in INTERFACES for url in getattr(sender.settings, f"{interface}_url")]
        self._gates: dict[str, RateLimiter] = {}
        self._listing = threading.Lock()
        self._gate((*named, *(self._listed or ())))
        carrier = self._given or Wire(sender.settings)
        self._http = Http(sender.settings, carrier)
        self._stop = Stop()
        sender.mask.attach()
        self._pid = os.getpid()
        self._tokens = token_sources(sender.settings, sender.mask, self._http)
        self._finish = weakref.finalize(self, _finish, self._pid, self._stop, sender.mask, carrier)

    @property
    def _sender(self) -> Sending:
        """What a request needs; made anew in a forked child, whose locks the parent's threads may hold."""
        if self._pid != os.getpid():
            with self._opening:
                if self._pid != os.getpid():
                    before = self._shared
                    self._finish.detach()
                    before.mask.detach()
                    self._open(Sending(before.settings, before.clock, self._attempt, memory=before.memory.copy()))
        return self._shared

    def shared(self) -> httpx.BaseTransport | None:
        """What sends in place of urllib3, for another connection that does not close it."""
        from ledgerframes.transport.http import Shared

        return None if self._given is None else Shared(self._given)

    @property
    def stats(self) -> Stats:
        """What was sent, received and waited for up to now."""
        return self._sender.stats

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """The base URLs of an interface, the one that worked last first.

        Raises:
            ConfigurationError: there is none.
        """
        return self._sender.memory.order(interface, self._urls(interface))

    def _urls(self, interface: Interface) -> tuple[str, ...]:
        given = self._sender.settings.urls(interface)
        return (*given, *self._more_scans()) if interface == "scan" else given

    def _more_scans(self) -> tuple[str, ...]:
        """The scans that the given ones list, asked for once."""
        if self._listed is None and self._list_scans is not None:
            with self._listing:
                if self._listed is None:
                    listed = self._list_scans()
                    self._gate(listed)
                    self._listed = listed
        return self._listed or ()

    def _gate(self, urls: Iterable[str]) -> None:
        """Hold back the requests to each host, but for this machine."""
        for host in {_host(url) for url in urls if not is_loopback(url)} - self._gates.keys():
            self._gates[host] = _gate(self._shared)

    def _secret(self, interface: Interface, server: str) -> Secret | None:
        """The token for a server; none for one that the caller has not named."""
        listed = interface == "scan" and server in (self._listed or ())
        return None if listed else self.token(interface)

    def token(self, interface: Interface) -> Secret | None:
        """The token of an interface, which client credentials fetch through this connection."""
        return self._tokens.get(interface) if self._sender else None

    @property
    def page_sizes(self) -> PageSizes:
        """How many items may be asked of each server at once."""
        return self._sender.memory.page_sizes

    def prepare(self, request: Request, *, server: str | None = None) -> Prepared:
        """The request as it would go out, unsent, with `***` for the token.

        Args:
            request: what would be asked.
            server: one of the interface's base URLs; without it, the preferred one.
        """
        return self._prepare(request, self._chosen(request.endpoint, server)[0])

    def send(
        self,
        request: Request,
        *alternatives: Request,
        read: Callable[[bytes], T],
        server: str | tuple[str, ...] | None = None,
        revise: Revise | None = None,
        attempts: int | None = None,
        stop: Stop | None = None,
    ) -> Answer[T]:
        """Send a request until it is answered, within the settings' attempts and budget; a command is sent once.

        Args:
            request: what to ask.
            alternatives: the same thing on routes that older or newer releases know; not used for commands.
            read: makes a value of a successful answer's body. A `msgspec.DecodeError` that is no
                `ValidationError` means the body is not whole, which counts as a broken connection.
            server: one of the interface's base URLs, or some of them, to ask no other; without it, all in order of
                preference.
            revise: called after each failed attempt of a safe request; a request it returns is sent next.
            attempts: how many attempts at most; by default those of the settings.
            stop: ends the request from another thread.

        Raises:
            ConfigurationError: the interface has no server, or its token cannot be fetched.
            NoAnswerError: nothing whole arrived, or more than `max_answer_bytes`.
            StatusError: the server refused the request.
            DecodeError: the body breaks the contract, or was not whole at any attempt.
            StoppedError: it was stopped, or this was closed meanwhile.
        """
        self._check_open()
        sender = self._sender
        candidates = (request, *alternatives) if request.endpoint.safe else (request,)
        servers = self._chosen(request.endpoint, server)
        ending = Stop(self._stop, *(() if stop is None else (stop,)))
        retrying = RetryingRequest(
            sender, candidates, servers, read=read, revise=revise, stop=ending, attempts=attempts
        )
        # A command is not ended, so there Ctrl-C is raised at once.
        with held_back(ending.set) if request.endpoint.safe else nullcontext():
            return retrying.run()

    def download(self, url: str, sink: Sink, *, stop: Stop | None = None) -> None:
        """Fetch a file that a scan refers to; the limit on answers does not apply, and no other host gets a token.

        Args:
            url: on a scan of this connection, or on any public https host.
            sink: takes the file.
            stop: ends it from another thread.

        Raises:
            InputError: the file lies where nothing is fetched from.
            RequestError: it could not be fetched; NotFoundError where it is not there.
            StoppedError: it was stopped, or this was closed meanwhile.
        """
        self._check_open()
        sender, scans = self._sender, self.servers("scan")
        if (reason := why_refused(url, scans)) is not None:
            raise InputError(f"{sender.mask.text(url[:80])!r} is not fetched, because {reason}; ask another scan")
        server = next((scan for scan in scans if origin_of(scan) == origin_of(url)), None)
        secret = None if server is None else self._secret("scan", server)
        prepared = Prepared(DOWNLOAD.method, url, {"Accept-Encoding": "identity", "User-Agent": self._agent})
        ending = Stop(self._stop, *(() if stop is None else (stop,)))

        def attempt(seconds: float) -> Received | Broken:
            def send(own: Credential | None) -> Received | Broken:
                return self._http.send(prepared, own, seconds=seconds, stop=ending, sink=sink)

            with self._passing(server or url, ending):
                return self._authorized(DOWNLOAD, secret, send)

        with held_back(ending.set):
            Download(sender, attempt, url, ending).run()

    def pause(self, seconds: float, *, stop: Stop | None = None) -> None:
        """Wait, by the clock that every other wait goes by; counted in `stats`.

        Raises:
            StoppedError: it was stopped, or this was closed meanwhile.
        """
        sender = self._sender
        ending = self._stop if stop is None else Stop(self._stop, stop)
        ending.sleep(sender.clock, seconds)
        sender.stats.waited(seconds)

    def close(self) -> None:
        """Close every connection; nothing can be sent afterwards."""
        self._closed = True
        self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise InputError("this connection was closed; call connect() again")

    def _attempt(self, request: Request, server: str, seconds: float, stop: Stop) -> Received | Broken:
        """Send one request once, when the host's rate limiter allows it."""
        sender, endpoint = self._sender, request.endpoint
        if server not in self._urls(endpoint.interface):
            raise InputError(
                f"{server} is not one of this connection's {endpoint.interface} servers; its token stays here"
            )
        self._check_open()
        secret = self._secret(endpoint.interface, server)
        prepared = self._prepare(request, server)
        with self._passing(server, stop):
            began = sender.clock.monotonic()
            # A command is not broken off: whether it was carried out could not be known.
            under_way = stop if endpoint.safe else Stop()  # the outcome of a command that was sent has to be known
            told: dict[str, object] = {"mask": sender.mask.text}
            outcome = self._authorized(
                endpoint, secret,
                lambda own: self._http.send(prepared, own, seconds=seconds, stop=under_way, extensions=told),
            )  # fmt: skip
        if isinstance(outcome, Received):
            outcome = replace(outcome, with_token=secret is not None)
        status, size = (outcome.status, len(outcome.body)) if isinstance(outcome, Received) else (0, 0)
        sender.stats.received(status, size)
        took = (sender.clock.monotonic() - began) * 1000
        log.debug("%s -> %d, %d bytes, %.0f ms", sender.mask.text(str(request)), status, size, took)
        return outcome

    def _prepare(self, request: Request, server: str) -> Prepared:
        """Everything but the token."""
        query = f"?{urlencode(request.query, quote_via=quote)}" if request.query else ""
        # gzip only: the standard library decompresses it within a limit, whatever else is installed.
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": self._agent}
        if request.content_type is not None:
            headers["Content-Type"] = request.content_type
        if self._secret(request.endpoint.interface, server) is not None:
            name, template = self._carrier(request.endpoint.interface)
            headers[name] = template.format(MASK)
        return Prepared(request.endpoint.method, server + request.path + query, headers, request.content)

    def _authorized(
        self, endpoint: Endpoint, secret: Secret | None, send: Callable[[Credential | None], Received | Broken]
    ) -> Received | Broken:
        """Send with the token; one that a 401 refuses is fetched once more, and what was only read is asked again."""
        if secret is None:
            return send(None)
        try:
            token = secret.current()
            outcome = send(self._credential(endpoint.interface, token))
            if isinstance(outcome, Received) and outcome.status == 401:
                fresh = secret.renewed(token)
                if fresh is not None and endpoint.safe:
                    return send(self._credential(endpoint.interface, fresh))
        except NoAnswerError as error:  # of the token server, which may do better at another attempt
            return Broken(str(error), advice="try again later, or ask whoever runs the token server", sent=False)
        return outcome

    def _credential(self, interface: Interface, token: Secret) -> Credential:
        """The header with a token, which is masked from here on."""
        self._sender.mask.learn(token.reveal())
        return Credential(*self._carrier(interface), token)

    def _carrier(self, interface: Interface) -> tuple[str, str]:
        websocket = interface == "ledger" and self._sender.settings.ledger_carrier == "websocket"
        return WEBSOCKET if websocket else BEARER

    def _chosen(self, endpoint: Endpoint, server: str | tuple[str, ...] | None) -> tuple[str, ...]:
        """The servers to ask, in order."""
        servers = self.servers(endpoint.interface)
        if server is None:
            return servers
        chosen = [url.rstrip("/") for url in ((server,) if isinstance(server, str) else server)]
        for url in chosen:
            if url not in servers:
                raise InputError(f"server={source_of(url)!r} is not a {endpoint.interface} server; there are {servers}")
        return tuple(server for server in servers if server in chosen)

    def _passing(self, server: str, stop: Stop) -> AbstractContextManager[None]:
        gate = self._gates.get(_host(server))
        return gate.passing(stop) if gate else nullcontext()


def _gate(sender: Sending) -> RateLimiter:
    settings = sender.settings
    return RateLimiter(
        rate=settings.rate,
        burst=settings.burst,
        parallel=settings.parallel,
        clock=sender.clock,
        stats=sender.stats,
    )


def _finish(pid: int, stop: Stop, mask: Mask, transport: httpx.BaseTransport) -> None:
    """End what a transport holds open, whether it was closed or garbage-collected; requests under way end first."""
    if pid != os.getpid():  # a forked child: the connections are its parent's
        return
    stop.set()
    mask.detach()
    transport.close()


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
