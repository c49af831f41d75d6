"""Tables of the current state: holdings, instruments, name-service entries, users."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, loaded


def _coin(name: str, meaning: str) -> Column:
    return Column(name, AMOUNT, meaning, nullable=True, unit="coin", source=f"/{name}")


HOLDINGS_SUMMARY: Final = loaded(
    "holdings_summary",
    "One row per party: its holdings of the native coin at a snapshot, and its notional holding fees.",
    (
        *("POST /v0/scan-proxy/holdings/summary", "POST /v1/scan-proxy/holdings/summary"),
        *("POST /v0/holdings/summary", "POST /v1/holdings/summary"),
    ),
    ("record_time", "migration_id", "computed_as_of_round", "party_id"),
    (
        Column("record_time", TIME,
               "The snapshot's record time as the server states it; some servers only repeat the requested time.",
               source="record_time of the answer"),
        Column("migration_id", INT64, "The snapshot's migration id.", source="migration_id of the answer"),
        Column("computed_as_of_round", INT64,
               "Round the fees are computed for, by default the earliest one open when the server was asked, not at the"
               " snapshot; null where no fees are served.", nullable=True, source="computed_as_of_round of the answer"),
        Column("party_id", TEXT, "The owner.", source="/party_id"),
        Column("found", BOOL,
               "Whether the answer names the party; null where no answer came, and in rows stored by older releases.",
               nullable=True, source="whether the answer names the party"),
        _coin("total_unlocked_coin", "Unlocked amounts as received, later fees not deducted."),
        _coin("total_locked_coin", "Locked amounts as first received, later fees not deducted."),
        _coin("total_coin_holdings", "Unlocked and locked together."),
        _coin("accumulated_holding_fees_unlocked",
              "Notional fees on unlocked amounts; charged only when a contract expires, so do not subtract them; null"
              " where no fees are served."),
        _coin("accumulated_holding_fees_locked",
              "Notional fees on locked amounts since their creation round; charged only on expiry."),
        _coin("accumulated_holding_fees_total", "The two fees together; notional."),
        _coin("total_available_coin", "Unlocked amounts less their notional fees, as the server reckons."),
    ),
)  # fmt: skip

INSTRUMENTS: Final = loaded(
    "instruments",
    "One row per registry and instrument that its admin manages.",
    (
        "GET /registry/metadata/v1/instruments",
        "GET /registry/metadata/v1/instruments/{instrumentId}",
        "GET /registry/metadata/v1/info",
    ),
    ("source", "instrument_id"),
    (
        Column("instrument_id", TEXT, "Unique id given by the admin.", source="/id"),
        Column("name", TEXT, "Display name, not necessarily unique.", source="/name"),
        Column("symbol", TEXT, "Symbol, not necessarily unique.", source="/symbol"),
        Column("total_supply", AMOUNT, "Total supply, if the registry states it.", True, "instrument", "/totalSupply"),
        Column("total_supply_as_of", TIME, "When the total supply was computed.", True, source="/totalSupplyAsOf"),
        Column("decimals", INT64, "Digits after the point that wallets show, 0 to 10.", unit="digits",
               source="/decimals"),
        Column("paused", BOOL,
               "Whether transfers and allocations are refused; false where an older registry does not say.",
               source="/paused", absent="false"),
        Column("pause_reason", TEXT, "Why it is paused.", True, source="/pauseInfo/reason"),
        Column("paused_until", TIME, "Exclusive end of the pause, if known.", True, source="/pauseInfo/until"),
        Column("supported_apis", JSON, "Token-standard APIs and their minor versions.", source="/supportedApis"),
        Column("show_account_input_fields", BOOL, "Deprecated: whether wallets show account fields.", True,
               source="/showAccountInputFields"),
        Column("account_input_fields", TEXTS, "Account fields that wallets show in forms.", True,
               source="/accountInputFieldsToShow"),
        Column("instrument_admin", TEXT, "Party of the issuer, which manages it; null where the registry does not say.",
               True, source="adminId of GET /registry/metadata/v1/info"),
        Column("source", TEXT, "Scheme, host and path of the registry that answered.", source="the load"),
    ),
)  # fmt: skip

NAME_ENTRIES: Final = loaded(
    "name_entries",
    "One row per name-service entry of the token's user that has not expired.",
    ("GET /v0/entry/all",),
    ("contract_id",),
    (
        Column("contract_id", TEXT, "Id of the entry's contract.", source="/contractId"),
        Column("name", TEXT, "The name.", source="/name"),
        Column("amount", AMOUNT, "Price of a payment interval.", unit="as in unit", source="/amount"),
        Column("unit", TEXT, "Unit of the amount: AMULETUNIT, USDUNIT or EXTUNIT.", source="/unit"),
        Column("expires_at", TIME, "When the entry ends.", source="/expiresAt", spelling="epoch milliseconds"),
        Column("payment_interval_us", INT64, "Time between payments.", unit="microseconds", source="/paymentInterval"),
        Column("payment_duration_us", INT64, "How long before the end of an interval a payment may be made.",
               unit="microseconds", source="/paymentDuration"),
    ),
)  # fmt: skip

USERS: Final = loaded(
    "users",
    "One row per user of the participant.",
    ("GET /v2/users",),
    ("user_id",),
    (
        Column("user_id", TEXT, "Id of the user.", source="/id"),
        Column("primary_party", TEXT, "Party the user acts as by default.", True, source="/primaryParty",
               spelling="empty is unset"),
        Column("is_deactivated", BOOL, "Whether the user is denied all access.", source="/isDeactivated",
               absent="false"),
        Column("identity_provider_id", TEXT, "Identity provider; null is the default one.", True,
               source="/identityProviderId", spelling="empty is unset"),
        Column("primary_party_authentication", BOOL, "Whether the user may sign in with the primary party's key.", True,
               source="/primaryPartyAuthentication"),
        Column("resource_version", TEXT, "Opaque; changes with each update of the user.", True,
               source="/metadata/resourceVersion", spelling="empty is unset"),
        Column("annotations", JSON, "Annotations by key.", source="/metadata/annotations", absent="{}"),
    ),
)  # fmt: skip
