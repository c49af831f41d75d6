"""The token-registry interface in the OpenAPI document (contract: Token-registry interface; Resources, Instrument)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.http.openapi.refusals import refusals
from ledgerframes.sandbox.http.openapi.shapes import (
    JSON,
    Operation,
    Schema,
    boolean,
    decimal,
    found,
    in_query,
    integer,
    listing,
    mapping,
    nullable,
    record,
    ref,
    text,
    time,
)

_EMPTY: Final[Schema] = {"enum": [{}, {"values": {}}]}
_INSTRUMENT_ID: Final = record(needs={"id": text("Which instrument.")})
_ARGUMENTS: Final = record(
    "The arguments of the choice.",
    needs={
        "allocation": record(needs={"transferLeg": record(needs={"instrumentId": _INSTRUMENT_ID})}),
        "extraArgs": record(needs={"context": _EMPTY, "meta": _EMPTY}),
    },
)

SHAPES: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "Instrument": record(
            needs={
                "id": text(),
                "name": text(),
                "symbol": text(),
                "decimals": integer(8, minimum=0, maximum=10),
                "supportedApis": mapping(integer(32), "The minor version of each."),
            },
            may={
                "totalSupply": nullable(decimal()),
                "totalSupplyAsOf": nullable(time()),
                "paused": boolean("It can be neither transferred nor allocated."),
                "pauseInfo": nullable(record(needs={}, may={"reason": text(), "until": time("Exclusive.")})),
            },
        ),
        "DisclosedContract": record(
            needs={"templateId": text(), "contractId": text(), "createdEventBlob": text(), "synchronizerId": text()},
            may={"debugPackageName": text(), "debugPayload": {"type": "object"}, "debugCreatedAt": text()},
        ),
    }
)

_PAGE: Final = record(needs={"instruments": listing(ref("Instrument"))}, may={"nextPageToken": nullable(text())})
_CONTEXT: Final = record(
    needs={"choiceContextData": {"type": "object"}, "disclosedContracts": listing(ref("DisclosedContract"))}
)

OPERATIONS: Final = (
    Operation(
        "GET",
        "/registry/metadata/v1/instruments",
        "A page of instruments.",
        {**found(_PAGE), **refusals(400)},
        (
            in_query("pageSize", integer(32, minimum=1)),
            in_query("pageToken", text("The token of the page before.")),
        ),
    ),
    Operation(
        "POST",
        "/registry/allocation-instruction/v1/allocation-factory",
        "The factory for allocating an instrument, with what the choice needs to know.",
        {**found(record(needs={"factoryId": text(), "choiceContext": _CONTEXT})), **refusals(400, 404, 409)},
        body={
            JSON: record(
                needs={"choiceArguments": _ARGUMENTS},
                may={"excludeDebugFields": boolean("Leave the debug fields out.")},
            )
        },
    ),
)
