"""One thing asked until there is an answer or a reason to stop: routes, servers, attempts; run by `Transport.send`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from ledgerframes.config.settings import Settings
from ledgerframes.errors import InputError, RequestError
from ledgerframes.transport.backoff import jittered
from ledgerframes.transport.classify import Answer, Failure, judge_body, judge_broken, judge_refusal
from ledgerframes.transport.clock import Clock
from ledgerframes.transport.masking import Mask
from ledgerframes.transport.outcome import Broken, Received
from ledgerframes.transport.request import Request
from ledgerframes.transport.server_preferences import ServerPreferences
from ledgerframes.transport.stats import Stats
from ledgerframes.transport.stopping import Stop

T = TypeVar("T")
Revise = Callable[[Request, RequestError], Request | None]

log = logging.getLogger("ledgerframes.transport")

#: How often a server is tried that has never answered and cannot be connected to.
KNOCKS: Final = 2


@dataclass(frozen=True)
class Sending:
    """What `RetryingRequest` needs of its `Transport`; `attempt` sends one request once, within the given seconds."""

    settings: Settings
    clock: Clock
    attempt: Callable[[Request, str, float, Stop], Received | Broken]
    stats: Stats = field(default_factory=Stats)
    mask: Mask = field(default_factory=Mask)
    memory: ServerPreferences = field(default_factory=ServerPreferences)


@dataclass
class _Server:
    """How one server has done so far.

    Attributes:
        url: its base URL.
        routes: which of the candidates it may know, the one to ask first.
        may_recover: whether another attempt may do better; None until it was asked in this round.
        ready: when it may be asked again.
        unreached: how often there was no connection.
        bodies: digests of answers that were not what was asked for.
    """

    url: str
    routes: list[int]
    may_recover: bool | None = None
    ready: float = 0.0
    unreached: int = 0
    bodies: set[bytes] = field(default_factory=set)


class RetryingRequest(Generic[T]):
    """One `send`: a loop over attempts, each at one server by one route.

    Args:
        sender: what the transport lends.
        candidates: the request, then its alternatives on other routes.
        servers: base URLs in the order to be asked.
        read: makes a value of a body.
        revise: may replace a request after a failure.
        stop: ends it.
        attempts: the most to make; the settings' number by default.
    """

    def __init__(
        self,
        sender: Sending,
        candidates: Sequence[Request],
        servers: Sequence[str],
        *,
        read: Callable[[bytes], T],
        revise: Revise | None,
        stop: Stop,
        attempts: int | None = None,
    ) -> None:
        self._sender = sender
        self._candidates = list(candidates)
        self._first = candidates[0].endpoint
        if any(
            (c.endpoint.interface, c.endpoint.safe) != (self._first.interface, self._first.safe) for c in candidates
        ):
            raise InputError(f"the alternatives to {self._first} are not all of its kind; give others")
        self._read = read
        self._revise = revise
        self._stop = stop
        routes = sender.memory.routes
        self._open = [_Server(url, routes(url, self._first, len(candidates))) for url in servers]
        self._denied: Failure | None = None
        self._tries = 0
        self._most = attempts or sender.settings.attempts
        self._began = sender.clock.monotonic()

    def run(self) -> Answer[T]:
        """Ask until there is an answer.

        Raises:
            LedgerframesError: no server gave a valid answer; the message has the reason and the remedy.
        """
        server, moved, round_ = self._open[0], False, 1
        while True:
            self._stop.check()
            outcome = self._ask(server)
            if isinstance(outcome, Answer):
                self._learn(server, moved=moved)
                return outcome
            # A command whose answer was lost may have been carried out; sent again it could be carried out twice.
            if not self._first.safe:
                raise outcome.error("")
            # Releases differ in their routes: `/v2/updates/{id}` in place of v1, another path of the earliest round.
            if outcome.unknown_route and len(server.routes) > 1:
                server.routes.pop(0)
                continue
            revised = self._revised(server, outcome)
            if not revised and (outcome.unknown_route or (outcome.not_found and self._first.not_found_is_local)):
                self._rule_out(server, outcome)
                # The server that answers instead is preferred from then on, unless all servers are asked anyway.
                moved = moved or (outcome.unknown_route and not self._first.not_found_is_local)
                handled = True
            else:
                self._tries += 1
                if not outcome.elsewhere:
                    if not revised:
                        if outcome.not_found:  # the server answered: there is no such thing
                            self._learn(server, moved=moved)
                        raise outcome.error(self._ending())
                    self._pause(server, outcome, 0.0, handled=True)
                    continue
                handled = self._note(server, outcome, round_, revised=revised)
                moved = moved or len(self._open) > 1
            server, begins = self._next()
            round_ += begins
            wait = max(0.0, server.ready - self._sender.clock.monotonic()) if begins else 0.0
            self._pause(server, outcome, wait, handled=handled)

    def _ask(self, server: _Server) -> Answer[T] | Failure:
        """One attempt, judged."""
        sender, request, url = self._sender, self._candidates[server.routes[0]], server.url
        mask, began = sender.mask.text, sender.clock.monotonic()
        left = sender.settings.budget - (began - self._began)
        if not self._first.safe:  # before it is sent: a warning made an error must not hide a command's result
            sender.memory.warn_once(self._first)
        outcome = sender.attempt(request, url, min(sender.settings.deadline, left), self._stop)
        if isinstance(outcome, Received):
            sender.memory.answered(url)
        if isinstance(outcome, Broken):
            return judge_broken(outcome, request, url, mask=mask)
        if not outcome.succeeded:
            return judge_refusal(outcome, request, url, mask=mask, now=sender.clock.now())
        if self._first.safe and request.endpoint == self._first:  # not for a route that stands in for another one
            sender.memory.warn_once(self._first)
        seconds = sender.clock.monotonic() - began
        met = sender.memory.has_met(url)
        return judge_body(outcome, request, url, read=self._read, mask=mask, seconds=seconds, met=met)

    def _revised(self, server: _Server, failure: Failure) -> bool:
        """Whether another request takes the place of the one that failed."""
        # A smaller page mends neither a wrong address nor an item that breaks the contract.
        if self._revise is None or failure.final or failure.whole:
            return False
        revised = self._revise(self._candidates[server.routes[0]], failure.request_error())
        if revised is not None:
            self._candidates[server.routes[0]] = revised
        return revised is not None

    def _rule_out(self, server: _Server, failure: Failure) -> None:
        """Ask the other servers; the refusal counts only when none is left."""
        if not failure.unknown_route:
            self._remember_route(server)
        # A real 404 from one scan says more than an unknown path on another.
        if not failure.unknown_route or self._denied is None:
            self._denied = failure
        self._open.remove(server)
        if not self._open:
            raise self._denied.error(self._ending())

    def _note(self, server: _Server, failure: Failure, round_: int, *, revised: bool) -> bool:
        """Keep how a server failed; raise if no other attempt helps. Whether it is nothing to warn of."""
        server.ready = self._sender.clock.monotonic() + (failure.wait or jittered(round_))
        server.may_recover = self._may_recover(server, failure) or revised
        if not any(one.may_recover is None or one.may_recover for one in self._open):
            raise failure.error(self._ending())
        return server.unreached > 0

    def _may_recover(self, server: _Server, failure: Failure) -> bool:
        """Whether the same server may do better at another attempt."""
        if failure.body is not None:
            again = failure.body in server.bodies
            server.bodies.add(failure.body)
            return not again
        if failure.unreached and not self._sender.memory.reached(server.url):
            # a server that was there may be back soon; one that never was is most likely another's mistake
            server.unreached += 1
            return failure.transient and server.unreached < KNOCKS
        return failure.transient

    def _next(self) -> tuple[_Server, bool]:
        """A server not asked in this round, else the one ready first; whether a round begins with it."""
        for server in self._open:
            if server.may_recover is None:
                return server, False
        for server in self._open:
            server.may_recover = None
        return min(self._open, key=lambda one: one.ready), True

    def _pause(self, server: _Server, failure: Failure, seconds: float, *, handled: bool) -> None:
        """Wait before the next attempt; raise if there is to be none. What is handled is nothing to warn of."""
        sender = self._sender
        elapsed = sender.clock.monotonic() - self._began
        # Not waited for in vain: if the wait ends after the budget, the error comes now and says so.
        if self._tries >= self._most or elapsed + seconds >= sender.settings.budget:
            raise failure.error(self._too_long(failure, elapsed) + self._ending())
        self._stop.check()
        sender.stats.retried()
        level = logging.DEBUG if handled else logging.WARNING
        log.log(level, "%s Asking %s again in %.1f s.", failure.request_error(), server.url, seconds)
        if seconds > 0:
            self._stop.sleep(sender.clock, seconds)
            sender.stats.waited(seconds)

    def _learn(self, server: _Server, *, moved: bool) -> None:
        """Remember what worked."""
        self._sender.memory.meet(server.url)
        self._remember_route(server)
        if moved:
            self._sender.memory.prefer(self._first.interface, server.url)

    def _remember_route(self, server: _Server) -> None:
        if len(self._candidates) > 1:
            self._sender.memory.found(server.url, self._first, server.routes[0])

    def _too_long(self, failure: Failure, elapsed: float) -> str:
        """The message for a wait that the server asks for and the budget has no time for."""
        left = self._sender.settings.budget - elapsed
        if failure.wait is None or failure.wait < left:
            return ""
        return (
            f" The server asks for a wait of {failure.wait:.0f} s (Retry-After), and {max(left, 0):.0f} s of "
            f"budget={self._sender.settings.budget:g} are left: try again then, or raise budget=."
        )

    def _ending(self) -> str:
        if self._tries < 2:
            return ""
        seconds = self._sender.clock.monotonic() - self._began
        return f" Gave up after {self._tries} attempts in {seconds:.1f} s."
