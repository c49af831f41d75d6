"""The facts, bridges and daily snapshots of the star that a store exports for BI programs."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.coin_flows import MINT_BURN, MOVEMENTS, TOKEN_TRANSFERS, TRAFFIC_PURCHASES, TRANSFERS
from ledgerframes.tables.governance import VOTES
from ledgerframes.tables.history import EVENTS, UPDATES
from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, TEXT, TIME
from ledgerframes.tables.network_activity import APP_DAILY, NETWORK_DAILY, VALIDATOR_DAILY, counted, summed
from ledgerframes.tables.rounds_and_rewards import REWARDS
from ledgerframes.tables.star_dimensions import DATE, date_key, key
from ledgerframes.tables.table import Column, Table
from ledgerframes.tables.verdicts import VERDICTS

_UPDATE: Final = key("update_key", "Its update in fact_updates.", "update_id")
_EVENT: Final = key("event_key", "Its event in fact_events.", "update_id and event_id")
_DATE: Final = (
    date_key("date_key", "Day of the record time, such as 20250303.", "record_time"),
    Column("date", DATE, "Day of the record time, in UTC.", source="record_time"),
)
_TIME: Final = Column("record_time", TIME, "When the synchronizer sequenced it.", source="record_time of its update")
_ROUND: Final = key("round_key", "Its round; null where none is stated.", "round", nullable=True)
_SYNCHRONIZER: Final = key("synchronizer_key", "Its synchronizer.", "synchronizer_id")


def _party(role: str, meaning: str, *, nullable: bool = False) -> Column:
    return key(f"{role}_party_key", meaning, role, nullable=nullable)


FACT_UPDATES: Final = Table(
    "fact_updates",
    "One row per update: a transaction, or one leg of a reassignment.",
    ("update_key",),
    (
        key("update_key", "Key of the update.", "update_id"),
        *_DATE,
        _SYNCHRONIZER,
        *UPDATES.copied(
            "update_id", "migration_id", "record_time", "effective_at", "kind", "workflow_id", "event_count"
        ),
    ),
)

FACT_EVENTS: Final = Table(
    "fact_events",
    "One row per event of a transaction tree.",
    ("event_key",),
    (
        key("event_key", "Key of the event.", "update_id and event_id"),
        _UPDATE,
        *_DATE,
        _SYNCHRONIZER,
        key("template_key", "Its template.", "package_name and template_name", nullable=True),
        *EVENTS.copied("event_id", "record_time", "event_type", "choice", "consuming", "contract_id", "node_index"),
        *EVENTS.copied("depth"),
    ),
)

BRIDGE_EVENT_PARTY: Final = Table(
    "bridge_event_party",
    "One row per event, party and role of the party in the event.",
    ("event_key", "party_key", "role"),
    (
        _EVENT,
        key("party_key", "The party.", "party_id"),
        Column("role", TEXT, "acting, signatory or observer.", source="acting_parties, signatories and observers"),
    ),
)

FACT_TRANSFERS: Final = Table(
    "fact_transfers",
    "One row per output of a coin transfer.",
    ("transfer_key",),
    (
        key("transfer_key", "Key of the output.", "update_id, event_id and output_index"),
        _UPDATE,
        _EVENT,
        *_DATE,
        _ROUND,
        _party("sender", "Party that pays; null where it is not known.", nullable=True),
        _party("receiver", "Party that receives; null where it is not known.", nullable=True),
        _party("provider", "Party of the application; null if there is none.", nullable=True),
        _TIME,
        *TRANSFERS.copied(
            "output_index", "amount", "amount_usd", "receiver_fee_ratio", "sender_fees", "kind", "reason"
        ),
        Column("is_locked", BOOL, "Whether the output is locked.", source="lock of transfers"),
    ),
)

FACT_TOKEN_TRANSFERS: Final = Table(
    "fact_token_transfers",
    "One row per leg of a transfer of the token standard.",
    ("token_transfer_key",),
    (
        key("token_transfer_key", "Key of the leg.", "update_id, event_id and leg"),
        _UPDATE,
        _EVENT,
        *_DATE,
        _party("sender", "Party that pays; null where it is not known.", nullable=True),
        _party("receiver", "Party that receives; null where it is not known.", nullable=True),
        _TIME,
        *TOKEN_TRANSFERS.copied("leg", "instrument_admin", "instrument_id", "amount", "kind", "step", "reason"),
    ),
)

FACT_REWARDS: Final = Table(
    "fact_rewards",
    "One row per reward coupon or record.",
    ("reward_key",),
    (
        key("reward_key", "Key of the coupon.", "contract_id"),
        date_key("date_key", "Day of its creation, such as 20250303.", "created_at"),
        Column("date", DATE, "Day of its creation, in UTC.", source="created_at"),
        date_key("ended_date_key", "Day on which it was claimed, expired or withdrawn; null while it is open.",
                 "ended_at", nullable=True),
        Column("ended_date", DATE, "The same as a date.", True, source="ended_at"),
        _ROUND,
        _party("provider", "Party whose work earned it."),
        _party("beneficiary", "Party that can mint it."),
        *REWARDS.copied("contract_id", "kind", "weight", "featured", "created_at", "ended_at", "outcome", "issuance"),
        *REWARDS.copied("amount"),
    ),
)  # fmt: skip

FACT_TRAFFIC: Final = Table(
    "fact_traffic",
    "One row per purchase of traffic.",
    ("event_key",),
    (
        key("event_key", "Key of the purchase: its event in fact_events.", "update_id and event_id"),
        _UPDATE,
        *_DATE,
        _ROUND,
        _party("provider", "Party that pays."),
        key("synchronizer_key", "Synchronizer that the traffic is on.", "synchronizer_id"),
        _TIME,
        *TRAFFIC_PURCHASES.copied("member_id", "migration_id", "bytes", "amount", "amount_usd"),
    ),
)

FACT_MINT_BURN: Final = Table(
    "fact_mint_burn",
    "One row per update that creates, ends, mints or burns coin; null means unknown, never 0.",
    ("update_key",),
    (
        _UPDATE,
        *_DATE,
        _ROUND,
        *MINT_BURN.copied(*(name for name in MINT_BURN.names if name not in {"update_id", "round"})),
    ),
)

FACT_VERDICTS: Final = Table(
    "fact_verdicts",
    "One row per confirmation request that mediators decided on.",
    ("verdict_key",),
    (
        key("verdict_key", "Key of the request.", "update_id"),
        key("update_key", "The update that it became; null if fact_updates has none.", "update_id", nullable=True),
        *_DATE,
        _SYNCHRONIZER,
        *VERDICTS.copied("update_id", "migration_id", "record_time", "finalization_time", "result", "mediator_group"),
        *VERDICTS.copied("submitting_participant_uid", "has_update", "total_traffic_cost"),
    ),
)

BRIDGE_VERDICT_PARTY: Final = Table(
    "bridge_verdict_party",
    "One row per confirmation request and party on whose behalf it was submitted.",
    ("verdict_key", "party_key"),
    (
        key("verdict_key", "Its request in fact_verdicts.", "update_id"),
        key("party_key", "The party.", "submitting_parties"),
    ),
)

FACT_MOVEMENTS: Final = Table(
    "fact_movements",
    "One row per entry in a party's account of coin: what an update added or removed, and why.",
    ("movement_key",),
    (
        key("movement_key", "Key of the entry.", "update_id and entry"),
        _UPDATE,
        *_DATE,
        _ROUND,
        key("party_key", "Whose entry it is; null where that is not known.", "party", nullable=True),
        _party("counterparty", "The other party of a transfer; null if there is none.", nullable=True),
        _TIME,
        *MOVEMENTS.copied("entry", "kind", "amount", "amount_usd", "locked_change", "reason"),
    ),
)

FACT_VOTES: Final = Table(
    "fact_votes",
    "One row per request for a vote of the super validators: the proposal and its outcome.",
    ("vote_key",),
    (
        key("vote_key", "Key of the request.", "request"),
        date_key("date_key", "Day on which it was opened; null if that lies before the history.", "opened_at",
                 nullable=True),
        Column("date", DATE, "The same as a date.", True, source="opened_at"),
        date_key("ended_date_key", "Day on which it was closed; null while it is open.", "completed_at", nullable=True),
        Column("ended_date", DATE, "The same as a date.", True, source="completed_at"),
        key("party_key", "Party that the action is about; null if it is about none.", "party", nullable=True),
        *VOTES.copied("request", "requester", "action", "weight", "amount", "reason_url", "reason_body", "opened_at"),
        *VOTES.copied("vote_before", "target_effective_at", "outcome", "completed_at", "effective_at", "failure"),
        *VOTES.copied("accepting", "rejecting", "abstaining"),
    ),
)  # fmt: skip

_DAY: Final = (
    date_key("date_key", "The day, such as 20250303; the row is the state at its end.", "record_time"),
    Column("date", DATE, "The day, in UTC.", source="record_time"),
)


def _coin(name: str, meaning: str) -> Column:
    return Column(name, AMOUNT, meaning, True, "coin", "creates and consuming exercises of coins")


FACT_BALANCES_DAILY: Final = Table(
    "fact_balances_daily",
    "One row per day and party with coin at the end of the day, or whose holdings changed on it.",
    ("date_key", "party_key"),
    (
        *_DAY,
        key("party_key", "The owner.", "owner of the coins"),
        _coin("unlocked", "Coin that is not locked; notional holding fees are not deducted."),
        _coin("locked", "Coin that is locked."),
        _coin("total", "Both together."),
    ),
)

FACT_SUPPLY_DAILY: Final = Table(
    "fact_supply_daily",
    "One row per day: the coin that exists at its end.",
    ("date_key",),
    (
        *_DAY,
        _coin("unlocked", "Coin that is not locked; null while one of its contracts cannot be read."),
        _coin("locked", "Coin that is locked; null while one of its contracts cannot be read."),
        _coin("total", "All coin; null if either is."),
    ),
)

FACT_LICENSES_DAILY: Final = Table(
    "fact_licenses_daily",
    "One row per day and validator that has a license at the end of the day.",
    ("date_key", "validator_key"),
    (
        *_DAY,
        key("validator_key", "The validator.", "party of the validator"),
        Column("first_round", INT64, "First round that it reported for.", True, "rounds", "its license"),
        Column("last_round", INT64, "Last round that it reported for.", True, "rounds", "its license"),
        Column("missed", INT64, "Rounds between the two that it did not report for.", True, "rounds", "its license"),
        Column("version", TEXT, "Software version that it last reported.", True, source="its license"),
    ),
)


_OF_DAY: Final = (
    date_key("date_key", "The day, such as 20250303.", "record_time"),
    Column("date", DATE, "The day, in UTC.", source="record_time"),
)

MART_NETWORK_DAILY: Final = Table(
    "mart_network_daily",
    "One row per day of the history: what happened in the network.",
    ("date_key",),
    (
        *_OF_DAY,
        *NETWORK_DAILY.copied(
            "updates", "transactions", "reassignments", "active_parties", "payments", "paid", "paid_usd"
        ),
        *NETWORK_DAILY.copied("minted", "burned", "net_change", "unexplained", "rewards_claimed", "rewards_expired"),
        *NETWORK_DAILY.copied("traffic_bytes", "traffic_paid", "whole"),
    ),
)

MART_PARTY_DAILY: Final = Table(
    "mart_party_daily",
    "One row per day and party that acted, paid, received or was rewarded on it.",
    ("date_key", "party_key"),
    (
        *_OF_DAY,
        key("party_key", "The party.", "party_id"),
        counted("actions", "Choices that it exercised, alone or with others.", "", "acting_parties of events"),
        counted("payments", "Outputs that it paid to other parties.", "outputs", "transfers"),
        summed("paid", "Coin that it paid to other parties", "transfers"),
        summed("received", "Coin that it received from other parties", "transfers"),
        summed("rewards_claimed", "Rewards claimed on the day", "reward_flows"),
        *NETWORK_DAILY.copied("whole"),
    ),
)

MART_VALIDATOR_DAILY: Final = Table(
    "mart_validator_daily",
    "One row per day and validator with a license at its end: its reports, earnings and purchases.",
    ("date_key", "validator_key"),
    (
        *_OF_DAY,
        key("validator_key", "The validator.", "party of the validator"),
        key("party_key", "Its party in dim_party.", "party of the validator"),
        *VALIDATOR_DAILY.copied(*VALIDATOR_DAILY.names[3:]),
    ),
)

MART_APP_DAILY: Final = Table(
    "mart_app_daily",
    "One row per day and provider of an application with rewards on it, or through which coin was paid.",
    ("date_key", "party_key"),
    (
        *_OF_DAY,
        key("party_key", "Provider of payments; of rewards who can mint them.", "party of reward_flows"),
        *APP_DAILY.copied(*APP_DAILY.names[2:]),
    ),
)

FACTS: Final = (
    *(FACT_UPDATES, FACT_EVENTS, BRIDGE_EVENT_PARTY, FACT_TRANSFERS, FACT_TOKEN_TRANSFERS, FACT_REWARDS, FACT_TRAFFIC),
    *(FACT_MINT_BURN, FACT_MOVEMENTS, FACT_VOTES, FACT_VERDICTS, BRIDGE_VERDICT_PARTY),
    *(FACT_BALANCES_DAILY, FACT_SUPPLY_DAILY, FACT_LICENSES_DAILY),
    *(MART_NETWORK_DAILY, MART_PARTY_DAILY, MART_VALIDATOR_DAILY, MART_APP_DAILY),
)
