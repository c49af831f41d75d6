"""Shared parts of all interfaces' routes: reading a request, writing an answer or a refusal, a contract's record."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract, blob

T = TypeVar("T")

#: The most bytes of a body that is JSON.
JSON_MAXIMUM: Final = 8 * 1024 * 1024
INT32: Final = 2**31
INT64: Final = 2**63
Int32 = Annotated[int, Meta(ge=-INT32, le=INT32 - 1)]
Int64 = Annotated[int, Meta(ge=-INT64, le=INT64 - 1)]
UNKNOWN: Final = "The requested resource could not be found."

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)

encode: Final = msgspec.json.Encoder().encode


class TooLargeError(Exception):
    """A request with a larger body than its route takes; every interface answers 413 in its own form."""


class RefusalError(Exception):
    """A request that scan, validator or registry answers with `{"error": ...}`.

    Attributes:
        status: the HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def refused(error: RefusalError) -> Response:
    """Answer a refused request with the interface's error body."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return Response(encode({"error": str(error)}), error.status, headers=headers, media_type="application/json")


async def no_route(_: Request, error: Exception) -> Response:
    """Answer an unknown path or method as the servers do: in plain text."""
    assert isinstance(error, HTTPException)
    known = (error.headers or {}).get("Allow", "")
    # Real servers answer unknown routes in plain text, not in the interface's JSON.
    text = f"HTTP method not allowed, supported methods: {known}" if error.status_code == 405 else UNKNOWN
    return PlainTextResponse(text, error.status_code, headers=error.headers)


def json_answer(content: Any) -> Response:
    """Answer 200 with JSON text, or with what becomes it."""
    return Response(content if isinstance(content, bytes) else encode(content), media_type="application/json")


async def read_within(request: Request, maximum: int) -> bytes:
    """A request's body of so many bytes at most.

    Raises:
        TooLargeError: it has more; it is refused as soon as that is known.
    """
    pieces, size = [], int(request.headers.get("Content-Length", "0"))
    if size <= maximum:
        size = 0
        # Counted as well: a body that comes in chunks does not declare its length.
        async for piece in request.stream():
            pieces.append(piece)
            size += len(piece)
            if size > maximum:
                break
    if size > maximum:
        raise TooLargeError(f"A request may have {maximum} bytes at most here")
    return b"".join(pieces)


def read_as(kind: type[T], body: bytes, *, refuse: Callable[[object], Exception] | None = None) -> T:
    """A request's body.

    Args:
        kind: what it is to be.
        body: its bytes.
        refuse: makes the error, `malformed` by default.

    Raises:
        RefusalError: 400, it is not JSON of that shape.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    # msgspec's errors for a body that it cannot read; RecursionError is for one nested too deep.
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise (refuse or malformed)(error) from error


def read_time(text: str) -> int:
    """A time in microseconds.

    Raises:
        RefusalError: 400, it is not a time.
    """
    try:
        return timestamps.parse(text)
    except ValueError as error:
        raise RefusalError(400, str(error)) from error


def found(value: T | None, otherwise: str) -> T:
    """The value, which is to be there.

    Raises:
        RefusalError: 404, it is not; the message is `otherwise`.
    """
    if value is None:
        raise RefusalError(404, otherwise)
    return value


def malformed(cause: object) -> RefusalError:
    """A body that is not what the route takes."""
    return RefusalError(400, f"The request content was malformed: {cause}")


def check_size(name: str, size: int | None, maximum: int) -> None:
    """Refuse a page of nothing, or of more than a server returns at once.

    Raises:
        RefusalError: 400, in the words of real servers; clients read the maximum from it.
    """
    if size is None or size < 1:
        raise RefusalError(400, f"{name} must be positive, not {size}")
    if size > maximum:
        raise RefusalError(400, f"Exceeded limit maximum ({size} > {maximum}).")


def read_integer(text: str) -> int:
    """A whole number as servers read it: ASCII digits, where Python also takes `1_0`, spaces and other scripts' digits.

    Raises:
        ValueError: it is written otherwise.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is not an integer")
    return int(text)


def contract_record(contract: Contract) -> dict[str, Any]:
    """A contract as scan and validator send it."""
    return {
        "template_id": contract.template_id,
        "contract_id": contract.contract_id,
        "payload": contract.payload,
        "created_event_blob": blob(contract.contract_id),
        "created_at": contract.created_at,
    }


def with_state(contract: Contract, *, whole: bool = True) -> dict[str, Any]:
    """A contract and its synchronizer; only the latter if the caller has the contract."""
    members: dict[str, Any] = {"contract": contract_record(contract)} if whole else {}
    if contract.synchronizer_id is not None:
        members["domain_id"] = contract.synchronizer_id
    return members


def page_token(last: str) -> str:
    """An opaque token for the page after the element of that id."""
    return base64.urlsafe_b64encode(b"after:" + last.encode()).decode()


def read_page_token(token: str) -> str:
    """The id a token was made from; an empty token is the beginning.

    Raises:
        ValueError: no server gave out this token.
    """
    if not token:
        return ""
    marker, _, last = base64.b64decode(token, altchars=b"-_", validate=True).partition(b"after:")
    if marker or not last:
        raise ValueError("no page token")
    return last.decode()
