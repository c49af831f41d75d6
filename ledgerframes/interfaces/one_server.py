"""Lets an interface ask one of its servers only; scan and ledger use it, whose page tokens belong to one server."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Self, TypeVar

from ledgerframes.config.settings import Interface
from ledgerframes.interfaces.calls import Runner, Sender
from ledgerframes.transport import Answer, Stop
from ledgerframes.transport.outcome import Sink
from ledgerframes.transport.request import Prepared, Request
from ledgerframes.transport.retrying import Revise
from ledgerframes.transport.server_preferences import PageLimits

T = TypeVar("T")


class OneServerCalls(Runner):
    """Base of the interfaces whose page tokens belong to the server that gave them."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The interface's base URLs, the one that worked last first."""
        return self._sender.servers(self.interface)

    def on(self, server: str) -> Self:
        """The same interface, asking one of its servers only: its page tokens mean nothing to the others.

        Args:
            server: one of `servers`.

        Returns:
            A copy; this one still asks every server.
        """
        twin = copy(self)
        twin._sender = _OneServer(self._sender, server)  # noqa: SLF001 - its own
        return twin


@dataclass(frozen=True)
class _OneServer:
    """A way to send that asks one server only."""

    sender: Sender
    server: str

    def send(
        self,
        request: Request,
        *alternatives: Request,
        read: Callable[[bytes], T],
        server: str | tuple[str, ...] | None = None,  # noqa: ARG002 - part of the protocol
        revise: Revise | None = None,
        attempts: int | None = None,
    ) -> Answer[T]:
        return self.sender.send(request, *alternatives, read=read, server=self.server, revise=revise, attempts=attempts)

    def download(self, url: str, sink: Sink) -> None:
        self.sender.download(url, sink)

    def prepare(self, request: Request) -> Prepared:
        return self.sender.prepare(request)

    def servers(self, interface: Interface) -> tuple[str, ...]:  # noqa: ARG002 - part of the protocol
        return (self.server,)

    def pause(self, seconds: float) -> None:
        self.sender.pause(seconds)

    def page_limits(self, server: str | None) -> PageLimits:
        return self.sender.page_limits(server or self.server)

    def note_page(self, server: str, size: int, *, came: bool) -> None:
        self.sender.note_page(server, size, came=came)

    def learn_page_maximum(self, server: str, maximum: int) -> None:
        self.sender.learn_page_maximum(server, maximum)

    def stoppable(self, stop: Stop) -> _OneServer:
        return _OneServer(self.sender.stoppable(stop), self.server)
