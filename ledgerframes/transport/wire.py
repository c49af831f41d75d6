"""`HttpTransport`: urllib3 as an `httpx.BaseTransport`; made by `Transport`.

The package uses httpx's types for requests and answers, and urllib3 carries them: for a page of 5.1 MB it takes 1.2 ms
of processor time where httpx's own transport takes 4.5, and 0.34 against 0.43 for one of 0.22 MB
(`tests/benchmarks/receiving.py`), so whole histories are read faster. With a transport that is not httpx's own,
httpx reads no proxy from the environment; `proxies` does.
"""

from __future__ import annotations

import base64
import os
import re
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx
import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    LocationParseError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from ledgerframes.config.settings import Settings, is_localhost_name
from ledgerframes.errors import ConfigurationError
from ledgerframes.transport.connections import FOREVER, POOLS, RUNNING, TimedTlsConnection, timed
from ledgerframes.transport.http import Refused
from ledgerframes.transport.proxies import Proxy, proxy_for
from ledgerframes.transport.request import Attempt, Failure
from ledgerframes.transport.tls import certificate_refused, chain, trusted

PIECE: Final = 2**16
#: Connections kept per server; the rate limiter counts the requests.
_POOL_SIZE: Final = 64
_TUNNEL: Final = re.compile(r"Tunnel connection failed: (.*)", re.DOTALL)

Origin = tuple[str, str, int | None]


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
        RUNNING.attempt = attempt = request.extensions.get("attempt", FOREVER)
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
            raise self._refused(error, request, connections) or _as_httpx(error, opening=True) from error
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

    def _refused(self, error: Exception, request: httpx.Request, connections: _Connections) -> Refused | None:
        """The cause of an error, if more is known than its kind: a proxy, or http to a port of TLS."""
        reason = next((match[1] for one in chain(error) if (match := _TUNNEL.match(str(one)))), None)
        if connections.proxy is not None:
            if reason is not None:
                return Refused(connections.proxy.refused(reason.strip()))
            if not isinstance(error, ProxyError):
                return None
            if certificate_refused(error.__context__):  # its cause is an error without one
                return Refused(connections.proxy.untrusted())
            inner = error.original_error
            if isinstance(inner, ConnectTimeoutError):
                why = f": {_words(inner)}" if isinstance(inner, NewConnectionError) else " in time"
                return Refused(connections.proxy.unreached(why))
            return None
        broke_off = isinstance(error, ProtocolError)
        if request.url.scheme == "http" and broke_off and not connections.answered and self._speaks_tls(request.url):
            reason = "it speaks TLS, which http:// does not"
            return Refused(Failure.for_good(reason, "write https:// in {interface}_url="))
        return None

    def _speaks_tls(self, url: httpx.URL) -> bool:
        """Whether a server that hangs up silently speaks TLS, as many do when asked by plain http."""
        try:
            tls = self._tls()
        except ConfigurationError:
            return False
        seconds = self._settings.connect_timeout
        connection = TimedTlsConnection(
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
        socks = proxy is not None and proxy.socks
        manager.pool_classes_by_scheme = {name: timed(pool) for name, pool in known.items()} if socks else POOLS
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
            raise _as_httpx(error, opening=False) from error

    def close(self) -> None:
        """Return the connection to the pool, or close it if the body was not read to its end."""
        self.answer.close()


def _as_httpx(error: Exception, *, opening: bool) -> httpx.TransportError:
    """Convert an error of urllib3 to httpx's."""
    words = _words(error)
    if isinstance(error, LocationParseError):
        return httpx.ConnectError(f"the host's name is not valid: {error}")
    if isinstance(error, NewConnectionError) or (opening and isinstance(error, SSLError | ProxyError)):
        return httpx.ConnectError(words)
    if isinstance(error, ConnectTimeoutError):  # earlier failures have this kind, too
        return httpx.ConnectTimeout(words)
    if isinstance(error, ReadTimeoutError):
        return httpx.ReadTimeout(words)
    if isinstance(error, ProtocolError):
        return httpx.RemoteProtocolError(words)
    return httpx.ReadError(words) if isinstance(error, HTTPError) else httpx.LocalProtocolError(words)


def _words(error: BaseException) -> str:
    """The message of an error of urllib3, without the object that it names."""
    inner = error.__cause__ or error.__context__
    return str(inner if inner is not None and str(inner) else error)
