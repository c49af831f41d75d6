"""Connections of urllib3 whose waits end with the attempt, and that are dropped if more arrives than the answer.

A socket's own time-out restarts with each byte that drips in, so the waits here check the attempt. Data that a server
sends after an answer would be taken for the next one, even if it waits within TLS and the socket shows nothing.
"""

from __future__ import annotations

import io
import queue
import ssl
import sys
import threading
import time
from collections import deque
from email.errors import InvalidHeaderDefect, MissingHeaderBodySeparatorDefect
from functools import partial
from http.client import HTTPException, HTTPResponse, parse_headers
from typing import TYPE_CHECKING, Any, Final

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError
from urllib3.util.ssltransport import SSLTransport

from ledgerframes.stopping import SLICE, raised_by_handler
from ledgerframes.threads import ended, spawn
from ledgerframes.transport.request import Attempt

if TYPE_CHECKING:
    import socket

    from _typeshed import WriteableBuffer

#: Seconds that a connection may be idle: servers close idle ones, and a command must not meet one that is closing.
KEEPALIVE: Final = 5.0
FOREVER: Final = Attempt()
_NO_CONNECTION: Final = "no connection was established in time"
_INTERIM: Final = frozenset({102, 103})
_BAD_LINES: Final = (InvalidHeaderDefect, MissingHeaderBodySeparatorDefect)


class _Running(threading.local):
    attempt: Attempt = FOREVER


#: The attempt that runs in this thread.
RUNNING: Final = _Running()


class TimedConnection(HTTPConnection):
    """A connection whose waits end with the attempt, and that is reused only if nothing is left to read."""

    stray = False  # whether more arrived than the last answer, or not all of that was read
    rested = 0.0  # since when it is idle

    @property
    def response_class(self) -> Any:  # type: ignore[override]
        """The class that reads an answer from it."""
        return partial(_Answer, connection=self)

    @property
    def is_connected(self) -> bool:
        """Whether it can be reused."""
        rested = time.monotonic() - self.rested <= KEEPALIVE
        return rested and not self.stray and not _pending(self.sock) and super().is_connected

    def connect(self) -> None:
        """Connect and shake hands in another thread: neither a name look-up nor a handshake can be interrupted."""
        self.stray, self.rested = False, time.monotonic()
        attempt = RUNNING.attempt

        def opening() -> None:
            RUNNING.attempt = attempt
            try:
                super(TimedConnection, self).connect()
            except TimeoutError as error:
                raise ConnectTimeoutError(self, _NO_CONNECTION) from error

        until = time.monotonic() + min(attempt.left(), float(self.timeout or KEEPALIVE))
        connecting = spawn(opening, "ledgerframes-connect")
        while not (attempt.over() or sys.is_finalizing()) and (left := until - time.monotonic()) > 0:
            if ended(connecting, min(SLICE, left)):
                return connecting.result(0)
        connecting.add_done_callback(lambda _: self.close())  # it may be established later
        raise ConnectTimeoutError(self, _NO_CONNECTION)


class TimedTlsConnection(TimedConnection, HTTPSConnection):
    """The same over TLS."""


class _Resting:
    """A pool's container of connections: a stack without the lock that a signal's handler could leave held."""

    def __init__(self, size: int) -> None:
        self._idle: deque[TimedConnection | None] = deque()
        self._size = size

    def get(self, block: bool = False, timeout: float | None = None) -> TimedConnection | None:  # noqa: ARG002, FBT001, FBT002
        """The most recently used connection; never waits."""
        try:
            return self._idle.pop()
        except IndexError:
            raise queue.Empty from None

    def put(self, item: TimedConnection | None, block: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        """Add a connection."""
        if len(self._idle) >= self._size:
            raise queue.Full
        self._idle.append(item)

    def qsize(self) -> int:
        """The number of connections."""
        return len(self._idle)


class _Pool(HTTPConnectionPool):
    ConnectionCls = TimedConnection
    QueueCls: Any = _Resting


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls: Any = TimedTlsConnection
    QueueCls: Any = _Resting


#: Pools of such connections.
POOLS: Final = {"http": _Pool, "https": _TlsPool}


def timed(pool: type[HTTPConnectionPool]) -> Any:
    """A pool of another package, as for SOCKS, with such connections."""
    own = type("TimedSocks", (TimedConnection, pool.ConnectionCls), {})
    return type(pool.__name__, (pool,), {"ConnectionCls": own, "QueueCls": _Resting})


def _pending(sock: Any) -> bool:
    """Whether unread bytes have arrived within TLS; the socket itself does not show them."""
    if isinstance(sock, SSLTransport):  # TLS to a server within TLS to its proxy
        return bool(sock.incoming.pending or sock.sslobj.pending() or _pending(sock.socket))
    return isinstance(sock, ssl.SSLSocket) and sock.pending() > 0


class _Answer(HTTPResponse):
    """An answer that is read within its attempt."""

    def __init__(self, sock: socket.socket, *arguments: Any, connection: TimedConnection, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._arriving = _Arriving(sock, connection, self.fp)
        self.fp = _Reader(self._arriving)

    def begin(self) -> None:
        """Read the head, complete and well formed; the standard library accepts half a head."""
        super().begin()
        defects = [one for one in self.msg.defects if isinstance(one, _BAD_LINES)]
        if defects or self._arriving.ended:
            raise HTTPException("illegal header line" if defects else "the connection ended within the head")

    def _read_status(self) -> tuple[str, int, str]:
        """Read the status line of the answer itself: the standard library skips only one interim answer."""
        while True:
            found: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            if found[1] not in _INTERIM:
                return found
            parse_headers(self.fp)


class _Reader(io.BufferedReader):
    """Records on the connection, once an answer is read, whether more has arrived."""

    raw: _Arriving

    def close(self) -> None:
        if not self.closed:
            self.raw.resting = True
            connection = self.raw.connection
            connection.stray, connection.rested = bool(self.peek(1)), time.monotonic()
        super().close()


class _Arriving(io.RawIOBase):
    """The bytes that arrive on a socket, until the attempt is over."""

    def __init__(self, sock: socket.socket, connection: TimedConnection, opened: io.BufferedReader) -> None:
        super().__init__()
        self._sock = sock
        self._open = opened  # keeps the socket open if the connection is closed before the answer is read
        self._attempt = RUNNING.attempt
        self._seconds = sock.gettimeout()
        self.connection = connection
        self.resting = self.ended = False

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        """Read the next bytes; an idle connection does not wait for any."""
        if self.resting:
            return None
        until = float("inf") if self._seconds is None else time.monotonic() + self._seconds
        handled = sys.exc_info()[1]
        while not self._attempt.over():
            self._sock.settimeout(max(1e-6, min(SLICE, until - time.monotonic(), self._attempt.left())))
            try:
                size = self._sock.recv_into(buffer)
            except TimeoutError as error:  # no data is lost: the next read returns what arrives later
                if time.monotonic() >= until or raised_by_handler(error, handled):
                    raise
            else:
                self.ended = not size
                return size
        raise TimeoutError("the attempt is over")

    def close(self) -> None:
        """Release the socket."""
        if not self.closed:
            self._open.close()
        super().close()
