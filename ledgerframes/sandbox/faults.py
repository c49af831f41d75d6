"""The faults between a server and its reader: a value, what is drawn from it for a request, and how it is carried out.

`serve` draws, and responds instead of the app or damages its response.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import KW_ONLY, dataclass, field, replace
from email.utils import formatdate
from types import MappingProxyType
from typing import Any, Self

OK = "ok"

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "403": "access denied, as text: the server admits known addresses only",
        "429": "too many requests, as text, without Retry-After",
        "429-seconds": "too many requests, Retry-After in seconds",
        "429-date": "too many requests, Retry-After as an HTTP date",
        "500": "the server failed and says so in JSON",
        "502": "a gateway's HTML page",
        "503": "unavailable, as text",
        "503-not-replicated": "unavailable: this server has not yet replicated all data",
        "504": "a gateway's time-out without a body",
        "reset": "the connection is reset before the app sees the request",
        "reset-after": "the app runs, then the connection is reset: the answer is lost",
        "reset-in-body": "the connection is reset after the headers and a part of the body",
        "truncated": "well-formed HTTP around a body that is cut off",
        "short-body": "fewer bytes than Content-Length says, then the end of the connection",
        "html": "status 200 with an HTML page",
        "content-type": "the right body under text/plain",
        "empty": "status 200 with an empty body",
    }
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The fault of one request.

    Attributes:
        kind: a name from `KINDS`, or "ok".
        share: where to cut the body, from 0 to 1.
    """

    kind: str
    share: float


@dataclass(frozen=True)
class Faults:
    """The faults that a server injects, and their frequency.

    Attributes:
        rates: the probability of each kind (see `KINDS`); together at most 1.
        sequence: kinds for the first requests in turn ("ok" for none), before the rates apply.
        seed: the same seed and the same order of requests result in the same faults.
        paths: a path prefix, or several; requests to other paths get no fault and are not counted.
        latency: seconds that every request waits.

    Raises:
        ValueError: an unknown kind, or probabilities that are not between 0 and 1 in sum.
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    _: KW_ONLY
    sequence: tuple[str, ...] = ()
    seed: int = 0
    paths: str | tuple[str, ...] = ()
    latency: float = 0.0

    def __post_init__(self) -> None:
        unknown = sorted((set(self.rates) - set(KINDS)) | (set(self.sequence) - set(KINDS) - {OK}))
        if unknown:
            raise ValueError(f"unknown fault {unknown[0]!r}; known: {', '.join(KINDS)}")
        if any(rate < 0 for rate in self.rates.values()) or sum(self.rates.values()) > 1 + 1e-9:
            raise ValueError(f"fault rates are probabilities and add up to at most 1, not {dict(self.rates)}")
        object.__setattr__(self, "rates", MappingProxyType(dict(self.rates)))

    @classmethod
    def parse(cls, text: str, *, seed: int = 0) -> Self:
        """Read the short form of the command line: `429:0.1,reset:0.05,latency:80ms`.

        A latency has a unit, ms or s, and holds for every request; every other value is a probability.
        """
        rates: dict[str, float] = {}
        latency = 0.0
        for part in filter(None, (part.strip() for part in text.split(","))):
            kind, _, value = part.partition(":")
            if kind == "latency":
                latency = _seconds(value, part=part)
            else:
                rates[kind] = _number(value, part=part)
        return cls(rates=rates, latency=latency, seed=seed)


class FaultDraws:
    """Draws the fault of each request from a `Faults` value; safe to call from any thread."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._random = random.Random(faults.seed)
        self._lock = threading.Lock()
        self._count = 0

    def draw(self, path: str) -> Drawn:
        """The fault of a request to this path."""
        if self.faults.paths and not path.startswith(self.faults.paths):
            return Drawn(OK, 0.0)
        with self._lock:
            # Both are drawn for each request, so that one fault does not shift those that follow.
            return Drawn(self._kind(), self._random.random())

    def _kind(self) -> str:
        # Counted under the lock of `draw`, so threads share one sequence.
        position, self._count = self._count, self._count + 1
        if position < len(self.faults.sequence):
            return self.faults.sequence[position]
        at = self._random.random()
        for kind, rate in self.faults.rates.items():
            at -= rate
            if at < 0:
                return kind
        return OK


def _number(text: str, *, part: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{part!r} is not KIND:PROBABILITY, such as 429:0.1 (or latency:80ms)") from None


def _seconds(text: str, *, part: str) -> float:
    if text.endswith("ms"):
        return _number(text[:-2], part=part) / 1000
    return _number(text[:-1] if text.endswith("s") else "", part=part)


Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

JSON = "application/json"
TEXT = "text/plain; charset=UTF-8"
HTML = "text/html; charset=UTF-8"
# Seconds that a Retry-After names.
_LATER = 1
PAGE = "<html><head><title>{title}</title></head><body><center><h1>{title}</h1></center></body></html>"


@dataclass(frozen=True, slots=True)
class InjectedAnswer:
    """A whole HTTP response."""

    status: int
    headers: Headers
    body: bytes

    def start(self) -> Message:
        """The first message of the answer; Content-Length is that of the body."""
        headers = [pair for pair in self.headers if pair[0] not in (b"content-length", b"transfer-encoding")]
        length = (b"content-length", str(len(self.body)).encode())
        return {"type": "http.response.start", "status": self.status, "headers": [*headers, length]}


@dataclass(frozen=True, slots=True)
class InjectedExchange:
    """One request on its way to the app, with its connection; None if that is closed already."""

    app: App
    scope: Scope
    receive: Receive
    send: Send
    transport: asyncio.Transport | None


async def answer(exchange: InjectedExchange, drawn: Drawn) -> None:
    """Respond to one request as drawn."""
    if drawn.kind == OK:
        await exchange.app(exchange.scope, exchange.receive, exchange.send)
        return
    # Also for refusals: otherwise a client that is still sending would see a reset in place of the answer.
    # Closing with unread bytes would send a reset too.
    exchange = await _having_read(exchange)
    if drawn.kind == "reset":
        await _reset(exchange)
    elif (refusal := _refusal(drawn.kind)) is not None:
        await _send(exchange, refusal)
    else:
        await _spoil(exchange, await _ask(exchange), drawn)


async def _having_read(exchange: InjectedExchange) -> InjectedExchange:
    """The exchange after its whole request was read, to be read again by the app."""
    messages = [await exchange.receive()]
    while messages[-1].get("more_body"):
        messages.append(await exchange.receive())
    messages.reverse()

    async def receive() -> Message:
        return messages.pop() if messages else await exchange.receive()

    return replace(exchange, receive=receive)


def _refusal(kind: str) -> InjectedAnswer | None:
    """The response instead of the app's, for the kinds that never call the app."""
    later = formatdate(time.time() + _LATER, usegmt=True)
    too_many = "The server is currently receiving too many requests."
    behind = json.dumps({"error": "This scan has not yet replicated all data; ask another one."})
    answers = {
        "403": _answer(403, TEXT, "RBAC: access denied"),
        "429": _answer(429, TEXT, too_many),
        "429-seconds": _answer(429, TEXT, too_many, retry_after=str(_LATER)),
        "429-date": _answer(429, TEXT, too_many, retry_after=later),
        "500": _answer(500, JSON, json.dumps({"error": "An internal error occurred."})),
        "502": _answer(502, HTML, PAGE.format(title="502 Bad Gateway")),
        "503": _answer(503, TEXT, "upstream connect error or disconnect before headers"),
        "503-not-replicated": _answer(503, JSON, behind),
        "504": _answer(504, TEXT, ""),
        "html": _answer(200, HTML, PAGE.format(title="Sign in")),
        "empty": _answer(200, JSON, ""),
    }
    return answers.get(kind)


def _answer(status: int, content_type: str, body: str, *, retry_after: str = "") -> InjectedAnswer:
    headers = [(b"content-type", content_type.encode())]
    if retry_after:
        headers.append((b"retry-after", retry_after.encode()))
    return InjectedAnswer(status, tuple(headers), body.encode())


async def _spoil(exchange: InjectedExchange, whole: InjectedAnswer, drawn: Drawn) -> None:
    """Send the app's response, damaged as drawn."""
    part = whole.body[: _shortened(len(whole.body), drawn.share)]
    match drawn.kind:
        case "reset-after":
            await _reset(exchange)
        case "reset-in-body":
            await _send(exchange, whole, part)
            await _reset(exchange)
        case "short-body":
            await _send(exchange, whole, part)
            await _end(exchange)
        case "truncated":
            await _send(exchange, replace(whole, body=part))
        case _:
            await _send(exchange, replace(whole, headers=_as_text(whole.headers)))


def _shortened(length: int, at: float) -> int:
    """A length from 1 to one less than the whole."""
    return max(1, min(length - 1, int(length * at)))


def _as_text(headers: Headers) -> Headers:
    return (*(pair for pair in headers if pair[0] != b"content-type"), (b"content-type", TEXT.encode()))


async def _ask(exchange: InjectedExchange) -> InjectedAnswer:
    """Run the app and keep its response."""
    started: list[Message] = []
    pieces: list[bytes] = []

    async def keep(message: Message) -> None:
        if message["type"] == "http.response.start":
            started.append(message)
        else:
            pieces.append(message.get("body", b""))

    await exchange.app(exchange.scope, exchange.receive, keep)
    headers = tuple((bytes(name).lower(), bytes(value)) for name, value in started[0].get("headers", ()))
    return InjectedAnswer(started[0]["status"], headers, b"".join(pieces))


async def _send(exchange: InjectedExchange, whole: InjectedAnswer, begin: bytes | None = None) -> None:
    """Send an answer, or only its head and the beginning of its body."""
    await exchange.send(whole.start())
    body = whole.body if begin is None else begin
    await exchange.send({"type": "http.response.body", "body": body, "more_body": begin is not None})


async def _reset(exchange: InjectedExchange) -> None:
    """Close the connection with a TCP reset."""
    transport = exchange.transport
    if transport is not None and not transport.is_closing():
        no_lingering = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_lingering)
        transport.abort()
    await _disconnected(exchange)


async def _end(exchange: InjectedExchange) -> None:
    """Close the connection normally after the bytes already sent."""
    if exchange.transport is not None:
        exchange.transport.close()
    await _disconnected(exchange)


async def _disconnected(exchange: InjectedExchange) -> None:
    """Wait until the server has seen the disconnect, so that it does not respond on a closed connection."""
    while (await exchange.receive())["type"] != "http.disconnect":
        pass
