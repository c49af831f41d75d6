"""Every read of the models, by name: the records, and which of their members are read under which names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.models.governance_reads import DSO, GOVERNANCE_READS, SHARES
from ledgerframes.models.reads import Read, optional, required
from ledgerframes.models.token_reads import PLACE, TOKEN_READS, sayings

AMULET: Final = "Splice.Amulet:Amulet"
LOCKED_AMULET: Final = "Splice.Amulet:LockedAmulet"
LICENSE: Final = "Splice.ValidatorLicense:ValidatorLicense"
RULES: Final = "Splice.AmuletRules:AmuletRules"
PREAPPROVAL: Final = "Splice.AmuletRules:TransferPreapproval"
SETUP: Final = "Splice.AmuletRules:ExternalPartySetupProposal"
ROUNDS: Final = tuple(f"Splice.Round:{phase}MiningRound" for phase in ("Open", "Summarizing", "Issuing", "Closed"))
#: Where a payment's result is: the choice's own, or that of the transfer that it wraps.
_RESULTS: Final = ("", "transferResult.", "result.")
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
#: Contracts that name a locked coin, and with it the purpose of its lock.
_LOCK_USERS: Final = (
    *("Splice.AmuletAllocation:AmuletAllocation", "Splice.AmuletAllocationV2:AmuletAllocationV2"),
    "Splice.AmuletTransferInstruction:AmuletTransferInstruction",
    *("Splice.GovernanceLock:GovernanceLock", "Splice.GovernanceLock:VestingLock"),
)
#: Amounts that can be minted, and whose owner is not decided yet.
_POOLS: Final = ("Splice.Amulet:UnclaimedReward", "Splice.Amulet:UnclaimedDevelopmentFundCoupon")
_EXPIRIES: Final = tuple(f"{template.rpartition(':')[2]}_DsoExpire" for template in COUPONS)
#: The templates whose contracts computed tables read from before a range.
OPENED: Final = (
    *(*DSO, RULES),
    *(AMULET, LOCKED_AMULET, LICENSE, *ROUNDS, *COUPONS),
    *("Splice.Amulet:FeaturedAppRight", PREAPPROVAL, SETUP, *_LOCK_USERS, *_POOLS),
)
#: Where the terms of a coin are: a locked coin has them in a record of its own.
_COIN: Final = ("", "amulet.")
_TERMS: Final = (
    *required("plain", "owner", within=_COIN),
    *required("amount", within=_COIN, amount="amount.initialAmount"),
    *required("whole", within=_COIN, created_round="amount.createdAt.number"),
    *required("amount", within=_COIN, rate_per_round="amount.ratePerRound.rate"),
)


READS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        "round_contracts": Read(
            "creates",
            (*PLACE, "contract_id"),
            (
                *required("whole", round="round.number"),
                *optional("whole", tick_us="tickDuration.microseconds", issuing_for_us="issuingFor.microseconds"),
                *optional("instant", opens_at="opensAt", target_closes_at="targetClosesAt"),
                *optional(
                    "amount",
                    amulet_price_usd="amuletPrice",
                    holding_fee_usd="transferConfigUsd.holdingFee.rate",
                    issuance_per_sv="issuancePerSvRewardCoupon",
                    issuance_per_validator="issuancePerValidatorRewardCoupon",
                    issuance_per_validator_faucet="optIssuancePerValidatorFaucetCoupon",
                    issuance_per_featured_app="issuancePerFeaturedAppRewardCoupon",
                    issuance_per_unfeatured_app="issuancePerUnfeaturedAppRewardCoupon",
                ),
                *optional(
                    "amount",
                    within="issuanceConfig.",
                    **SHARES,
                    amulet_to_issue_per_year="amuletToIssuePerYear",
                    validator_cap="validatorRewardCap",
                    featured_app_cap="featuredAppRewardCap",
                    unfeatured_app_cap="unfeaturedAppRewardCap",
                    validator_faucet_cap_usd="optValidatorFaucetCap",
                ),
            ),
            templates=ROUNDS,
        ),
        # Their numbers and closing times; a table may need no more.
        "round_numbers": Read(
            "creates",
            ("template_name",),
            (
                *required("whole", round="round.number"),
                *optional("instant", target_closes_at="targetClosesAt"),
            ),
            templates=ROUNDS,
        ),
        "round_networks": Read("creates", (), optional("plain", "dso"), templates=ROUNDS),
        "issuing_starts": Read(
            "exercises",
            PLACE,
            optional(
                "amount",
                within="summary.",
                total_weight_sv="totalSvRewardWeight",
                total_weight_validator="totalValidatorRewardCoupons",
                total_weight_validator_faucet="optTotalValidatorFaucetCoupons",
                total_weight_featured_app="totalFeaturedAppRewardCoupons",
                total_weight_unfeatured_app="totalUnfeaturedAppRewardCoupons",
            ),
            required("plain", issuing_contract="issuingRoundCid"),
            templates=(RULES,),
            choices=("AmuletRules_MiningRound_StartIssuing",),
        ),
        "coin_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "created_at", "parent_event_id", "contract_id"),
            (
                *_TERMS,
                *optional("texts", lock_holders="lock.holders"),
                *optional("instant", lock_expires_at="lock.expiresAt"),
                *optional("plain", lock_context="lock.optContext"),
            ),
            templates=(AMULET, LOCKED_AMULET),
        ),
        "held_coin_terms": Read(
            "held_contracts", ("contract_id",), _TERMS, templates=(AMULET, LOCKED_AMULET), json="payload"
        ),
        "open_round_numbers": Read(
            "held_contracts",
            ("contract_id",),
            optional("whole", round="round.number"),
            templates=("Splice.Round:OpenMiningRound",),
            json="payload",
        ),
        "coupon_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "created_at", "contract_id", "parent_event_id"),
            (
                *optional("whole", round="round.number"),
                *optional("plain", "beneficiary", provider=("provider", "user", "validator", "sv", "fundManager")),
                *optional("amount", weight=("amount", "weight")),
                *optional("flag", "featured"),
                *optional("json", stated_kind="kind", mint_after="mintAfter", expires_at="expiresAt"),
            ),
            templates=COUPONS,
            among="coupon_kinds",
        ),
        # Parts that a payment's summary does not separate; wrong members are counted by `coupon_contracts`.
        "second_version_coupons": Read(
            "creates",
            ("contract_id",),
            optional("json", stated_amount="amount", stated_kind="kind"),
            templates=("Splice.Amulet:RewardCouponV2",),
        ),
        "coupon_endings": Read(
            "endings_without_create",
            ("contract_id",),
            optional("plain", round_contract="closedRoundCid"),
            (
                *optional("amount", weight=("weight", "amount")),
                *optional("flag", "featured"),
                *optional("plain", becomes=("unclaimedRewardCid", "unclaimedDevelopmentFundCouponCid")),
            ),
            templates=COUPONS,
            choices=(*_EXPIRIES, "DevelopmentFundCoupon_Withdraw", "DevelopmentFundCoupon_Reject"),
            bare=True,
        ),
        "unclaimed_amounts": Read(
            "creates",
            ("contract_id", "parent_event_id"),
            required("amount", "amount"),
            templates=_POOLS,
        ),
        "payment_results": Read(
            "exercises",
            (*PLACE, "event_id"),
            (
                *optional("plain", sender=("transfer.sender", "sender", "provider")),
                *optional("json", inputs=("transfer.inputs", "inputs"), issuing_rounds="context.issuingMiningRounds"),
            ),
            (
                # A renewal states in its result alone whose preapproval it is.
                *optional("plain", "provider"),
                *optional("whole", within=_RESULTS, round="round.number"),
                *optional("amount", within=_RESULTS, paid="amuletPaid"),
                *optional("json", "summary", within=_RESULTS),
            ),
            choices=PAYING,
        ),
        "payment_summaries": Read(
            "payment_results",
            ("event_id",),
            (
                *required(
                    "amount",
                    app="inputAppRewardAmount",
                    validator_and_faucet="inputValidatorRewardAmount",
                    sv="inputSvRewardAmount",
                    coins="inputAmuletAmount",
                    holding_fees="holdingFees",
                    change_fee="senderChangeFee",
                    change="senderChangeAmount",
                    price="amuletPrice",
                ),
                # Not every release states these.
                *optional(
                    "amount",
                    validator_faucet="inputValidatorFaucetAmount",
                    unclaimed_activity="inputUnclaimedActivityRecordAmount",
                    development_fund="inputDevelopmentFundAmount",
                ),
                *required("amounts", output_fees="outputFees"),
            ),
            json="summary",
            closed=True,
            ignored=("balanceChanges",),
        ),
        "payment_inputs": Read(
            "payment_results",
            (*PLACE, "event_id"),
            (*optional("plain", "tag"), *optional("json", "value")),
            json="inputs",
            each=True,
        ),
        "made_coins": Read(
            "exercises",
            (*PLACE, "event_id"),
            results=(
                *required("plain", coin="amuletSum.amulet"),
                *optional("whole", round="amuletSum.round.number"),
            ),
            choices=("AmuletRules_DevNet_Tap", "AmuletRules_Mint"),
        ),
        "coin_expiries": Read(
            "exercises",
            (*PLACE, "contract_id"),
            results=optional("whole", round="expireSum.round.number"),
            choices=COIN_EXPIRIES,
            bare=True,
        ),
        "collections": Read(
            "exercises",
            (*PLACE, "event_id"),
            results=optional("plain", coin="amulet"),
            choices=("SubscriptionInitialPayment_Collect", "SubscriptionPayment_Collect"),
        ),
        "traffic_requests": Read(
            "exercises",
            (*PLACE, "event_id"),
            (
                *required("plain", "provider", member_id="memberId", synchronizer_id="synchronizerId"),
                *required("whole", traffic_migration_id="migrationId", bytes="trafficAmount"),
            ),
            (
                *optional("amount", paid="amuletPaid", price="summary.amuletPrice"),
                *optional("whole", round="round.number"),
            ),
            choices=("AmuletRules_BuyMemberTraffic",),
        ),
        "license_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "created_at", "contract_id"),
            (
                *required("plain", "validator", "sponsor"),
                *optional(
                    "whole",
                    within="faucetState.",
                    first_round="firstReceivedFor.number",
                    last_round="lastReceivedFor.number",
                    missed="numCouponsMissed",
                ),
                *optional("plain", version="metadata.version"),
            ),
            templates=(LICENSE,),
        ),
        # The amounts in the pools, with the grants of the development fund.
        "pool_shares": Read(
            "creates",
            (*PLACE, "shown_by", "contract_id"),
            required("amount", "amount"),
            templates=(*_POOLS, "Splice.Amulet:DevelopmentFundCoupon"),
        ),
        "lock_users": Read(
            "creates",
            ("contract_id",),
            optional("plain", locked_coin="lockedAmulet", lock_type='allocation.meta.values."cip-105/type"'),
            templates=_LOCK_USERS,
        ),
        # A party's standing consent to receive coin, and a proposal to host one with its keys elsewhere.
        "preapproval_contracts": Read(
            "creates",
            (*PLACE, "shown_by", "created_at", "contract_id", "parent_event_id"),
            (
                *required("plain", "provider", party="receiver"),
                *required("instant", expires_at="expiresAt"),
            ),
            templates=(PREAPPROVAL,),
        ),
        "setup_proposals": Read(
            "creates",
            ("record_time", "shown_by", "contract_id"),
            required("plain", party="user", provider="validator"),
            templates=(SETUP,),
        ),
        # Facts about parties in contracts, for the star schema.
        "name_service_entries": Read(
            "creates",
            (),
            required("plain", "name", party="user"),
            templates=("Splice.Ans:AnsEntry",),
        ),
        # That validators are alive: a record, or a coupon of older releases.
        "liveness_records": Read(
            "creates",
            (),
            (
                *required("plain", "validator"),
                *required("whole", round="round.number"),
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
                *required("plain", "sender", within="transfer."),
                *optional("plain", "provider", within="transfer."),
                *optional("json", "outputs", within="transfer."),
            ),
            sayings(""),
            choices=("AmuletRules_Transfer",),
            bare=True,
        ),
        "transfer_outputs": Read(
            "transfer_requests",
            (*PLACE, "event_id"),
            (
                *required("plain", "receiver"),
                *required("amount", "amount"),
                *optional("amount", receiver_fee_ratio="receiverFeeRatio"),
                *optional("json", "lock"),
            ),
            json="outputs",
            each=True,
        ),
        **GOVERNANCE_READS,
        **TOKEN_READS,
    }
)
