"""What the interfaces refuse and in which form (contract: Errors); the operations of every interface name theirs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.http.openapi.shapes import (
    JSON,
    TEXT,
    Response,
    Schema,
    boolean,
    integer,
    listing,
    mapping,
    nullable,
    record,
    ref,
    text,
)

SHAPES: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "Error": record("Why scan, validator or registry refuses.", needs={"error": text("For a person to read.")}),
        "LedgerError": record(
            "Why the ledger interface refuses; where that is secret, the two ids lead to its log.",
            needs={
                "code": text("A name for programs."),
                "cause": text("For a person to read."),
                "context": mapping(text(), "Further particulars."),
                "errorCategory": integer(32, "What can be done about it; -1 where that is secret."),
            },
            may={
                "correlationId": nullable(text()),
                "traceId": nullable(text()),
                "resources": nullable(listing(listing(text(), minItems=2, maxItems=2), "Pairs of a sort and a name.")),
                "grpcCodeValue": nullable(integer(32)),
                "retryInfo": nullable(text("After how long it may work.")),
                "definiteAnswer": nullable(boolean("Whether the command certainly had no effect.")),
            },
        ),
    }
)

_WHY: Final = MappingProxyType(
    {
        400: "The request cannot be read, or makes no sense.",
        401: "No valid token.",
        403: "The token's user may not do this.",
        404: "There is no such thing, or the caller does not see it.",
        409: "It does not go with what is there now.",
        413: "The body is too large.",
        415: "The body is of another content type.",
        501: "This ledger takes no commands, since its data are hostile.",
    }
)


def refusals(*statuses: int) -> dict[int, Response]:
    """The refusals of scan, validator and registry."""
    return {status: Response(_WHY[status], {JSON: ref("Error")}) for status in statuses}


def ledger_refusals(*statuses: int) -> dict[int, Response]:
    """The refusals of the ledger interface: who may not come in, what cannot be read (as text), and these besides."""
    plain = {TEXT: text("What is malformed.")}
    unreadable = Response(_WHY[400], {**plain, JSON: ref("LedgerError")})
    others = {status: Response(_WHY[status], {JSON: ref("LedgerError")}) for status in (401, 403, *statuses)}
    return {400: unreadable, **others}


def with_unknown_route(answers: Mapping[int, Response]) -> dict[int, Response]:
    """The same for an operation with a parameter in its path, which an odd one may turn into no route at all."""
    missing = answers[404]
    return {**answers, 404: Response(missing.meaning, {**missing.content, TEXT: text("No such route.")})}
