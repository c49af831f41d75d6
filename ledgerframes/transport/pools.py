"""The ways to the known servers: connections kept open, or the proxy that the environment names; made by `http`."""

from __future__ import annotations

import ssl
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Final, Protocol
from urllib.parse import urlsplit

import h11
import httpcore
import httpx

from ledgerframes.config.settings import Settings
from ledgerframes.transport.connection import Connection, Incoming, Opening, named
from ledgerframes.transport.outcome import Credential
from ledgerframes.transport.proxies import Proxy, proxy_for
from ledgerframes.transport.request import Prepared
from ledgerframes.transport.tls import trusted
from ledgerframes.transport.tunnels import ToProxy, Tunnels, authorization

KEEPALIVE: Final = 5.0
_TARGETS: Final = 64  # a few are asked again and again
_ALWAYS_SIZED: Final = frozenset({"POST", "PUT", "PATCH"})  # RFC 9110: these say that their body is empty


class Opener(Opening, Protocol):
    """Opens connections whose reads and writes end with the attempt."""

    @property
    def backend(self) -> httpcore.NetworkBackend:
        """The same for httpcore's proxies of SOCKS."""


class Pools:
    """The connections of one `Wire`.

    Args:
        servers: the URLs that may be asked; a request to any other host has nowhere to go.
        opening: opens connections.
        settings: the time-outs, and whom to trust.
    """

    def __init__(self, servers: tuple[str, ...], opening: Opener, settings: Settings) -> None:
        self._settings = settings
        self._target = lru_cache(_TARGETS)(_target_of)
        self._proxies = {_origin(url): proxy_for(url) for url in servers}
        ways = dict.fromkeys(self._proxies.values())
        secure = any(url.startswith("https") for url in servers)
        secure = secure or any(proxy is not None and proxy.scheme == "https" for proxy in ways)
        self._tls = trusted(settings.ca_file) if secure else None
        if self._tls is not None:
            self._tls.set_alpn_protocols(["http/1.1"])
        self._opening = opening
        self._socks = {
            proxy: _socks_pool(proxy, self._tls, opening.backend) for proxy in ways if proxy is not None and proxy.socks
        }
        self._ways = {_origin(url): self._way(httpx.URL(url), self._proxies[_origin(url)]) for url in servers}

    def proxy(self, url: str) -> Proxy | None:
        """The proxy by which a server is reached."""
        return self._proxies.get(_origin(url))

    def ask(self, prepared: Prepared, credential: Credential | None) -> Incoming:
        """Send a request and wait for the head of its answer.

        Raises:
            httpcore.TimeoutException, NetworkError, ProtocolError, ProxyError: there is no answer.
        """
        way, body = self._ways[_origin(prepared.url)], prepared.body or b""
        headers = {"Host": way.host, **prepared.headers, **(credential.header() if credential else {})}
        if body or prepared.method in _ALWAYS_SIZED:
            headers["Content-Length"] = str(len(body))
        return way.ask(prepared.method, self._target(prepared.url), headers, body)

    def close(self) -> None:
        """Close every connection that is at rest; one that is under way is closed when it ends."""
        for way in self._ways.values():
            way.close()

    def _way(self, address: httpx.URL, proxy: Proxy | None) -> _Connections | _Through:
        if proxy is None:
            return _Connections(address, self._opening, self._tls, self._settings)
        if proxy.socks:
            return _Through(address, self._socks[proxy], self._settings)
        to_proxy, user = ToProxy(proxy, self._opening, self._tls), authorization(proxy)
        if address.scheme == "https":
            tunnels = Tunnels(to_proxy, user, self._settings.read_timeout)
            return _Connections(address, tunnels, self._tls, self._settings)
        return _Connections(address, to_proxy, None, self._settings, relayed=user)


class _Connections:
    """Connections to one server, the one used last first.

    Args:
        relayed: what a proxy that reads the requests is to be told; None if there is none.
    """

    def __init__(
        self,
        address: httpx.URL,
        opening: Opening,
        tls: ssl.SSLContext | None,
        settings: Settings,
        *,
        relayed: dict[str, str] | None = None,
    ) -> None:
        self.host = address.netloc.decode("ascii")
        self._name = address.raw_host.decode("ascii")
        self._secure = address.scheme == "https"
        self._port = address.port or (443 if self._secure else 80)
        self._opening = opening
        self._tls = tls if self._secure else None
        self._settings = settings
        self._added = relayed or {}
        # A proxy that reads the requests is told of which server.
        self._before = b"" if relayed is None else b"http://" + address.netloc
        # Without a lock, which an exception from a signal could leave held; each call of a deque is one step.
        self._resting: deque[Connection] = deque()
        self._closed = False

    def ask(self, method: str, target: bytes, headers: dict[str, str], body: bytes) -> Incoming:
        try:
            lines = list((headers | self._added).items())
            request = h11.Request(method=method, target=self._before + target, headers=lines)
        except h11.LocalProtocolError as error:
            raise httpcore.LocalProtocolError(error) from error
        return (self._rested() or self._opened()).ask(request, body, done=self._keep)

    def close(self) -> None:
        self._closed = True
        while (connection := self._taken()) is not None:
            connection.close()

    def _rested(self) -> Connection | None:
        """A connection that can be used again; those that cannot are closed."""
        while (connection := self._taken()) is not None:
            if connection.usable(KEEPALIVE):
                return connection
            connection.close()
        return None

    def _taken(self) -> Connection | None:
        try:
            return self._resting.pop()
        except IndexError:
            return None

    def _opened(self) -> Connection:
        settings = self._settings
        stream = self._opening.open(self._name, self._port, self._tls, settings.connect_timeout)
        return Connection(stream, settings.read_timeout)

    def _keep(self, connection: Connection) -> None:
        """Take a connection back; those that rest too long are closed."""
        self._resting.append(connection)
        with suppress(IndexError):  # another thread may have taken the last one
            while self._closed or not self._resting[0].usable(KEEPALIVE):
                self._resting.popleft().close()


class _Through:
    """One server behind a proxy of SOCKS, by httpcore, a connection per request."""

    def __init__(self, address: httpx.URL, pool: httpcore.ConnectionPool, settings: Settings) -> None:
        self.host = address.netloc.decode("ascii")
        self._address = address
        self._pool = pool
        read, connect = settings.read_timeout, settings.connect_timeout
        self._timeout = {"connect": connect, "read": read, "write": read, "pool": read}

    def ask(self, method: str, target: bytes, headers: dict[str, str], body: bytes) -> Incoming:
        address = self._address
        # httpcore takes bytes behind one answer for the answer to the next request on that connection.
        headers["Connection"] = "close"
        url = httpcore.URL(scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=target)
        raw = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        request = httpcore.Request(method, url, headers=raw, content=body, extensions={"timeout": self._timeout})
        return _Relayed(self._pool.handle_request(request))

    def close(self) -> None:
        self._pool.close()


class _Relayed:
    """An answer that came through a proxy."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer
        self.status = answer.status
        self.headers = named(answer.headers)

    def whole(self) -> bytes | None:
        """None: httpcore gives chunks."""
        return None

    def chunks(self) -> Iterator[bytes]:
        """The body as it arrives."""
        return self._answer.iter_stream()

    def close(self) -> None:
        """Let the connection go."""
        self._answer.close()


def _socks_pool(proxy: Proxy, tls: ssl.SSLContext | None, backend: httpcore.NetworkBackend) -> httpcore.ConnectionPool:
    return httpcore.SOCKSProxy(
        proxy_url=proxy.address,
        proxy_auth=proxy.user,
        ssl_context=tls,
        network_backend=backend,
        max_connections=None,  # the rate limiter counts requests; httpcore's default is 10 connections
    )


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or default


def _target_of(url: str) -> bytes:
    """Path and query as they are sent, percent-encoded where they have to be."""
    return httpx.URL(url).raw_path
