"""Tables of contracts that scan and validator list: licenses, name rules, transfer offers, transfer preapprovals."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, JSON, TEXT, TIME
from ledgerframes.tables.table import Column, loaded


def contract_columns(prefix: str = "", *, nullable: bool = False) -> tuple[Column, ...]:
    """The columns that every contract has."""
    return (
        Column("contract_id", TEXT, "Id of the contract.", nullable, source=f"{prefix}/contract_id"),
        Column("template_id", TEXT, "Template as package hash, module and entity; an upgrade changes the hash.",
               nullable, source=f"{prefix}/template_id"),
        Column("template_name", TEXT, "Template as Module:Entity, the same across upgrades: group by this.", nullable,
               source="template_id without its package"),
        Column("created_at", TIME, "When the contract was created.", nullable, source=f"{prefix}/created_at"),
        Column("created_event_blob", TEXT,
               "The created event in the ledger's binary form, base64; only with blobs=True.", nullable=True,
               source=f"{prefix}/created_event_blob", option="blobs"),
        Column("payload", JSON, "The contract's arguments.", nullable, source=f"{prefix}/payload"),
    )  # fmt: skip


LICENSES: Final = loaded(
    "licenses",
    "One row per validator: its newest license.",
    ("GET /v0/admin/validator/licenses",),
    ("validator",),
    (
        *contract_columns(),
        Column("validator", TEXT, "Party of the licensed validator.", source="/payload/validator"),
        Column("sponsor", TEXT, "Party that sponsored the license.", source="/payload/sponsor"),
        Column("dso", TEXT, "Party of the governing organization.", source="/payload/dso"),
        Column("last_active_at", TIME, "When the validator last showed itself active.", True,
               source="/payload/lastActiveAt"),
        Column("first_round", INT64, "First round it received a faucet coupon for.", True, "rounds",
               "/payload/faucetState/firstReceivedFor/number"),
        Column("last_round", INT64, "Last round it received a faucet coupon for.", True, "rounds",
               "/payload/faucetState/lastReceivedFor/number"),
        Column("coupons_missed", INT64, "Number of coupons missed between the two.", True, "coupons",
               "/payload/faucetState/numCouponsMissed"),
        Column("version", TEXT, "Software version the validator reported.", True, source="/payload/metadata/version"),
        Column("contact_point", TEXT, "Contact the validator's operator gave: personal data, only with personal=True.",
               nullable=True, source="/payload/metadata/contactPoint", option="personal"),
    ),
)  # fmt: skip

NAME_RULES: Final = loaded(
    "name_rules",
    "One row: the rules of the name service.",
    ("POST /v0/ans-rules",),
    ("contract_id",),
    (
        *contract_columns("/contract"),
        Column("synchronizer_id", TEXT, "Synchronizer the rules are assigned to.", True, source="/domain_id"),
        Column("renewal_duration_us", INT64, "How long before its end an entry can be renewed.", True, "microseconds",
               "/contract/payload/config/renewalDuration/microseconds"),
        Column("entry_lifetime_us", INT64, "How long an entry lasts.", True, "microseconds",
               "/contract/payload/config/entryLifetime/microseconds"),
        Column("entry_fee", AMOUNT, "Price of an entry.", True, "USD", "/contract/payload/config/entryFee"),
    ),
)  # fmt: skip

TRANSFER_OFFERS: Final = loaded(
    "transfer_offers",
    "One row per open transfer offer that the token's user sends or receives.",
    ("GET /v0/wallet/transfer-offers",),
    ("contract_id",),
    (
        *contract_columns(),
        Column("sender", TEXT, "Party that offers.", True, source="/payload/sender"),
        Column("receiver", TEXT, "Party that may accept.", True, source="/payload/receiver"),
        Column("amount", AMOUNT, "How much is offered.", True, "as in unit", "/payload/amount/amount"),
        Column("unit", TEXT, "Unit of the amount, such as AmuletUnit.", True, source="/payload/amount/unit"),
        Column("description", TEXT, "The sender's words.", True, source="/payload/description"),
        Column("expires_at", TIME, "When the offer ends.", True, source="/payload/expiresAt"),
        Column("tracking_id", TEXT, "Id that follows the transfer through its contracts.", True,
               source="/payload/trackingId"),
    ),
)  # fmt: skip

TRANSFER_PREAPPROVALS: Final = loaded(
    "transfer_preapprovals",
    "One row per requested party: its transfer preapproval, if it has one.",
    ("GET /v0/scan-proxy/transfer-preapprovals/by-party/{party}",),
    ("party",),
    (
        Column("party", TEXT, "The requested party.", source="the argument"),
        Column("found", BOOL, "Whether the party has a preapproval.", source="false on 404"),
        *contract_columns("/contract", nullable=True),
        Column("provider", TEXT, "Party that provides the preapproval.", True, source="/contract/payload/provider"),
        Column("valid_from", TIME, "When it becomes valid.", True, source="/contract/payload/validFrom"),
        Column("last_renewed_at", TIME, "When it was last renewed.", True, source="/contract/payload/lastRenewedAt"),
        Column("expires_at", TIME, "When it ends.", True, source="/contract/payload/expiresAt"),
        Column("synchronizer_id", TEXT, "Synchronizer it is assigned to.", True, source="/domain_id"),
    ),
)
