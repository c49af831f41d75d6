"""The templates whose contracts live on the simulated ledger, and the package hashes they carry at a time."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from types import MappingProxyType
from typing import Final

from ledgerframes.sandbox.world.contracts import Template

COIN: Final = Template("Splice.Amulet:Amulet", "splice-amulet")
LOCKED_COIN: Final = Template("Splice.Amulet:LockedAmulet", "splice-amulet")
COIN_RULES: Final = Template("Splice.AmuletRules:AmuletRules", "splice-amulet")
TRANSFER_FACTORY: Final = Template("Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules", "splice-amulet")
OPEN_ROUND: Final = Template("Splice.Round:OpenMiningRound", "splice-amulet")
ISSUING_ROUND: Final = Template("Splice.Round:IssuingMiningRound", "splice-amulet")
PREAPPROVAL: Final = Template("Splice.AmuletRules:TransferPreapproval", "splice-amulet")
LICENSE: Final = Template("Splice.ValidatorLicense:ValidatorLicense", "splice-amulet")
DSO_RULES: Final = Template("Splice.DsoRules:DsoRules", "splice-dso-governance")
DSO_BOOTSTRAP: Final = Template("Splice.DsoBootstrap:DsoBootstrap", "splice-dso-governance")
STATUS_REPORT: Final = Template("Splice.DSO.SvState:SvStatusReport", "splice-dso-governance")
NAME_RULES: Final = Template("Splice.Ans:AnsRules", "splice-amulet-name-service")
NAME_ENTRY: Final = Template("Splice.Ans:AnsEntry", "splice-amulet-name-service")
OFFER: Final = Template("Splice.Wallet.TransferOffer:TransferOffer", "splice-wallet")
ACCEPTED_OFFER: Final = Template("Splice.Wallet.TransferOffer:AcceptedTransferOffer", "splice-wallet")
APP_COUPON: Final = Template("Splice.Amulet:AppRewardCoupon", "splice-amulet", of_round=True)
VALIDATOR_COUPON: Final = Template("Splice.Amulet:ValidatorRewardCoupon", "splice-amulet", of_round=True)
SV_COUPON: Final = Template("Splice.Amulet:SvRewardCoupon", "splice-amulet", of_round=True)
FAUCET_COUPON: Final = Template("Splice.ValidatorLicense:ValidatorFaucetCoupon", "splice-amulet", of_round=True)
LIVENESS_RECORD: Final = Template(
    "Splice.ValidatorLicense:ValidatorLivenessActivityRecord", "splice-amulet", of_round=True
)
UNCLAIMED_REWARD: Final = Template("Splice.Amulet:UnclaimedReward", "splice-amulet")
FUND_COUPON: Final = Template("Splice.Amulet:DevelopmentFundCoupon", "splice-amulet")
UNCLAIMED_FUND_COUPON: Final = Template("Splice.Amulet:UnclaimedDevelopmentFundCoupon", "splice-amulet")
ACTIVITY_MARKER: Final = Template("Splice.Amulet:FeaturedAppActivityMarker", "splice-amulet")
FEATURED_RIGHT: Final = Template("Splice.Amulet:FeaturedAppRight", "splice-amulet")
VALIDATOR_RIGHT: Final = Template("Splice.Amulet:ValidatorRight", "splice-amulet")
SUMMARIZING_ROUND: Final = Template("Splice.Round:SummarizingMiningRound", "splice-amulet")
CLOSED_ROUND: Final = Template("Splice.Round:ClosedMiningRound", "splice-amulet")
MEMBER_TRAFFIC: Final = Template("Splice.DecentralizedSynchronizer:MemberTraffic", "splice-amulet")
TRANSFER_INSTRUCTION: Final = Template("Splice.AmuletTransferInstruction:AmuletTransferInstruction", "splice-amulet")
CONFIRMATION: Final = Template("Splice.DsoRules:Confirmation", "splice-dso-governance")
SV_REWARD_STATE: Final = Template("Splice.DSO.SvState:SvRewardState", "splice-dso-governance")
NAME_CONTEXT: Final = Template("Splice.Ans:AnsEntryContext", "splice-amulet-name-service")
SUBSCRIPTION_REQUEST: Final = Template("Splice.Wallet.Subscriptions:SubscriptionRequest", "splice-wallet-payments")
SUBSCRIPTION: Final = Template("Splice.Wallet.Subscriptions:Subscription", "splice-wallet-payments")
IDLE_SUBSCRIPTION: Final = Template("Splice.Wallet.Subscriptions:SubscriptionIdleState", "splice-wallet-payments")
FIRST_PAYMENT: Final = Template("Splice.Wallet.Subscriptions:SubscriptionInitialPayment", "splice-wallet-payments")
LATER_PAYMENT: Final = Template("Splice.Wallet.Subscriptions:SubscriptionPayment", "splice-wallet-payments")
REWARD_COUPON: Final = Template("Splice.Amulet:RewardCouponV2", "splice-amulet")
CALCULATE_REWARDS: Final = Template("Splice.Amulet.RewardAccountingV2:CalculateRewardsV2", "splice-amulet")
PROCESS_REWARDS: Final = Template("Splice.Amulet.RewardAccountingV2:ProcessRewardsV2", "splice-amulet")
VOTE_REQUEST: Final = Template("Splice.DsoRules:VoteRequest", "splice-dso-governance")
PRICE_VOTE: Final = Template("Splice.DSO.AmuletPrice:AmuletPriceVote", "splice-dso-governance")
TOKEN: Final = Template("Harbor.Token:Holding", "harbor-token")
TOKEN_RULES: Final = Template("Harbor.Token:Rules", "harbor-token")
IOU: Final = Template("Iou:Iou", "iou-app")
SETTLEMENT: Final = Template("Settlement:Batch", "iou-app")

TEMPLATES: Final = (
    COIN, LOCKED_COIN, COIN_RULES, TRANSFER_FACTORY, OPEN_ROUND, ISSUING_ROUND, PREAPPROVAL, LICENSE, DSO_RULES,
    STATUS_REPORT, NAME_RULES, NAME_ENTRY, OFFER, ACCEPTED_OFFER, IOU, SETTLEMENT, APP_COUPON, VALIDATOR_COUPON,
    SV_COUPON, FAUCET_COUPON, LIVENESS_RECORD, UNCLAIMED_REWARD, ACTIVITY_MARKER, FEATURED_RIGHT, VALIDATOR_RIGHT,
    SUMMARIZING_ROUND, CLOSED_ROUND, MEMBER_TRAFFIC, TRANSFER_INSTRUCTION, CONFIRMATION, SV_REWARD_STATE, NAME_CONTEXT,
    SUBSCRIPTION_REQUEST, SUBSCRIPTION, IDLE_SUBSCRIPTION, FIRST_PAYMENT, LATER_PAYMENT, TOKEN, TOKEN_RULES,
    FUND_COUPON, UNCLAIMED_FUND_COUPON, DSO_BOOTSTRAP, REWARD_COUPON, CALCULATE_REWARDS, PROCESS_REWARDS, VOTE_REQUEST,
    PRICE_VOTE,
)  # fmt: skip

TRANSFER_INTERFACE: Final = "Splice.Api.Token.TransferInstructionV1:TransferFactory"
HOLDING_INTERFACE: Final = "Splice.Api.Token.HoldingV1:Holding"
INSTRUCTION_INTERFACE: Final = "Splice.Api.Token.TransferInstructionV1:TransferInstruction"
EVENT_LOG_INTERFACE: Final = "Splice.Api.Token.TransferEventsV2:EventLog"
REWARD_INTERFACE: Final = "Splice.Api.RewardAssignmentV1:RewardCoupon"
FEATURED_INTERFACE: Final = "Splice.Api.FeaturedAppRightV1:FeaturedAppRight"
ALLOCATION_INTERFACE: Final = "Splice.Api.Token.AllocationInstructionV1:AllocationFactory"

# The interfaces that each template implements, both as `Module:Entity`.
IMPLEMENTED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        COIN.entity: (HOLDING_INTERFACE,),
        LOCKED_COIN.entity: (HOLDING_INTERFACE,),
        TRANSFER_FACTORY.entity: (TRANSFER_INTERFACE, ALLOCATION_INTERFACE),
    }
)


class Packages:
    """The hash under which each package's new contracts are created now."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._ids: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        self._names: dict[str, str] = {}
        instructions, logs, features = (f"{rng.getrandbits(256):064x}" for _ in range(3))
        self.transfer_interface = f"{instructions}:{TRANSFER_INTERFACE}"
        self.instruction_interface = f"{instructions}:{INSTRUCTION_INTERFACE}"
        self.event_log_interface = f"{logs}:{EVENT_LOG_INTERFACE}"
        self.featured_interface = f"{features}:{FEATURED_INTERFACE}"
        # Of no draw of its own, so that histories without it keep their bytes.
        self.reward_interface = f"{features[::-1]}:{REWARD_INTERFACE}"

    def template_id(self, template: Template) -> str:
        """The id a contract of that template gets when it is created now."""
        known = self._ids.get(template.entity)
        if known is None:
            if template.package_name not in self._hashes:
                self._hashes[template.package_name] = f"{self._rng.getrandbits(256):064x}"
                self._names[self._hashes[template.package_name]] = template.package_name
            known = self._ids[template.entity] = f"{self._hashes[template.package_name]}:{template.entity}"
        return known

    def named(self, reference: str) -> Template | None:
        """The template that `#package-name:Module:Entity` or an id with a package's hash, old or new, refers to."""
        package, _, entity = reference.partition(":")
        name = package.removeprefix("#") if package.startswith("#") else self._names.get(package)
        return next(
            (template for template in TEMPLATES if (template.entity, template.package_name) == (entity, name)), None
        )

    def upgrade(self, package_name: str) -> None:
        """Replace a package by a newer one: contracts created from now on carry another hash."""
        self._hashes.pop(package_name, None)
        self._ids.clear()
