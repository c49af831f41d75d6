"""`Sender`: sends a request until there is an answer or a reason to stop; every call of an interface goes through one.

Its loop asks the server that is ready first, on each route that it may know.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter, ne
from typing import Any, Final, Generic, TypeVar

from ledgerframes.config.settings import Interface, source_of
from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import DecodeError, InputError, RequestError
from ledgerframes.stopping import Stop, held_back
from ledgerframes.transport.classify import is_page, judge_broken, judge_page, judge_refusal, judge_unreadable
from ledgerframes.transport.request import Answer, BodyFile, Failure, Prepared, Request
from ledgerframes.transport.transport import MASK, Transport

T = TypeVar("T")
Read = Callable[[bytes], Any]
Revise = Callable[[Request, RequestError], Request | None]

log = logging.getLogger("ledgerframes.transport")

#: Attempts at a server that was never reachable.
KNOCKS: Final = 2
# Scans that limit by client address count requests in windows of 60 seconds.
LONGEST: Final = 60.0
FIRST: Final = 0.5
# 0.5 s doubled seven times is above LONGEST; without a limit the power itself would grow without bound.
GROWTH_ENDS: Final = 7


@dataclass(frozen=True)
class Sender:
    """A way to send over a connection: for one interface, one operation, or to some of the servers.

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
        return replace(self, stop=Stop(self.stop or self.transport.stop, stop))

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """The interface's base URLs, as far as they are to be asked, the preferred one first.

        Raises:
            ConfigurationError: there is none.
            InputError: one that is to be asked is not among them.
        """
        servers = self.transport.servers(interface if self.passed_on is None else "validator")
        for url in self.among:
            if url not in servers:
                raise InputError(f"server={source_of(url)!r} is not a {interface} server; there are {servers}")
        return tuple(server for server in servers if server in self.among) or servers

    def prepare(self, request: Request) -> Prepared:
        """The request as it would be sent to the first of the servers, with `***` for the token."""
        if self.passed_on is not None:
            request, _ = self.passed_on(request, bytes)
        interface = request.endpoint.interface
        server = self.servers(interface)[0]
        prepared = request.prepared(server)
        if self.transport.token(interface, server) is None:
            return prepared
        name, template = self.transport.carrier(interface)
        return replace(prepared, headers={**prepared.headers, name: template.format(MASK)})

    def send(
        self,
        request: Request,
        *alternatives: Request,
        read: Callable[[bytes], T],
        revise: Revise | None = None,
        attempts: int | None = None,
        sink: BodyFile | None = None,
    ) -> Answer[T]:
        """Send a request until it is answered, within the settings' attempts and budget; a command is sent once.

        Args:
            request: the request.
            alternatives: the same on routes that older or newer releases know; not used for commands.
            read: decodes the body of a successful answer. A `msgspec.DecodeError` that is not a `ValidationError`
                means the body is truncated, which counts as a broken connection.
            revise: called after each failed attempt of a safe request; if it returns a request, that is sent next.
            attempts: the maximum number of attempts; by default that of the settings.
            sink: receives the body of a success in place of `read`, whatever its size; the budget is then for each
                wait.

        Raises:
            ConfigurationError: the interface has no server, or its token cannot be fetched.
            NoAnswerError: no complete answer arrived, or one larger than `max_answer_bytes`.
            StatusError: the server refused the request.
            DecodeError: the body breaks the contract, or was incomplete at every attempt.
            StoppedError: it was stopped, or the connection was closed meanwhile.
            LedgerframesError: the sink has no room for the body.
            OSError: the sink cannot write the body.
        """
        if self.passed_on is not None:
            (request, read), alternatives = self.passed_on(request, read), ()
        if self.transport.stop.is_set():
            raise InputError("this connection was closed; call connect() again")
        safe = request.endpoint.safe
        servers = self.servers(request.endpoint.interface) if request.url is None else (source_of(request.url),)
        ending = Stop(self.stop or self.transport.stop)
        candidates = [request, *alternatives] if safe else [request]
        exchange = _Exchange(self.transport, candidates, read, ending, revise, attempts, sink)
        # A command cannot be interrupted, so Ctrl-C is raised at once there.
        with held_back(ending.set) if safe else nullcontext():
            return exchange.run(servers)

    def pause(self, seconds: float) -> None:
        """Wait by the clock of all waits; counted in `stats`.

        Raises:
            StoppedError: it was stopped, or the connection was closed meanwhile.
        """
        (self.stop or self.transport.stop).sleep(self.transport.clock, seconds)
        self.transport.stats.waited(seconds)


@dataclass
class _Server:
    """The state of one server during a request.

    Attributes:
        url: its base URL.
        routes: positions of the candidates that it may know, the next one to ask first.
        ready: when it may be asked again.
        failures: how often it failed.
        unreached: how often there was no connection.
        bodies: digests of answers of the wrong kind.
    """

    url: str
    routes: list[int]
    ready: float = 0.0
    failures: int = 0
    unreached: int = 0
    bodies: set[bytes] = field(default_factory=set)


@dataclass
class _Exchange(Generic[T]):
    """One request with all its attempts.

    Attributes:
        transport: makes an attempt; its clock, settings and counters, and its knowledge of servers.
        candidates: the request, then its alternatives on other routes, all of one interface and equally safe.
        read: decodes a body.
        stop: ends it.
        revise: may replace a request after a failure.
        attempts: the maximum; the settings' number by default.
        sink: receives the body; the settings' budget is then for each wait, as a file may have any size.
    """

    transport: Transport
    candidates: list[Request]
    read: Callable[[bytes], T]
    stop: Stop
    revise: Revise | None = None
    attempts: int | None = None
    sink: BodyFile | None = None
    _began: float = 0.0
    _until: float = float("inf")
    _tries: int = 0

    def run(self, servers: Sequence[str]) -> Answer[T]:
        """Ask the server that is ready first, until there is an answer or no server is left that may have one.

        Args:
            servers: base URLs in the order to be asked.

        Raises:
            LedgerframesError: no server gave a valid answer; the message has the reason and the remedy.
        """
        transport, clock, first = self.transport, self.transport.clock, self.candidates[0].endpoint
        self._began = clock.monotonic()
        self._until = self._began + transport.settings.budget if self.sink is None else self._until
        routes, known = range(len(self.candidates)), transport.known_routes
        left = [_Server(url, sorted(routes, key=partial(ne, known.get((url, first), 0)))) for url in servers]
        failure = denied = None
        failed: dict[str, Failure] = {}
        moved = handled = False
        while left:
            server = min(left, key=attrgetter("ready"))
            if failure is not None:
                self._pause(server, failure, max(0.0, server.ready - clock.monotonic()), handled=handled)
            self.stop.check()
            outcome = self._ask(server)
            if isinstance(outcome, Answer):
                self._learn(server, moved=moved)
                return outcome
            # A command whose answer was lost may have been carried out; sent again, it could be carried out twice.
            if not first.safe:
                raise outcome.error()
            # Releases differ in their routes: `/v2/updates/{id}` in place of v1, another path of the earliest round.
            if outcome.unknown_route and len(server.routes) > 1:
                server.routes.pop(0)
                failure = None
                continue
            failure, revised = outcome, self._revised(server, outcome)
            if not revised and (outcome.unknown_route or (outcome.not_found and first.not_found_is_local)):
                if not outcome.unknown_route:
                    transport.known_routes[server.url, first] = server.routes[0]
                    failed.pop(server.url, None)
                # A real 404 from one scan is more informative than an unknown path on another.
                denied = outcome if denied is None or not outcome.unknown_route else denied
                # The server that answers instead is preferred from then on, unless all are asked anyway.
                moved = moved or (outcome.unknown_route and not first.not_found_is_local)
                handled = True
                left.remove(server)
                continue
            self._tries += 1
            if revised and not outcome.elsewhere:
                handled = True
                continue
            failed = {url: one for url, one in failed.items() if url != server.url} | {server.url: outcome}
            if not outcome.elsewhere:
                if outcome.not_found:  # the server answered: it does not exist
                    self._learn(server, moved=moved)
                break
            server.failures += 1
            server.ready = clock.monotonic() + (outcome.wait or jittered(server.failures))
            moved = moved or len(left) > 1
            if not (self._may_recover(server, outcome) or revised):
                left.remove(server)
            handled = server.unreached > 0
        # What a server that has since answered failed with before is no reason.
        last = [denied, *failed.values()][-1]
        assert last is not None, "every interface has a server"
        raise last.error(self._attempts_made())

    def _ask(self, server: _Server) -> Answer[T] | Failure:
        """Make one attempt and read its answer."""
        transport, request, url = self.transport, self.candidates[server.routes[0]], server.url
        mask, began = transport.mask.text, transport.clock.monotonic()
        seconds = min(transport.settings.deadline, self._until - began)
        received = transport.attempt(request, url, seconds=seconds, stop=self.stop, sink=self.sink)
        if isinstance(received, Failure):
            return judge_broken(received, request, url, mask=mask)
        transport.reached.add(url)
        # No range was requested, so a 206 is a part that would be taken for the whole.
        if not 200 <= received.status < 300 or received.status == 206:
            return judge_refusal(received, request, url, mask=mask, now=transport.clock.now())
        seconds = transport.clock.monotonic() - began
        # Before it is read, since some calls need nothing of an answer; what begins as JSON does is no page.
        if received.body[:1] != b"{" and is_page(received):
            return judge_page(received, request, url, mask=mask, recognised=url in transport.recognised)
        try:
            value = self.read(received.body)
        except (DecodeError, *UNREADABLE) as error:
            return judge_unreadable(received, error, request, url, mask=mask)
        headers = {name: mask(text) for name, text in received.headers.items()}
        return Answer(value, received.status, url, request, len(received.body), seconds, headers)

    def _revised(self, server: _Server, failure: Failure) -> bool:
        """Whether another request replaces the one that failed."""
        # A smaller page fixes neither a wrong address nor an item that breaks the contract.
        if self.revise is None or failure.final:
            return False
        revised = self.revise(self.candidates[server.routes[0]], failure.request_error())
        if revised is None:
            return False
        self.candidates[server.routes[0]] = revised
        return True

    def _may_recover(self, server: _Server, failure: Failure) -> bool:
        """Whether another attempt at the same server may succeed."""
        if failure.body is not None:
            again = failure.body in server.bodies
            server.bodies.add(failure.body)
            return not again
        if not failure.reached and server.url not in self.transport.reached:
            # a server that has answered may come back soon; one that never has is probably a wrong address
            server.unreached += 1
            return failure.transient and server.unreached < KNOCKS
        return failure.transient

    def _pause(self, server: _Server, failure: Failure, seconds: float, *, handled: bool) -> None:
        """Wait before the next attempt, or raise if there is none; failures that are `handled` are not warned of."""
        transport, settings = self.transport, self.transport.settings
        left = min(settings.budget, self._until - transport.clock.monotonic())
        # Fail now instead of sleeping past the budget.
        if self._tries >= (self.attempts or settings.attempts) or seconds >= left:
            raise failure.error(self._too_long(failure, left) + self._attempts_made())
        self.stop.check()
        transport.stats.retried()
        level = logging.DEBUG if handled else logging.WARNING
        log.log(level, "%s Asking %s again in %.1f s.", failure.request_error(), server.url, seconds)
        if seconds > 0:
            self.stop.sleep(transport.clock, seconds)
            transport.stats.waited(seconds)

    def _too_long(self, failure: Failure, left: float) -> str:
        """The message if the server asks for a wait that exceeds the budget."""
        if failure.wait is None or failure.wait < left:
            return ""
        return (
            f" The server asks for a wait of {failure.wait:.0f} s (Retry-After), and {max(left, 0):.0f} s of "
            f"budget={self.transport.settings.budget:g} are left: try again then, or raise budget=."
        )

    def _learn(self, server: _Server, *, moved: bool) -> None:
        """Remember what worked."""
        transport, first = self.transport, self.candidates[0].endpoint
        transport.recognised.add(server.url)
        transport.known_routes[server.url, first] = server.routes[0]
        if moved:
            transport.preferred[first.interface] = server.url

    def _attempts_made(self) -> str:
        if self._tries < 2:
            return ""
        seconds = self.transport.clock.monotonic() - self._began
        return f" Gave up after {self._tries} attempts in {seconds:.1f} s."


def jittered(attempt: int) -> float:
    """Seconds to wait after the given attempt, counted from 1: exponential, with full jitter, at most a minute."""
    ceiling = min(LONGEST, FIRST * 2 ** min(attempt - 1, GROWTH_ENDS))
    return random.uniform(0, ceiling)  # noqa: S311 -- spreads clients out; nothing secret depends on it
