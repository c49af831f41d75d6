"""The ledger interface's refusals: its JSON error body, or plain text where a request cannot even be read."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ledgerframes.sandbox.http.callers import AccessError
from ledgerframes.sandbox.http.responses import encode

PARTICIPANT: Final = "participant1"

# Error category, gRPC code and HTTP status.
_INVALID: Final = (8, 3, 400)
_MISSING: Final = (11, 5, 404)


logger = logging.getLogger("ledgerframes.sandbox")


class LedgerError(Exception):
    """A request that the ledger interface answers with its JSON error body (contract: Errors 1).

    Attributes:
        kind: error category, gRPC code and HTTP status.
        resource: what kind of thing it is about and which one, if it is about one.
        context: what else the error body's context tells.
        retry: when it may be tried again, as text; empty where that would not help.
        hidden: the true cause where the answer must not tell it; the server's log does.
    """

    def __init__(
        self,
        code: str,
        cause: str,
        *,
        kind: tuple[int, int, int],
        resource: tuple[str, str] | None = None,
        context: Mapping[str, str] | None = None,
        retry: str = "",
        hidden: str = "",
    ) -> None:
        super().__init__(cause)
        self.code = code
        self.kind = kind
        self.resource = resource
        self.context = dict(context or {})
        self.retry = retry
        self.hidden = hidden


class UnreadableError(Exception):
    """A malformed body or query value; the ledger interface answers 400 in plain text (contract: Errors 2)."""


def invalid(cause: str) -> LedgerError:
    """A request that can be read but makes no sense."""
    return LedgerError("INVALID_ARGUMENT", f"The submitted request has invalid arguments: {cause}", kind=_INVALID)


def not_found(thing: str, name: str) -> LedgerError:
    """A request for something the participant does not know, or the caller's parties do not see."""
    cause = f"{thing.title()} not found, or not visible."
    return LedgerError(f"{thing.upper()}_NOT_FOUND", cause, kind=_MISSING, resource=(f"{thing.upper()}_ID", name))


def denied(error: AccessError) -> LedgerError:
    """A caller who is not let in; why is said in the server's log alone, under the correlation id."""
    return LedgerError(
        "NA",
        # Real participants redact these errors, so that the ids are all a caller gets.
        "A security-sensitive error: ask the participant's operator about the correlation id and the trace id",
        kind=(-1, 16 if error.status == 401 else 7, error.status),
        hidden=str(error),
    )


async def refuse_json(_: Request, error: Exception) -> Response:
    """Answer with the JSON error body."""
    assert isinstance(error, LedgerError)
    category, grpc_code, status = error.kind
    trace, correlation = secrets.token_hex(16), secrets.token_hex(16)
    if error.hidden:
        logger.info("denied (%d) under correlation id %s: %s", status, correlation, error.hidden)
    context = {"participant": PARTICIPANT, "category": str(category), "definite_answer": "false", "tid": trace}
    context |= error.context
    body = {
        "code": error.code,
        "cause": str(error),
        "correlationId": correlation,
        "traceId": trace,
        # `participant` and `category` would tell what was redacted.
        "context": {} if error.hidden else context,
        "resources": [] if error.resource is None else [error.resource],
        "errorCategory": category,
        "grpcCodeValue": grpc_code,
        "retryInfo": error.retry or None,
        "definiteAnswer": None if error.hidden else False,
    }
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return Response(encode(body), status, headers=headers, media_type="application/json")


async def refuse_text(_: Request, error: Exception) -> Response:
    """Answer 400 in plain text."""
    return PlainTextResponse(str(error), 400)
