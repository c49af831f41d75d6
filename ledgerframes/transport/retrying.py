"""One thing asked until there is an answer or a reason to stop: routes, servers, attempts; run by `Transport.send`."""

from __future__ import annotations

import logging
from collections import Counter
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


class RetryingRequest(Generic[T]):
    """The state of one `send`.

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
        self._open = list(servers)
        self._server = servers[0]
        self._routes: dict[str, list[int]] = {}  # by server, the candidates it may still know
        self._failed: dict[str, bool] = {}  # by server, in this round: whether another attempt may do better
        self._ready: dict[str, float] = {}  # by server, when it may be asked again
        self._bodies: set[tuple[str, bytes]] = set()  # of answers that were not what was asked for
        self._unreached: Counter[str] = Counter()
        self._moved = False
        self._denied: Failure | None = None
        self._round = 1
        self._tries = 0
        self._most = attempts or sender.settings.attempts
        self._began = sender.clock.monotonic()

    def run(self) -> Answer[T]:
        """Ask until there is an answer.

        Raises:
            LedgerframesError: no server gave a valid answer; the message has the reason and the remedy.
        """
        while True:
            self._stop.check()
            outcome = self._ask()
            if isinstance(outcome, Answer):
                self._learn()
                return outcome
            # A command whose answer was lost may have been carried out; sent again it could be carried out twice.
            if not self._first.safe:
                raise outcome.error("")
            self._after(outcome)

    def _ask(self) -> Answer[T] | Failure:
        """One attempt, judged."""
        sender, request, server = self._sender, self._candidates[self._position()], self._server
        mask, began = sender.mask.text, sender.clock.monotonic()
        left = sender.settings.budget - (began - self._began)
        if not self._first.safe:  # before it is sent: a warning made an error must not hide a command's result
            sender.memory.warn_once(self._first)
        outcome = sender.attempt(request, server, min(sender.settings.deadline, left), self._stop)
        if isinstance(outcome, Received):
            sender.memory.answered(server)
        if isinstance(outcome, Broken):
            return judge_broken(outcome, request, server, mask=mask)
        if not outcome.succeeded:
            return judge_refusal(outcome, request, server, mask=mask, now=sender.clock.now())
        if self._first.safe and request.endpoint == self._first:  # not for a route that stands in for another one
            sender.memory.warn_once(self._first)
        seconds = sender.clock.monotonic() - began
        met = sender.memory.has_met(server)
        return judge_body(outcome, request, server, read=self._read, mask=mask, seconds=seconds, met=met)

    def _after(self, failure: Failure) -> None:
        """Decide what is asked next, and wait if need be; or raise."""
        # Releases differ in their routes: `/v2/updates/{id}` in place of v1, another path of the earliest round.
        if failure.unknown_route and self._next_route():
            return
        current = self._candidates[self._position()]
        # A smaller page mends neither a wrong address nor an item that breaks the contract.
        revise = None if failure.final or failure.whole else self._revise
        revised = revise(current, failure.request_error()) if revise else None
        if revised is not None:
            self._candidates[self._position()] = revised
        elif failure.unknown_route or (failure.not_found and self._first.not_found_is_local):
            self._rule_out(failure)
            return
        self._tries += 1
        if not failure.elsewhere and revised is None:
            if failure.not_found:  # the server answered: there is no such thing
                self._learn()
            raise failure.error(self._ending())
        if not failure.elsewhere:
            self._pause(failure, 0.0, handled=True)
            return
        self._ready[self._server] = self._sender.clock.monotonic() + (failure.wait or jittered(self._round))
        self._failed[self._server] = self._may_recover(failure) or revised is not None
        if all(server in self._failed for server in self._open) and not any(self._failed.values()):
            raise failure.error(self._ending())
        unreached = self._unreached[self._server] > 0
        pause = self._next_server()
        self._moved = self._moved or len(self._open) > 1
        self._pause(failure, pause, handled=unreached)

    def _may_recover(self, failure: Failure) -> bool:
        """Whether the same server may do better at another attempt."""
        if failure.body is not None:
            seen = (self._server, failure.body)
            again = seen in self._bodies
            self._bodies.add(seen)
            return not again
        if failure.unreached and not self._sender.memory.reached(self._server):
            # a server that was there may be back soon; one that never was is most likely another's mistake
            self._unreached[self._server] += 1
            return failure.transient and self._unreached[self._server] < KNOCKS
        return failure.transient

    def _position(self) -> int:
        """Which candidate is the one to ask on this server."""
        if self._server not in self._routes:
            known = self._sender.memory.routes(self._server, self._first, len(self._candidates))
            self._routes[self._server] = known
        return self._routes[self._server][0]

    def _next_route(self) -> bool:
        """Move on to the server's next candidate, if there is one; the last one stays."""
        routes = self._routes[self._server]
        if len(routes) == 1:
            return False
        routes.pop(0)
        return True

    def _rule_out(self, failure: Failure) -> None:
        """Ask the other servers; the refusal counts only when none is left."""
        if failure.unknown_route:
            # the server that answers instead is preferred from then on, unless all servers are asked anyway
            self._moved = self._moved or not self._first.not_found_is_local
        else:
            self._remember_route()
        # A real 404 from one scan says more than an unknown path on another.
        if not failure.unknown_route or self._denied is None:
            self._denied = failure
        self._open.remove(self._server)
        if not self._open:
            raise self._denied.error(self._ending())
        self._pause(failure, self._next_server(), handled=True)

    def _next_server(self) -> float:
        """Move on to a server not asked in this round, else to the one ready first; returns the seconds until then."""
        untried = [server for server in self._open if server not in self._failed]
        if untried:
            self._server = untried[0]
            return 0.0
        # Every open server had its turn, so the next round begins after the shortest of the waits.
        self._failed.clear()
        self._round += 1
        self._server = min(self._open, key=self._ready.__getitem__)
        return max(0.0, self._ready[self._server] - self._sender.clock.monotonic())

    def _pause(self, failure: Failure, seconds: float, *, handled: bool = False) -> None:
        """Wait before the next attempt; raise if there is to be none. What is handled is nothing to warn of."""
        sender = self._sender
        elapsed = sender.clock.monotonic() - self._began
        # Not waited for in vain: if the wait ends after the budget, the error comes now and says so.
        if self._tries >= self._most or elapsed + seconds >= sender.settings.budget:
            raise failure.error(self._too_long(failure, elapsed) + self._ending())
        self._stop.check()
        sender.stats.retried()
        level = logging.DEBUG if handled else logging.WARNING
        log.log(level, "%s Asking %s again in %.1f s.", failure.request_error(), self._server, seconds)
        if seconds > 0:
            self._stop.sleep(sender.clock, seconds)
            sender.stats.waited(seconds)

    def _learn(self) -> None:
        """Remember what worked."""
        self._sender.memory.meet(self._server)
        self._remember_route()
        if self._moved:
            self._sender.memory.prefer(self._first.interface, self._server)

    def _remember_route(self) -> None:
        if len(self._candidates) > 1:
            self._sender.memory.found(self._server, self._first, self._position())

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
