"""What the ledger interface tells of updates, in the OpenAPI document (contract: Resources, Ledger transaction)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.http.openapi.shapes import (
    Schema,
    anything,
    boolean,
    integer,
    listing,
    mapping,
    nullable,
    record,
    ref,
    text,
    time,
    value_of,
    variant,
)

_PARTIES: Final = listing(text("A party id."))
_PLACE: Final = {"offset": integer(64), "nodeId": integer(32), "contractId": text(), "templateId": text()}
_FRAME: Final = {
    "updateId": text(),
    "commandId": text(),
    "workflowId": text("Empty for none."),
    "offset": integer(64, "This participant's own number, from 1."),
    "synchronizerId": text(),
    "recordTime": time(),
}
_TRACE: Final = {
    "traceContext": nullable(record(needs={}, may={"traceparent": nullable(text()), "tracestate": nullable(text())}))
}
_COST: Final = {"paidTrafficCost": integer(64)}

_CREATED: Final = {
    "createArgument": anything(),
    "witnessParties": _PARTIES,
    "signatories": _PARTIES,
    "observers": _PARTIES,
    "createdAt": text(),
    "packageName": text(),
}
_CREATED_MAY: Final = {
    "contractKey": anything(),
    "contractKeyHash": text(),
    "createdEventBlob": text("Empty where it was not asked for."),
    "interfaceViews": listing({"type": "object"}),
    "representativePackageId": text(),
    "acsDelta": boolean(),
}
_EXERCISED: Final = {
    "packageName": text(),
    "choice": text(),
    "choiceArgument": anything(),
    "actingParties": _PARTIES,
    "consuming": boolean(),
    "witnessParties": _PARTIES,
    "lastDescendantNodeId": integer(32, "The last node below it; its own where there is none."),
    "exerciseResult": anything(),
}
_EXERCISED_MAY: Final = {
    "interfaceId": nullable(text()),
    "implementedInterfaces": listing(text()),
    "acsDelta": boolean(),
}
_MOVE: Final = {
    "source": text(),
    "target": text(),
    "reassignmentId": text("What an assignment names to complete this."),
    "submitter": text(),
    "reassignmentCounter": integer(64),
}

SHAPES: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "LedgerCreated": record(needs={**_PLACE, **_CREATED}, may=_CREATED_MAY),
        "LedgerExercised": record(needs={**_PLACE, **_EXERCISED}, may=_EXERCISED_MAY),
        "LedgerArchived": record(
            needs={**_PLACE, "packageName": text(), "witnessParties": _PARTIES},
            may={"implementedInterfaces": listing(text())},
        ),
        "LedgerEvent": variant(
            {
                "CreatedEvent": ref("LedgerCreated"),
                "ArchivedEvent": ref("LedgerArchived"),
                "ExercisedEvent": ref("LedgerExercised"),
            }
        ),
        "LedgerTransaction": record(
            needs={**_FRAME, "effectiveAt": text(), "events": listing(ref("LedgerEvent"))},
            may={**_TRACE, **_COST, "externalTransactionHash": nullable(text())},
        ),
        "TransactionTree": record(
            needs={
                **_FRAME,
                "effectiveAt": text(),
                "eventsById": mapping(
                    variant(
                        {
                            "CreatedTreeEvent": value_of(ref("LedgerCreated")),
                            "ExercisedTreeEvent": value_of(ref("LedgerExercised")),
                        }
                    ),
                    "By node id as text.",
                ),
            },
            may=_TRACE,
        ),
        "ReassignmentEvent": variant(
            {
                "JsAssignmentEvent": record(needs={**_MOVE, "createdEvent": ref("LedgerCreated")}),
                "JsUnassignedEvent": value_of(
                    record(
                        needs={**_MOVE, **_PLACE, "packageName": text(), "witnessParties": _PARTIES},
                        may={"assignmentExclusivity": nullable(text())},
                    )
                ),
            }
        ),
        "LedgerReassignment": record(
            needs={**_FRAME, "events": listing(ref("ReassignmentEvent"))}, may={**_TRACE, **_COST}
        ),
    }
)
