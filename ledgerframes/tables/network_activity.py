"""Tables of activity on the network, computed from events by `ledgerframes.models`."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, computed

_TIME: Final = Column("time", TIME, "Start of the interval, in UTC.", source="record_time, rounded down to `every`")
_WHOLE: Final = Column("whole", BOOL,
                       "Whether the range includes the whole interval; null where the events do not say.", True,
                       source="where the provenance of the events says that they begin and end")  # fmt: skip
_SEEN: Final = "acting_parties, signatories and observers"
_LICENSE: Final = "/payload of the latest create of ValidatorLicense: "

ACTIVE_PARTIES: Final = computed(
    "active_parties",
    "One row per interval that has events: the number of parties that they name.",
    ("time",),
    (
        _TIME,
        Column("parties", INT64, "Parties that act in an event or are its stakeholders.", unit="parties", source=_SEEN),
        Column("acting", INT64, "Parties that act.", unit="parties", source="acting_parties"),
        Column("new", INT64, "Parties that no earlier event names; null where earlier ones are not known.", True,
               "parties", _SEEN),
        Column("by_template", JSON, "Parties by template: a JSON object from template_name to a number.",
               source=f"{_SEEN} by template_name"),
        _WHOLE,
    ),
)  # fmt: skip

TEMPLATE_ACTIVITY: Final = computed(
    "template_activity",
    "One row per interval, template and choice.",
    ("time", "template_name", "choice"),
    (
        _TIME,
        Column("template_name", TEXT, "Template as Module:Entity.", source="template_name"),
        Column("choice", TEXT, "The choice; null in the row of the creates.", True, source="choice"),
        Column("creates", INT64, "Contracts created.", unit="events", source="creates"),
        Column("exercises", INT64, "Exercises of the choice.", unit="events", source="exercises"),
        Column("archives", INT64, "Exercises that ended the contract.", unit="events", source="consuming exercises"),
        Column("parties", INT64, "Parties that act in the events or are their stakeholders.", unit="parties",
               source=_SEEN),
        _WHOLE,
    ),
)  # fmt: skip

VALIDATOR_LIVENESS: Final = computed(
    "validator_liveness",
    "One row per validator: the rounds for which it reported that it is alive.",
    ("validator",),
    (
        Column("validator", TEXT, "Party of the validator.", source=f"{_LICENSE}validator"),
        Column("sponsor", TEXT, "Super validator that sponsored it; null if no license is among the events.", True,
               source=f"{_LICENSE}sponsor"),
        Column("first_round", INT64, "First round that it reported for.", True, "rounds",
               f"{_LICENSE}faucetState/firstReceivedFor/number"),
        Column("last_round", INT64, "Last round that it reported for.", True, "rounds",
               f"{_LICENSE}faucetState/lastReceivedFor/number, or a later round of its liveness records and coupons"),
        Column("collected", INT64, "Rounds that it reported for.", True, "rounds",
               "last_round - first_round + 1 - missed"),
        Column("missed", INT64, "Rounds between the first and the last that it did not report for.", True, "rounds",
               f"{_LICENSE}faucetState/numCouponsMissed"),
        Column("silent_for", INT64, "Rounds since the last that it reported for, up to the last that was to close.",
               True, "rounds", "latest round that was to close by the last event, less last_round; 0 if that is later"),
        Column("version", TEXT, "Version that it last reported.", True, source=f"{_LICENSE}metadata/version"),
    ),
)  # fmt: skip

TEMPLATE_CATALOGUE: Final = computed(
    "template_catalogue",
    "One row per template, the most frequent first; the function adds `fields`, the types of its creates' fields.",
    ("template_name",),
    (
        Column("template_name", TEXT, "Template as Module:Entity.", source="template_name"),
        Column("package_names", TEXTS, "Packages that it is from, in order.", source="package_name"),
        Column("creates", INT64, "Contracts created.", unit="events", source="creates"),
        Column("exercises", INT64, "Exercises of its choices.", unit="events", source="exercises"),
        Column("consuming", INT64, "Exercises that ended the contract.", unit="events", source="consuming exercises"),
        Column("choices", JSON, "Exercises by choice, most frequent first: from choice to number; in SQL as JSON.",
               source="choice"),
        Column("first_record_time", TIME, "When it was first seen.", source="record_time"),
        Column("last_record_time", TIME, "When it was last seen.", source="record_time"),
    ),
)  # fmt: skip


def counted(name: str, meaning: str, unit: str, source: str, nullable: bool = False) -> Column:
    """A number of things in an interval."""
    return Column(name, INT64, meaning, nullable, unit, source)


def summed(name: str, meaning: str, source: str, unit: str = "coin") -> Column:
    """The sum of an amount in an interval."""
    return Column(name, AMOUNT, f"{meaning}; null if a part of it is unknown.", True, unit, source)


def valued(name: str, meaning: str, source: str) -> tuple[Column, Column]:
    """The sum of an amount in an interval, and the same in USD."""
    return summed(name, meaning, source), summed(f"{name}_usd", "The same at the prices of the rounds", source, "USD")


NETWORK_DAILY: Final = computed(
    "network_daily",
    "One row per day in UTC from the first update to the last: what happened in the network.",
    ("time",),
    (
        Column("time", TIME, "Begin of the day, in UTC.", source="record_time"),
        counted("updates", "Updates; null where only events are given.", "updates", "updates", True),
        counted("transactions", "Transactions among them.", "updates", "updates"),
        counted("reassignments", "Legs of reassignments among them; null where only events are given.", "updates",
                "updates", True),
        counted("private_transactions", "Transactions that the scan does not see; null on days without `verdicts`.",
                "updates", "verdicts that were accepted, without an update", True),
        counted("rejected_requests", "Requests that were rejected; null on days without `verdicts`.", "requests",
                "result of verdicts", True),
        counted("median_traffic_cost", "Median traffic of a transaction, private ones too; null where not stated.",
                "bytes", "total_traffic_cost of verdicts that were accepted", True),
        counted("active_parties", "Parties that acted.", "parties", "acting_parties of events"),
        counted("new_parties", "Those that had never acted before; null unless the events are from ledger begin.",
                "parties", "acting_parties of events", True),
        counted("returning_parties", "Those that had; null unless the events are from ledger begin.", "parties",
                "acting_parties of events", True),
        counted("active_7d", "Parties that acted on this day or one of the 6 before; null where these are not known.",
                "parties", "acting_parties of events", True),
        counted("active_30d", "Parties that acted on this day or one of the 29 before; null where these are not known.",
                "parties", "acting_parties of events", True),
        counted("apps", "Providers of applications that were given reward coupons.", "parties", "rewards"),
        counted("payments", "Outputs of transfers between different parties, but for what is burned.", "outputs",
                "transfers"),
        *valued("paid", "Coin paid between different parties", "transfers"),
        *valued("minted", "Coin minted", "mint_burn"),
        *valued("burned", "Coin burned", "mint_burn"),
        summed("fees", "Fees of transfers and purchases, which are part of the burned amount", "mint_burn"),
        summed("net_change", "Change of the supply", "mint_burn"),
        summed("unexplained", "Change that neither minting nor burning explains", "mint_burn"),
        summed("rewards_claimed", "Rewards claimed", "reward_flows"),
        summed("rewards_expired", "Rewards that expired", "reward_flows"),
        counted("traffic_bytes", "Traffic bought.", "bytes", "traffic_purchases"),
        summed("traffic_paid", "Coin paid for traffic", "traffic_purchases"),
        _WHOLE,
    ),
)  # fmt: skip

APP_DAILY: Final = computed(
    "app_daily",
    "One row per day in UTC and provider of an application with rewards on it, or through which coin was paid.",
    ("time", "provider"),
    (
        Column("time", TIME, "Begin of the day, in UTC.", source="record_time of reward_flows and transfers"),
        Column("provider", TEXT, "Provider of payments; of rewards who can mint them, if shared not the application.",
               source="party of reward_flows, provider of transfers"),
        summed("activity_weight", "Weight of the coupons created, without those that state coin", "weight of rewards",
               "weight"),
        counted("coupons_created", "Coupons created; null where some are not known to be an application's or whose.",
                "coupons", "reward_flows", True),
        counted("coupons_claimed", "Coupons claimed; null likewise.", "coupons", "reward_flows", True),
        counted("coupons_expired", "Coupons expired; null likewise.", "coupons", "reward_flows", True),
        *valued("rewards_claimed", "Rewards claimed", "reward_flows"),
        summed("rewards_expired", "Rewards that expired", "reward_flows"),
        Column("share", AMOUNT, "Part of what all of them claimed on the day; null where that is 0 or not known.", True,
               "share", "rewards_claimed of all providers"),
        counted("users", "Parties that received coin from others through it.", "parties", "receiver of transfers"),
        summed("burned", "Fees of payments through it, and what it paid for traffic and preapprovals",
               "transfers, traffic_purchases, /exercise_result/amuletPaid for preapprovals"),
        summed("burned_usd", "The same at the prices of the rounds", "the same", "USD"),
        _WHOLE,
    ),
)  # fmt: skip

VALIDATOR_DAILY: Final = computed(
    "validator_daily",
    "One row per day in UTC and validator with a license at its end: rounds, rewards, traffic, and the remainder.",
    ("time", "validator"),
    (
        Column("time", TIME, "Begin of the day, in UTC.", source="record_time"),
        Column("validator", TEXT, "Party of the validator.", source=f"{_LICENSE}validator"),
        Column("sponsor", TEXT, "Super validator that sponsored it.", source=f"{_LICENSE}sponsor"),
        Column("version", TEXT, "Version that it last reported.", True, source=f"{_LICENSE}metadata/version"),
        counted("last_round", "Last round that it reported for by the end of the day.", "rounds",
                f"{_LICENSE}faucetState/lastReceivedFor/number", True),
        counted("rounds_reported", "Rounds that it reported for on the day.", "rounds",
                "round of reward_flows: faucet coupons and liveness records created"),
        counted("rounds_missed", "Rounds that it had let pass when it reported on the day; null where not known.",
                "rounds", f"{_LICENSE}faucetState/numCouponsMissed, less that of the day before", True),
        counted("silent_for", "Rounds since the last that it reported for, up to the last that was to close by then.",
                "rounds", "target_closes_at of round_history, last_round", True),
        *valued("rewards_validator_faucet", "Rewards claimed for being alive", "reward_flows"),
        *valued("rewards_validator", "Rewards claimed for what its users paid", "reward_flows"),
        *valued("rewards_app", "Rewards claimed for applications", "reward_flows"),
        *valued("rewards_other", "Rewards claimed for anything else, as a super validator's", "reward_flows"),
        *valued("rewards_claimed", "Rewards of all kinds claimed", "reward_flows"),
        counted("traffic_bytes", "Traffic that it bought, for whichever member.", "bytes", "traffic_purchases"),
        *valued("traffic_paid", "Coin that it paid for traffic", "traffic_purchases"),
        summed("net", "Rewards claimed, less what was paid for traffic", "rewards_claimed - traffic_paid"),
        summed("net_usd", "The same at the prices of the rounds", "rewards_claimed_usd - traffic_paid_usd", "USD"),
        _WHOLE,
    ),
)  # fmt: skip

_PREAPPROVAL: Final = "creates and consuming exercises of TransferPreapproval"
_SETUP: Final = "creates and consuming exercises of ExternalPartySetupProposal"
WALLETS_DAILY: Final = computed(
    "wallets_daily",
    "One row per day in UTC and provider of transfer preapprovals: parties that got, renewed, lost or have one.",
    ("time", "provider"),
    (
        Column("time", TIME, "Begin of the day, in UTC.", source="record_time"),
        Column("provider", TEXT, "Party that manages them: an app, a validator, or the receiver itself.",
               source="/payload/provider of TransferPreapproval, /payload/validator of ExternalPartySetupProposal"),
        counted("created", "Parties with a new preapproval of transfers to them.", "parties", _PREAPPROVAL),
        counted("renewed", "Parties whose preapproval was renewed.", "parties", _PREAPPROVAL),
        counted("cancelled", "Parties whose preapproval was cancelled, or archived otherwise.", "parties",
                _PREAPPROVAL),
        counted("expired", "Parties whose preapproval was archived after its time had run out.", "parties",
                "TransferPreapproval_Expire"),
        counted("active", "Parties with one at the end of the day whose time has not run out.", "parties",
                f"{_PREAPPROVAL}, /payload/expiresAt"),
        counted("setups_proposed", "External parties that the provider proposed to host.", "parties", _SETUP),
        counted("setups_accepted", "External parties that accepted; these have a new preapproval too.", "parties",
                "ExternalPartySetupProposal_Accept"),
        counted("setups_rejected", "External parties that rejected.", "parties", "ExternalPartySetupProposal_Reject"),
        counted("setups_withdrawn", "External parties for which the provider withdrew its proposal.", "parties",
                "ExternalPartySetupProposal_Withdraw"),
        _WHOLE,
    ),
)  # fmt: skip

RETENTION: Final = computed(
    "retention",
    "One row per week of first activity and week after it: how many of its parties acted again.",
    ("cohort", "weeks_after"),
    (
        Column("cohort", TIME, "Begin of the week in which the parties first acted: Monday, in UTC.",
               source="record_time of their first event"),
        counted("weeks_after", "Weeks since then.", "weeks", "record_time"),
        counted("cohort_parties", "Parties that first acted in the week.", "parties", "acting_parties of events"),
        counted("parties", "Those of them that acted in the later week.", "parties", "acting_parties of events"),
        _WHOLE,
    ),
)  # fmt: skip

#: Those of a history alone.
TABLES: Final = (
    *(ACTIVE_PARTIES, TEMPLATE_ACTIVITY, VALIDATOR_LIVENESS),
    *(NETWORK_DAILY, APP_DAILY, VALIDATOR_DAILY, WALLETS_DAILY, RETENTION),
)
