"""An endpoint, declared in a few lines, a request to it, and what becomes of it: `Answer`, `Received` or `Failure`."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import BinaryIO, Final, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from ledgerframes.config.settings import Interface, Secret
from ledgerframes.errors import InputError, LedgerframesError, NoAnswerError, RequestError
from ledgerframes.stopping import Stop
from ledgerframes.version import __version__

T_co = TypeVar("T_co", covariant=True)

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
JSON: Final = "application/json"
BINARY: Final = "application/octet-stream"
SHOWN_BODY: Final = 2_000
LONGEST: Final = 32_000
AGENT: Final = f"ledgerframes/{__version__}"
ERROR_BODY: Final = 2**16
LONGEST_LENGTH: Final = 20  # digits; Python refuses to convert thousands of them
#: Bytes per second below which a download is abandoned.
SLOWEST: Final = 50_000
#: Bytes of a download after which the room for it is checked again.
CHECK_EVERY: Final = 32 * 2**20
#: Prefixes of interfaces whose base URL is not the root of the host.
PREFIXES: Final[Mapping[Interface, str]] = MappingProxyType({"scan": "/api/scan", "validator": "/api/validator"})

_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Endpoint:
    """One operation of an interface.

    Args:
        interface: its interface.
        method: the HTTP method.
        path: the path template, such as `/v1/updates/{update_id}`.
        safe: asking twice changes nothing, so it may be retried; a command is sent only once.
        deprecated: since when, and its replacement.
        not_found_is_local: one server's 404 proves nothing, so every server is asked.
        since: the releases that have it, for the message if a server does not.
    """

    interface: Interface
    method: str
    path: str
    _: KW_ONLY
    safe: bool = True
    deprecated: str | None = None
    not_found_is_local: bool = False
    since: str | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def request(
        self,
        *,
        path: Mapping[str, str] = NOTHING,
        query: Mapping[str, str | int | bool | Sequence[str] | None] = NOTHING,
        json: object = msgspec.UNSET,
        content: bytes | None = None,
    ) -> Request:
        """Create a request to the endpoint.

        Args:
            path: a value for each parameter of the template; percent-encoded whole.
            query: the query; None leaves a name out, booleans are written true and false, a list repeats the name.
            json: a value to be sent as JSON, anything msgspec can encode.
            content: bytes to send unchanged, instead.

        Raises:
            InputError: a value is not valid in a path, or the body is not JSON.
        """
        filled = _PARAMETER.sub(lambda match: _path_value(match[1], path[match[1]], self), self.path)
        pairs = tuple(_pairs(query, self))
        # Longer ones no server accepts and the HTTP library cannot send.
        size = len(filled) + sum(len(name) + len(quote(value)) + 2 for name, value in pairs)
        if size > LONGEST:
            raise InputError(
                f"{self}: path and query would have {size} characters, more than {LONGEST}; an id or a page"
                " token is too long to be valid"
            )
        content_type = None if content is None else BINARY
        if json is not msgspec.UNSET:
            content_type = JSON
            try:
                content = msgspec.json.encode(json)
            except (TypeError, ValueError, RecursionError) as error:
                raise InputError(f"the body of {self} cannot be written as JSON: {error}") from error
        return Request(self, filled, pairs, content, content_type)


@dataclass(frozen=True)
class Request:
    """A request, without the choice of a server.

    Attributes:
        url: the whole URL of a file that a server names; it may contain a signature.
    """

    endpoint: Endpoint
    path: str
    query: tuple[tuple[str, str], ...] = ()
    content: bytes | None = field(default=None, repr=False)
    content_type: str | None = None
    url: str | None = field(default=None, repr=False)

    def prepared(self, server: str) -> Prepared:
        """The request as it is sent to a server, except for the token."""
        if self.url is not None:
            return Prepared(self.endpoint.method, self.url, {"Accept-Encoding": "identity", "User-Agent": AGENT})
        query = f"?{urlencode(self.query, quote_via=quote)}" if self.query else ""
        # gzip only: the standard library decompresses it within a limit, whatever else is installed.
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": AGENT}
        if self.content_type is not None:
            headers["Content-Type"] = self.content_type
        return Prepared(self.endpoint.method, server + self.path + query, headers, self.content)

    def __str__(self) -> str:
        """Method and path template, and the path itself if it differs; never the query."""
        return str(self.endpoint) + (f" ({self.path[:200]})" if self.path != self.endpoint.path else "")


@dataclass(frozen=True)
class Prepared:
    """A request as it would be sent, for inspection; tokens are shown as `***`."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = field(default=None, repr=False)

    def __str__(self) -> str:
        lines = [f"{self.method} {self.url}", *(f"{name}: {value}" for name, value in self.headers.items())]
        shown = (self.body or b"")[:SHOWN_BODY].decode(errors="replace")
        return "\n".join(lines + (["", shown] if shown else []))


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """The decoded answer of a server, and where it came from.

    Attributes:
        value: the result of `read` for the body.
        status: the HTTP status.
        server: the base URL that answered: scheme, host and path only.
        request: the answered request, which may be an alternative or a revised one.
        size: bytes of the body, after decompression.
        seconds: how long this attempt took.
        headers: the answer's headers, names in lower case.
    """

    value: T_co = field(repr=False)
    status: int
    server: str
    request: Request
    size: int
    seconds: float
    headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class Credential:
    """The header that carries a token, and its template; shown as `***`."""

    name: str
    template: str
    token: Secret

    def header(self) -> dict[str, str]:
        """The header itself, for sending only."""
        return {self.name: self.template.format(self.token.reveal())}


@dataclass(frozen=True)
class Received:
    """A whole answer, header names in lower case; of an error's body only the first `ERROR_BODY` bytes.

    Attributes:
        with_token: whether the request carried a token.
        poured: bytes that went into a sink in place of the body.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    with_token: bool = False
    poured: int = 0


@dataclass(frozen=True)
class Failure:
    """Why there is no usable answer, and what may be tried next.

    Attributes:
        reason: what went wrong; after `judge_…`, the whole message.
        advice: the remedy, if it is more specific than checking the address.
        transient: another attempt at the same server may succeed.
        elsewhere: another server may succeed.
        final: a smaller page would not help: the address is wrong, or the answer arrived complete and is wrong.
        reached: a connection was established.
        sent: the request may have been sent; otherwise there was no token for it.
        unknown_route: a request for the same on another route may be answered.
        not_found: the server knows the path, but not the item.
        wait: seconds the server asks to wait, if it does.
        body: digest of a whole JSON body of the wrong kind; if the same body comes again, the error is final.
        problem: the error to raise; by default a NoAnswerError with the reason.
    """

    reason: str
    advice: str = ""
    transient: bool = True
    elsewhere: bool = True
    final: bool = False
    reached: bool = True
    sent: bool = True
    unknown_route: bool = False
    not_found: bool = False
    wait: float | None = None
    body: bytes | None = None
    problem: LedgerframesError | None = None

    @classmethod
    def for_good(cls, reason: str, advice: str = "") -> Failure:
        """A fault that no further request to this server can fix; another server may succeed."""
        return cls(reason, transient=False, final=True, advice=advice)

    def error(self, ending: str = "") -> LedgerframesError:
        """The error to raise, with a text at the end of its message."""
        error = self.problem or NoAnswerError(self.reason)
        error.args = (f"{error}{ending}",)
        return error

    def request_error(self) -> RequestError:
        """Create the failure as a RequestError for `revise` callbacks."""
        error = self.error()
        return error if isinstance(error, RequestError) else NoAnswerError(str(error))


@dataclass
class Attempt:
    """The time limit of one attempt: until an instant, or until it is stopped."""

    at: float = float("inf")
    stop: Stop = field(default_factory=Stop)

    def left(self) -> float:
        """The seconds left."""
        return self.at - time.monotonic()

    def over(self) -> bool:
        """Whether nothing more may be read or sent."""
        return self.left() <= 0 or self.stop.is_set()


class BodyFile:
    """A file that receives a body too large for memory, and the SHA-256 of that body.

    Args:
        file: where to write.
        check_room: refuses so many more bytes if there is no room for them.
    """

    def __init__(self, file: BinaryIO, check_room: Callable[[int], None]) -> None:
        self._file = file
        self._check_room = check_room
        self._unchecked = 0
        self.sha256 = hashlib.sha256()

    def begin(self, length: int | None) -> None:
        """Start a new body, of so many bytes if the server announces them; discard what was received so far."""
        self.sha256 = hashlib.sha256()
        self._unchecked = 0
        self._file.seek(0)
        self._file.truncate()
        self._check_room(length or 0)

    def write(self, piece: bytes) -> None:
        """Write the next bytes of the body."""
        self._unchecked += len(piece)
        # If no length was announced, or other programs fill the disk meanwhile.
        if self._unchecked >= CHECK_EVERY:
            self._unchecked = 0
            self._check_room(0)
        self._file.write(piece)
        self.sha256.update(piece)


def _path_value(name: str, value: str, endpoint: Endpoint) -> str:
    """One path parameter, percent-encoded whole."""
    # HTTP libraries and proxies resolve dots in a path, which would request another route.
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise InputError(f"{name}={value!r} is not valid in the path of {endpoint}; give its text")
    try:
        # Party ids contain `::`, and an id with a slash must stay one segment.
        return quote(value, safe="")
    except UnicodeEncodeError as error:
        raise InputError(f"{name}={value!r} is not Unicode text: {error}") from error


def _pairs(
    query: Mapping[str, str | int | bool | Sequence[str] | None], endpoint: Endpoint
) -> Iterator[tuple[str, str]]:
    """Each name with one value at a time, as text."""
    for name, value in query.items():
        if value is None:
            continue
        for one in [value] if isinstance(value, str | int) else value:
            # Servers read `true`, not Python's `True`.
            text = str(one).lower() if isinstance(one, bool) else str(one)
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise InputError(f"{name}={text[:80]!r} of {endpoint} is not Unicode text: {error}") from error
            yield name, text
