"""A server on loopback that answers exactly as told: any bytes, cut off, reset, dripped or far too large."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl


@dataclass(frozen=True)
class Heard:
    """A request as it arrived; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """What to answer, and how to misbehave on the way.

    Attributes:
        raw: sent in place of everything else.
        length: the Content-Length to claim; by default the truth.
        hang_up: "before" any byte, or in the "body" after half of it, by a reset of the connection.
        cut: close in good order after so many bytes of the body.
        drip: seconds between single bytes, of the head too if `drip_head`.
        endless: sent again and again after everything else, until the client has gone.
    """

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    raw: bytes | None = None
    length: int | None = None
    hang_up: str | None = None
    cut: int | None = None
    drip: float | None = None
    drip_head: bool = False
    endless: bytes | None = None

    def parts(self) -> tuple[bytes, bytes]:
        if self.raw is not None:
            return b"", self.raw
        length = len(self.body) if self.length is None else self.length
        headers = [f"{name}: {value}" for name, value in (("Content-Length", length), *self.headers)]
        return "\r\n".join([f"HTTP/1.1 {self.status} X", *headers, "", ""]).encode("latin-1"), self.body


def answer(value: object, status: int = 200, **headers: str) -> Reply:
    """JSON, with further headers (underscores become dashes)."""
    pairs = (("Content-Type", "application/json"), *((k.replace("_", "-"), v) for k, v in headers.items()))
    return Reply(status, json.dumps(value).encode(), pairs)


def text(words: str, status: int, kind: str = "text/plain") -> Reply:
    return Reply(status, words.encode(), (("Content-Type", kind),))


def zipped(body: bytes, **changes: object) -> Reply:
    return Reply(body=gzip.compress(body), headers=(("Content-Encoding", "gzip"),), **changes)  # type: ignore[arg-type]


@dataclass
class HostileServer:
    """Answers by a script, one reply a request, the last one for ever after; or by a function of the request.

    With `tls` it speaks that. What comes in the other of clear text and TLS is answered by `otherwise`.
    """

    script: Sequence[Reply] | Callable[[Heard], Reply] = (Reply(),)
    tls: ssl.SSLContext | None = None
    otherwise: Reply | None = None
    heard: list[Heard] = field(default_factory=list)
    connections: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> HostileServer:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    @property
    def scan_url(self) -> str:
        """The base of the Scan interface."""
        return f"{self.url}/api/scan"

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            handshake = connection.recv(1, socket.MSG_PEEK) == b"\x16"
            if self.otherwise is not None and handshake != (self.tls is not None):
                connection.recv(2**16)
                self._send(connection, self.otherwise)
                return
            if self.tls is None and handshake:
                return
            stream = self.tls.wrap_socket(connection, server_side=True) if self.tls else connection
            with stream, stream.makefile("rb") as reader:
                for heard in _requests(reader):
                    with self._lock:
                        self.heard.append(heard)
                        number = len(self.heard) - 1
                    reply = (
                        self.script(heard) if callable(self.script) else self.script[min(number, len(self.script) - 1)]
                    )
                    if not self._send(stream, reply):
                        return

    def _send(self, stream: socket.socket, reply: Reply) -> bool:
        """Whether the connection may go on."""
        head, body = reply.parts()
        if reply.hang_up == "before":
            return _reset(stream)
        if reply.hang_up == "body":
            stream.sendall(head + body[: len(body) // 2])
            return _reset(stream)
        if reply.cut is not None:
            stream.sendall(head + body[: reply.cut])
            return False
        while reply.endless is not None and not self._stop.is_set():
            stream.sendall(head + body + reply.endless)
            head = body = b""
        if reply.drip is None:
            stream.sendall(head + body)
            return reply.raw is None
        stream.sendall(b"" if reply.drip_head else head)
        for byte in head * reply.drip_head + body:
            stream.sendall(bytes([byte]))
            if self._stop.wait(reply.drip):
                return False
        return True


def _reset(stream: socket.socket) -> bool:
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def _requests(reader: object) -> Iterator[Heard]:
    while line := reader.readline():  # type: ignore[attr-defined]
        method, target, _ = line.decode().split()
        headers = {}
        while (line := reader.readline().strip()) != b"":  # type: ignore[attr-defined]
            name, _, value = line.decode().partition(":")
            headers[name.strip().lower()] = value.strip()
        yield Heard(method, target, headers, reader.read(int(headers.get("content-length", "0"))))  # type: ignore[attr-defined]


def unused_port() -> int:
    """A port of loopback that refuses connections."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
