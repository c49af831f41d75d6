"""The ledger interface's refusals: its JSON error body; the app answers with it."""

from __future__ import annotations

import logging
import secrets
from typing import Final

from starlette.responses import Response

from ledgerframes.sandbox.commands.errors import LedgerError
from ledgerframes.sandbox.http.callers import AccessError
from ledgerframes.sandbox.http.responses import encode

PARTICIPANT: Final = "participant1"

logger = logging.getLogger("ledgerframes.sandbox")


def denied(error: AccessError) -> LedgerError:
    """A caller who is refused; only the server's log has the reason, under the correlation id."""
    return LedgerError(
        "NA",
        # Real participants redact these errors, so that the ids are all a caller gets.
        "A security-sensitive error: ask the participant's operator about the correlation id and the trace id",
        kind=(-1, 16 if error.status == 401 else 7, error.status),
        hidden=str(error),
    )


def forbidden(cause: str) -> LedgerError:
    """A caller who is known and may not do this."""
    return denied(AccessError(403, cause))


def ledger_refused(error: LedgerError) -> Response:
    """Answer with the JSON error body."""
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
        # `participant` and `category` would reveal the redacted cause.
        "context": {} if error.hidden else context,
        "resources": [] if error.resource is None else [error.resource],
        "errorCategory": category,
        "grpcCodeValue": grpc_code,
        "retryInfo": error.retry or None,
        "definiteAnswer": None if error.hidden else False,
    }
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return Response(encode(body), status, headers=headers, media_type="application/json")
