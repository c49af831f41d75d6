"""Opens connections to servers behind a proxy of HTTP: to https servers by CONNECT, for others to the proxy itself."""

from __future__ import annotations

import base64
import ssl
from typing import Final

import h11
import httpcore
import httpx

from ledgerframes.transport.connection import LONGEST_HEAD, PIECE, ByteStream, Opening
from ledgerframes.transport.proxies import Proxy

_SUCCESS: Final = range(200, 300)


class ToProxy:
    """Opens connections to a proxy, whichever host is asked for.

    Args:
        proxy: of the scheme http or https.
        opening: opens connections.
        tls: whom to trust, for a proxy that speaks TLS itself.
    """

    def __init__(self, proxy: Proxy, opening: Opening, tls: ssl.SSLContext | None) -> None:
        address = httpx.URL(proxy.address)
        secure = proxy.scheme == "https"
        self._host = address.raw_host.decode("ascii")
        self._port = address.port or (443 if secure else 80)
        self._tls = tls if secure else None
        self._opening = opening

    def open(self, _host: str, _port: int, _tls: ssl.SSLContext | None, timeout: float) -> ByteStream:
        """Connect to the proxy; requests name the server themselves."""
        return self._opening.open(self._host, self._port, self._tls, timeout)


class Tunnels:
    """Opens connections that a proxy passes on unread.

    Args:
        to_proxy: opens connections to the proxy.
        headers: what the proxy is to be told.
        read_timeout: seconds to wait for its answer.
    """

    def __init__(self, to_proxy: ToProxy, headers: dict[str, str], read_timeout: float) -> None:
        self._to_proxy = to_proxy
        self._headers = headers
        self._read_timeout = read_timeout

    def open(self, host: str, port: int, tls: ssl.SSLContext | None, timeout: float) -> ByteStream:
        """Connect to the proxy, have it connect to the server, and shake hands with that one.

        Raises:
            httpcore.ProxyError: the proxy refuses.
            httpcore.TimeoutException, NetworkError, ProtocolError: there is no connection, or no answer.
        """
        stream = self._to_proxy.open(host, port, None, timeout)
        try:
            self._connect(stream, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        except BaseException:
            stream.close()
            raise
        return stream if tls is None else stream.start_tls(tls, host, timeout)

    def _connect(self, stream: ByteStream, server: str) -> None:
        protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        request = h11.Request(method="CONNECT", target=server, headers=[("Host", server), *self._headers.items()])
        stream.write(b"".join(filter(None, map(protocol.send, (request, h11.EndOfMessage())))), self._read_timeout)
        piece = bytearray(PIECE)
        try:
            while not isinstance(event := protocol.next_event(), h11.Response):
                if event is h11.NEED_DATA:
                    length = stream.readinto(piece, self._read_timeout)
                    if not length:
                        raise httpcore.RemoteProtocolError("the proxy closed the connection without an answer")
                    protocol.receive_data(bytes(piece[:length]))
        except h11.RemoteProtocolError as error:
            raise httpcore.RemoteProtocolError(error) from error
        if event.status_code not in _SUCCESS:
            raise httpcore.ProxyError(f"{event.status_code} {event.reason.decode('ascii', 'replace')}")
        if protocol.trailing_data[0]:  # it would be taken for the server's
            raise httpcore.RemoteProtocolError("the proxy sent more than its answer")


def authorization(proxy: Proxy) -> dict[str, str]:
    """The header that names the proxy's user; empty if it wants none."""
    if proxy.user is None:
        return {}
    return {"Proxy-Authorization": f"Basic {base64.b64encode(b':'.join(proxy.user)).decode('ascii')}"}
