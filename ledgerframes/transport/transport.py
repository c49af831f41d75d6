"""`Transport`: sends requests of the four interfaces and brings back answers; `connect` makes one for each network."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.settings import INTERFACES, Interface, Secret, Settings, is_loopback, source_of
from ledgerframes.transport.clock import Clock, SystemClock
from ledgerframes.transport.exchange import Exchange, Revise, Sender
from ledgerframes.transport.judging import Answer
from ledgerframes.transport.masking import MASK, Mask
from ledgerframes.transport.outcome import Broken, Credential, Received
from ledgerframes.transport.rate import Gate
from ledgerframes.transport.recording import Way
from ledgerframes.transport.request import Endpoint, Prepared, Request
from ledgerframes.transport.stats import Stats
from ledgerframes.version import __version__

T = TypeVar("T")

BEARER: Final = ("Authorization", "Bearer {}")
WEBSOCKET: Final = ("Sec-WebSocket-Protocol", "jwt.token.{}, daml.ws.auth")

log = logging.getLogger("ledgerframes.transport")


class Transport:
    """The only way to the servers: one request out, one answer in. Any number of threads may share one.

    Args:
        settings: where the servers are and how to talk to them.
        clock: what waits and budgets go by.
        way: makes another way to the servers out of the usual one, for recordings.
    """

    def __init__(
        self, settings: Settings, *, clock: Clock | None = None, way: Callable[[Way, Mask], Way] | None = None
    ) -> None:
        from ledgerframes.transport.wire import Wire

        self._sender = Sender(settings, clock or SystemClock(), self._attempt)
        self._agent = f"ledgerframes/{__version__}"
        known = [url for interface in INTERFACES for url in getattr(settings, f"{interface}_url")]
        self._gates = {host: self._gate() for host in {_host(url) for url in known if not is_loopback(url)}}
        wire: Way = Wire(settings, known)
        self._wire = wire if way is None else way(wire, self._sender.mask)
        self._closed = False
        self._sender.mask.attach()
        self._finish = weakref.finalize(self, _finish, self._sender.mask, self._wire)

    @property
    def stats(self) -> Stats:
        """What was sent, received and waited for up to now."""
        return self._sender.stats

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """The base URLs of an interface, the one that worked last first.

        Raises:
            ConfigurationError: there is none.
        """
        return self._sender.memory.order(interface, self._sender.settings.urls(interface))

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
    ) -> Answer[T]:
        """Ask until there is an answer, as far as the endpoint and the settings allow; a command is sent once.

        Args:
            request: what to ask.
            alternatives: the same thing on routes that older or newer releases know; not used for commands.
            read: makes a value of a successful answer's body. A `msgspec.DecodeError` that is no
                `ValidationError` means the body is not whole, which counts as a broken connection.
            server: one of the interface's base URLs, or some of them, to ask no other; without it, all in order of
                preference.
            revise: called after each failed attempt of a safe request; a request it returns is sent next.
            attempts: how often to try at the most, where the caller has another way; the settings' by default.

        Raises:
            ConfigurationError: the interface has no server, or the endpoint needs a token and has none.
            NoAnswerError: nothing whole arrived, or more than `max_answer_bytes`.
            StatusError: the server said no.
            DecodeError: the body breaks the contract, or was not whole at any attempt.
        """
        candidates = (request, *alternatives) if request.endpoint.safe else (request,)
        servers = self._chosen(request.endpoint, server)
        return Exchange(self._sender, candidates, servers, read=read, revise=revise, attempts=attempts).run()

    def pause(self, seconds: float) -> None:
        """Wait, by the clock that every other wait goes by; counted in `stats`."""
        self._sender.clock.sleep(seconds)
        self._sender.stats.waited(seconds)

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

    def _attempt(self, request: Request, server: str, seconds: float) -> Received | Broken:
        """Send one request once, when the host's gate lets it pass."""
        sender, endpoint = self._sender, request.endpoint
        if server not in sender.settings.urls(endpoint.interface):
            raise InputError(f"{server} is no {endpoint.interface} server of this connection; its token stays here")
        if self._closed:
            raise InputError("this connection was closed; call connect() again")
        secret = sender.settings.token(endpoint.interface)
        if secret is None and endpoint.auth:
            raise ConfigurationError(
                f"{endpoint} needs a token; give connect({endpoint.interface}_token=...) "
                f"or set LEDGERFRAMES_{endpoint.interface.upper()}_TOKEN"
            )
        if not endpoint.safe:  # before it is sent: a warning made an error must not hide a command's result
            sender.memory.warn_once(endpoint)
        prepared = self._prepare(request, server)
        credential = None if secret is None else self._credential(endpoint.interface, secret)
        with self._passing(server):
            began = sender.clock.monotonic()
            outcome = self._wire.send(prepared, credential, seconds=seconds)
        status, size = (outcome.status, len(outcome.body)) if isinstance(outcome, Received) else (0, 0)
        sender.stats.received(status, size)
        if endpoint.safe and 200 <= status < 300:  # a route the server does not have is none to warn of
            sender.memory.warn_once(endpoint)
        took = (sender.clock.monotonic() - began) * 1000
        log.debug("%s -> %d, %d bytes, %.0f ms", sender.mask.text(str(request)), status, size, took)
        return outcome

    def _prepare(self, request: Request, server: str) -> Prepared:
        """Everything but the token."""
        query = f"?{urlencode(request.query, quote_via=quote)}" if request.query else ""
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": self._agent}
        if request.content_type is not None:
            headers["Content-Type"] = request.content_type
        if self._sender.settings.token(request.endpoint.interface) is not None:
            name, template = self._carrier(request.endpoint.interface)
            headers[name] = template.format(MASK)
        return Prepared(request.endpoint.method, server + request.path + query, headers, request.content)

    def _credential(self, interface: Interface, secret: Secret) -> Credential:
        """The header that carries the token as of now, which from here on is kept out of whatever is shown."""
        token = secret.reveal()
        self._sender.mask.learn(token)
        return Credential(*self._carrier(interface), Secret(token, name=f"{interface}_token"))

    def _carrier(self, interface: Interface) -> tuple[str, str]:
        websocket = interface == "ledger" and self._sender.settings.ledger_carrier == "websocket"
        return WEBSOCKET if websocket else BEARER

    def _chosen(self, endpoint: Endpoint, server: str | tuple[str, ...] | None) -> tuple[str, ...]:
        """The servers to ask, in order."""
        servers = self.servers(endpoint.interface)
        if server is None:
            return servers
        chosen = [one.rstrip("/") for one in ((server,) if isinstance(server, str) else server)]
        for one in chosen:
            if one not in servers:
                raise InputError(f"server={source_of(one)!r} is no {endpoint.interface} server; there are {servers}")
        return tuple(one for one in servers if one in chosen)

    def _passing(self, server: str) -> AbstractContextManager[None]:
        gate = self._gates.get(_host(server))
        return gate.passing() if gate else nullcontext()

    def _gate(self) -> Gate:
        settings = self._sender.settings
        return Gate(
            rate=settings.rate,
            burst=settings.burst,
            parallel=settings.parallel,
            clock=self._sender.clock,
            stats=self._sender.stats,
        )


def _finish(mask: Mask, wire: Way) -> None:
    """End what a transport holds open, whether it was closed or forgotten."""
    mask.detach()
    wire.close()


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
