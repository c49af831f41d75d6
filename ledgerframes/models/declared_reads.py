"""Every read of the models, by name: the records, and which of their members are read under which names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.models.governance_reads import DSO, GOVERNANCE_READS
from ledgerframes.models.reads import Member, Read
from ledgerframes.models.supply_reads import GOVERNANCE_LOCKS, POOLS, SUPPLY_READS
from ledgerframes.models.token_reads import PLACE, TOKEN_READS, sayings

AMULET: Final = "Splice.Amulet:Amulet"
LOCKED_AMULET: Final = "Splice.Amulet:LockedAmulet"
LICENSE: Final = "Splice.ValidatorLicense:ValidatorLicense"
RULES: Final = "Splice.AmuletRules:AmuletRules"
PREAPPROVAL: Final = "Splice.AmuletRules:TransferPreapproval"
SETUP: Final = "Splice.AmuletRules:ExternalPartySetupProposal"
ROUNDS: Final = tuple(f"Splice.Round:{phase}MiningRound" for phase in ("Open", "Summarizing", "Issuing", "Closed"))
_CONFIG: Final = {
    "amulet_to_issue_per_year": "amuletToIssuePerYear",
    "validator_percentage": "validatorRewardPercentage",
    "app_percentage": "appRewardPercentage",
    "development_fund_percentage": "optDevelopmentFundPercentage",
    "validator_cap": "validatorRewardCap",
    "featured_app_cap": "featuredAppRewardCap",
    "unfeatured_app_cap": "unfeaturedAppRewardCap",
    "validator_faucet_cap_usd": "optValidatorFaucetCap",
}
_ISSUANCE: Final = {
    "issuance_per_sv": "issuancePerSvRewardCoupon",
    "issuance_per_validator": "issuancePerValidatorRewardCoupon",
    "issuance_per_validator_faucet": "optIssuancePerValidatorFaucetCoupon",
    "issuance_per_featured_app": "issuancePerFeaturedAppRewardCoupon",
    "issuance_per_unfeatured_app": "issuancePerUnfeaturedAppRewardCoupon",
}
_TOTALS: Final = {
    "total_weight_sv": "totalSvRewardWeight",
    "total_weight_validator": "totalValidatorRewardCoupons",
    "total_weight_validator_faucet": "optTotalValidatorFaucetCoupons",
    "total_weight_featured_app": "totalFeaturedAppRewardCoupons",
    "total_weight_unfeatured_app": "totalUnfeaturedAppRewardCoupons",
}
#: The members of a payment's summary: under the choice's own result, or that of the transfer that it wraps.
_RESULTS: Final = ("", "transferResult.", "result.")
_SUMMARY: Final = {
    "app": "inputAppRewardAmount",
    "validator_and_faucet": "inputValidatorRewardAmount",
    "validator_faucet": "inputValidatorFaucetAmount",
    "sv": "inputSvRewardAmount",
    "unclaimed_activity": "inputUnclaimedActivityRecordAmount",
    "development_fund": "inputDevelopmentFundAmount",
    "coins": "inputAmuletAmount",
    "holding_fees": "holdingFees",
    "change_fee": "senderChangeFee",
    "change": "senderChangeAmount",
    "price": "amuletPrice",
}
#: Of these a summary of any release has a value.
_STATED: Final = ("app", "validator_and_faucet", "sv", "coins", "holding_fees", "change_fee", "change", "price")
PAYING: Final = (
    "AmuletRules_Transfer",
    "AmuletRules_BuyMemberTraffic",
    "AmuletRules_CreateTransferPreapproval",
    "AmuletRules_CreateExternalPartySetupProposal",
    "TransferPreapproval_Renew",
    "TransferPreapproval_Send",
    "TransferPreapproval_SendV2",
)
COIN_EXPIRIES: Final = (
    *("Amulet_Expire", "Amulet_ExpireV2"),
    *("LockedAmulet_ExpireAmulet", "LockedAmulet_ExpireAmuletV2"),
)
COUPONS: Final = (
    "Splice.Amulet:AppRewardCoupon",
    "Splice.Amulet:ValidatorRewardCoupon",
    "Splice.Amulet:SvRewardCoupon",
    "Splice.ValidatorLicense:ValidatorFaucetCoupon",
    "Splice.ValidatorLicense:ValidatorLivenessActivityRecord",
    "Splice.Amulet:DevelopmentFundCoupon",
    "Splice.Amulet:UnclaimedActivityRecord",
    "Splice.Amulet:RewardCouponV2",
)
_EXPIRIES: Final = tuple(f"{template.rpartition(':')[2]}_DsoExpire" for template in COUPONS)
#: The templates whose contracts computed tables read from before a range.
OPENED: Final = (
    *(*DSO, RULES),
    *(AMULET, LOCKED_AMULET, LICENSE, *ROUNDS, *COUPONS),
    "Splice.Amulet:FeaturedAppRight",
    "Splice.AmuletAllocation:AmuletAllocation",
    "Splice.AmuletAllocationV2:AmuletAllocationV2",
    PREAPPROVAL,
    SETUP,
    "Splice.AmuletTransferInstruction:AmuletTransferInstruction",
    *(*GOVERNANCE_LOCKS, *POOLS),
)
#: The terms of a coin, which a locked coin has in a record of its own.
_TERMS: Final = (
    Member("owner", "plain", ("owner", "amulet.owner"), required=True),
    Member("amount", "amount", ("amount.initialAmount", "amulet.amount.initialAmount"), required=True),
    Member(
        "created_round",
        "whole",
        ("amount.createdAt.number", "amulet.amount.createdAt.number"),
        required=True,
    ),
    Member(
        "rate_per_round",
        "amount",
        ("amount.ratePerRound.rate", "amulet.amount.ratePerRound.rate"),
        required=True,
    ),
)


def _in_results(path: str) -> tuple[str, ...]:
    return tuple(f"{within}{path}" for within in _RESULTS)


def _amounts(members: Mapping[str, str], within: str = "") -> tuple[Member, ...]:
    return tuple(Member(column, "amount", (f"{within}{path}",)) for column, path in members.items())


READS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        "round_contracts": Read(
            "creates",
            (*PLACE, "contract_id"),
            (
                Member("round", "whole", ("round.number",), required=True),
                Member("amulet_price_usd", "amount", ("amuletPrice",)),
                Member("opens_at", "instant", ("opensAt",)),
                Member("target_closes_at", "instant", ("targetClosesAt",)),
                Member("tick_us", "whole", ("tickDuration.microseconds",)),
                Member("issuing_for_us", "whole", ("issuingFor.microseconds",)),
                Member("holding_fee_usd", "amount", ("transferConfigUsd.holdingFee.rate",)),
                *_amounts(_CONFIG, "issuanceConfig."),
                *_amounts(_ISSUANCE),
            ),
            templates=ROUNDS,
        ),
        # Their numbers and closing times; a table may need no more.
        "round_numbers": Read(
            "creates",
            (),
            (
                Member("round", "whole", ("round.number",), required=True),
                Member("target_closes_at", "instant", ("targetClosesAt",)),
            ),
            templates=ROUNDS,
        ),
        "round_networks": Read("creates", (), (Member("dso", "plain", ("dso",)),), templates=ROUNDS),
        "issuing_starts": Read(
            "exercises",
            PLACE,
            _amounts(_TOTALS, "summary."),
            (Member("issuing_contract", "plain", ("issuingRoundCid",), required=True),),
            templates=(RULES,),
            choices=("AmuletRules_MiningRound_StartIssuing",),
        ),
        "coin_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "created_at", "parent_event_id", "contract_id"),
            (
                *_TERMS,
                Member("lock_holders", "texts", ("lock.holders",)),
                Member("lock_expires_at", "instant", ("lock.expiresAt",)),
                Member("lock_context", "plain", ("lock.optContext",)),
            ),
            templates=(AMULET, LOCKED_AMULET),
        ),
        "held_coin_terms": Read(
            "held_coins", ("contract_id",), _TERMS, templates=(AMULET, LOCKED_AMULET), json="payload"
        ),
        "open_round_numbers": Read(
            "open_rounds",
            ("contract_id",),
            (Member("round", "whole", ("round.number",)),),
            templates=("Splice.Round:OpenMiningRound",),
            json="payload",
        ),
        "coupon_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "created_at", "contract_id", "parent_event_id"),
            (
                Member("round", "whole", ("round.number",)),
                Member("provider", "plain", ("provider", "user", "validator", "sv", "fundManager")),
                Member("beneficiary", "plain", ("beneficiary",)),
                Member("weight", "amount", ("amount", "weight")),
                Member("featured", "flag", ("featured",)),
                Member("stated_kind", "json", ("kind",)),
                Member("mint_after", "json", ("mintAfter",)),
                Member("expires_at", "json", ("expiresAt",)),
            ),
            templates=COUPONS,
            among="coupon_kinds",
        ),
        # Parts that a payment's summary does not separate; wrong members are counted by `coupon_contracts`.
        "second_version_coupons": Read(
            "creates",
            ("contract_id",),
            (Member("stated_amount", "json", ("amount",)), Member("stated_kind", "json", ("kind",))),
            templates=("Splice.Amulet:RewardCouponV2",),
        ),
        "coupon_endings": Read(
            "endings_without_create",
            ("contract_id",),
            (Member("round_contract", "plain", ("closedRoundCid",)),),
            (
                Member("weight", "amount", ("weight", "amount")),
                Member("featured", "flag", ("featured",)),
                Member("becomes", "plain", ("unclaimedRewardCid", "unclaimedDevelopmentFundCouponCid")),
            ),
            templates=COUPONS,
            choices=(*_EXPIRIES, "DevelopmentFundCoupon_Withdraw", "DevelopmentFundCoupon_Reject"),
            bare=True,
        ),
        "unclaimed_amounts": Read(
            "creates",
            ("contract_id", "parent_event_id"),
            (Member("amount", "amount", ("amount",), required=True),),
            templates=POOLS,
        ),
        "payment_results": Read(
            "exercises",
            (*PLACE, "event_id"),
            (
                Member("sender", "plain", ("transfer.sender", "sender", "provider")),
                Member("inputs", "json", ("transfer.inputs", "inputs")),
                Member("issuing_rounds", "json", ("context.issuingMiningRounds",)),
            ),
            (
                # A renewal states in its result alone whose preapproval it is.
                Member("provider", "plain", ("provider",)),
                Member("round", "whole", _in_results("round.number")),
                Member("paid", "amount", _in_results("amuletPaid")),
                Member("summary", "json", _in_results("summary")),
            ),
            choices=PAYING,
        ),
        "payment_summaries": Read(
            "payment_results",
            ("event_id",),
            (
                *(Member(column, "amount", (path,), required=column in _STATED) for column, path in _SUMMARY.items()),
                Member("output_fees", "amounts", ("outputFees",), required=True),
            ),
            json="summary",
            closed=True,
            ignored=("balanceChanges",),
        ),
        "payment_inputs": Read(
            "payment_results",
            (*PLACE, "event_id"),
            (Member("tag", "plain", ("tag",)), Member("value", "json", ("value",))),
            json="inputs",
            each=True,
        ),
        "made_coins": Read(
            "exercises",
            (*PLACE, "event_id"),
            results=(
                Member("coin", "plain", ("amuletSum.amulet",), required=True),
                Member("round", "whole", ("amuletSum.round.number",)),
            ),
            choices=("AmuletRules_DevNet_Tap", "AmuletRules_Mint"),
        ),
        "coin_expiries": Read(
            "exercises",
            (*PLACE, "contract_id"),
            results=(Member("round", "whole", ("expireSum.round.number",)),),
            choices=COIN_EXPIRIES,
            bare=True,
        ),
        "collections": Read(
            "exercises",
            (*PLACE, "event_id"),
            results=(Member("coin", "plain", ("amulet",)),),
            choices=("SubscriptionInitialPayment_Collect", "SubscriptionPayment_Collect"),
        ),
        "traffic_requests": Read(
            "exercises",
            (*PLACE, "event_id"),
            (
                Member("provider", "plain", ("provider",), required=True),
                Member("member_id", "plain", ("memberId",), required=True),
                Member("synchronizer_id", "plain", ("synchronizerId",), required=True),
                Member("traffic_migration_id", "whole", ("migrationId",), required=True),
                Member("bytes", "whole", ("trafficAmount",), required=True),
            ),
            (
                Member("paid", "amount", ("amuletPaid",)),
                Member("round", "whole", ("round.number",)),
                Member("price", "amount", ("summary.amuletPrice",)),
            ),
            choices=("AmuletRules_BuyMemberTraffic",),
        ),
        "license_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "created_at", "contract_id"),
            (
                Member("validator", "plain", ("validator",), required=True),
                Member("sponsor", "plain", ("sponsor",), required=True),
                Member("first_round", "whole", ("faucetState.firstReceivedFor.number",)),
                Member("last_round", "whole", ("faucetState.lastReceivedFor.number",)),
                Member("missed", "whole", ("faucetState.numCouponsMissed",)),
                Member("version", "plain", ("metadata.version",)),
            ),
            templates=(LICENSE,),
        ),
        # A party's standing consent to receive coin, and a proposal to host one with its keys elsewhere.
        "preapproval_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "created_at", "contract_id", "parent_event_id"),
            (
                Member("party", "plain", ("receiver",), required=True),
                Member("provider", "plain", ("provider",), required=True),
                Member("expires_at", "instant", ("expiresAt",), required=True),
            ),
            templates=(PREAPPROVAL,),
        ),
        "setup_proposals": Read(
            "creates",
            ("record_time", "shown_by", "contract_id"),
            (
                Member("party", "plain", ("user",), required=True),
                Member("provider", "plain", ("validator",), required=True),
            ),
            templates=(SETUP,),
        ),
        # Facts about parties in contracts, for the star schema.
        "name_service_entries": Read(
            "creates",
            (),
            (Member("party", "plain", ("user",), required=True), Member("name", "plain", ("name",), required=True)),
            templates=("Splice.Ans:AnsEntry",),
        ),
        # That validators are alive: a record, or a coupon of older releases.
        "liveness_records": Read(
            "creates",
            (),
            (
                Member("validator", "plain", ("validator",), required=True),
                Member("round", "whole", ("round.number",), required=True),
            ),
            templates=(
                "Splice.ValidatorLicense:ValidatorLivenessActivityRecord",
                "Splice.ValidatorLicense:ValidatorFaucetCoupon",
            ),
        ),
        "transfer_requests": Read(
            "exercises",
            (*PLACE, "event_id"),
            (
                Member("sender", "plain", ("transfer.sender",), required=True),
                Member("provider", "plain", ("transfer.provider",)),
                Member("outputs", "json", ("transfer.outputs",)),
            ),
            (*sayings("meta.values."),),
            choices=("AmuletRules_Transfer",),
            bare=True,
        ),
        "transfer_outputs": Read(
            "transfer_requests",
            (*PLACE, "event_id"),
            (
                Member("receiver", "plain", ("receiver",), required=True),
                Member("amount", "amount", ("amount",), required=True),
                Member("receiver_fee_ratio", "amount", ("receiverFeeRatio",)),
                Member("lock", "json", ("lock",)),
            ),
            json="outputs",
            each=True,
        ),
        **GOVERNANCE_READS,
        **SUPPLY_READS,
        **TOKEN_READS,
    }
)
