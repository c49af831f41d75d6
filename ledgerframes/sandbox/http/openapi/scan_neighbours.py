"""Scan's routes beside the contract's six calls in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from ledgerframes.sandbox.http.openapi.refusals import refusals, with_unknown_route
from ledgerframes.sandbox.http.openapi.shapes import (
    JSON,
    Operation,
    Schema,
    anything,
    found,
    in_path,
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
        "ContractWithState": record(
            needs={"contract": ref("Contract")}, may={"domain_id": text("Left out in flight.")}
        ),
        "MaybeCachedContract": record(needs={}, may={"contract": ref("Contract"), "domain_id": text()}),
        "NetworkName": record(
            needs={"user": text("The owner's party id."), "name": text(), "url": text(), "description": text()},
            may={"contract_id": text("Left out for the operator's own."), "expires_at": time("Likewise.")},
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

_AMOUNT: Final = text("Decimal.", pattern=r"^-?\d+(\.\d+)?$")
_HOLDER: Final = ("total_unlocked_coin", "total_locked_coin", "total_coin_holdings")
_HOLDER_FEES: Final = (
    *("accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked", "accumulated_holding_fees_total"),
    "total_available_coin",
)


def _summaries(members: tuple[str, ...], more: Mapping[str, Schema]) -> Schema:
    """The answer of a holdings summary whose parties have these amounts."""
    holder = record(needs={"party_id": text(), **dict.fromkeys(members, _AMOUNT)})
    usual = {"record_time": text("As it was asked for."), "migration_id": integer(64)}
    return record(needs={**usual, **more, "summaries": listing(holder, "Parties that hold nothing are missing.")})


_ROUNDS: Final = record(
    needs={
        "open_mining_rounds": mapping(ref("MaybeCachedContract"), "By contract id."),
        "issuing_mining_rounds": mapping(ref("MaybeCachedContract"), "By contract id."),
        "time_to_live_in_microseconds": integer(64),
    }
)
_KNOWN_ROUNDS: Final = record(
    needs={
        "cached_open_mining_round_contract_ids": listing(anything("A contract id.")),
        "cached_issuing_round_contract_ids": listing(anything("A contract id.")),
    }
)
_TRAFFIC: Final = record(
    needs={
        "traffic_status": record(
            needs={
                "actual": record(needs={"total_consumed": integer(64), "total_limit": integer(64)}),
                "target": record(needs={"total_purchased": integer(64)}),
            }
        )
    }
)
_FAUCETS: Final = record(
    needs={
        "validator": text("A party id."),
        "numRoundsCollected": integer(64),
        "numRoundsMissed": integer(64),
        "firstCollectedInRound": integer(64),
        "lastCollectedInRound": integer(64),
    }
)
_DSO: Final = record(
    needs={
        "sv_user": text(),
        "sv_party_id": text(),
        "dso_party_id": text(),
        "voting_threshold": integer(32),
        "latest_mining_round": ref("ContractWithState"),
        "amulet_rules": ref("ContractWithState"),
        "dso_rules": ref("ContractWithState"),
        "sv_node_states": listing(ref("ContractWithState")),
    },
    may={"initial_round": text()},
)
_SCAN: Final = record(needs={"publicUrl": text(), "svName": text()})
_SCANS: Final = record(needs={"domainId": text(), "scans": listing(_SCAN)})
_ENTRY: Final = record(needs={"entry": ref("NetworkName")})

OPERATIONS: Final = (
    Operation(
        "POST",
        "/v0/holdings/summary",
        "What parties hold at a snapshot, with notional fees.",
        {
            **found(_summaries((*_HOLDER, *_HOLDER_FEES), {"computed_as_of_round": integer(64)})),
            **refusals(400, 404),
        },
        body={JSON: ref("HoldingsRequest")},
    ),
    Operation(
        "POST",
        "/v1/holdings/summary",
        "What parties hold at a snapshot.",
        {**found(_summaries(_HOLDER, {})), **refusals(400, 404)},
        body={JSON: ref("HoldingsRequest")},
    ),
    Operation(
        "POST",
        "/v0/open-and-issuing-mining-rounds",
        "The open and the issuing rounds; contracts that the caller knows are left out.",
        {**found(_ROUNDS), **refusals(400)},
        body={JSON: _KNOWN_ROUNDS},
    ),
    Operation(
        "GET",
        "/v0/closed-rounds",
        "The closed rounds that are not yet settled.",
        found(record(needs={"rounds": listing(ref("Contract"))})),
    ),
    Operation(
        "GET",
        "/v0/domains/{domain_id}/members/{member_id}/traffic-status",
        "A member's extra traffic on a synchronizer.",
        with_unknown_route({**found(_TRAFFIC), **refusals(400, 404)}),
        (in_path("domain_id", "A synchronizer."), in_path("member_id", "PAR:: or MED::, name, fingerprint.")),
    ),
    Operation(
        "GET",
        "/v0/ans-entries",
        "Names that begin so; there is no next page.",
        {**found(record(needs={"entries": listing(ref("NetworkName"))})), **refusals(400)},
        (in_query("name_prefix", text()), _needed("page_size", integer(32, minimum=1))),
    ),
    Operation(
        "GET",
        "/v0/ans-entries/by-party/{party}",
        "A party's first name in alphabetical order.",
        with_unknown_route({**found(_ENTRY), **refusals(404)}),
        (in_path("party", "A party id."),),
    ),
    Operation(
        "GET",
        "/v0/ans-entries/by-name/{name}",
        "The entry of exactly this name.",
        with_unknown_route({**found(_ENTRY), **refusals(404)}),
        (in_path("name", "A name."),),
    ),
    Operation(
        "GET",
        "/v0/validators/validator-faucets",
        "The rounds that validators collected a faucet coupon for; others are ignored.",
        {**found(record(needs={"validatorsReceivedFaucets": listing(_FAUCETS)})), **refusals(400)},
        (_needed("validator_ids", listing(text("A party id."))),),
    ),
    Operation(
        "GET",
        "/v0/featured-apps",
        "The featured app rights.",
        found(record(needs={"featured_apps": listing(ref("Contract"))})),
    ),
    Operation("GET", "/v0/dso", "Who runs the ledger, and its rules.", {**found(_DSO), **refusals(404)}),
    Operation("GET", "/v0/scans", "The addresses of all scans.", found(record(needs={"scans": listing(_SCANS)}))),
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
