"""Scan's routes beside the contract's six calls in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from ledgerframes.sandbox.http.openapi.refusals import refusals
from ledgerframes.sandbox.http.openapi.shapes import (
    JSON,
    Operation,
    Schema,
    anything,
    found,
    in_query,
    integer,
    listing,
    nullable,
    record,
    ref,
    text,
    time,
)

_PARTIES: Final = listing(text("A party id."))

_CREATED: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "contract_id": text(),
        "template_id": text(),
        "package_name": text(),
        "create_arguments": anything("The contract's payload."),
        "created_at": text(),
        "signatories": _PARTIES,
        "observers": _PARTIES,
    }
)

SHAPES: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "ActiveContract": record(
            "A contract that was active at a snapshot.",
            needs=_CREATED,
            may={"created_in_update_id": text("Left out for what earlier migrations created.")},
        ),
    }
)


def _needed(name: str, schema: Schema) -> Schema:
    """A parameter of the query that has to be there."""
    return {**in_query(name, schema), "required": True}


def _page_of(contracts: str) -> Schema:
    return record(
        needs={"record_time": time(), "migration_id": integer(64), "created_events": listing(ref(contracts))},
        may={"next_page_token": nullable(integer(64, "Left out where nothing follows."))},
    )


def _snapshot(needs: Mapping[str, Schema], may: Mapping[str, Schema]) -> Mapping[str, Any]:
    """The body of a request for a page of a snapshot."""
    usual = {
        "migration_id": integer(64),
        "record_time": time("The snapshot's own, or any for at_or_before."),
        "page_size": integer(32, minimum=1),
    }
    more = {
        "record_time_match": nullable(text(enum=["exact", "at_or_before"])),
        "after": nullable(integer(64, "The token of the page before.")),
    }
    return {JSON: record(needs={**usual, **needs}, may={**more, **may})}


_STATE: Final = _snapshot(
    {},
    {
        "templates": nullable(listing(text("package-name:Module:Entity"))),
        "party_ids": nullable(listing(text("A party that signs or observes."))),
    },
)
_COINS: Final = _snapshot({"owner_party_ids": listing(text("An owner."), minItems=1)}, {})

OPERATIONS: Final = (
    Operation(
        "GET",
        "/v0/state/acs/snapshot-timestamp",
        "The time of the newest snapshot before a time.",
        {**found(record(needs={"record_time": time()})), **refusals(400, 404)},
        (_needed("before", time("Exclusive.")), _needed("migration_id", integer(64))),
    ),
    Operation(
        "POST",
        "/v0/state/acs",
        "A page of the contracts active at a snapshot, in the older form.",
        {**found(_page_of("CreatedEvent")), **refusals(400, 404)},
        body=_STATE,
    ),
    Operation(
        "POST",
        "/v1/state/acs",
        "A page of the contracts active at a snapshot.",
        {**found(_page_of("ActiveContract")), **refusals(400, 404)},
        body=_STATE,
    ),
    Operation(
        "POST",
        "/v0/holdings/state",
        "A page of the coins of some parties at a snapshot, in the older form.",
        {**found(_page_of("CreatedEvent")), **refusals(400, 404)},
        body=_COINS,
    ),
    Operation(
        "POST",
        "/v1/holdings/state",
        "A page of the coins of some parties at a snapshot.",
        {**found(_page_of("ActiveContract")), **refusals(400, 404)},
        body=_COINS,
    ),
)
