"""The one module that touches the network: attempts that end on time; made by `Transport`.

A socket's time-out applies to each read, so a server that sends a byte now and then never runs into one; the streams
here also end when the whole attempt has to be over.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

import httpcore

from ledgerframes.config.settings import Settings, is_localhost_name
from ledgerframes.errors import ConfigurationError
from ledgerframes.transport.body import TooLargeError, collect, pour
from ledgerframes.transport.codings import PLAIN, DamagedError, UnknownCodingError
from ledgerframes.transport.connection import PIECE, Incoming
from ledgerframes.transport.outcome import ERROR_BODY, SLOWEST, Broken, Credential, Received, Sink
from ledgerframes.transport.pools import Pools
from ledgerframes.transport.request import Prepared
from ledgerframes.transport.stopping import Stop
from ledgerframes.transport.tls import certificate_refused, tls_problem, trusted
from ledgerframes.waiting import SLICE as LOOK
from ledgerframes.waiting import in_background

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

T = TypeVar("T")

_LONGEST_LENGTH: Final = 20  # digits; Python refuses to convert thousands of them
MOST_VALUES: Final = 20_000_000  # a decoded value takes up to 80 bytes, however short its JSON is
_UNREADABLE: Final = (
    "have the server, or the proxy before it, answer as gzip or uncompressed, which is what was asked for; "
    "or check {interface}_url="
)
BROKEN: Final = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


class Wire:
    """Sends one request and reads its whole answer, within the times the settings allow."""

    def __init__(self, settings: Settings, servers: Iterable[str]) -> None:
        self._settings = settings
        self._limits = _Limits()
        self._opening = _Opening(self._limits)
        self._pools = Pools(tuple(servers), self._opening, settings)
        self._answered: set[str] = set()

    def send(
        self,
        prepared: Prepared,
        credential: Credential | None,
        *,
        seconds: float,
        stop: Stop,
        sink: Sink | None = None,
    ) -> Received | Broken:
        """One attempt, over after the given seconds at the latest; what a server does never raises an exception.

        Args:
            prepared: what to send.
            credential: the token, if there is one.
            seconds: how long it may take; a body for a sink may take what `SLOWEST` allows beside.
            stop: ends it.
            sink: takes the body of a success as it arrives, whatever its size; it is then not in what is returned.

        Raises:
            StoppedError: the operation was stopped.
            LedgerframesError: the sink does not take the body.
        """
        self._limits.at, self._limits.stop = time.monotonic() + seconds, stop
        outcome = self._attempt(prepared, credential, seconds, sink)
        if isinstance(outcome, Broken):
            stop.check()
        return outcome

    def _attempt(
        self, prepared: Prepared, credential: Credential | None, seconds: float, sink: Sink | None
    ) -> Received | Broken:
        """Catches every exception of the network, since they hold the headers and with them the token."""
        try:
            incoming = self._pools.ask(prepared, credential)
            self._answered.add(urlsplit(prepared.url).netloc)
            try:
                return self._read(incoming) if sink is None else self._pour(incoming, sink)
            finally:
                incoming.close()
        except BROKEN as error:
            if self._limits.left() <= 0:
                return Broken(f"no whole answer within {seconds:g} s")
            # A server that was never reached is most likely a wrong address, and is tried less often.
            reached = not isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout)
            told = tls_problem(error) or self._at_proxy(prepared.url, error) or self._in_clear(prepared.url, error)
            return told or Broken(_reason(error), reached=reached)

    def close(self) -> None:
        """Close every connection."""
        self._pools.close()

    def _at_proxy(self, url: str, error: Exception) -> Broken | None:
        """The outcome of an error that the proxy caused; None where there is no proxy, or it did not."""
        proxy = self._pools.proxy(url)
        if proxy is None:
            return None
        why = f": {error}" if str(error) and not isinstance(error, httpcore.TimeoutException) else ""
        if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout):
            return proxy.unreached(why or " in time")
        return proxy.refused(str(error)) if isinstance(error, httpcore.ProxyError) else None

    def _in_clear(self, url: str, error: Exception) -> Broken | None:
        """The outcome of http to a port of TLS: many servers hang up without a word, so a handshake is tried once."""
        parts = urlsplit(url)
        broke_off = isinstance(error, httpcore.RemoteProtocolError | httpcore.ReadError)
        if parts.scheme != "http" or not broke_off or parts.netloc in self._answered or self._pools.proxy(url):
            return None
        self._answered.add(parts.netloc)
        try:
            context = trusted(self._settings.ca_file)
            self._opening.open(parts.hostname or "", parts.port or 80, context, self._settings.connect_timeout).close()
        except BROKEN as refused:
            if not certificate_refused(refused):
                return None
        except ConfigurationError:
            return None
        return Broken.for_good("it speaks TLS, which http:// does not", "write https:// in {interface}_url=")

    def _read(self, incoming: Incoming) -> Received | Broken:
        # Read before the body, so that a body too large is refused unread.
        headers = incoming.headers
        encoding = headers.get("content-encoding", "").strip().lower()
        if not 200 <= incoming.status < 300:
            return Received(incoming.status, headers, _beginning(incoming, encoding))
        limit = self._settings.max_answer_bytes
        large = Broken(
            f"the answer is larger than max_answer_bytes={limit}; ask for a smaller page or raise the limit",
            transient=False,
            elsewhere=False,
        )
        announced = headers.get("content-length", "")
        if announced.isdecimal() and (len(announced) > _LONGEST_LENGTH or int(announced) > limit):
            return large
        try:
            whole = incoming.whole() if encoding in PLAIN else None
            body = collect(incoming.chunks(), encoding=encoding, limit=limit) if whole is None else whole
        except TooLargeError:
            return large
        except UnknownCodingError as error:
            return Broken.for_good(str(error), _UNREADABLE)
        except DamagedError as error:
            return Broken(str(error))
        if len(body) > MOST_VALUES and body.count(b",") > MOST_VALUES:
            return Broken(
                f"the answer holds more than {MOST_VALUES:,} values; ask for a smaller page",
                transient=False, elsewhere=False,
            )  # fmt: skip
        return Received(incoming.status, headers, body)

    def _pour(self, incoming: Incoming, sink: Sink) -> Received | Broken:
        """Give the body of a success to a sink; each byte that arrives prolongs the attempt."""
        headers = incoming.headers
        encoding = headers.get("content-encoding", "").strip().lower()
        if incoming.status != 200:
            return Received(incoming.status, headers, _beginning(incoming, encoding))

        def arriving() -> Iterator[bytes]:
            for chunk in incoming.chunks():
                self._limits.at += len(chunk) / SLOWEST
                yield chunk

        try:
            pour(arriving(), sink, encoding=encoding, announced=headers.get("content-length", ""))
        except UnknownCodingError as error:
            return Broken.for_good(str(error), _UNREADABLE)
        except DamagedError as error:
            return Broken(str(error))
        return Received(incoming.status, headers, b"")


class _Limits(threading.local):
    """When the attempt that runs in this thread has to end."""

    at: float = float("inf")
    stop: Stop = Stop()

    def left(self) -> float:
        return self.at - time.monotonic()

    def over(self) -> bool:
        """Whether nothing more is to be read or sent."""
        return self.left() <= 0 or self.stop.is_set()

    def within(self, seconds: float | None) -> float:
        """A time-out that ends with the attempt; zero or less would mean something else to a socket."""
        return max(1e-6, self.left() if seconds is None else min(seconds, self.left()))

    def stream(self, opening: Callable[[], httpcore.NetworkStream], seconds: float) -> httpcore.NetworkStream:
        """Open a stream in a thread of its own: neither a DNS look-up nor a handshake can be interrupted."""
        until = time.monotonic() + seconds
        coming = in_background(opening, "ledgerframes-connect")
        try:
            while not self.over() and time.monotonic() < until:
                with suppress(TimeoutError):
                    return coming.result(max(0.0, min(LOOK, until - time.monotonic())))
        except BaseException:
            coming.drop(_close)
            raise
        coming.drop(_close)
        raise httpcore.ConnectTimeout("no connection was established in time")


def _close(stream: httpcore.NetworkStream) -> None:
    stream.close()


class _Opening(httpcore.NetworkBackend):
    """Opens connections whose reads and writes end with the attempt."""

    def __init__(self, limits: _Limits) -> None:
        self._inner = httpcore.SyncBackend()
        self._limits = limits

    @property
    def backend(self) -> httpcore.NetworkBackend:
        """For httpcore's proxies of SOCKS."""
        return self

    def open(self, host: str, port: int, tls: ssl.SSLContext | None, timeout: float) -> _Stream:
        """Connect, and shake hands where there is TLS."""
        stream = self.connect_tcp(host, port, timeout)
        if tls is None:
            return stream
        if self._limits.over():  # a handshake that begins too late is not waited for, and leaves its socket open
            stream.close()
            raise httpcore.ConnectTimeout("no connection was established in time")
        return stream.start_tls(tls, host, timeout)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> _Stream:
        seconds = self._limits.within(timeout)
        host = "127.0.0.1" if is_localhost_name(host) else host  # most resolvers do not know such names

        def opening() -> httpcore.NetworkStream:
            try:
                return self._inner.connect_tcp(host, port, seconds, local_address, socket_options)
            except UnicodeError as error:  # Python looks up no name with an empty label or one of over 63 characters
                raise httpcore.ConnectError(f"the host's name is not valid: {error}") from error

        return _Stream(self._limits.stream(opening, seconds), self._limits)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, limits: _Limits) -> None:
        self._inner = inner
        self._limits = limits
        self._socket: socket.socket = inner.get_extra_info("socket")
        # TLS to a server within TLS to its proxy is no socket of its own.
        self._nested = isinstance(inner.get_extra_info("ssl_object"), ssl.SSLObject)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._arriving(lambda seconds: self._inner.read(max_bytes, seconds), timeout)

    def readinto(self, buffer: WriteableBuffer, timeout: float | None = None) -> int:
        """As `read`, without a copy."""
        return self._arriving(lambda seconds: self._receive(buffer, seconds), timeout)

    def _receive(self, buffer: WriteableBuffer, seconds: float) -> int:
        if self._nested:
            view = memoryview(buffer)
            piece = self._inner.read(len(view), seconds)
            view[: len(piece)] = piece
            return len(piece)
        try:
            self._socket.settimeout(seconds)
            return self._socket.recv_into(buffer)
        except TimeoutError as error:
            raise httpcore.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error

    def _arriving(self, receive: Callable[[float], T], timeout: float | None) -> T:
        until = time.monotonic() + self._limits.within(timeout)
        while not self._limits.over():
            try:
                return receive(max(1e-6, min(LOOK, until - time.monotonic())))
            except httpcore.ReadTimeout:  # no data is lost: the next read returns what arrives later
                if time.monotonic() >= until:
                    raise
        raise httpcore.ReadTimeout("the attempt is over")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        view = memoryview(buffer)
        # In slices, because a socket cannot be interrupted in the middle of a large upload.
        for start in range(0, len(view), PIECE):
            if self._limits.over():
                raise httpcore.WriteTimeout("the attempt is over")
            self._inner.write(bytes(view[start : start + PIECE]), self._limits.within(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        seconds = self._limits.within(timeout)
        opening = partial(self._inner.start_tls, ssl_context, server_hostname, seconds)
        return _Stream(self._limits.stream(opening, seconds), self._limits)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)


def _beginning(incoming: Incoming, encoding: str) -> bytes:
    """The first part of an error's body, or as much of it as arrives; the status matters more than the text."""
    arrived = bytearray()

    def kept() -> Iterator[bytes]:
        for chunk in incoming.chunks():
            arrived.extend(chunk)
            yield chunk
            if len(arrived) >= ERROR_BODY:
                return

    try:
        return collect(kept(), encoding=encoding, limit=ERROR_BODY * 4)[:ERROR_BODY]
    except (DamagedError, TooLargeError, *BROKEN):
        return b"" if encoding else bytes(arrived[:ERROR_BODY])


def _reason(error: Exception) -> str:
    """Why there is no answer, in a few words."""
    kinds = (
        (httpcore.ConnectTimeout, "no connection was established in time"),
        (httpcore.ReadTimeout, "the server stopped sending"),
        (httpcore.WriteTimeout, "the server stopped taking the request"),
        (httpcore.PoolTimeout, "no connection became free in time"),
        (httpcore.ConnectError, "no connection"),
        (httpcore.ProxyError, "the proxy refused"),
        (httpcore.ProtocolError, "the connection broke off or did not speak HTTP"),
    )
    words = next((words for kind, words in kinds if isinstance(error, kind)), "the connection broke off")
    return f"{words}: {error}" if str(error) and not isinstance(error, httpcore.TimeoutException) else words
