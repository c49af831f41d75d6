"""One HTTP/1.1 connection: a request out, an answer in, again and again; the pools keep them.

h11 reads the head, and bodies in chunks. A body whose length is announced is read past it, straight into the memory
that holds it in the end: through h11, in pieces, each byte would be copied seven times.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, Protocol

import h11
import httpcore

if TYPE_CHECKING:
    import ssl

    from _typeshed import WriteableBuffer

PIECE: Final = 2**16
#: Bytes of a head at most, as in httpcore.
LONGEST_HEAD: Final = 100 * 1024
#: Read at once while the head may not be whole yet; what of it is body is copied once more.
_AHEAD: Final = 2**14
_OK: Final = 200  # other answers may have a length and no body, or one that is not wanted


class ByteStream(Protocol):
    """What a connection needs of the network."""

    def readinto(self, buffer: WriteableBuffer, timeout: float | None = None) -> int:
        """Wait for bytes and put them into a buffer; gives how many, 0 at the end."""

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes."""

    def close(self) -> None:
        """Close it."""

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> ByteStream:
        """Shake hands; gives the stream of what is sent within."""

    def get_extra_info(self, info: str) -> object:
        """What is known of it, under httpcore's names."""


class Opening(Protocol):
    """Opens connections."""

    def open(self, host: str, port: int, tls: ssl.SSLContext | None, timeout: float, /) -> ByteStream:
        """Connect, and shake hands where there is TLS.

        Raises:
            httpcore.ConnectError, ConnectTimeout: there is no connection.
        """


class Incoming(Protocol):
    """An answer whose head has arrived; header names in lower case."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers."""

    def whole(self) -> bytes | None:
        """The body as it was sent, read into one piece of memory; None where `chunks` has to give it."""

    def chunks(self) -> Iterator[bytes]:
        """The body as it arrives, in place of `whole`."""

    def close(self) -> None:
        """Let the connection go, which is closed unless the body was read to its end."""


class Connection:
    """A connection to one server, for one thread at a time.

    Args:
        stream: the bytes; its reads and writes raise httpcore's errors.
        timeout: seconds that a read or a write may take.
    """

    def __init__(self, stream: ByteStream, timeout: float) -> None:
        self._stream = stream
        self._timeout = timeout
        self._arriving = _Arriving(stream, timeout)
        self._reader = io.BufferedReader(self._arriving, _AHEAD)
        self._used = time.monotonic()

    def ask(self, request: h11.Request, body: bytes, *, done: Callable[[Connection], None]) -> Incoming:
        """Send a request and read the head of its answer.

        Args:
            request: what to ask.
            body: to be sent with it.
            done: takes the connection back, once its answer was read and it can be asked again.

        Raises:
            httpcore.TimeoutException, NetworkError, ProtocolError: there is no answer.
        """
        answer = _Answer(self, self._reader, done)
        try:
            outgoing = answer.outgoing(request, body)
            try:
                self._stream.write(outgoing, self._timeout)
            except httpcore.WriteError:
                # A server may refuse a request before it has read it, and close.
                answer.spent = True
            answer.begin()
        except BaseException:
            self.close()
            raise
        return answer

    def clean(self) -> bool:
        """Whether nothing has arrived beyond the last answer, which the next would be taken for."""
        self._used = time.monotonic()
        self._arriving.resting = True
        try:
            return not self._reader.peek(1)
        finally:
            self._arriving.resting = False

    def usable(self, longest: float) -> bool:
        """Whether it may be asked again: at rest for the given seconds at most, and not closed by the server."""
        # At rest, what is to be read can only be the end.
        return time.monotonic() - self._used <= longest and not self._stream.get_extra_info("is_readable")

    def close(self) -> None:
        """Close it."""
        self._stream.close()


class _Answer:
    """One answer of a connection.

    Attributes:
        status: the HTTP status.
        headers: names in lower case.
        spent: whether the connection cannot be used again, whatever the answer says.
    """

    status: int
    headers: dict[str, str]

    def __init__(
        self, connection: Connection, reader: io.BufferedReader[_Arriving], done: Callable[[Connection], None]
    ) -> None:
        self._connection = connection
        self._reader = reader
        self._done = done
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._length: int | None = None
        self._ended = False
        self.spent = False

    def outgoing(self, request: h11.Request, body: bytes) -> bytes:
        """The bytes of a request."""
        try:
            parts = [self._protocol.send(event) for event in (request, h11.Data(data=body), h11.EndOfMessage())]
        except h11.LocalProtocolError as error:
            raise httpcore.LocalProtocolError(error) from error
        return b"".join(filter(None, parts))

    def begin(self) -> None:
        """Read the head, and of the body no byte."""
        ahead = b""
        while not isinstance(event := self._next(), h11.Response):
            if event is h11.NEED_DATA:
                self._reader.read(len(ahead))
                ahead = self._reader.peek()
                if not ahead:
                    raise httpcore.RemoteProtocolError("Server disconnected without sending a response.")
                self._protocol.receive_data(ahead)
        # h11 keeps what is behind the head, and so does the reader: `whole` takes it from the one, `chunks` from both.
        self._reader.read(len(ahead) - len(self._protocol.trailing_data[0]))
        self.status, self.headers = event.status_code, named(event.headers.raw_items())
        if event.status_code == _OK and "transfer-encoding" not in self.headers and "content-length" in self.headers:
            self._length = int(self.headers["content-length"])

    def whole(self) -> bytes | None:
        """The body, if its length is known."""
        if self._length is None:
            return None
        body = self._reader.read(self._length)
        if len(body) < self._length:
            raise httpcore.RemoteProtocolError(
                "peer closed connection without sending complete message body "
                f"(received {len(body)} bytes, expected {self._length})"
            )
        self._ended = True
        return body

    def chunks(self) -> Iterator[bytes]:
        """The body as it arrives."""
        self._reader.read(len(self._protocol.trailing_data[0]))
        while not isinstance(event := self._next(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                self._protocol.receive_data(self._reader.read1(PIECE))
            elif isinstance(event, h11.Data):
                yield bytes(event.data)
        self._ended = not self._protocol.trailing_data[0]

    def close(self) -> None:
        """Give the connection back, or close it."""
        again = self._ended and not self.spent and self._protocol.our_state is h11.DONE
        if again and self._connection.clean():
            self._done(self._connection)
        else:
            self._connection.close()

    def _next(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        try:
            return self._protocol.next_event()
        except h11.RemoteProtocolError as error:
            raise httpcore.RemoteProtocolError(error) from error


class _Arriving(io.RawIOBase):
    """A stream as a buffered reader takes it; at rest it waits for nothing."""

    def __init__(self, stream: ByteStream, timeout: float) -> None:
        super().__init__()
        self._stream = stream
        self._timeout = timeout
        self.resting = False

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        """The next bytes."""
        return None if self.resting else self._stream.readinto(buffer, self._timeout)


def named(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by name in lower case; what is repeated is joined, as RFC 9110 has it."""
    found: dict[str, str] = {}
    for raw, value in headers:
        name, text = raw.decode("ascii").lower(), _text(value)
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
