"""A proxy on loopback that passes connections on to one server, whatever host CONNECT names."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl

from hostile_server import HostileServer


class TunnelProxy(HostileServer):
    """Answers CONNECT, then passes bytes on both ways.

    Attributes:
        port_of_server: where the bytes go.
        tls: with what it speaks TLS itself; None for a plain one.
        heads: each CONNECT with its headers, as it arrived.
    """

    def __init__(self, port_of_server: int, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls=tls)
        self.port_of_server = port_of_server
        self.heads: list[str] = []

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
