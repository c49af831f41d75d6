"""Sends a request until there is an answer or a reason to stop: the loop over rounds, servers, routes and attempts."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ledgerframes.errors import InputError, RequestError
from ledgerframes.stopping import Stop
from ledgerframes.transport.classify import judge_body, judge_broken, judge_refusal
from ledgerframes.transport.request import Answer, Failure, Received, Request

if TYPE_CHECKING:
    from ledgerframes.transport.transport import Transport

T = TypeVar("T")
Revise = Callable[[Request, RequestError], Request | None]
#: Sends a request to a server once, within the given seconds.
Attempt = Callable[[Request, str, float], Received | Failure]

log = logging.getLogger("ledgerframes.transport")

#: Attempts at a server that was never reachable.
KNOCKS: Final = 2
# Scans that limit by client address count requests in windows of 60 seconds.
LONGEST: Final = 60.0
FIRST: Final = 0.5
# 0.5 s doubled seven times is above LONGEST; without a limit the power itself would grow without bound.
GROWTH_ENDS: Final = 7


@dataclass
class _Server:
    """The state of one server during a request.

    Attributes:
        url: its base URL.
        routes: positions of the candidates that it may know, the next one to ask first.
        may_recover: whether another attempt may succeed.
        ready: when it may be asked again.
        unreached: how often there was no connection.
        bodies: digests of answers of the wrong kind.
    """

    url: str
    routes: list[int]
    may_recover: bool = True
    ready: float = 0.0
    unreached: int = 0
    bodies: set[bytes] = field(default_factory=set)


@dataclass
class Exchange(Generic[T]):
    """One request with all its attempts.

    Attributes:
        transport: its clock, settings and counters, and its knowledge of servers.
        attempt: sends the request once.
        candidates: the request, then its alternatives on other routes, all of one interface and equally safe.
        read: decodes a body.
        stop: ends it.
        revise: may replace a request after a failure.
        attempts: the maximum; the settings' number by default.
        timed: whether the settings' budget covers the whole; otherwise each wait, as for a file of any size.
    """

    transport: Transport
    attempt: Attempt
    candidates: list[Request]
    read: Callable[[bytes], T]
    stop: Stop
    revise: Revise | None = None
    attempts: int | None = None
    timed: bool = True
    _began: float = 0.0
    _until: float = float("inf")
    _tries: int = 0

    def run(self, servers: Sequence[str]) -> Answer[T]:
        """Ask until there is an answer: every server in each round, starting with the one that is ready first.

        Args:
            servers: base URLs in the order to be asked.

        Raises:
            InputError: the candidates are of several kinds.
            LedgerframesError: no server gave a valid answer; the message has the reason and the remedy.
        """
        clock, memory, first = self.transport.clock, self.transport.memory, self.candidates[0].endpoint
        if len({(candidate.endpoint.interface, candidate.endpoint.safe) for candidate in self.candidates}) > 1:
            raise InputError(f"the alternatives to {first} are not all of its kind; give others")
        self._began = clock.monotonic()
        self._until = self._began + self.transport.settings.budget if self.timed else self._until
        left = [_Server(url, memory.routes(url, first, len(self.candidates))) for url in servers]
        failure = failed = denied = None
        moved = handled = False
        round_ = 0
        while True:
            round_ += 1
            soonest = min(left, key=lambda server: server.ready)
            for server in (soonest, *(other for other in left if other is not soonest)):
                if failure is not None:
                    wait = max(0.0, server.ready - clock.monotonic()) if server is soonest else 0.0
                    self._pause(server, failure, wait, handled=handled)
                outcome, revised = self._turn(server)
                if isinstance(outcome, Answer):
                    self._learn(server, moved=moved)
                    return outcome
                failure = outcome
                if not revised and (outcome.unknown_route or (outcome.not_found and first.not_found_is_local)):
                    if not outcome.unknown_route:
                        memory.found(server.url, first, server.routes[0])
                    # A real 404 from one scan is more informative than an unknown path on another.
                    denied = outcome if denied is None or not outcome.unknown_route else denied
                    left.remove(server)
                    if not left:
                        raise denied.error(self._ending())
                    # The server that answers instead is preferred from then on, unless all are asked anyway.
                    moved = moved or (outcome.unknown_route and not first.not_found_is_local)
                    handled = True
                    continue
                self._tries += 1
                failed = outcome
                if not outcome.elsewhere:
                    if outcome.not_found:  # the server answered: it does not exist
                        self._learn(server, moved=moved)
                    raise outcome.error(self._ending())
                server.ready = clock.monotonic() + (outcome.wait or jittered(round_))
                server.may_recover = self._may_recover(server, outcome) or revised
                handled = server.unreached > 0
                moved = moved or len(left) > 1
            if failed is not None and not any(server.may_recover for server in left):
                raise failed.error(self._ending())

    def _turn(self, server: _Server) -> tuple[Answer[T] | Failure, bool]:
        """Ask a server on each route that it may know; returns the outcome, and whether a smaller request was found."""
        while True:
            self.stop.check()
            outcome = self._ask(server)
            if isinstance(outcome, Answer):
                return outcome, False
            # A command whose answer was lost may have been carried out; sent again, it could be carried out twice.
            if not self.candidates[0].endpoint.safe:
                raise outcome.error()
            # Releases differ in their routes: `/v2/updates/{id}` in place of v1, another path of the earliest round.
            if outcome.unknown_route and len(server.routes) > 1:
                server.routes.pop(0)
                continue
            revised = self._revised(server, outcome)
            if outcome.elsewhere or not revised:
                return outcome, revised
            self._tries += 1
            self._pause(server, outcome, 0.0, handled=True)

    def _ask(self, server: _Server) -> Answer[T] | Failure:
        """Make one attempt and judge it."""
        transport, request, url = self.transport, self.candidates[server.routes[0]], server.url
        mask, memory, began = transport.mask.text, transport.memory, transport.clock.monotonic()
        first = self.candidates[0].endpoint
        if not first.safe:  # before sending: a warning raised as an error must not hide a command's result
            memory.warn_once(first)
        outcome = self.attempt(request, url, min(transport.settings.deadline, self._until - began))
        if isinstance(outcome, Failure):
            return judge_broken(outcome, request, url, mask=mask)
        memory.reached.add(url)
        if not outcome.succeeded:
            return judge_refusal(outcome, request, url, mask=mask, now=transport.clock.now())
        if first.safe and request.endpoint == first:  # not for an alternative route
            memory.warn_once(first)
        seconds = transport.clock.monotonic() - began
        return judge_body(
            outcome, request, url, read=self.read, mask=mask, seconds=seconds, recognised=url in memory.recognised
        )

    def _revised(self, server: _Server, failure: Failure) -> bool:
        """Whether another request replaces the one that failed."""
        # A smaller page fixes neither a wrong address nor an item that breaks the contract.
        if self.revise is None or failure.final or failure.whole:
            return False
        revised = self.revise(self.candidates[server.routes[0]], failure.request_error())
        if revised is not None:
            self.candidates[server.routes[0]] = revised
        return revised is not None

    def _may_recover(self, server: _Server, failure: Failure) -> bool:
        """Whether another attempt at the same server may succeed."""
        if failure.body is not None:
            again = failure.body in server.bodies
            server.bodies.add(failure.body)
            return not again
        if not failure.reached and server.url not in self.transport.memory.reached:
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
            raise failure.error(self._too_long(failure, left) + self._ending())
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
        memory, first = self.transport.memory, self.candidates[0].endpoint
        memory.recognised.add(server.url)
        memory.found(server.url, first, server.routes[0])
        if moved:
            memory.preferred[first.interface] = server.url

    def _ending(self) -> str:
        if self._tries < 2:
            return ""
        seconds = self.transport.clock.monotonic() - self._began
        return f" Gave up after {self._tries} attempts in {seconds:.1f} s."


def jittered(attempt: int) -> float:
    """Seconds to wait after the given attempt, counted from 1: exponential, with full jitter, at most a minute."""
    ceiling = min(LONGEST, FIRST * 2 ** min(attempt - 1, GROWTH_ENDS))
    return random.uniform(0, ceiling)  # noqa: S311 -- spreads clients out; nothing secret depends on it
