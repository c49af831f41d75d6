"""Tables of mining rounds and rewards, computed from events by `ledgerframes.models`."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, TEXT, TIME
from ledgerframes.tables.table import Column, computed

_OPEN: Final = "/payload of the create of OpenMiningRound: "
_CONFIG: Final = "/payload/issuanceConfig of the create of OpenMiningRound, else of SummarizingMiningRound: "
_SUMMARY: Final = "/payload/summary of AmuletRules_MiningRound_StartIssuing: "
_ISSUING: Final = "/payload of the create of IssuingMiningRound, else of ClosedMiningRound: "


def _config(name: str, meaning: str, unit: str, member: str) -> Column:
    return Column(name, AMOUNT, meaning, True, unit, f"{_CONFIG}{member}")


def _total(kind: str, words: str, member: str) -> Column:
    meaning = f"Total weight of the round's {words} coupons, as the issuance was computed from it."
    return Column(f"total_weight_{kind}", AMOUNT, meaning, True, "weight", f"{_SUMMARY}{member}")


def _issuance(kind: str, words: str, member: str) -> Column:
    meaning = f"Coin issued per unit of weight of a {words} coupon; null until the round issues."
    return Column(f"issuance_per_{kind}", AMOUNT, meaning, True, "coin per weight", f"{_ISSUING}{member}")


def _phase(name: str, template: str) -> Column:
    meaning = f"Record time at which the round's {template} was created; null if that lies outside the events."
    return Column(name, TIME, meaning, True, source=f"record_time of the create of {template}")


ROUND_HISTORY: Final = computed(
    "round_history",
    "One row per mining round that the events show: its configuration, its issuance, and when each phase began.",
    ("round",),
    (
        Column("round", INT64, "Number of the round.", unit="rounds", source="/payload/round/number"),
        Column("amulet_price_usd", AMOUNT, "Price of the coin in the round.", True, "USD per coin",
               f"{_OPEN}amuletPrice, else of SummarizingMiningRound"),
        Column("opens_at", TIME, "When transfers can begin to use the round.", True, source=f"{_OPEN}opensAt"),
        Column("target_closes_at", TIME, "When the round is to close, not before.", True,
               source=f"{_OPEN}targetClosesAt"),
        Column("tick_us", INT64, "Length of a tick: the time for which one round issues.", True, "microseconds",
               f"{_OPEN}tickDuration/microseconds, else of SummarizingMiningRound"),
        Column("holding_fee_usd", AMOUNT, "Notional holding fee of one coin contract per round.", True,
               "USD per round", f"{_OPEN}transferConfigUsd/holdingFee/rate"),
        _config("amulet_to_issue_per_year", "Coin to issue per year of 365 days.", "coin per year",
                "amuletToIssuePerYear"),
        _config("validator_percentage", "Validators' share of the issuance, 1 being all.", "",
                "validatorRewardPercentage"),
        _config("app_percentage", "Applications' share of the issuance, 1 being all.", "", "appRewardPercentage"),
        _config("development_fund_percentage", "The development fund's share of the issuance, 1 being all.", "",
                "optDevelopmentFundPercentage"),
        _config("validator_cap", "Most coin per weight of a validator reward coupon.", "coin per weight",
                "validatorRewardCap"),
        _config("featured_app_cap", "Most coin per weight of a featured app's coupon.", "coin per weight",
                "featuredAppRewardCap"),
        _config("unfeatured_app_cap", "Most coin per weight of another app's coupon.", "coin per weight",
                "unfeaturedAppRewardCap"),
        _config("validator_faucet_cap_usd", "Most that one validator faucet coupon is worth.", "USD",
                "optValidatorFaucetCap"),
        _total("sv", "super validator", "totalSvRewardWeight"),
        _total("validator", "validator reward", "totalValidatorRewardCoupons"),
        _total("validator_faucet", "validator faucet", "optTotalValidatorFaucetCoupons"),
        _total("featured_app", "featured app reward", "totalFeaturedAppRewardCoupons"),
        _total("unfeatured_app", "unfeatured app reward", "totalUnfeaturedAppRewardCoupons"),
        _issuance("sv", "super validator", "issuancePerSvRewardCoupon"),
        _issuance("validator", "validator reward", "issuancePerValidatorRewardCoupon"),
        _issuance("validator_faucet", "validator faucet", "optIssuancePerValidatorFaucetCoupon"),
        _issuance("featured_app", "featured app reward", "issuancePerFeaturedAppRewardCoupon"),
        _issuance("unfeatured_app", "unfeatured app reward", "issuancePerUnfeaturedAppRewardCoupon"),
        _phase("opened_at", "OpenMiningRound"),
        _phase("summarizing_at", "SummarizingMiningRound"),
        _phase("issuing_at", "IssuingMiningRound"),
        _phase("closed_at", "ClosedMiningRound"),
        Column("whole", BOOL, "Whether the events hold the round from its opening to its closing, without a gap.",
               source="opened_at and closed_at are not null"),
    ),
)  # fmt: skip


def priced(name: str, meaning: str, source: str) -> tuple[Column, Column]:
    """An amount of a round, and the same in USD at its price."""
    worth = f"The same as {name} in USD, at the price of the round; null if either is unknown."
    by_price = f"{name} times amulet_price_usd, rounded half even to 10 places"
    return Column(name, AMOUNT, meaning, True, "coin", source), Column(f"{name}_usd", AMOUNT, worth, True, "USD",
                  by_price)  # fmt: skip


def _running(name: str, meaning: str) -> tuple[Column, Column]:
    """The sums of an amount from ledger begin, and those in USD at the prices of then."""
    sums = f"{meaning}, in this round and all before it; null unless the events begin at ledger begin."
    return (
        Column(f"cumulative_{name}", AMOUNT, sums, True, "coin", f"sum of {name}"),
        Column(f"cumulative_{name}_usd", AMOUNT, f"The same as cumulative_{name} in USD, at the price of each round.",
               True, "USD", f"sum of {name}_usd"),
    )  # fmt: skip


_SHARE: Final = "rounded half even to 10 places"
_AMOUNTS: Final = (
    priced("allowed", "Coin that the issuance curve lets the round issue, to all pools.",
           f"amulet_to_issue_per_year times tick_us over 365 days, {_SHARE}"),
    priced("allowed_validator", "Of it, the pool of validators.",
           f"validator_percentage of what the fund leaves, {_SHARE}"),
    priced("allowed_app", "Of it, the pool of applications.", f"app_percentage of what the fund leaves, {_SHARE}"),
    priced("allowed_featured_app", "Of that pool, what coupons of featured applications can mint; null until the"
           " round issues.", "total_weight_featured_app times issuance_per_featured_app"),
    priced("allowed_unfeatured_app", "Of that pool, what coupons of other applications can mint; null until the round"
           " issues.", "total_weight_unfeatured_app times issuance_per_unfeatured_app"),
    priced("allowed_sv", "Of it, the pool of super validators.", "allowed less the other pools"),
    priced("allowed_development_fund", "Of it, the development fund's pool; where the configuration states no share,"
           " 5 % from amulet package 0.1.15 of the rules on, 0 before it, and null, as the pools of the others are,"
           " where the rules are not known.",
           f"allowed times development_fund_percentage, {_SHARE}"),
    priced("minted", "Coin minted for the round's coupons; null if not all are known, as of one that issued before the"
           " range.",
           "sum of amount of rewards that were claimed"),
    priced("expired", "Coin of the round's coupons that expired, and was not minted; null likewise.",
           "sum of amount of reward_flows whose event is expired"),
    priced("open", "Coin of the round's coupons that can be minted yet; null until the round issues.",
           "sum of amount of rewards that are open"),
    priced("burned", "Coin burned by updates of the round; null if not all are known, as of one that opened before the"
           " range.",
           "sum of burned_* of mint_burn; an update without a round counts for the latest round then"),
)  # fmt: skip
_SUMS: Final = (
    _running("allowed", "Coin that the curve allowed"),
    _running("minted", "Coin minted for coupons"),
    _running("expired", "Coin of coupons that expired"),
    _running("burned", "Coin burned"),
)

_POOLS: Final = {
    "validator": "validators", "app": "applications", "sv": "super validators",
    "development_fund": "the development fund",
}  # fmt: skip


def _next(name: str, meaning: str) -> Column:
    """An amount that the next step of the curve allows; it has no price yet."""
    return Column(f"next_{name}", AMOUNT, meaning, True, "coin", f"as {name}, of that step's configuration")


ISSUANCE: Final = computed(
    "issuance",
    "One row per round: what the issuance curve (schedule of emission or inflation) allows each pool, what was minted,"
    " expired and burned, and the next step or halving.",
    ("round",),
    (
        *ROUND_HISTORY.copied("round", "opens_at", "amulet_price_usd", "amulet_to_issue_per_year"),
        *(column for pair in _AMOUNTS for column in pair),
        *(column for pair in _SUMS for column in pair),
        Column("next_step_at", TIME, "When the first later round opens that the rules allow otherwise, such as after a"
               " halving, if rounds stay as long.", True,
               source="/payload/configSchedule of AmuletRules: its configurations' issuanceCurve"),
        Column("next_step_round", INT64, "Number of that round.", True, "rounds",
               "the same, and /payload/issuingFor of the create of OpenMiningRound"),
        Column("next_amulet_to_issue_per_year", AMOUNT, "Coin to issue per year from that step on.", True,
               "coin per year", "amuletToIssuePerYear of that step"),
        _next("allowed", "Coin that a round may issue from that step on, to all pools."),
        *(_next(f"allowed_{pool}", f"Of it, the pool of {whom}.") for pool, whom in _POOLS.items()),
        *ROUND_HISTORY.copied("whole"),
    ),
)  # fmt: skip

REWARDS: Final = computed(
    "rewards",
    "One row per reward coupon or record: its owner, value and outcome.",
    ("contract_id",),
    (
        Column("contract_id", TEXT, "Id of the coupon's contract.", source="contract_id of its create"),
        Column("kind", TEXT, "app, validator, validator_faucet, sv, development_fund, unclaimed_activity; or null.",
               True, source="template_name of its create; of RewardCouponV2 also /payload/kind"),
        Column("round", INT64, "Round that issues the reward; null for kinds that state coin.", True, "rounds",
               "/payload/round/number of its create"),
        Column("provider", TEXT, "Party whose work earned it; the beneficiary where the ledger names no other.", True,
               source="/payload/provider, user, validator, sv or fundManager of its create"),
        Column("beneficiary", TEXT, "Party that can mint it; the provider where none is named.", True,
               source="/payload/beneficiary of its create"),
        Column("weight", AMOUNT, "The factor of the issuance: 1 for a faucet, coin where it is stated.", True,
               unit="weight", source="/payload/amount or /payload/weight of its create"),
        Column("featured", BOOL, "Whether the application is featured; null for other kinds.", True,
               source="/payload/featured of its create"),
        Column("created_at", TIME, "Ledger effective time of its creation; null if that lies before the events.", True,
               source="created_at of its create"),
        Column("mint_after", TIME, "When it can first be minted; null where it states none.", True,
               source="/payload/mintAfter of its create"),
        Column("expires_at", TIME, "When it can be minted no more; null where its round's closing ends it.", True,
               source="/payload/expiresAt of its create"),
        Column("ended_at", TIME, "Record time of the exercise that consumed it; null while it is open.", True,
               source="record_time of its consuming exercise"),
        Column("outcome", TEXT, "open, claimed, expired, withdrawn or shared; null if an unknown choice ended it.",
               True, source="choice of its consuming exercise; of Archive, the choice above it"),
        Column("issuance", AMOUNT, "Coin per weight of its round and kind; null if the round is not known to issue.",
               True, "coin per weight", "issuance_per_* of its round"),
        Column("amount", AMOUNT, "Coin it is worth; null if the issuance is not known.", True, "coin",
               "weight times issuance, rounded half even to 10 places"),
        Column("amount_usd", AMOUNT, "The same in USD, at the price of the round; null where that is not known.", True,
               "USD", "amount times amulet_price_usd of the round, rounded half even to 10 places"),
    ),
)  # fmt: skip

SV_REWARDS: Final = computed(
    "sv_rewards",
    "One row per round, super validator and beneficiary: the rewards of kind sv.",
    ("round", "sv", "beneficiary"),
    (
        Column("round", INT64, "Round that issues the reward.", unit="rounds", source="round of rewards"),
        Column("opened_at", TIME, "Record time at which the round opened, if in the events.", True,
               source="opened_at of round_history"),
        Column("sv", TEXT, "Party of the super validator.", source="provider of rewards"),
        Column("beneficiary", TEXT, "Party that can mint it.", source="beneficiary of rewards"),
        Column("weight", AMOUNT, "Weight of its coupons.", unit="weight", source="sum of weight of rewards"),
        Column("amount", AMOUNT, "Coin they are worth; null if the issuance is not known.", True, "coin",
               "sum of amount of rewards"),
        Column("amount_usd", AMOUNT, "The same in USD, at the price of the round; null where that is not known.", True,
               "USD", "amount times amulet_price_usd of the round, rounded half even to 10 places"),
        Column("outcome", TEXT, "open, claimed, expired or withdrawn; mixed where they differ, null where not known.",
               True, source="outcome of rewards"),
        *ROUND_HISTORY.copied("whole"),
    ),
)  # fmt: skip
REWARD_FLOWS: Final = computed(
    "reward_flows",
    "One row per update, event, kind, party and round: rewards by the time at which they were created or ended.",
    ("update_id", "event", "kind", "party", "round"),
    (
        Column("update_id", TEXT, "Id of the update.", source="update_id"),
        Column("migration_id", INT64, "Migration of the update.", unit="migrations", source="migration_id"),
        Column("record_time", TIME, "When the update was recorded.", source="record_time"),
        Column("event", TEXT, "created, claimed, expired or withdrawn.", source="choice of the consuming exercise"),
        Column("kind", TEXT, "Kind of the reward, as in rewards; null where it is not known.", True,
               source="kind of rewards; of claims the member of the payment's summary"),
        Column("party", TEXT, "Who can mint it; for claims, who minted it; null where it is not known.", True,
               source="beneficiary of rewards; of claims the sender of the payment"),
        Column("round", INT64, "Round that issues the reward; null if several do, or none.", True, "rounds",
               "round of rewards"),
        Column("coupons", INT64, "Coupons that are known.", unit="coupons", source="rows of rewards"),
        Column("amount", AMOUNT, "Coin they are worth, as the ledger sums it; null where not known.", True, "coin",
               "of claims the payment's summary; of expiries the largest row takes the last places of UnclaimedReward"),
        Column("amount_usd", AMOUNT, "The same in USD, at the price of the round; of a claim of several rounds, or of"
               " none, at the price that its payment states; null where neither is known.", True, "USD",
               "amount times amulet_price_usd of the round, else amuletPrice of the summary, rounded half even to 10"
               " places"),
    ),
)  # fmt: skip

TABLES: Final = (ROUND_HISTORY, ISSUANCE, REWARDS, REWARD_FLOWS, SV_REWARDS)
