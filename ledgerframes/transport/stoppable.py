"""`StoppableSender`: a transport for one operation, which its caller can end; `Transport.stoppable` makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ledgerframes.config.settings import Interface
from ledgerframes.transport.classify import Answer
from ledgerframes.transport.outcome import Sink
from ledgerframes.transport.request import Prepared, Request
from ledgerframes.transport.retrying import Revise
from ledgerframes.transport.server_preferences import PageLimits
from ledgerframes.transport.stopping import Stop

if TYPE_CHECKING:
    from ledgerframes.transport.transport import Transport

T = TypeVar("T")


@dataclass(frozen=True)
class StoppableSender:
    """A transport for one operation: setting `stop` ends its requests, waits and pauses, and no others.

    Attributes:
        transport: what sends.
        stop: what ends it.
    """

    transport: Transport
    stop: Stop

    def send(
        self,
        request: Request,
        *alternatives: Request,
        read: Callable[[bytes], T],
        server: str | tuple[str, ...] | None = None,
        revise: Revise | None = None,
        attempts: int | None = None,
    ) -> Answer[T]:
        """As `Transport.send`."""
        return self.transport.send(
            request, *alternatives, read=read, server=server, revise=revise, attempts=attempts, stop=self.stop
        )

    def download(self, url: str, sink: Sink) -> None:
        """As `Transport.download`."""
        self.transport.download(url, sink, stop=self.stop)

    def prepare(self, request: Request) -> Prepared:
        """As `Transport.prepare`."""
        return self.transport.prepare(request)

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """As `Transport.servers`."""
        return self.transport.servers(interface)

    def page_limits(self, server: str | None) -> PageLimits:
        """As `Transport.page_limits`."""
        return self.transport.page_limits(server)

    def note_page(self, server: str, size: int, *, came: bool) -> None:
        """As `Transport.note_page`."""
        self.transport.note_page(server, size, came=came)

    def learn_page_maximum(self, server: str, maximum: int) -> None:
        """As `Transport.learn_page_maximum`."""
        self.transport.learn_page_maximum(server, maximum)

    def pause(self, seconds: float) -> None:
        """As `Transport.pause`."""
        self.transport.pause(seconds, stop=self.stop)

    def stoppable(self, stop: Stop) -> StoppableSender:
        """A part of this operation, which also ends by itself."""
        return StoppableSender(self.transport, Stop(self.stop, stop))
