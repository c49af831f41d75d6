"""The kinds of rewards: the template of each, how its coupon is read, and which choices end it how."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct, field

from ledgerframes.economics.reading.models import FAUCET, LIVENESS, Round


class AppCoupon(Struct, frozen=True, gc=False):
    """A coupon of an application."""

    provider: str
    featured: bool
    weight: Decimal = field(name="amount")
    round: Round
    beneficiary: str | None = None


class ValidatorCoupon(Struct, frozen=True, gc=False):
    """A coupon of a validator, for what its user paid."""

    provider: str = field(name="user")
    weight: Decimal = field(name="amount")
    round: Round


class FaucetCoupon(Struct, frozen=True, gc=False):
    """A faucet coupon or a liveness record."""

    provider: str = field(name="validator")
    round: Round


class SvCoupon(Struct, frozen=True, gc=False):
    """A coupon of a super validator."""

    provider: str = field(name="sv")
    weight: Decimal
    round: Round
    beneficiary: str | None = None


class FundCoupon(Struct, frozen=True, gc=False):
    """A coupon of the development fund, which states coin."""

    provider: str = field(name="fundManager")
    beneficiary: str
    weight: Decimal = field(name="amount")


class ActivityRecord(Struct, frozen=True, gc=False):
    """An unclaimed activity record, which states coin."""

    beneficiary: str
    weight: Decimal = field(name="amount")


@dataclass(frozen=True)
class Kind:
    """A kind of reward.

    Attributes:
        name: as the column `kind` has it.
        coupon: the struct of its contract.
        in_coin: whether its weight is coin, so that no round issues it.
    """

    name: str
    coupon: Any
    in_coin: bool = False


KINDS: Final = {
    "Splice.Amulet:AppRewardCoupon": Kind("app", AppCoupon),
    "Splice.Amulet:ValidatorRewardCoupon": Kind("validator", ValidatorCoupon),
    FAUCET: Kind("validator_faucet", FaucetCoupon),
    LIVENESS: Kind("validator_faucet", FaucetCoupon),
    "Splice.Amulet:SvRewardCoupon": Kind("sv", SvCoupon),
    "Splice.Amulet:DevelopmentFundCoupon": Kind("development_fund", FundCoupon, in_coin=True),
    "Splice.Amulet:UnclaimedActivityRecord": Kind("unclaimed_activity", ActivityRecord, in_coin=True),
}
CLAIMS: Final = (
    *("SvRewardCoupon_ArchiveAsBeneficiary", "ValidatorRewardCoupon_ArchiveAsValidator"),
    "UnclaimedActivityRecord_ArchiveAsBeneficiary",
)
WITHDRAWALS: Final = ("DevelopmentFundCoupon_Withdraw", "DevelopmentFundCoupon_Reject")
EXPIRIES: Final = tuple(f"{template.rpartition(':')[2]}_DsoExpire" for template in KINDS)
#: Contracts of the same modules that are not rewards; any other that is named like a reward is counted.
REWARD_LIKE: Final = r"(?i)(coupon|reward|activityrecord)"
NOT_REWARDS: Final = (
    "Splice.Amulet:UnclaimedReward",
    "Splice.Amulet:UnclaimedDevelopmentFundCoupon",
    "Splice.DSO.SvState:SvRewardState",
)


def issued_kind(name: str, *, featured: bool | None) -> str:
    """The kind of issuance that a kind of reward is multiplied with."""
    return name if name != "app" else "featured_app" if featured else "unfeatured_app"
