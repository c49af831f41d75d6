"""The proxies that the environment names: which one leads to a server, and how it is shown; the wire calls it."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, ProxyError

from ledgerframes.config.settings import is_loopback
from ledgerframes.errors import ConfigurationError
from ledgerframes.transport.no_answer import certificate_refused, chain, words_of
from ledgerframes.transport.request import Failure

_TUNNEL: Final = re.compile(r"Tunnel connection failed: (.*)", re.DOTALL)
_LASTING: Final = re.compile(r"4\d\d\b")  # a proxy's refusal of CONNECT, which no second attempt fixes
_UNREACHED: Final = "start the proxy, or fix or unset {variable}; NO_PROXY=HOST leaves one host out of it"


@dataclass(frozen=True)
class Proxy:
    """A proxy and the variable that names it.

    Attributes:
        address: its URL, without user info.
        user: name and password, if it requires them.
        variable: the environment's variable that names it.
    """

    address: str
    user: tuple[bytes, bytes] | None = field(repr=False)
    variable: str

    @property
    def shown(self) -> str:
        """The address, with a mark in place of user info."""
        scheme, _, rest = self.address.partition("://")
        return f"{scheme}://{'***@' if self.user else ''}{rest.rstrip('/')}"

    @property
    def scheme(self) -> str:
        """http, https, socks5 or socks5h."""
        return self.address.partition("://")[0]

    @property
    def socks(self) -> bool:
        """Whether it speaks SOCKS5 in place of HTTP."""
        return self.scheme.startswith("socks")

    def failed(self, error: Exception) -> Failure | None:
        """Why there is no connection through it; None if the error is not the proxy's."""
        reason = next((match[1] for one in chain(error) if (match := _TUNNEL.match(str(one)))), None)
        if reason is not None:
            return self._refused(self._masked(reason.strip()))
        if not isinstance(error, ProxyError):
            return None
        if certificate_refused(error.__context__):  # its cause is an error without one
            return Failure.for_good(
                f"the certificate of the proxy {self.shown} that {self.variable} names is not trusted",
                "give the certificate of its authority (PEM) as ca_file=, LEDGERFRAMES_CA_FILE or SSL_CERT_FILE",
            )
        inner = error.original_error
        if not isinstance(inner, ConnectTimeoutError):
            return None
        why = f": {words_of(inner)}" if isinstance(inner, NewConnectionError) else " in time"
        advice = _UNREACHED.format(variable=self.variable)
        return Failure(f"no connection to the proxy {self.shown} that {self.variable} names{why}", advice=advice)

    def _refused(self, why: str) -> Failure:
        """The outcome when the proxy refuses the connection."""
        reason = f"the proxy {self.shown} that {self.variable} names refused: {why or 'it gave no reason'}"
        if why.startswith("407"):
            return Failure.for_good(
                reason, f"write user and password into {self.variable}, as http://USER:PASSWORD@HOST:PORT"
            )
        if _LASTING.match(why) or self.socks:
            return Failure.for_good(reason, "ask the proxy's operator to let this host through, or name it in NO_PROXY")
        return Failure(reason)

    def _masked(self, why: str) -> str:
        """Its reply, without the password if it repeats that."""
        if self.user is None:
            return why
        for secret in (base64.b64encode(b":".join(self.user)), self.user[1]):
            why = why.replace(secret.decode("latin-1"), "***") if secret else why
        return why


def proxy_for(url: str) -> Proxy | None:
    """The proxy that the environment names for a server; none for this machine.

    Raises:
        ConfigurationError: it is not the URL of a proxy, or no installed package supports its kind.
    """
    parts = urlsplit(url)
    # The sandbox and local nodes are on this machine, which no proxy can reach.
    if is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    known = getproxies()
    kind = next((scheme for scheme in (parts.scheme, "all") if known.get(scheme)), None)
    if kind is None:
        return None
    variable, text = f"{kind.upper()}_PROXY", known[kind]
    try:
        parsed = httpx.Proxy(text if "://" in text else f"http://{text}")
    except (httpx.InvalidURL, ValueError):
        raise ConfigurationError(
            f"the proxy that {variable} names is not an http, https or socks5 URL; fix or unset it"
        ) from None
    if not parsed.url.host:
        raise ConfigurationError(f"the proxy that {variable} names has no host; fix or unset it")
    proxy = Proxy(str(parsed.url), parsed.raw_auth, variable)
    if proxy.socks and find_spec("socks") is None:
        raise ConfigurationError(
            f"the proxy {proxy.shown} that {variable} names speaks SOCKS5, which needs the package PySocks: run "
            "`pip install pysocks`, name an http proxy, or leave hosts out of it with NO_PROXY"
        )
    return proxy
