"""What the ledger interface is asked to do, in the OpenAPI document (contract: Resources, ReassignmentCommands)."""

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

_NAME: Final[Schema] = {"pattern": r"^[A-Za-z0-9#:\-_/ ]+$", "maxLength": 255, "minLength": 1}
_PARTY: Final = text("A party id.", pattern=r"^[A-Za-z0-9:\-_ ]+$", maxLength=255, minLength=1)
_NOTHING: Final[Schema] = {"type": "object"}
_FREE: Final = nullable(text(pattern=r"^[A-Za-z0-9#:\-_/ ]*$", maxLength=255))
_USER: Final = nullable(text("The token's user where it is left out.", maxLength=128))
_GIVEN: Final = text(minLength=1)
_TEMPLATE: Final = text("`#package-name:Module:Entity`, or with a package id, which is deprecated.", minLength=1)
_ROUTE: Final = {"source": text("A synchronizer id.", minLength=1), "target": text("Another one.", minLength=1)}
_CALL: Final = {"choice": _GIVEN, "choiceArgument": anything()}
_WITH_BLOB: Final = {"includeCreatedEventBlob": boolean()}
_DURATION: Final = record(
    needs={}, may={"seconds": integer(64, minimum=0), "nanos": integer(32, minimum=0, maximum=999_999_999)}
)
_SHAPES: Final = ["TRANSACTION_SHAPE_UNSPECIFIED", "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"]

SHAPES: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "ReassignmentCommands": record(
            needs={
                "commandId": text("With user and submitter it says which change this is.", **_NAME),
                "submitter": _PARTY,
                "commands": listing(
                    record(
                        needs={
                            "command": variant(
                                {
                                    "AssignCommand": value_of(record(needs={"reassignmentId": _GIVEN, **_ROUTE})),
                                    "UnassignCommand": value_of(record(needs={"contractId": _GIVEN, **_ROUTE})),
                                    "Empty": _NOTHING,
                                }
                            )
                        }
                    ),
                    minItems=1,
                ),
            },
            may={
                "workflowId": _FREE,
                "userId": _USER,
                "submissionId": _FREE,
            },
        ),
        "Filters": record(
            "No entry at all is one wildcard.",
            needs={},
            may={
                "cumulative": listing(
                    record(
                        needs={
                            "identifierFilter": variant(
                                {
                                    "Empty": _NOTHING,
                                    "WildcardFilter": value_of(record(needs={}, may=_WITH_BLOB)),
                                    "TemplateFilter": value_of(record(needs={"templateId": _TEMPLATE}, may=_WITH_BLOB)),
                                    "InterfaceFilter": value_of(
                                        record(
                                            needs={"interfaceId": _TEMPLATE},
                                            may={**_WITH_BLOB, "includeInterfaceView": boolean()},
                                        )
                                    ),
                                }
                            )
                        }
                    )
                )
            },
        ),
        "EventFormat": {
            **record(
                "Which events are wanted, of these parties or of any.",
                needs={},
                may={
                    "filtersByParty": mapping(ref("Filters")),
                    "filtersForAnyParty": nullable(ref("Filters")),
                    "verbose": boolean(),
                },
            ),
            "anyOf": [
                {"required": ["filtersForAnyParty"], "properties": {"filtersForAnyParty": {"type": "object"}}},
                {"required": ["filtersByParty"], "properties": {"filtersByParty": {"minProperties": 1}}},
            ],
        },
        "TransactionFormat": record(
            needs={"eventFormat": ref("EventFormat")}, may={"transactionShape": text(enum=_SHAPES)}
        ),
        "Command": variant(
            {
                "CreateCommand": record(needs={"templateId": _TEMPLATE, "createArguments": anything()}),
                "ExerciseCommand": record(needs={"templateId": _TEMPLATE, "contractId": _GIVEN, **_CALL}),
                "ExerciseByKeyCommand": record(needs={"templateId": _TEMPLATE, "contractKey": anything(), **_CALL}),
                "CreateAndExerciseCommand": record(
                    needs={"templateId": _TEMPLATE, "createArguments": anything(), **_CALL}
                ),
            }
        ),
        "Batch": record(
            "Commands that happen all or none.",
            needs={
                "commands": listing(ref("Command"), minItems=1),
                "commandId": text(**_NAME),
                "actAs": listing(_PARTY, minItems=1),
            },
            may={
                "userId": _USER,
                "readAs": listing(_PARTY),
                "workflowId": _FREE,
                "deduplicationPeriod": variant(
                    {
                        "DeduplicationDuration": value_of(_DURATION),
                        "DeduplicationOffset": value_of(integer(64, minimum=0)),
                        "Empty": _NOTHING,
                    }
                ),
                "minLedgerTimeAbs": time(),
                "minLedgerTimeRel": _DURATION,
                "submissionId": _FREE,
                "disclosedContracts": listing(
                    record(
                        needs={"contractId": _GIVEN, "createdEventBlob": _GIVEN},
                        may={"templateId": text(), "synchronizerId": text()},
                    )
                ),
                "synchronizerId": text(),
                "packageIdSelectionPreference": listing(text()),
                "prefetchContractKeys": listing(
                    record(
                        needs={"templateId": _TEMPLATE, "contractKey": anything()},
                        may={"limit": integer(32, minimum=0)},
                    )
                ),
                "tapsMaxPasses": integer(32, minimum=0),
            },
        ),
    }
)
