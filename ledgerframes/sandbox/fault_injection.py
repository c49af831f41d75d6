"""Carries out a drawn fault on one request: responds instead of the app, or damages its response; `serve` calls it."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, replace
from email.utils import formatdate
from typing import Any

from ledgerframes.sandbox.faults import OK, Drawn, Faults

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

JSON = "application/json"
TEXT = "text/plain; charset=UTF-8"
HTML = "text/html; charset=UTF-8"
# Of a dripped body, which bounds the total time.
_PIECES = 20
PAGE = "<html><head><title>{title}</title></head><body><center><h1>{title}</h1></center></body></html>"


@dataclass(frozen=True, slots=True)
class InjectedAnswer:
    """A whole HTTP response."""

    status: int
    headers: Headers
    body: bytes

    def start(self) -> Message:
        """The first message of the answer; Content-Length is that of the body."""
        kept = [pair for pair in self.headers if pair[0] not in (b"content-length", b"transfer-encoding")]
        length = (b"content-length", str(len(self.body)).encode())
        return {"type": "http.response.start", "status": self.status, "headers": [*kept, length]}


@dataclass(frozen=True, slots=True)
class InjectedExchange:
    """One request on its way to the app, with its connection; None if that is closed already."""

    app: App
    scope: Scope
    receive: Receive
    send: Send
    transport: asyncio.Transport | None


async def answer(exchange: InjectedExchange, *, drawn: Drawn, faults: Faults) -> None:
    """Respond to one request as drawn."""
    if drawn.delay:
        await asyncio.sleep(drawn.delay)
    if drawn.kind in (OK, "latency"):
        await exchange.app(exchange.scope, exchange.receive, exchange.send)
        return
    # Also for refusals: otherwise a client that is still sending would see a reset in place of the answer.
    # Closing with unread bytes would send a reset too.
    exchange = await _having_read(exchange)
    if drawn.kind == "reset":
        await _reset(exchange)
    elif (refusal := _refusal(drawn.kind, faults)) is not None:
        await _whole(exchange, refusal)
    else:
        await _spoil(exchange, await _ask(exchange), drawn=drawn, faults=faults)


async def _having_read(exchange: InjectedExchange) -> InjectedExchange:
    """The exchange after its whole request was read, to be read again by the app."""
    messages = [await exchange.receive()]
    while messages[-1].get("more_body"):
        messages.append(await exchange.receive())
    messages.reverse()

    async def receive() -> Message:
        return messages.pop() if messages else await exchange.receive()

    return replace(exchange, receive=receive)


def _refusal(kind: str, faults: Faults) -> InjectedAnswer | None:
    """The response instead of the app's, for the kinds that never call the app."""
    later = formatdate(time.time() + faults.retry_after, usegmt=True)
    too_many = "The server is currently receiving too many requests."
    behind = json.dumps({"error": "This scan has not yet replicated all data; ask another one."})
    answers = {
        "403": _answer(403, TEXT, "RBAC: access denied"),
        "429": _answer(429, TEXT, too_many),
        "429-seconds": _answer(429, TEXT, too_many, retry_after=str(faults.retry_after)),
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


async def _spoil(exchange: InjectedExchange, whole: InjectedAnswer, *, drawn: Drawn, faults: Faults) -> None:
    """Send the app's response, damaged as drawn."""
    part = whole.body[: _cut(len(whole.body), drawn.cut)]
    match drawn.kind:
        case "reset-after":
            await _reset(exchange)
        case "reset-in-body":
            await _begin(exchange, whole, part)
            await _reset(exchange)
        case "short-body":
            await _begin(exchange, whole, part)
            await _end(exchange)
        case "truncated":
            await _whole(exchange, replace(whole, body=part))
        case "content-type":
            await _whole(exchange, replace(whole, headers=_as_text(whole.headers)))
        case _:
            await _drip(exchange, whole, faults)


def _cut(length: int, at: float) -> int:
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


async def _whole(exchange: InjectedExchange, whole: InjectedAnswer) -> None:
    await exchange.send(whole.start())
    await exchange.send({"type": "http.response.body", "body": whole.body})


async def _begin(exchange: InjectedExchange, whole: InjectedAnswer, part: bytes) -> None:
    await exchange.send(whole.start())
    await exchange.send({"type": "http.response.body", "body": part, "more_body": True})


async def _drip(exchange: InjectedExchange, whole: InjectedAnswer, faults: Faults) -> None:
    size = max(1, -(-len(whole.body) // _PIECES))
    await exchange.send(whole.start())
    for begin in range(0, len(whole.body), size):
        await asyncio.sleep(faults.drip)
        piece = whole.body[begin : begin + size]
        await exchange.send({"type": "http.response.body", "body": piece, "more_body": True})
    await exchange.send({"type": "http.response.body", "body": b""})


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
