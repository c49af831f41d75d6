"""Tables of scan's snapshots: the active contracts, and the coins among them."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, Table, loaded

NOT_IN_SNAPSHOTS: Final = "not in a snapshot"

ACTIVE_CONTRACTS: Final = loaded(
    "active_contracts",
    "One row per contract that was active at a snapshot; usable as the opening of `active_contracts`.",
    ("POST /v2/state/acs", "POST /v1/state/acs", "POST /v0/state/acs"),
    ("contract_id",),
    (
        Column("contract_id", TEXT, "Id of the contract.", source="/contract_id"),
        Column("template_id", TEXT, "Template as package hash, module and entity; an upgrade changes the hash.",
               source="/template_id"),
        Column("template_name", TEXT, "Template as Module:Entity, the same across upgrades: group by this.",
               source="template_id without its package"),
        Column("package_name", TEXT, "Name of the package, the same across upgrades.", source="/package_name"),
        Column("created_at", TIME, "Ledger effective time of the creation.", source="/created_at"),
        Column("signatories", TEXTS, "Parties that signed the contract.", source="/signatories"),
        Column("observers", TEXTS, "Parties that see the contract without signing it.", source="/observers"),
        Column("payload", JSON, "The contract's arguments.", source="/create_arguments"),
        Column("synchronizer_id", TEXT, "Always null: a snapshot does not contain it.", True, source=NOT_IN_SNAPSHOTS),
        Column("source_synchronizer", TEXT, "Always null, for the same reason.", True, source=NOT_IN_SNAPSHOTS),
        Column("target_synchronizer", TEXT, "Always null, for the same reason.", True, source=NOT_IN_SNAPSHOTS),
        Column("reassignment_counter", INT64, "Always null, for the same reason.", True, source=NOT_IN_SNAPSHOTS),
        Column("in_flight", BOOL, "Always null, for the same reason.", True, source=NOT_IN_SNAPSHOTS),
        Column("migration_id", INT64, "Always null: of the creation, not of the snapshot.", True,
               source=NOT_IN_SNAPSHOTS),
        Column("record_time", TIME, "Always null: of the creation, not of the snapshot.", True,
               source=NOT_IN_SNAPSHOTS),
        Column("update_id", TEXT,
               "Update that created the contract; null for what an earlier migration created, and from older scans.",
               True, source="/created_in_update_id"),
        Column("event_id", TEXT, "Event that created the contract, without the # before it; null from newer scans.",
               True, source="/event_id"),
    ),
)  # fmt: skip


_LOCK: Final = "/create_arguments/lock"


def _coins(terms: str) -> Table:
    """The table with the sources of its columns; a coin's terms lie below a pointer."""
    return loaded(
        "coins",
        "One row per coin contract of the requested parties, at a snapshot; a locked coin's record is its member"
        " `amulet`.",
        ("POST /v2/holdings/state", "POST /v1/holdings/state", "POST /v0/holdings/state"),
        ("contract_id",),
        (
            Column("owner", TEXT, "Party that owns the coin.", source=f"{terms}/owner"),
            Column("amount", AMOUNT, "Amount at creation; holding fees are due only when the contract expires.",
                   unit="coin", source=f"{terms}/amount/initialAmount"),
            Column("created_round", INT64, "Round of the creation.", unit="rounds",
                   source=f"{terms}/amount/createdAt/number"),
            Column("rate_per_round", AMOUNT, "Notional holding fee per round.", unit="coin per round",
                   source=f"{terms}/amount/ratePerRound/rate"),
            Column("locked", BOOL, "Whether the coin is locked.", source="template_name"),
            Column("lock_holders", TEXTS, "Parties that hold the lock; null if unlocked.", True,
                   source=f"{_LOCK}/holders"),
            Column("lock_expires_at", TIME, "When the lock expires; null if unlocked.", True,
                   source=f"{_LOCK}/expiresAt"),
            Column("contract_id", TEXT, "Id of the contract.", source="/contract_id"),
            Column("template_name", TEXT,
                   "Template as Module:Entity, the same across upgrades: Amulet or LockedAmulet.",
                   source="template_id without its package"),
            Column("created_at", TIME, "Ledger effective time of the creation.", source="/created_at"),
            Column("lock_context", TEXT, "What the lock is for, if stated.", True, source=f"{_LOCK}/optContext"),
            Column("dso", TEXT, "Party of the governing organization.", True, source=f"{terms}/dso"),
            *ACTIVE_CONTRACTS.take("template_id", "package_name", "signatories", "observers", "update_id", "event_id"),
        ),
    )  # fmt: skip


COINS: Final = _coins("/create_arguments")
#: The same columns with their sources in a locked coin.
LOCKED_COINS: Final = _coins("/create_arguments/amulet")
