"""A proxy on loopback that passes connections on to one server, whatever host CONNECT names."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from dataclasses import dataclass, field


@dataclass
class TunnelProxy:
    """Answers CONNECT, then passes bytes on both ways.

    Attributes:
        port_of_server: where the bytes go.
        tls: with what it speaks TLS itself; None for a plain one.
        heads: each CONNECT with its headers, as it arrived.
    """

    port_of_server: int
    tls: ssl.SSLContext | None = None
    heads: list[str] = field(default_factory=list)

    def __enter__(self) -> TunnelProxy:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            near = self.tls.wrap_socket(connection, server_side=True) if self.tls else connection
            with near, socket.create_connection(("127.0.0.1", self.port_of_server)) as far:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += near.recv(1)
                self.heads.append(head.decode())
                near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                while True:
                    for source in select.select([near, far], [], [])[0]:
                        piece = source.recv(2**16)
                        while isinstance(source, ssl.SSLSocket) and source.pending():
                            piece += source.recv(2**16)
                        if not piece:
                            return
                        (far if source is near else near).sendall(piece)
