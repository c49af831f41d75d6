"""`Sender`: sends the requests of one interface: over which connection, to which server, until when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ledgerframes.config.settings import Interface
from ledgerframes.transport.classify import Answer
from ledgerframes.transport.outcome import BodySink
from ledgerframes.transport.request import Prepared, Request
from ledgerframes.transport.retrying import Revise
from ledgerframes.transport.stopping import Stop
from ledgerframes.transport.transport import Transport

T = TypeVar("T")
Read = Callable[[bytes], Any]


@dataclass(frozen=True)
class Sender:
    """A way to send for one interface, one operation, or one server.

    Attributes:
        transport: the connection.
        server: the one server to ask; None asks those of the interface in order of preference.
        stop: ends its requests and waits; None ends with the connection.
        passed_on: converts a request, and the function that reads its answer, for an interface that forwards it.
    """

    transport: Transport
    server: str | None = None
    stop: Stop | None = None
    passed_on: Callable[[Request, Read], tuple[Request, Read]] | None = None

    def on(self, server: str) -> Sender:
        """The same to one server."""
        return replace(self, server=server)

    def stoppable(self, stop: Stop) -> Sender:
        """The same for one operation, which ends once `stop` is set."""
        return replace(self, stop=stop if self.stop is None else Stop(self.stop, stop))

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """The interface's base URLs, the preferred one first."""
        if self.server is not None:
            return (self.server,)
        return self.transport.servers(interface if self.passed_on is None else "validator")

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
        if self.passed_on is not None:
            (request, read), alternatives = self.passed_on(request, read), ()
        chosen = server if self.server is None else self.server
        return self.transport.send(
            request, *alternatives, read=read, server=chosen, revise=revise, attempts=attempts, stop=self.stop
        )

    def prepare(self, request: Request) -> Prepared:
        """As `Transport.prepare`."""
        asked = request if self.passed_on is None else self.passed_on(request, bytes)[0]
        return self.transport.prepare(asked, server=self.server)

    def download(self, url: str, sink: BodySink) -> None:
        """As `Transport.download`."""
        self.transport.download(url, sink, stop=self.stop)

    def pause(self, seconds: float) -> None:
        """As `Transport.pause`."""
        self.transport.pause(seconds, stop=self.stop)
