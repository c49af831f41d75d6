"""Tables of coins, supply and balances, computed from events by `ledgerframes.models`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ledgerframes.tables.active_contracts import COINS
from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, TEXT, TIME
from ledgerframes.tables.rounds_and_rewards import ROUND_HISTORY, priced
from ledgerframes.tables.snapshots import HOLDINGS_SUMMARY
from ledgerframes.tables.table import Column, computed


def _amount(column: Column) -> Column:
    """The column of a holdings summary, computed: only what depends on an open round can be null."""
    of_round = "fees" in column.name or "available" in column.name
    meaning = column.meaning.partition("; null")[0].removesuffix(".") + "."
    source = "coin_history and the earliest round open then" if of_round else "amount of coin_history"
    return replace(column, meaning=meaning, nullable=of_round, source=source)


COIN_HISTORY: Final = computed(
    "coin_history",
    "One row per coin contract: its terms, what created it, and what ended it.",
    ("contract_id",),
    (
        *COINS.take("contract_id", "owner", "amount", "created_round", "rate_per_round"),
        *COINS.take("locked", "lock_holders", "lock_expires_at"),
        Column("expires_at_round", INT64, "First round in which the coin can be expired; null if its rate is 0.", True,
               "rounds", "created_round plus amount / rate_per_round, rounded up"),
        Column("created_by", TEXT, "Choice that created it; null if that lies outside the events, or at a root.", True,
               source="choice of the exercise above its create"),
        Column("ended_at", TIME, "Record time of the exercise that consumed it; null while it is active.", True,
               source="record_time of its consuming exercise"),
        Column("ended_by", TEXT, "Choice that ended it; null while it is active.", True,
               source="choice of its consuming exercise; of Archive, the choice above it"),
    ),
)  # fmt: skip

_UNREAD: Final = "null if one of its contracts cannot be read."

SUPPLY: Final = computed(
    "supply",
    "One row: the coin that exists at a time.",
    ("at",),
    (
        Column("at", TIME, "The time; null if there are no events and none is given.", True,
               source="the argument `at`, else the last record_time"),
        Column("unlocked", AMOUNT, f"Coin that is not locked; {_UNREAD}", True, "coin",
               "sum of active Amulet contracts"),
        Column("locked", AMOUNT, f"Coin that is locked; {_UNREAD}", True, "coin",
               "sum of active LockedAmulet contracts"),
        Column("total", AMOUNT, "All coin; null if either is.", True, "coin", "unlocked plus locked"),
    ),
)  # fmt: skip

SUPPLY_PER_ROUND: Final = computed(
    "supply_per_round",
    "One row per round: what its updates minted and burned, and the supply after them.",
    ("round",),
    (
        Column("round", INT64, "Number of the round; an update that states none counts for the latest round then.",
               unit="rounds", source="round of mint_burn, else the last round before"),
        Column("opened_at", TIME, "Record time at which the round opened.", True, source="opened_at of round_history"),
        *ROUND_HISTORY.copied("amulet_price_usd"),
        Column("minted", AMOUNT, "Coin minted.", unit="coin", source="sum of minted_* of mint_burn"),
        Column("burned", AMOUNT, "Coin burned; null if an update's is not known.", True, "coin",
               "sum of burned_* of mint_burn"),
        Column("net_change", AMOUNT, "Coin created less coin ended; null if an update's is not known.", True, "coin",
               "sum of net_change of mint_burn"),
        Column("unexplained", AMOUNT, "net_change less minted plus burned.", True, "coin",
               "sum of unexplained of mint_burn"),
        Column("total", AMOUNT, "Supply after the round's updates; null if the supply before the events is not known.",
               True, "coin", "supply of the opening plus net_change up to here"),
        Column("whole", BOOL, "Whether the events hold all of the time in which the round was open; false with a gap.",
               source="opened_at and summarizing_at of round_history are not null"),
    ),
)  # fmt: skip


def _stock(name: str, meaning: str, source: str) -> tuple[Column, Column]:
    """An amount at a time, and the same in USD."""
    return priced(name, meaning if "; null" in meaning else f"{meaning.removesuffix('.')}; {_UNREAD}", source)


def _locked(purpose: str, words: str, source: str) -> tuple[Column, Column]:
    return _stock(f"locked_{purpose}", f"Coin that is locked {words}.", f"LockedAmulet {source}")


_BY_CONTEXT: Final = "whose lock/optContext says so"
_STOCKS: Final = (
    _stock("unlocked", "Coin that is not locked.", "sum of active Amulet contracts"),
    _locked("transfer", "until a transfer is accepted", f"of an AmuletTransferInstruction, or {_BY_CONTEXT}"),
    _locked("allocation", "for a settlement", f"of an AmuletAllocation of either version, or {_BY_CONTEXT}"),
    _locked("payment", "for a payment to an application or a subscription, such as for a name", _BY_CONTEXT),
    _locked("governance", "for governance: by super validators' rights owners or featured applications",
            f"of a GovernanceLock or an aggregateLock (CIP-0105), or {_BY_CONTEXT}"),
    _locked("vesting", "and is released over time", f"of a VestingLock or a vestingLock (CIP-0105), or {_BY_CONTEXT}"),
    _locked("other", "for another purpose, or for none that is stated", "of no other purpose"),
    _stock("total", "All coin: the supply.", "unlocked plus locked_*"),
    _stock("circulating", "Coin in circulation: unlocked, or set aside for a payment under way.",
           "unlocked plus locked_transfer, locked_allocation and locked_payment"),
    _stock("unclaimed_rewards", "Unclaimed reward pool: unclaimed coin that was not minted.",
           "sum of /payload/amount of active UnclaimedReward contracts"),
    _stock("development_fund_unallocated", "Coin set aside for the development fund that is not granted to anybody.",
           "sum of /payload/amount of active UnclaimedDevelopmentFundCoupon contracts"),
    _stock("development_fund_allocated", "Coin granted by the development fund that is not minted yet.",
           "sum of /payload/amount of active DevelopmentFundCoupon contracts"),
    _stock("development_fund_spent", "Coin minted from the development fund since ledger begin; null if that is not in"
           " the events.", "sum of minted_development_fund of mint_burn"),
)  # fmt: skip

SUPPLY_BY_PURPOSE: Final = computed(
    "supply_by_purpose",
    "One row per time: the coin that exists, locked by purpose and in circulation, and the unclaimed pools.",
    ("time",),
    (
        Column("time", TIME, "The time; updates recorded then are included.",
               source="multiples of the argument `every`"),
        Column("round", INT64, "Earliest round that is open then.", True, "rounds", "OpenMiningRound contracts"),
        Column("amulet_price_usd", AMOUNT, "Price of the coin in that round.", True, "USD per coin",
               "amulet_price_usd of round_history"),
        *(column for pair in _STOCKS for column in pair),
    ),
)  # fmt: skip

BALANCES_OVER_TIME: Final = computed(
    "balances_over_time",
    "One row per time and party: the party's holdings.",
    ("time", "party_id"),
    (
        Column("time", TIME, "The time; updates recorded then are included.",
               source="multiples of the argument `every`"),
        Column("party_id", TEXT, "The party.", source="owner of coin_history"),
        *(
            _amount(column)
            for column in HOLDINGS_SUMMARY.columns
            if column.name.startswith(("total_", "accumulated_"))
        ),
    ),
)  # fmt: skip

TABLES: Final = (COIN_HISTORY, SUPPLY, SUPPLY_PER_ROUND, SUPPLY_BY_PURPOSE, BALANCES_OVER_TIME)
