"""The servers' addresses and how to talk to them: `Settings`, checked when created; `config.profiles` gathers them."""

from __future__ import annotations

import ipaddress
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, cast
from urllib.parse import SplitResult, urlsplit

from ledgerframes.errors import ConfigurationError

Interface = Literal["scan", "validator", "registry", "ledger"]
Token = str | Callable[[], str]

INTERFACES: Final[tuple[Interface, ...]] = ("scan", "validator", "registry", "ledger")
#: How pandas may hold amounts.
DECIMALS: Final = ("float", "exact", "arrow", "string")
#: The words that a setting may have.
_WORDS: Final = {"ledger_carrier": ("bearer", "websocket"), "failover": ("given", "network"), "decimals": DECIMALS}
PREFIX: Final = "LEDGERFRAMES_"

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\.?", re.ASCII)
_DOT = re.compile("%2e", re.IGNORECASE)
_LONGEST_URL: Final = 2_000
_TOKEN = re.compile(r"[!-~]+", re.ASCII)


class Secret:
    """A token, or a function that returns one; it shows as `Secret(***)` and cannot be pickled."""

    __slots__ = ("_name", "_source")

    def __init__(self, source: Token, *, name: str) -> None:
        if not isinstance(source, str) and not callable(source):
            raise ConfigurationError(f"{name} is a {type(source).__name__}; give text or a function without arguments")
        self._source = source
        self._name = name
        if isinstance(source, str):
            self.reveal()

    def reveal(self) -> str:
        """The token as of now; a source that is a function is called.

        Raises:
            ConfigurationError: the value cannot be a token; it is not shown.
        """
        value: object = self._source if isinstance(self._source, str) else self._source()
        if isinstance(value, str) and _TOKEN.fullmatch(value):
            return value
        what = "is empty" if value == "" else "holds a space, a line break or another character no token has"
        if not isinstance(value, str):
            what = f"is a function that returned a {type(value).__name__}, not text"
        value = None  # a traceback may show it
        raise ConfigurationError(f"{self._name} {what}; it is not shown here. Give the bare token, without 'Bearer '")

    @property
    def fetched(self) -> bool:
        """Whether it comes from a command, a function or a token server, rather than a variable or a file."""
        return hasattr(self._source, "forget")

    @property
    def unencrypted(self) -> tuple[str, str] | None:
        """The setting and URL of a token server that would be asked in clear text."""
        return cast("tuple[str, str] | None", getattr(self._source, "unencrypted", None))

    def current(self) -> Secret:
        """The current token, as a secret of its own."""
        return Secret(self.reveal(), name=self._name)

    def renewed(self, refused: Secret) -> Secret | None:
        """Another token than the one that a server has refused; None if there is no other."""
        forget = getattr(self._source, "forget", None)
        if forget is not None:
            forget(refused.reveal())
        fresh = self.current()
        return None if fresh.reveal() == refused.reveal() else fresh

    def by(self, change: Callable[[Token], Token]) -> Secret:
        """The same with its source replaced."""
        return Secret(change(self._source), name=self._name)

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled; give the other process its own LEDGERFRAMES_TOKEN variable")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything a `Transport` needs to know; checked when made, and shown without its tokens.

    `connect` describes the values, its arguments, and these are their defaults. URLs are in the order of preference.

    Raises:
        ConfigurationError: a value breaks a rule; the message names it.
    """

    scan_url: tuple[str, ...] = ()
    validator_url: tuple[str, ...] = ()
    registry_url: tuple[str, ...] = ()
    ledger_url: tuple[str, ...] = ()
    scan_token: Secret | Token | None = None
    validator_token: Secret | Token | None = None
    registry_token: Secret | Token | None = None
    ledger_token: Secret | Token | None = None
    rate: float = 8.0
    burst: int = 8
    parallel: int = 4
    attempts: int = 8
    budget: float = 300.0
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    deadline: float = 120.0
    max_answer_bytes: int = 256 * 2**20
    ledger_carrier: Literal["bearer", "websocket"] = "bearer"
    ca_file: str | None = None
    personal: bool = False
    insecure_http: bool = False
    failover: Literal["given", "network"] = "given"
    decimals: Literal["float", "exact", "arrow", "string"] = "float"

    def __post_init__(self) -> None:
        for interface in INTERFACES:
            name = f"{interface}_url"
            urls = tuple(dict.fromkeys(check_url(url, name) for url in _listed(getattr(self, name), name)))
            object.__setattr__(self, name, urls)
            name = f"{interface}_token"
            token = getattr(self, name)
            secret = token if token is None or isinstance(token, Secret) else Secret(token, name=name)
            object.__setattr__(self, name, secret)
        for field in fields(self):
            value, words = getattr(self, field.name), _WORDS.get(field.name)
            if isinstance(field.default, bool) and not isinstance(value, bool):
                raise ConfigurationError(f"{field.name}={value!r} is not valid: give True or False")
            if isinstance(field.default, int | float) and not isinstance(field.default, bool):
                object.__setattr__(self, field.name, _number(value, field.name, field.default))
            if words is not None and value not in words:
                listed = f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}"
                raise ConfigurationError(f"{field.name}={value!r} is not valid: give {listed}")
        if self.ca_file is not None:
            object.__setattr__(self, "ca_file", check_ca_file(self.ca_file, "ca_file"))
        clear = None if self.insecure_http else next(self.unencrypted(), None)
        if clear is not None:
            raise ConfigurationError(
                f"{clear[0]}={clear[1]!r} would carry a token or a client's secret unencrypted: use https, or no token "
                "there; on a private network that you trust, insecure_http=True allows it"
            )
        if self.registry_token is not None and len({origin_of(url) for url in self.registry_url}) > 1:
            raise ConfigurationError(
                "registry_token would go to the registries of several issuers; give the URL of the one that it is for"
                " alone"
            )
        if self.failover == "network" and not self.scan_url:
            raise ConfigurationError(
                "failover='network' needs a scan to ask for the others: give scan_url=, or leave failover out"
            )

    def urls(self, interface: Interface) -> tuple[str, ...]:
        """The base URLs of an interface, in the order they were given.

        Raises:
            ConfigurationError: there is none.
        """
        base_urls = cast("tuple[str, ...]", getattr(self, f"{interface}_url"))
        if not base_urls:
            raise ConfigurationError(
                f"no {interface} server is known; give connect({interface}_url=...), "
                f"set {PREFIX}{interface.upper()}_URL, or name it in a profile"
            )
        return base_urls

    def unencrypted(self) -> Iterator[tuple[str, str]]:
        """Each setting and URL that a token or secret would reach in clear text: over http, not on this machine."""
        found = (secret.unencrypted for interface in INTERFACES if (secret := self.token(interface)) is not None)
        yield from dict.fromkeys(clear for clear in found if clear is not None)
        for interface in INTERFACES:
            for url in getattr(self, f"{interface}_url") if self.token(interface) is not None else ():
                if url.startswith("http://") and not is_loopback(url):
                    yield f"{interface}_url", url

    def token(self, interface: Interface) -> Secret | None:
        """The token of an interface, if it has one."""
        return cast("Secret | None", getattr(self, f"{interface}_token"))


def source_of(url: str) -> str:
    """The part of a URL that may be recorded: scheme, host (with its port, if one is named) and path, nothing else."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def holds_secret(url: str) -> bool:
    """Whether a URL of object storage has a user, a password or a query; in Azure's, the user is the container."""
    parts = urlsplit(url)
    return bool(parts.password or parts.query or (parts.username and parts.scheme not in ("abfs", "abfss")))


def origin_of(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of a URL, however the default port and the end of the host are written.

    Raises:
        ValueError: it is not a URL.
    """
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)


def is_loopback(url: str) -> bool:
    """Whether a URL points to this very machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or is_localhost_name(host) or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_localhost_name(host: str) -> bool:
    """Whether a host is a name below localhost, which RFC 6761 reserves for loopback whatever a resolver says."""
    return host.lower().rstrip(".").endswith(".localhost")


def check_url(url: object, name: str) -> str:
    """A base URL in its one spelling: host in lower case, no trailing slash, a path prefix kept.

    Args:
        url: the user's value.
        name: the setting, for the message.

    Raises:
        ConfigurationError: the URL breaks a rule; user info is not shown.
    """
    if not isinstance(url, str):
        raise ConfigurationError(f"{name} is a {type(url).__name__}; give a URL as text, or a list of them")
    text = url.strip()
    if "@" in text:  # a password may hold a question mark, so that what stands before one is no safer to show
        raise ConfigurationError(
            f"{name} holds an @, as user info before a host does; take it out and give a token instead"
        )
    if "?" in text or "#" in text:
        shown = re.split(r"[?#]", text)[0]
        raise ConfigurationError(f"{name}={shown!r} continues with a query or a fragment; give the base URL alone")
    parts = _split(text, name)
    segments = set(_DOT.sub(".", parts.path).split("/"))
    if re.search(r"[\s\\]", text) or not text.isprintable() or {".", ".."} & segments:
        raise ConfigurationError(f"{name}={text!r} holds a space, a backslash or a dot segment; write it plainly")
    if len(text) > _LONGEST_URL:
        raise ConfigurationError(f"{name} has {len(text)} characters; a base URL has at most {_LONGEST_URL}")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def check_ca_file(place: object, name: str) -> str:
    """The absolute path of a file of certificates.

    Args:
        place: the user's value; `~` is the home folder.
        name: the setting or the variable, for the message.

    Raises:
        ConfigurationError: there is no such file, it cannot be read, or it holds no certificate.
    """
    import ssl

    if not isinstance(place, str | os.PathLike) or not os.fspath(place):
        raise ConfigurationError(f"{name}={place!r} is not valid: give the path of a PEM file")
    try:
        path = Path(os.fsdecode(place)).expanduser().absolute()
        if path.is_dir():
            raise ConfigurationError(f"{name}={str(path)!r} is a folder: give the PEM file in it")
        text = path.read_bytes()
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError as error:
        content = "no certificate in PEM form" if b"-----BEGIN CERTIFICATE-----" not in text else "a broken certificate"
        raise ConfigurationError(
            f"{name}={str(path)!r} holds {content} ({error.reason}): give the authority's certificate as PEM, the text "
            "that begins with -----BEGIN CERTIFICATE-----"
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(f"{name}={os.fsdecode(place)!r} cannot be read: {why}") from error
    return str(path)


def _split(text: str, name: str) -> SplitResult:
    """Take a URL apart and check scheme, host and port."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        plain = bool(_HOST.fullmatch(host)) if "[" not in parts.netloc else bool(ipaddress.ip_address(host))
    except ValueError as error:
        raise ConfigurationError(f"{name}={text!r} is not a URL: {error}") from error
    if parts.scheme not in ("http", "https"):
        raise ConfigurationError(f"{name}={text!r} does not start with http:// or https://")
    if not plain or port == 0:
        raise ConfigurationError(f"{name}={text!r} names no usable host; write for example https://HOST/api/scan")
    return parts


def _listed(value: object, name: str) -> tuple[object, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable):
        return tuple(value)
    raise ConfigurationError(f"{name} is a {type(value).__name__}; give a URL as text, or a list of them")


def _number(value: object, name: str, default: float) -> float:
    """A positive number of the default's kind."""
    whole, number = isinstance(default, int), None if isinstance(value, bool) else value
    with suppress(TypeError):  # of another library
        number = operator.index(cast("Any", number))
    if not isinstance(number, int if whole else int | float) or not math.isfinite(number) or number <= 0:
        raise ConfigurationError(f"{name}={value!r}; give a {'whole ' if whole else ''}number above 0, as {default}")
    return number
