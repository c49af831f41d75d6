"""One attempt over an `httpx.BaseTransport`, within its time and bounds, decompressed; `Transport` makes it."""

from __future__ import annotations

import functools
import importlib
import math
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, Final

import httpx

from ledgerframes.config.settings import Settings
from ledgerframes.stopping import Stop, raised_by_handler
from ledgerframes.transport.no_answer import UnusableAnswer, broken
from ledgerframes.transport.request import (
    ERROR_BODY,
    LONGEST_LENGTH,
    SLOWEST,
    Attempt,
    BodyFile,
    Credential,
    Failure,
    Prepared,
    Received,
)

#: Compression may add a little to bytes that it cannot shrink, but not more.
SLACK: Final = 2**20
PIECE: Final = 2**18
GZIP: Final = zlib.MAX_WBITS | 16
_PLAIN: Final = frozenset({"", "identity"})
_GZIP: Final = frozenset({"gzip", "x-gzip"})
MOST_VALUES: Final = 20_000_000  # a decoded value takes up to 80 bytes, however short its JSON is
_UNREADABLE: Final = (
    "have the server, or the proxy before it, answer as gzip or uncompressed, as was requested; "
    "or check {interface}_url="
)


def collect(pieces: Iterable[bytes], *, encoding: str, limit: int, announced: str = "") -> bytes:
    """Read a body.

    Args:
        pieces: the body as it arrives.
        encoding: the Content-Encoding; only gzip is ever asked for.
        limit: bytes after decompression; reading a compressed body stops as soon as it exceeds this.
        announced: the Content-Length, if there is one; a body that it says is too large is not read.

    Raises:
        UnusableAnswer: the limit was reached, or the compression is broken, cut off or another one.
    """
    if announced.isdecimal() and (len(announced) > LONGEST_LENGTH or int(announced) > limit):
        raise _too_large(limit)
    arriving = _unpacked(pieces, encoding, limit)
    whole = next(arriving, b"")
    more = next(arriving, None) if len(whole) <= limit else None
    if more is not None:
        body = bytearray(whole)  # a list of small pieces would take many times the memory
        while more is not None:
            body += more
            if len(body) > limit:
                raise _too_large(limit)
            more = next(arriving, None)
        whole = bytes(body)
    if len(whole) > limit:
        raise _too_large(limit)
    return whole


def _too_large(limit: float) -> UnusableAnswer:
    reason = f"the answer is larger than max_answer_bytes={limit}; ask for a smaller page or raise the limit"
    return UnusableAnswer(Failure(reason, transient=False, elsewhere=False))


def _unpacked(pieces: Iterable[bytes], encoding: str, limit: float = math.inf) -> Iterator[bytes]:
    """A body without its compression, if that is one that was requested."""
    if encoding.lower() in _PLAIN:
        return iter(pieces)
    if encoding.lower() in _GZIP:
        return _unzipped(pieces, limit)
    # Whole and as it was sent: a token in it can be masked then.
    reason = f"the body has a compression that was not requested and cannot be read here: {encoding!r}"
    raise UnusableAnswer(Failure.for_good(reason, _UNREADABLE))


@functools.cache
def unzipping() -> Any:
    """The gzip decompressor: `isal_zlib`, which takes half the time, if isal is installed; else `zlib`."""
    try:
        return importlib.import_module("isal.isal_zlib")
    except ImportError:
        return zlib


def _unzipped(pieces: Iterable[bytes], limit: float) -> Iterator[bytes]:
    """Decompress gzip, which may have several members, and of which about `limit` bytes are read at most."""
    library, size = unzipping(), 0
    unzip = library.decompressobj(GZIP)
    # Whether anything came: an empty body is not damaged, even if a header announces gzip.
    began = False
    # The rest of a piece is copied at each step, so pieces are kept small.
    small = (piece[start : start + PIECE] for piece in pieces for start in range(0, len(piece), PIECE))
    for piece in small:
        size += len(piece)
        if size > limit + SLACK:
            raise _too_large(limit)
        rest = piece
        while rest:
            if unzip.eof:
                unzip = library.decompressobj(GZIP)
            began = True
            try:
                # Limited per step: a bomb is stopped by the limit before it is unpacked.
                yield unzip.decompress(rest, PIECE)
            except library.error as error:
                raise UnusableAnswer(Failure(f"the body is not gzip: {error}")) from None
            rest = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
    if began:
        yield unzip.flush()
    if began and not unzip.eof:
        raise UnusableAnswer(Failure("the compressed body is truncated"))


#: A few URLs are requested again and again.
_url: Final = functools.lru_cache(64)(httpx.URL)


class Shared(httpx.BaseTransport):
    """A transport that another connection closes."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send by the shared transport."""
        return self._inner.handle_request(request)


def send_once(
    carrier: httpx.BaseTransport,
    settings: Settings,
    prepared: Prepared,
    credential: Credential | None,
    *,
    seconds: float,
    stop: Stop,
    sink: BodyFile | None = None,
    extensions: dict[str, object] | None = None,
) -> Received | Failure:
    """Make one attempt, over after the given seconds at the latest; nothing that a server does raises an exception.

    Args:
        carrier: sends the request.
        settings: the times and bounds.
        prepared: the request to send.
        credential: the token, if there is one.
        seconds: the time limit; a body for a sink may take what `SLOWEST` allows in addition.
        stop: ends it.
        sink: receives the body of a success as it arrives, whatever its size, instead of the returned value.
        extensions: further information for the transport; see `recording`.

    Raises:
        StoppedError: the operation was stopped.
        LedgerframesError: the sink has no room for the body.
        OSError: the sink cannot write the body.
    """
    attempt = Attempt(time.monotonic() + seconds, stop)
    times = {"connect": settings.connect_timeout, "read": settings.read_timeout, "write": settings.read_timeout}
    extensions = {
        **(extensions or {}), "attempt": attempt, **({} if sink is None else {"pieces": True}),
        "timeout": {name: max(1e-6, min(most, seconds)) for name, most in {**times, "pool": seconds}.items()},
    }  # fmt: skip
    try:
        # Their headers are no variable here, which a traceback could show, and with them the token.
        request = httpx.Request(
            prepared.method, _url(prepared.url), content=prepared.body, extensions=extensions,
            headers={**prepared.headers, **(credential.header() if credential else {})},
        )  # fmt: skip
    except (httpx.InvalidURL, UnicodeError) as error:
        return broken(httpx.LocalProtocolError(str(error)))
    handled, raised = sys.exc_info()[1], None
    try:
        with closing(carrier.handle_request(request)) as answer:
            return read_answer(answer, attempt, settings.max_answer_bytes, sink)
    except httpx.TransportError as error:
        raised = raised_by_handler(error, handled)
        # It is not passed on, since it contains the headers and with them the token.
        failure = broken(error)
    if failure.transient and attempt.left() <= 0:
        failure = Failure(f"no whole answer within {seconds:g} s")
    # Only here: raised while the error that it led to is handled, it would go back to that, in a circle. It does
    # not lead to the frames in which the headers are.
    if raised is not None:
        raise raised.with_traceback(None) from raised.__cause__
    stop.check()
    return failure


def read_answer(answer: httpx.Response, attempt: Attempt, limit: int, sink: BodyFile | None = None) -> Received:
    """Read the body: of a success whole, or into the sink; of anything else its beginning.

    Raises:
        httpx.TransportError: it is not whole, or cannot be read.
    """
    headers, status = dict(answer.headers.items()), answer.status_code
    encoding = headers.get("content-encoding", "").strip()
    if not 200 <= status < 300 or (sink is not None and status != 200):
        return Received(status, headers, _beginning(answer, attempt, encoding))
    announced = headers.get("content-length", "")
    if sink is not None:
        return Received(status, headers, b"", poured=_pour(answer, attempt, sink, encoding, announced))
    body = collect(_arriving(answer, attempt), encoding=encoding, limit=limit, announced=announced)
    if len(body) > MOST_VALUES and body.count(b",") > MOST_VALUES:
        reason = f"the answer holds more than {MOST_VALUES:,} values; ask for a smaller page"
        raise UnusableAnswer(Failure(reason, transient=False, elsewhere=False))
    return Received(status, headers, body)


def _pour(answer: httpx.Response, attempt: Attempt, sink: BodyFile, encoding: str, announced: str) -> int:
    """Write a body to a sink, piece by piece, each of which prolongs the attempt; returns its size as it was sent."""
    size = 0

    def arriving() -> Iterator[bytes]:
        nonlocal size
        for piece in _arriving(answer, attempt):
            size += len(piece)
            attempt.at += len(piece) / SLOWEST
            yield piece

    unpacked = _unpacked(arriving(), encoding)
    known = encoding.lower() not in _GZIP and announced.isdecimal() and len(announced) < LONGEST_LENGTH
    sink.begin(int(announced) if known else None)
    for piece in unpacked:
        sink.write(piece)
    return size


def _arriving(answer: httpx.Response, attempt: Attempt) -> Iterator[bytes]:
    """A body as it was sent; httpx would decode every coding that it knows, without a bound."""
    stream = answer.stream
    if not isinstance(stream, httpx.SyncByteStream):
        raise httpx.StreamError("the transport answers with a stream that only asyncio can read")
    for piece in stream:
        yield piece
        if attempt.over():
            raise httpx.ReadTimeout("the attempt is over")


def _beginning(answer: httpx.Response, attempt: Attempt, encoding: str) -> bytes:
    """The first part of an error's body, or whatever arrives of it; the status matters more than the text."""
    arrived = bytearray()

    def pieces() -> Iterator[bytes]:
        for piece in _arriving(answer, attempt):
            arrived.extend(piece)
            yield piece
            if len(arrived) >= ERROR_BODY:
                return

    try:
        return collect(pieces(), encoding=encoding, limit=ERROR_BODY * 4)[:ERROR_BODY]
    except httpx.TransportError:
        return b"" if encoding else bytes(arrived[:ERROR_BODY])
