"""`HttpTransport`: urllib3 as an `httpx.BaseTransport`, its waits bounded by the attempt; made by `Transport`.

The package uses httpx's types for requests and answers, and urllib3 carries them: for a page of 5.1 MB it takes 1.2 ms
of processor time where httpx's own transport takes 4.5, and 0.34 against 0.43 for one of 0.22 MB
(`tests/benchmarks/receiving.py`), so whole histories are read faster. With a transport that is not httpx's own,
httpx reads no proxy from the environment; `proxies` does.

A socket's own time-out restarts with each byte that drips in, so the waits here check the attempt. Data that a server
sends after an answer would be taken for the next one, even if it waits within TLS and the socket shows nothing, so a
connection is dropped if more arrives than the answer.
"""

from __future__ import annotations

import base64
import io
import os
import queue
import ssl
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from email.errors import InvalidHeaderDefect, MissingHeaderBodySeparatorDefect
from functools import cache, partial
from http.client import HTTPException, HTTPResponse, parse_headers
from typing import TYPE_CHECKING, Any, Final

import httpx
import urllib3
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, HTTPError, ProtocolError
from urllib3.util.ssltransport import SSLTransport

from ledgerframes.config.settings import Settings, is_localhost_name
from ledgerframes.errors import ConfigurationError
from ledgerframes.stopping import SLICE, raised_by_handler
from ledgerframes.threads import ended, spawn
from ledgerframes.transport.no_answer import UnusableAnswer, as_httpx, certificate_refused
from ledgerframes.transport.proxies import Proxy, proxy_for
from ledgerframes.transport.request import Attempt, Failure
from ledgerframes.transport.tls import trusted

if TYPE_CHECKING:
    import socket

    from _typeshed import WriteableBuffer

PIECE: Final = 2**16
#: Connections kept per server; the rate limiter counts the requests.
_POOL_SIZE: Final = 64
#: Seconds that a connection may be idle: servers close idle ones, and a command must not meet one that is closing.
_KEEPALIVE: Final = 5.0
_FOREVER: Final = Attempt()
_NO_CONNECTION: Final = "no connection was established in time"
_INTERIM: Final = frozenset({102, 103})
_BAD_LINES: Final = (InvalidHeaderDefect, MissingHeaderBodySeparatorDefect)

Origin = tuple[str, str, int | None]


class _Running(threading.local):
    attempt: Attempt = _FOREVER


#: The attempt that runs in this thread.
_RUNNING: Final = _Running()


class HttpTransport(httpx.BaseTransport):
    """Sends requests to any server, through the proxy that the environment names. Threads and forks may share one.

    Args:
        settings: certificates to trust in addition to the usual ones, and how long connections may take.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._timeout = urllib3.Timeout(connect=settings.connect_timeout, read=settings.read_timeout)
        self._inherited: list[object] = []
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._opening = threading.Lock()
        self._opened: dict[Origin, _Connections] = {}
        self._trusted: ssl.SSLContext | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and wait for the head of its answer.

        `request.extensions` may have an `Attempt` under "attempt", and "pieces" if a body should not be held whole.

        Raises:
            httpx.TransportError: there is no answer.
            ConfigurationError: a proxy, or a file of certificates, cannot be used.
        """
        connections = self._connections_to(request.url)
        _RUNNING.attempt = attempt = request.extensions.get("attempt", _FOREVER)
        # In pieces if it is large, since a socket's time-out covers everything that is written at once.
        content: Any = request.content or None
        body = _pieces(content, attempt) if content and len(content) > PIECE else content
        try:
            answer = connections.pool.urlopen(
                request.method, connections.before + request.url.raw_path.decode("ascii"), body=body,
                headers=dict(request.headers.items()), retries=False, redirect=False, assert_same_host=False,
                preload_content=False, decode_content=False, timeout=self._timeout,
            )  # fmt: skip
        except (HTTPError, ValueError) as error:  # ValueError: of http.client, for characters not valid in a head
            failure = self._failed(error, request, connections)
            raise (as_httpx(error, opening=True) if failure is None else UnusableAnswer(failure)) from error
        connections.answered = True
        pieces = "pieces" in request.extensions or not 200 <= answer.status < 300  # of an error, any part is enough
        arriving = _Body(answer, pieces)
        # Servers may send any byte in a head; http.client reads them as Latin-1.
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
        return httpx.Response(answer.status, headers=headers, stream=arriving)

    def close(self) -> None:
        """Close every idle connection; one that is in use is closed when it ends."""
        if self._process == os.getpid():
            for connections in list(self._opened.values()):
                connections.pool.close()

    def _connections_to(self, url: httpx.URL) -> _Connections:
        if self._process != os.getpid():
            # The connections are the parent's, and its threads may hold locks: kept, and never used again.
            self._inherited.append((self._opened, self._opening))
            self._begin()
        origin = url.scheme, url.host, url.port
        connections = self._opened.get(origin)
        if connections is None:
            with self._opening:
                connections = self._opened.get(origin) or _Connections(url, proxy_for(str(url)), self._tls)
                self._opened[origin] = connections
        return connections

    def _tls(self) -> ssl.SSLContext:
        if self._trusted is None:
            self._trusted = trusted(self._settings.ca_file)
        return self._trusted

    def _failed(self, error: Exception, request: httpx.Request, connections: _Connections) -> Failure | None:
        """The cause of an error, if more is known than its kind: a proxy, or http to a port of TLS."""
        if connections.proxy is not None:
            return connections.proxy.failed(error)
        broke_off = isinstance(error, ProtocolError)
        if request.url.scheme == "http" and broke_off and not connections.answered and self._speaks_tls(request.url):
            return Failure.for_good("it speaks TLS, which http:// does not", "write https:// in {interface}_url=")
        return None

    def _speaks_tls(self, url: httpx.URL) -> bool:
        """Whether a server that hangs up silently speaks TLS, as many do when asked by plain http."""
        try:
            tls = self._tls()
        except ConfigurationError:
            return False
        seconds = self._settings.connect_timeout
        connection = _timed(HTTPSConnectionPool).ConnectionCls(
            _address(url), url.port or 80, ssl_context=tls, server_hostname=url.host, timeout=seconds
        )
        try:
            connection.connect()
        except (HTTPError, OSError) as error:
            return certificate_refused(error)
        finally:
            connection.close()
        return True


class _Connections:
    """The connections to one server.

    Attributes:
        pool: its connections.
        proxy: the proxy in between, if any.
        before: a prefix of paths, for a proxy that reads the requests.
        answered: whether it has ever answered.
    """

    def __init__(self, url: httpx.URL, proxy: Proxy | None, tls: Any) -> None:
        self.proxy = proxy
        self.answered = False
        secure = url.scheme == "https"
        options: dict[str, Any] = {"maxsize": _POOL_SIZE}
        if secure or (proxy is not None and proxy.scheme == "https"):
            options["ssl_context"] = tls()
        if secure and is_localhost_name(url.host):
            options["server_hostname"] = url.host
        if proxy is None:
            manager = urllib3.PoolManager(**options)
        elif proxy.socks:
            from urllib3.contrib.socks import SOCKSProxyManager

            name, password = (part.decode() for part in proxy.user) if proxy.user else (None, None)
            manager = SOCKSProxyManager(proxy.address.rstrip("/"), name, password, **options)
        else:
            user = base64.b64encode(b":".join(proxy.user)).decode("ascii") if proxy.user else ""
            headers = {"Proxy-Authorization": f"Basic {user}"} if user else {}
            manager = urllib3.ProxyManager(
                proxy.address, proxy_headers=headers, proxy_ssl_context=options.get("ssl_context"), **options
            )
        known = manager.pool_classes_by_scheme
        manager.pool_classes_by_scheme = {name: _timed(pool) for name, pool in known.items()}
        host, port = _address(url), url.port or (443 if secure else 80)
        self.pool = manager.connection_from_host(host, port, url.scheme)
        relayed = proxy is not None and not proxy.socks and not secure
        self.before = f"http://{url.netloc.decode('ascii')}" if relayed else ""
        self._manager = manager


def _pieces(body: bytes, attempt: Attempt) -> Iterator[bytes]:
    """A body to send, until the attempt is over."""
    for start in range(0, len(body), PIECE):
        if attempt.over():
            raise TimeoutError("the attempt is over")
        yield body[start : start + PIECE]


def _address(url: httpx.URL) -> str:
    """The host to connect to: names below localhost are this machine, which most resolvers do not know."""
    host = url.raw_host.decode("ascii")
    if is_localhost_name(host):
        return "127.0.0.1"
    return "localhost" if host == "localhost." else host


@dataclass
class _Body(httpx.SyncByteStream):
    """A body as it arrives, still compressed; in one piece if its length is known and `pieces` is not set."""

    answer: urllib3.BaseHTTPResponse
    pieces: bool

    def __iter__(self) -> Iterator[bytes]:
        answer = self.answer
        try:
            if answer.length_remaining and not (self.pieces or "content-encoding" in answer.headers):
                yield answer.read(decode_content=False)
            while piece := answer.read1(PIECE, decode_content=False):
                yield piece
        except HTTPError as error:
            raise as_httpx(error, opening=False) from error

    def close(self) -> None:
        """Return the connection to the pool, or close it if the body was not read to its end."""
        self.answer.close()


class _TimedConnection(HTTPConnection):
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
        rested = time.monotonic() - self.rested <= _KEEPALIVE
        return rested and not self.stray and not _pending(self.sock) and super().is_connected

    def connect(self) -> None:
        """Connect and shake hands in another thread: neither a name look-up nor a handshake can be interrupted."""
        self.stray, self.rested = False, time.monotonic()
        attempt = _RUNNING.attempt

        def opening() -> None:
            _RUNNING.attempt = attempt
            try:
                super(_TimedConnection, self).connect()
            except TimeoutError as error:
                raise ConnectTimeoutError(self, _NO_CONNECTION) from error

        until = time.monotonic() + min(attempt.left(), float(self.timeout or _KEEPALIVE))
        connecting = spawn(opening, "ledgerframes-connect")
        while not (attempt.over() or sys.is_finalizing()) and (left := until - time.monotonic()) > 0:
            if ended(connecting, min(SLICE, left)):
                return connecting.result(0)
        connecting.add_done_callback(lambda _: self.close())  # it may be established later
        raise ConnectTimeoutError(self, _NO_CONNECTION)


class _Resting:
    """A pool's container of connections: a stack without the lock that a signal's handler could leave held."""

    def __init__(self, size: int) -> None:
        self._idle: deque[_TimedConnection | None] = deque()
        self._size = size

    def get(self, block: bool = False, timeout: float | None = None) -> _TimedConnection | None:  # noqa: ARG002, FBT001, FBT002
        """The most recently used connection; never waits."""
        try:
            return self._idle.pop()
        except IndexError:
            raise queue.Empty from None

    def put(self, item: _TimedConnection | None, block: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        """Add a connection."""
        if len(self._idle) >= self._size:
            raise queue.Full
        self._idle.append(item)

    def qsize(self) -> int:
        """The number of connections."""
        return len(self._idle)


@cache
def _timed(pool: type[HTTPConnectionPool]) -> Any:
    """A class of pools of urllib3, such as that for TLS or for SOCKS, with such connections."""
    own = type("Timed", (_TimedConnection, pool.ConnectionCls), {})
    return type(pool.__name__, (pool,), {"ConnectionCls": own, "QueueCls": _Resting})


def _pending(sock: Any) -> bool:
    """Whether unread bytes have arrived within TLS; the socket itself does not show them."""
    if isinstance(sock, SSLTransport):  # TLS to a server within TLS to its proxy
        return bool(sock.incoming.pending or sock.sslobj.pending() or _pending(sock.socket))
    return isinstance(sock, ssl.SSLSocket) and sock.pending() > 0


class _Answer(HTTPResponse):
    """An answer that is read within its attempt."""

    def __init__(self, sock: socket.socket, *arguments: Any, connection: _TimedConnection, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._connection = connection
        self._opened = self.fp  # keeps the socket open if the connection is closed before the answer is read
        self._arriving = _Arriving(sock)
        self.fp: io.BufferedReader = io.BufferedReader(self._arriving)

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

    def _close_conn(self) -> None:
        """Release the socket, and record on the connection whether more has arrived than the answer."""
        self._arriving.resting = True
        self._connection.stray, self._connection.rested = bool(self.fp.peek(1)), time.monotonic()
        super()._close_conn()  # type: ignore[misc]
        self._opened.close()


class _Arriving(io.RawIOBase):
    """The bytes that arrive on a socket, until the attempt is over."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock
        self._attempt = _RUNNING.attempt
        self._seconds = sock.gettimeout()
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
