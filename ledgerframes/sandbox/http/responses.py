"""Shared parts of all interfaces' routes: reading a request, writing an answer or a refusal, a contract's record."""

from __future__ import annotations

import base64
import re
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ledgerframes.sandbox.world.contracts import Contract, blob

INT32: Final = 2**31
INT64: Final = 2**63
UNKNOWN: Final = "The requested resource could not be found."

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)

# The errors of msgspec for a body that it cannot read; RecursionError is for one nested too deep.
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum sizes of requests to a server.

    Attributes:
        page: items of a page; the refusal names this number.
        holdings: coin contracts of a holdings summary.
        items: of each list in a request; None for no such rule.
    """

    page: int = 1_000
    holdings: int = 1_000
    items: int | None = 1_000


class RefusalError(Exception):
    """A request that scan, validator or registry answers with `{"error": ...}`.

    Attributes:
        status: the HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def refuse(_: Request, error: Exception) -> Response:
    """Answer a refused request with the interface's error body."""
    assert isinstance(error, RefusalError)
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return Response(encode({"error": str(error)}), error.status, headers=headers, media_type="application/json")


async def no_route(_: Request, error: Exception) -> Response:
    """Answer an unknown path or method as the servers do: in plain text."""
    assert isinstance(error, HTTPException)
    known = (error.headers or {}).get("Allow", "")
    # Real servers answer unknown routes in plain text, not in the interface's JSON.
    text = f"HTTP method not allowed, supported methods: {known}" if error.status_code == 405 else UNKNOWN
    return PlainTextResponse(text, error.status_code, headers=error.headers)


def json_answer(body: bytes) -> Response:
    """Answer 200 with JSON text."""
    return Response(body, media_type="application/json")


async def read_object(request: Request) -> dict[str, Any]:
    """The request's body, a JSON object.

    Raises:
        RefusalError: 400, it is something else.
    """
    try:
        return msgspec.json.decode(await request.body(), type=dict[str, Any])
    except UNREADABLE as error:
        raise RefusalError(400, f"The request content was malformed: {error}") from error


def query_integer(request: Request, name: str, *, bound: int) -> int | None:
    """An integer from -bound up to bound of the query; None if it is omitted.

    Raises:
        RefusalError: 400, it is not such an integer.
    """
    text = request.query_params.get(name)
    try:
        value = None if text is None else read_integer(text)
    except ValueError as error:
        raise RefusalError(400, f"The query parameter '{name}' was malformed: {text!r} is not an integer") from error
    if value is not None and not -bound <= value < bound:
        raise RefusalError(400, f"The query parameter '{name}' was malformed: {text!r} is out of range")
    return value


def check_size(name: str, size: int | None, maximum: int) -> None:
    """Refuse a page of nothing, or of more than a server returns at once.

    Raises:
        RefusalError: 400, in the words of real servers; clients read the maximum from it.
    """
    if size is None or size < 1:
        raise RefusalError(400, f"{name} must be positive, not {size}")
    if size > maximum:
        raise RefusalError(400, f"Exceeded limit maximum ({size} > {maximum}).")


def check_list(name: str, given: Sized, *, maximum: int | None) -> None:
    """Refuse a request with a list of more items; newer releases have a maximum.

    Raises:
        RefusalError: 400, in the words of real servers.
    """
    if maximum is not None and len(given) > maximum:
        raise RefusalError(400, f"Expected '{name}' to contain at most {maximum} items, but contained {len(given)}.")


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
