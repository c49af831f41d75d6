"""The types of known templates' payloads, so that a column of `expand` has the same type for any rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, TEXT, TIME, Kind

_COIN: Final = {
    "dso": TEXT, "owner": TEXT, "amount.initialAmount": AMOUNT, "amount.createdAt.number": INT64,
    "amount.ratePerRound.rate": AMOUNT,
}  # fmt: skip
_LIVE: Final = {"dso": TEXT, "validator": TEXT, "round.number": INT64}
_ISSUANCE: Final = {
    "dso": TEXT, "round.number": INT64, "issuancePerValidatorRewardCoupon": AMOUNT,
    "issuancePerFeaturedAppRewardCoupon": AMOUNT, "issuancePerUnfeaturedAppRewardCoupon": AMOUNT,
    "issuancePerSvRewardCoupon": AMOUNT, "optIssuancePerValidatorFaucetCoupon": AMOUNT,
}  # fmt: skip
_CONFIG: Final = {
    "dso": TEXT, "round.number": INT64, "amuletPrice": AMOUNT, "tickDuration.microseconds": INT64,
    "issuanceConfig.amuletToIssuePerYear": AMOUNT, "issuanceConfig.validatorRewardPercentage": AMOUNT,
    "issuanceConfig.appRewardPercentage": AMOUNT, "issuanceConfig.validatorRewardCap": AMOUNT,
    "issuanceConfig.featuredAppRewardCap": AMOUNT, "issuanceConfig.unfeaturedAppRewardCap": AMOUNT,
    "issuanceConfig.optValidatorFaucetCap": AMOUNT, "issuanceConfig.optDevelopmentFundPercentage": AMOUNT,
}  # fmt: skip
_SUMMARY: Final = dict.fromkeys(
    (
        f"summary.{name}"
        for name in (
            "inputAppRewardAmount", "inputValidatorRewardAmount", "inputSvRewardAmount", "inputAmuletAmount",
            "holdingFees", "senderChangeFee", "senderChangeAmount", "amuletPrice", "inputValidatorFaucetAmount",
            "inputUnclaimedActivityRecordAmount", "inputDevelopmentFundAmount",
        )
    ),
    AMOUNT,
)  # fmt: skip
_RULES: Final = "Splice.AmuletRules:AmuletRules"

_CREATES: Final[Mapping[str, Mapping[str, Kind]]] = {
    "Splice.Amulet:Amulet": _COIN,
    "Splice.Amulet:LockedAmulet": {f"amulet.{path}": kind for path, kind in _COIN.items()} | {"lock.expiresAt": TIME},
    "Splice.Amulet:AppRewardCoupon": {
        "dso": TEXT, "provider": TEXT, "featured": BOOL, "amount": AMOUNT, "round.number": INT64, "beneficiary": TEXT,
    },
    "Splice.Amulet:ValidatorRewardCoupon": {"dso": TEXT, "user": TEXT, "amount": AMOUNT, "round.number": INT64},
    "Splice.Amulet:SvRewardCoupon": {
        "dso": TEXT, "sv": TEXT, "beneficiary": TEXT, "round.number": INT64, "weight": INT64,
    },
    "Splice.Amulet:UnclaimedReward": {"dso": TEXT, "amount": AMOUNT},
    "Splice.Amulet:UnclaimedActivityRecord": {
        "dso": TEXT, "beneficiary": TEXT, "amount": AMOUNT, "reason": TEXT, "expiresAt": TIME,
    },
    "Splice.Amulet:DevelopmentFundCoupon": {
        "dso": TEXT, "beneficiary": TEXT, "fundManager": TEXT, "amount": AMOUNT, "expiresAt": TIME, "reason": TEXT,
    },
    "Splice.Amulet:FeaturedAppActivityMarker": {
        "dso": TEXT, "provider": TEXT, "beneficiary": TEXT, "weight": AMOUNT,
    },
    "Splice.ValidatorLicense:ValidatorLivenessActivityRecord": _LIVE,
    "Splice.ValidatorLicense:ValidatorFaucetCoupon": _LIVE,
    "Splice.ValidatorLicense:ValidatorLicense": {
        "validator": TEXT, "sponsor": TEXT, "dso": TEXT, "faucetState.firstReceivedFor.number": INT64,
        "faucetState.lastReceivedFor.number": INT64, "faucetState.numCouponsMissed": INT64,
        "metadata.version": TEXT, "metadata.lastUpdatedAt": TIME, "lastActiveAt": TIME,
    },
    "Splice.Round:OpenMiningRound": _CONFIG | {
        "opensAt": TIME, "targetClosesAt": TIME, "issuingFor.microseconds": INT64,
        "transferConfigUsd.createFee.fee": AMOUNT, "transferConfigUsd.holdingFee.rate": AMOUNT,
        "transferConfigUsd.transferFee.initialRate": AMOUNT, "transferConfigUsd.lockHolderFee.fee": AMOUNT,
        "transferConfigUsd.extraFeaturedAppRewardAmount": AMOUNT,
    },
    "Splice.Round:SummarizingMiningRound": _CONFIG,
    "Splice.Round:IssuingMiningRound": _ISSUANCE | {"opensAt": TIME, "targetClosesAt": TIME},
    "Splice.Round:ClosedMiningRound": _ISSUANCE,
    "Splice.AmuletRules:TransferPreapproval": {
        "dso": TEXT, "receiver": TEXT, "provider": TEXT, "validFrom": TIME, "lastRenewedAt": TIME, "expiresAt": TIME,
    },
    "Splice.Ans:AnsEntry": {
        "dso": TEXT, "user": TEXT, "name": TEXT, "url": TEXT, "description": TEXT, "expiresAt": TIME,
    },
}  # fmt: skip
_ARGUMENTS: Final[Mapping[tuple[str, str], Mapping[str, Kind]]] = {
    (_RULES, "AmuletRules_Transfer"): {"transfer.sender": TEXT, "transfer.provider": TEXT, "expectedDso": TEXT},
    (_RULES, "AmuletRules_BuyMemberTraffic"): {
        "provider": TEXT, "memberId": TEXT, "synchronizerId": TEXT, "migrationId": INT64, "trafficAmount": INT64,
        "expectedDso": TEXT,
    },
}  # fmt: skip
_RESULTS: Final[Mapping[tuple[str, str], Mapping[str, Kind]]] = {
    (_RULES, "AmuletRules_Transfer"): _SUMMARY | {"round.number": INT64, "senderChangeAmulet": TEXT},
    (_RULES, "AmuletRules_BuyMemberTraffic"): _SUMMARY | {
        "round.number": INT64, "amuletPaid": AMOUNT, "senderChangeAmulet": TEXT, "purchasedTraffic": TEXT,
    },
}  # fmt: skip


def declared_kinds(template: str, choice: str | None, of: str) -> Mapping[str, Kind]:
    """The kinds of the paths of a template's creates, or of a choice's arguments or results; empty if not known."""
    if choice is None:
        return _CREATES.get(template, {})
    return (_RESULTS if of == "result" else _ARGUMENTS).get((template, choice), {})


def as_declared(values: pa.ChunkedArray, kind: Kind) -> pa.ChunkedArray:
    """Values in their declared type, if all of them fit it exactly; otherwise unchanged."""
    if values.type == kind.arrow:
        return values
    if values.null_count == len(values):
        return pa.chunked_array([pa.nulls(len(values), kind.arrow)])
    # A text that looks like a number is one only if the template does not declare it as text.
    if kind is TEXT and not pa.types.is_string(values.type):
        return values
    try:
        return values.cast(kind.arrow)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return values
