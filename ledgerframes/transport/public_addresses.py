"""Decides whether an address that a server names may be contacted: https and public, or for files a server's own."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from ledgerframes.config.settings import is_loopback, origin_of

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
#: Returns the addresses of a host name.
Lookup = Callable[[str], Iterable[str]]

_LONGEST: Final = 8_000
# RFC 6052: an IPv4 address behind a translator is in the last 32 bits.
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
# Considered global by Python 3.11: protocol assignments (Oracle's cloud has its metadata there), NAT64 for local
# networks (RFC 8215), IPv6's former private addresses, and IPv4 in two outdated spellings.
_NOT_PUBLIC: Final = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "64:ff9b:1::/48", "fec0::/10", "::/96", "::ffff:0:0:0/96"))
)
# RFC 6761, RFC 6762, RFC 8375 and ICANN's reservation: names that are valid in a private network only.
_PRIVATE_NAMES: Final = (".localhost", ".local", ".internal", ".home.arpa")


def addresses_of(host: str) -> list[str]:
    """The addresses that the system's resolver returns for a name.

    Raises:
        OSError: there are none.
    """
    return sorted({str(addresses[4][0]) for addresses in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)})


def why_refused(url: str, scans: tuple[str, ...]) -> str | None:
    """Explain why a file is not fetched from the address that a scan gives; None if it may be.

    Args:
        url: the file's address.
        scans: the base URLs of the scans; files on them may be fetched.
    """
    try:
        parts = urlsplit(url)
        known = origin_of(url) in {origin_of(scan) for scan in scans}
    except ValueError:
        return "it is not a URL"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "it is not an http or https URL"
    if parts.username or parts.password or "@" in parts.netloc:
        return "it contains a user name"
    if len(url) > _LONGEST or not url.isascii() or any(sign <= " " for sign in url):
        return f"it has more than {_LONGEST} characters, or some that are not valid in a URL"
    if known:
        return None
    # A simulated network on this machine may serve its files on another port.
    if is_loopback(url) and all(is_loopback(scan) for scan in scans):
        return None
    return why_not_public(url)


def why_not_public(url: str, lookup: Lookup = addresses_of) -> str | None:
    """Explain why a URL that only a server names is not contacted; None if it may be.

    The name is looked up here, and again by the connection. A name that resolves differently by then still needs a
    certificate issued for it by a trusted authority.

    Args:
        url: a base URL.
        lookup: returns the addresses of a name.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme != "https":
        return "it is not https"
    literal = _address(host)
    if literal is not None:
        return _why_not(literal)
    if "." not in host or host.endswith(_PRIVATE_NAMES):
        return "its name belongs to a private network"
    try:
        addresses = [_address(text.partition("%")[0]) for text in lookup(host)]
    except (OSError, UnicodeError) as error:
        return f"its name cannot be looked up ({getattr(error, 'strerror', None) or error})"
    if not addresses:
        return "its name has no address"
    reasons = ["its address cannot be read" if address is None else _why_not(address) for address in addresses]
    return next((reason for reason in reasons if reason is not None), None)


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _why_not(address: Address) -> str | None:
    if isinstance(address, ipaddress.IPv6Address):  # which may stand for one of IPv4
        behind = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
        address = behind or address.ipv4_mapped or address.sixtofour or address
    public = address.is_global and not address.is_multicast and not any(address in own for own in _NOT_PUBLIC)
    return None if public else f"its address {address} is not public"
