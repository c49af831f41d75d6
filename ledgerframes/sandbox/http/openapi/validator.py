"""The validator interface in the OpenAPI document (contract: Validator interface; Resources, HoldingsSummary)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.http.openapi.refusals import refusals, with_unknown_route
from ledgerframes.sandbox.http.openapi.shapes import (
    JSON,
    Operation,
    Schema,
    decimal,
    found,
    in_path,
    integer,
    listing,
    nullable,
    record,
    ref,
    text,
    time,
)

_TOTALS: Final = {
    "party_id": text(),
    "total_unlocked_coin": decimal("By the amounts at their creation."),
    "total_locked_coin": decimal("Likewise."),
    "total_coin_holdings": decimal("The sum of the two."),
}
_FEES: Final = {
    "accumulated_holding_fees_unlocked": decimal("As of the round."),
    "accumulated_holding_fees_locked": decimal("As of the round."),
    "accumulated_holding_fees_total": decimal("The sum of the two."),
    "total_available_coin": decimal("What is unlocked, less its fees."),
}
_ASKED: Final = {"record_time": text("As it was asked for."), "migration_id": integer(64)}

SHAPES: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "HoldingsRequest": record(
            needs={
                "migration_id": integer(64),
                "record_time": time("A snapshot's instant, or any time with `at_or_before`."),
                "owner_party_ids": listing(text(), minItems=1),
            },
            may={
                "record_time_match": nullable(text("`exact` where it is left out.", enum=["exact", "at_or_before"])),
                "as_of_round": nullable(integer(64, "For the fees; the earliest open round where it is left out.")),
            },
        ),
        "NameEntry": record(
            "An entry of the name service.",
            needs={
                "contractId": text(),
                "name": text(),
                "amount": decimal(),
                "unit": text(),
                "expiresAt": text("Milliseconds since 1970."),
                "paymentInterval": text("Microseconds."),
                "paymentDuration": text("Microseconds."),
            },
        ),
    }
)

_SUMMARIES: Final = listing(record(needs={**_TOTALS, **_FEES}), "Parties that hold nothing are missing.")
_WITH_FEES: Final = record(needs={**_ASKED, "computed_as_of_round": integer(64), "summaries": _SUMMARIES})
_WITHOUT_FEES: Final = record(needs={**_ASKED, "summaries": listing(record(needs=_TOTALS))})
_GIVEN: Final = record(
    needs={"transfer_preapproval": record(needs={"contract": ref("Contract")}, may={"domain_id": text()})}
)
_CLOSED: Final = refusals(401, 403, 404)

OPERATIONS: Final = (
    Operation(
        "POST",
        "/v0/scan-proxy/holdings/summary",
        "What parties hold at a snapshot, with notional fees.",
        {**found(_WITH_FEES), **refusals(400, 401, 403, 404)},
        body={JSON: ref("HoldingsRequest")},
        guarded=True,
    ),
    Operation(
        "POST",
        "/v1/scan-proxy/holdings/summary",
        "What parties hold at a snapshot.",
        {**found(_WITHOUT_FEES), **refusals(400, 401, 403, 404)},
        body={JSON: ref("HoldingsRequest")},
        guarded=True,
    ),
    Operation(
        "GET",
        "/v0/wallet/transfer-offers",
        "Open transfer offers from or to the caller.",
        {**found(record(needs={"offers": listing(ref("Contract"))})), **_CLOSED},
        guarded=True,
    ),
    Operation(
        "GET",
        "/v0/entry/all",
        "The caller's name entries that have not expired.",
        {**found(record(needs={"entries": listing(ref("NameEntry"))})), **_CLOSED},
        guarded=True,
    ),
    Operation(
        "GET",
        "/v0/scan-proxy/transfer-preapprovals/by-party/{party}",
        "A party's standing consent to receive coin.",
        with_unknown_route({**found(_GIVEN), **_CLOSED}),
        (in_path("party", "A party id."),),
        guarded=True,
    ),
)
