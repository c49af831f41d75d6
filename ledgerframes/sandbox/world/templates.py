"""The templates whose contracts live on the simulated ledger, and the package hashes they carry at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, Final

from ledgerframes.sandbox.world.contracts import Template

Payload = Mapping[str, Any]

_DSO: Final = "splice-dso-governance"
_NAMES: Final = "splice-amulet-name-service"
_WALLET: Final = "splice-wallet"
_PAYMENTS: Final = "splice-wallet-payments"


def _splice(entity: str, package_name: str = "splice-amulet", **stakeholders: Any) -> Template:
    return Template(f"Splice.{entity}", package_name, **stakeholders)


def _of_reward_coupon(payload: Payload) -> Iterable[str]:
    """Nobody where the provider's participant does not know the coupon's package."""
    parties = dict.fromkeys((payload["provider"], payload["beneficiary"] or payload["provider"]))
    return parties if payload["providerIsObserver"] else ()


def _subscribers(payload: Payload) -> list[str]:
    return sorted((payload["subscriptionData"]["dso"], payload["subscriptionData"]["sender"]))


# Its owner signs twice where it is the organization itself.
COIN: Final = _splice("Amulet:Amulet", signatories=lambda coin: (coin["dso"], coin["owner"]), owner="owner")
LOCKED_COIN: Final = _splice(
    "Amulet:LockedAmulet",
    signatories=lambda locked: dict.fromkeys(
        (locked["amulet"]["dso"], locked["amulet"]["owner"], *locked["lock"]["holders"])
    ),
)
COIN_RULES: Final = _splice("AmuletRules:AmuletRules")
TRANSFER_FACTORY: Final = _splice("ExternalPartyAmuletRules:ExternalPartyAmuletRules")
OPEN_ROUND: Final = _splice("Round:OpenMiningRound")
ISSUING_ROUND: Final = _splice("Round:IssuingMiningRound")
PREAPPROVAL: Final = _splice(
    "AmuletRules:TransferPreapproval", signatories=("dso", "receiver", "provider"), owner="receiver"
)
LICENSE: Final = _splice("ValidatorLicense:ValidatorLicense", observers=("validator",), owner="validator")
DSO_RULES: Final = _splice("DsoRules:DsoRules", _DSO)
DSO_BOOTSTRAP: Final = _splice("DsoBootstrap:DsoBootstrap", _DSO, observers=("sv1Party",))
STATUS_REPORT: Final = _splice("DSO.SvState:SvStatusReport", _DSO, owner="sv")
NAME_RULES: Final = _splice("Ans:AnsRules", _NAMES)
NAME_ENTRY: Final = _splice("Ans:AnsEntry", _NAMES, signatories=("dso", "user"), owner="user")
OFFER: Final = _splice("Wallet.TransferOffer:TransferOffer", _WALLET, signatories=("sender",), observers=("receiver",))
ACCEPTED_OFFER: Final = _splice(
    "Wallet.TransferOffer:AcceptedTransferOffer", _WALLET, signatories=("sender", "receiver")
)
APP_COUPON: Final = _splice(
    "Amulet:AppRewardCoupon",
    of_round=True,
    observers=lambda coupon: sorted({coupon["provider"], coupon["beneficiary"] or coupon["provider"]}),
)
VALIDATOR_COUPON: Final = _splice("Amulet:ValidatorRewardCoupon", of_round=True, observers=("user",))
SV_COUPON: Final = _splice("Amulet:SvRewardCoupon", of_round=True, observers=("sv", "beneficiary"), owner="beneficiary")
FAUCET_COUPON: Final = _splice(
    "ValidatorLicense:ValidatorFaucetCoupon", of_round=True, signatories=("dso", "validator"), owner="validator"
)
LIVENESS_RECORD: Final = _splice(
    "ValidatorLicense:ValidatorLivenessActivityRecord", of_round=True, observers=("validator",), owner="validator"
)
UNCLAIMED_REWARD: Final = _splice("Amulet:UnclaimedReward")
FUND_COUPON: Final = _splice(
    "Amulet:DevelopmentFundCoupon",
    observers=lambda coupon: sorted({coupon["beneficiary"], coupon["fundManager"]}),
    owner="beneficiary",
)
UNCLAIMED_FUND_COUPON: Final = _splice("Amulet:UnclaimedDevelopmentFundCoupon")
ACTIVITY_MARKER: Final = _splice("Amulet:FeaturedAppActivityMarker", observers=("provider", "beneficiary"))
FEATURED_RIGHT: Final = _splice("Amulet:FeaturedAppRight", observers=("provider",), owner="provider")
VALIDATOR_RIGHT: Final = _splice("Amulet:ValidatorRight", signatories=("user", "validator"), owner="user")
SUMMARIZING_ROUND: Final = _splice("Round:SummarizingMiningRound")
CLOSED_ROUND: Final = _splice("Round:ClosedMiningRound")
MEMBER_TRAFFIC: Final = _splice("DecentralizedSynchronizer:MemberTraffic")
TRANSFER_INSTRUCTION: Final = _splice(
    "AmuletTransferInstruction:AmuletTransferInstruction",
    signatories=lambda sent: sorted((sent["transfer"]["instrumentId"]["admin"], sent["transfer"]["sender"])),
    observers=lambda sent: (sent["transfer"]["receiver"],),
)
CONFIRMATION: Final = _splice("DsoRules:Confirmation", _DSO)
SV_REWARD_STATE: Final = _splice("DSO.SvState:SvRewardState", _DSO)
NAME_CONTEXT: Final = _splice("Ans:AnsEntryContext", _NAMES, signatories=("dso", "user"), owner="user")
SUBSCRIPTION_REQUEST: Final = _splice("Wallet.Subscriptions:SubscriptionRequest", _PAYMENTS, signatories=_subscribers)
SUBSCRIPTION: Final = _splice("Wallet.Subscriptions:Subscription", _PAYMENTS, signatories=_subscribers)
IDLE_SUBSCRIPTION: Final = _splice("Wallet.Subscriptions:SubscriptionIdleState", _PAYMENTS, signatories=_subscribers)
FIRST_PAYMENT: Final = _splice("Wallet.Subscriptions:SubscriptionInitialPayment", _PAYMENTS, signatories=_subscribers)
LATER_PAYMENT: Final = _splice("Wallet.Subscriptions:SubscriptionPayment", _PAYMENTS, signatories=_subscribers)
REWARD_COUPON: Final = _splice("Amulet:RewardCouponV2", observers=_of_reward_coupon)
CALCULATE_REWARDS: Final = _splice("Amulet.RewardAccountingV2:CalculateRewardsV2")
PROCESS_REWARDS: Final = _splice("Amulet.RewardAccountingV2:ProcessRewardsV2")
VOTE_REQUEST: Final = _splice("DsoRules:VoteRequest", _DSO)
PRICE_VOTE: Final = _splice("DSO.AmuletPrice:AmuletPriceVote", _DSO, owner="sv")
TOKEN: Final = Template(
    "Harbor.Token:Holding",
    "harbor-token",
    signatories=lambda holding: sorted({holding["admin"], holding["owner"]}),
    owner="owner",
)
TOKEN_RULES: Final = Template("Harbor.Token:Rules", "harbor-token", signatories=("admin",))
IOU: Final = Template(
    "Iou:Iou",
    "iou-app",
    signatories=("issuer",),
    observers=lambda iou: dict.fromkeys((iou["owner"], *iou["observers"])),
)
SETTLEMENT: Final = Template("Settlement:Batch", "iou-app", signatories=("operator",))

_TEMPLATES: Final = {(one.entity, one.package_name): one for one in tuple(vars().values()) if isinstance(one, Template)}

TRANSFER_INTERFACE: Final = "Splice.Api.Token.TransferInstructionV1:TransferFactory"
HOLDING_INTERFACE: Final = "Splice.Api.Token.HoldingV1:Holding"
INSTRUCTION_INTERFACE: Final = "Splice.Api.Token.TransferInstructionV1:TransferInstruction"
EVENT_LOG_INTERFACE: Final = "Splice.Api.Token.TransferEventsV2:EventLog"
REWARD_INTERFACE: Final = "Splice.Api.RewardAssignmentV1:RewardCoupon"
FEATURED_INTERFACE: Final = "Splice.Api.FeaturedAppRightV1:FeaturedAppRight"
ALLOCATION_INTERFACE: Final = "Splice.Api.Token.AllocationInstructionV1:AllocationFactory"


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
        return None if name is None else _TEMPLATES.get((entity, name))

    def upgrade(self, package_name: str) -> None:
        """Replace a package by a newer one: contracts created from now on carry another hash."""
        self._hashes.pop(package_name, None)
        self._ids.clear()
