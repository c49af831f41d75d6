"""The ledger's records as structs: only the members that a table reads; `economics` decodes JSON into them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final

from msgspec import UNSET, Raw, Struct, field
from msgspec import Meta as Bounds

AMULET: Final = "Splice.Amulet:Amulet"
LOCKED_AMULET: Final = "Splice.Amulet:LockedAmulet"
COINS: Final = (AMULET, LOCKED_AMULET)
RULES: Final = "Splice.AmuletRules:AmuletRules"
PREAPPROVAL: Final = "Splice.AmuletRules:TransferPreapproval"
INSTRUCTION: Final = "Splice.AmuletTransferInstruction:AmuletTransferInstruction"
OPEN_ROUND: Final = "Splice.Round:OpenMiningRound"
SUMMARIZING_ROUND: Final = "Splice.Round:SummarizingMiningRound"
ISSUING_ROUND: Final = "Splice.Round:IssuingMiningRound"
CLOSED_ROUND: Final = "Splice.Round:ClosedMiningRound"
LICENSE: Final = "Splice.ValidatorLicense:ValidatorLicense"
LIVENESS: Final = "Splice.ValidatorLicense:ValidatorLivenessActivityRecord"
FAUCET: Final = "Splice.ValidatorLicense:ValidatorFaucetCoupon"
#: Metadata of the token standard and of the coin.
META: Final = "splice.lfdecentralizedtrust.org/"


#: A whole number that a column of 64 bits holds.
Int64 = Annotated[int, Bounds(ge=-(2**63), le=2**63 - 1)]


class Round(Struct, frozen=True, gc=False):
    """A round's number."""

    number: Int64


class Micros(Struct, frozen=True, gc=False):
    """A duration."""

    microseconds: Int64


class Meta(Struct, frozen=True, gc=False):
    """Metadata: texts by key."""

    values: dict[str, Any] = field(default_factory=dict)


class Rate(Struct, frozen=True, gc=False):
    """A rate."""

    rate: Decimal


class ExpiringAmount(Struct, frozen=True, gc=False):
    """An amount and its holding fee."""

    initial: Decimal = field(name="initialAmount")
    created: Round = field(name="createdAt")
    rate: Rate = field(name="ratePerRound")


class Lock(Struct, frozen=True, gc=False):
    """Who holds a lock, and until when."""

    holders: list[str]
    expires: datetime = field(name="expiresAt")


class Amulet(Struct, frozen=True, gc=False):
    """A coin."""

    owner: str
    amount: ExpiringAmount


class LockedAmulet(Struct, frozen=True, gc=False):
    """A locked coin."""

    amulet: Amulet
    lock: Lock


class TransferSummary(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """What a transfer took in and charged; all members are named, so that a new one is noticed."""

    app: Decimal = field(name="inputAppRewardAmount")
    validator: Decimal = field(name="inputValidatorRewardAmount")
    sv: Decimal = field(name="inputSvRewardAmount")
    coin: Decimal = field(name="inputAmuletAmount")
    holding_fees: Decimal = field(name="holdingFees")
    output_fees: list[Decimal] = field(name="outputFees")
    change_fee: Decimal = field(name="senderChangeFee")
    change: Decimal = field(name="senderChangeAmount")
    price: Decimal = field(name="amuletPrice")
    balance_changes: Raw = field(name="balanceChanges", default=Raw(b"null"))
    faucet: Decimal | None = field(name="inputValidatorFaucetAmount", default=None)
    unclaimed_activity: Decimal | None = field(name="inputUnclaimedActivityRecordAmount", default=None)
    development_fund: Decimal | None = field(name="inputDevelopmentFundAmount", default=None)


class TransferInput(Struct, frozen=True, gc=False):
    """A coin or a coupon that goes into a transfer."""

    tag: str
    value: Any = None


class Output(Struct, frozen=True, gc=False):
    """Who receives how much of a transfer."""

    receiver: str
    amount: Decimal
    ratio: Decimal | None = field(name="receiverFeeRatio", default=None)
    lock: Raw = Raw(b"null")


class Transfer(Struct, frozen=True, gc=False):
    """A transfer as it was asked for."""

    sender: str
    provider: str | None = None
    inputs: list[TransferInput] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)


class TransferArgument(Struct, frozen=True, gc=False):
    """The argument of `AmuletRules_Transfer`."""

    transfer: Transfer


class Said(Struct, frozen=True, gc=False):
    """What tables read of the metadata of a transfer's result."""

    tx_kind: Any = field(name=f"{META}tx-kind", default=UNSET)
    reason: Any = field(name=f"{META}reason", default=UNSET)


class ResultMeta(Struct, frozen=True, gc=False):
    """The metadata of a transfer's result."""

    values: Said = field(default_factory=Said)


class TransferResult(Struct, frozen=True, gc=False):
    """What a transfer, or a purchase that is one, returned."""

    round: Round | None = None
    summary: TransferSummary | None = None
    paid: Decimal | None = field(name="amuletPaid", default=None)
    meta: ResultMeta | None = None


class WrappedResult(Struct, frozen=True, gc=False):
    """What a choice returned that made a transfer, under either of two names, and perhaps paid."""

    transfer: TransferResult | None = field(name="transferResult", default=None)
    result: TransferResult | None = None
    paid: Decimal | None = field(name="amuletPaid", default=None)
    meta: ResultMeta | None = None
