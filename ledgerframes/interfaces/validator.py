"""The four calls of the validator interface (contract: Endpoints, Validator interface)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from ledgerframes.config.settings import Interface
from ledgerframes.interfaces.answers import Contract, ContractWithState, reads
from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.rules import Count64, PartyId, fits, listed, without_none
from ledgerframes.paging.cursor import When
from ledgerframes.timestamps import format_timestamp, to_micros
from ledgerframes.transport import Endpoint

RecordTimeMatch = Literal["exact", "at_or_before"]
_Match = Annotated[RecordTimeMatch, Meta(description="'exact' or 'at_or_before'")]

HOLDINGS_SUMMARY: Final = Endpoint(
    "validator",
    "POST",
    "/v0/scan-proxy/holdings/summary",
    deprecated="deprecated since 0.6.3; POST /v1/scan-proxy/holdings/summary replaces it, without fees",
)
HOLDINGS_SUMMARY_OF_SCAN: Final = Endpoint(
    "scan",
    "POST",
    "/v0/holdings/summary",
    deprecated="deprecated since 0.6.3; POST /v1/holdings/summary replaces it, without fees",
)
HOLDINGS_SUMMARY_V1_OF_SCAN: Final = Endpoint("scan", "POST", "/v1/holdings/summary")
#: By interface, the route of the contract, and the one that later releases serve alone.
SUMMARIES: Final[Mapping[Interface, tuple[Endpoint, Endpoint]]] = {
    "validator": (HOLDINGS_SUMMARY, Endpoint("validator", "POST", "/v1/scan-proxy/holdings/summary")),
    "scan": (HOLDINGS_SUMMARY_OF_SCAN, HOLDINGS_SUMMARY_V1_OF_SCAN),
}
TRANSFER_OFFERS: Final = Endpoint("validator", "GET", "/v0/wallet/transfer-offers")
NAME_ENTRIES: Final = Endpoint("validator", "GET", "/v0/entry/all")
TRANSFER_PREAPPROVAL: Final = Endpoint("validator", "GET", "/v0/scan-proxy/transfer-preapprovals/by-party/{party}")


class HoldingsSummary(Struct, frozen=True):
    """The holdings of one party (contract: Resources, HoldingsSummary); amounts of coin as decimal text.

    The fees are notional: they would fall due if each contract expired in the round they are computed for. They
    are charged when a contract expires, not on transfers, so do not deduct them from what a party can spend.

    Attributes:
        party_id: the owner.
        total_unlocked_coin: unlocked amounts as received.
        total_locked_coin: locked amounts as received.
        total_coin_holdings: the sum of the two.
        accumulated_holding_fees_unlocked: notional fees on the unlocked ones; None if the server has no fees.
        accumulated_holding_fees_locked: notional fees on the locked ones, in the same way.
        accumulated_holding_fees_total: the sum of the two.
        total_available_coin: unlocked amounts less their notional fees.
    """

    party_id: str
    total_unlocked_coin: str
    total_locked_coin: str
    total_coin_holdings: str
    accumulated_holding_fees_unlocked: str | None = None
    accumulated_holding_fees_locked: str | None = None
    accumulated_holding_fees_total: str | None = None
    total_available_coin: str | None = None


class HoldingsSummaries(Struct, frozen=True):
    """The answer of `holdings_summary`; parties without holdings are missing, and the order is the server's.

    Attributes:
        record_time: instant of the snapshot.
        migration_id: of the snapshot.
        summaries: one per party with holdings.
        computed_as_of_round: the round of the fees; None if the server has no fees.
    """

    record_time: str
    migration_id: int
    summaries: list[HoldingsSummary]
    computed_as_of_round: int | None = None


def holdings_summary(
    _calls: Calls,
    *,
    record_time: When,
    migration_id: int,
    owner_party_ids: Iterable[str],
    record_time_match: RecordTimeMatch = "exact",
    as_of_round: int | None = None,
) -> Call[HoldingsSummaries]:
    """Read what parties held at a snapshot (contract: POST /v0/scan-proxy/holdings/summary).

    Scans serve the same without a token (POST /v0/holdings/summary). If the server has only the newer route, that is
    asked; its answer has no fees, no round and no available amount.

    Args:
        record_time: instant of the snapshot, in UTC.
        migration_id: of the snapshot.
        owner_party_ids: 1 to 1,000 parties.
        record_time_match: `exact` takes a snapshot's instant, `at_or_before` any, for the last snapshot up to it.
        as_of_round: the round to compute fees for; None is the earliest open mining round.

    Raises:
        StatusError: there is no such snapshot (404), or the parties hold too much for one answer (400).
    """
    match: str = fits(record_time_match, _Match, "record_time_match")
    body: dict[str, object] = without_none(
        migration_id=fits(migration_id, Count64, "migration_id"),
        record_time=format_timestamp(to_micros(record_time, "record_time")),
        # Omitted if it is the server's default.
        record_time_match=None if match == "exact" else match,
        owner_party_ids=listed(owner_party_ids, "owner_party_ids", PartyId, splits="load_holdings_summary"),
    )
    at_round = without_none(as_of_round=fits(as_of_round, Count64 | None, "as_of_round"))
    older, newer = SUMMARIES[_calls.interface]
    return Call(older.request(json=body | at_round), reads(HoldingsSummaries), alternatives=(newer.request(json=body),))


class NameEntry(Struct, frozen=True, rename="camel"):
    """A name-service entry (contract: Resources, Name-service entry), as servers write it.

    Attributes:
        contract_id: the entry's contract.
        name: the name.
        amount: price of a renewal, as decimal text.
        unit: the price's unit, such as `USDUNIT` or `AMULETUNIT`.
        expires_at: milliseconds since 1970 as text, or ISO-8601 text.
        payment_interval: microseconds as text.
        payment_duration: microseconds as text.
    """

    contract_id: str
    name: str
    amount: str
    unit: str
    expires_at: str
    payment_interval: str
    payment_duration: str


class Validator(Calls):
    """The validator interface: wallet and names of the token's user, and requests passed on to scan.

    One method, one request.
    """

    interface = "validator"

    holdings_summary = sends(HOLDINGS_SUMMARY)(holdings_summary)

    @sends(TRANSFER_OFFERS)
    def transfer_offers(self) -> Call[list[Contract]]:
        """Read the open transfer offers from or to the token's user (contract: GET /v0/wallet/transfer-offers).

        Raises:
            NotFoundError: the validator has no wallet of this user.
        """
        return Call(TRANSFER_OFFERS.request(), reads(list[Contract], "offers"))

    @sends(NAME_ENTRIES)
    def name_entries(self) -> Call[list[NameEntry]]:
        """Read the names that the token's user owns (contract: GET /v0/entry/all).

        Raises:
            NotFoundError: the validator does not know the user.
        """
        return Call(NAME_ENTRIES.request(), reads(list[NameEntry], "entries"))

    @sends(TRANSFER_PREAPPROVAL)
    def transfer_preapproval(self, party: str) -> Call[ContractWithState | None]:
        """Read a party's transfer preapproval; None if it has none (contract: transfer-preapprovals/by-party).

        Args:
            party: the party id.

        Raises:
            NotFoundError: the validator does not know the path.
        """
        request = TRANSFER_PREAPPROVAL.request(path={"party": fits(party, PartyId, "party")})
        return Call(request, reads(ContractWithState, "transfer_preapproval"), missing=None)
