"""The inputs of a transfer: how coins and coupons are named, what coupons are worth, and how they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ledgerframes.sandbox.generator.summaries import Sums
from ledgerframes.sandbox.world.amounts import UNITS, times, units
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import (
    APP_COUPON,
    COIN,
    FAUCET_COUPON,
    FUND_COUPON,
    ISSUING_ROUND,
    LIVENESS_RECORD,
    REWARD_COUPON,
    SV_COUPON,
    VALIDATOR_COUPON,
    VALIDATOR_RIGHT,
)
from ledgerframes.sandbox.world.transaction import Event, Transaction

_TAGS: Final = {
    COIN.entity: "InputAmulet",
    APP_COUPON.entity: "InputAppRewardCoupon",
    VALIDATOR_COUPON.entity: "InputValidatorRewardCoupon",
    SV_COUPON.entity: "InputSvRewardCoupon",
    LIVENESS_RECORD.entity: "InputValidatorLivenessActivityRecord",
    FUND_COUPON.entity: "InputDevelopmentFundCoupon",
    REWARD_COUPON.entity: "InputRewardCouponV2",
}


# They state coin, and no round issues them.
_IN_COIN: Final = (FUND_COUPON, REWARD_COUPON)


def consume_coupon(tx: Transaction, sim: Simulation, coupon: Contract, sums: Sums, *, under: Event) -> None:
    """End a coupon as the input of a transfer, and add its value to the transfer's sums."""
    if coupon.template in _IN_COIN:
        if coupon.template is FUND_COUPON:
            sums.fund += units(coupon.payload["amount"])
        else:
            sums.app += units(coupon.payload["amount"])
        tx.archive(coupon, under=under)
        return
    worth = times(weight_of(coupon), issuance_for(issuing(sim)[round_of(coupon)], coupon))
    if coupon.template is SV_COUPON:
        sums.sv += worth
        choice, owner = "SvRewardCoupon_ArchiveAsBeneficiary", (coupon.owner,)
        ended = tx.exercise(coupon, choice, {}, acting=owner, consuming=True, under=under)
        ended["exercise_result"] = f"{choice}Result"
    elif coupon.template is VALIDATOR_COUPON:
        sums.validator += worth
        right = right_of(sim, coupon.payload["user"])
        argument = {"validator": coupon.owner, "rightCid": right.contract_id if right else None}
        choice, acting = "ValidatorRewardCoupon_ArchiveAsValidator", sorted((coupon.owner, sim.parties.dso))
        ended = tx.exercise(coupon, choice, argument, acting=acting, consuming=True, under=under)
        ended["exercise_result"] = f"{choice}Result"
    else:
        if coupon.template is APP_COUPON:
            sums.app += worth
        else:
            # The validators' amount contains the faucets'.
            sums.validator += worth
            sums.faucet += worth
        tx.archive(coupon, under=under)


def tagged(one: Contract) -> dict[str, Any]:
    """A coin or a coupon as a transfer's input."""
    if one.template is FAUCET_COUPON:
        inner = {"dummyUnitField": {}, "optInputValidatorFaucetCoupon": one.contract_id}
        return {"tag": "ExtTransferInput", "value": inner}
    return {"tag": _TAGS[one.template.entity], "value": one.contract_id}


def issuing_rounds(sim: Simulation, coupons: Sequence[Contract]) -> list[list[Any]]:
    """The rounds that coupons are claimed from, each with its contract."""
    coupons = [coupon for coupon in coupons if coupon.template not in _IN_COIN]
    rounds = issuing(sim) if coupons else {}
    return [
        [rounds[number].payload["round"], rounds[number].contract_id]
        for number in sorted({round_of(coupon) for coupon in coupons})
    ]


def rights_of(sim: Simulation, coupons: Sequence[Contract]) -> list[list[str]]:
    """The rights that validators need for their users' coupons, by user."""
    users = sorted({coupon.payload["user"] for coupon in coupons if coupon.template is VALIDATOR_COUPON})
    rights = [(user, right_of(sim, user)) for user in users]
    return [[user, right.contract_id] for user, right in rights if right is not None]


def right_of(sim: Simulation, user: str) -> Contract | None:
    """The right of a user's validator to claim the rewards for the user's burning."""
    return sim.one(VALIDATOR_RIGHT, user)


def issuing(sim: Simulation) -> dict[int, Contract]:
    """The rounds that are issuing, by number."""
    return {round_of(issuing): issuing for issuing in sim.world.contracts.free(ISSUING_ROUND, sim.main).values()}


def weight_of(coupon: Contract) -> int:
    """A coupon's weight in ten-billionths of one."""
    if coupon.template in (FAUCET_COUPON, LIVENESS_RECORD):
        return UNITS
    return int(coupon.payload["weight"]) * UNITS if coupon.template is SV_COUPON else units(coupon.payload["amount"])


def issuance_for(mining_round: Contract, coupon: Contract) -> int:
    """The issuance of an issuing or closed round per unit of a coupon's weight."""
    kind = coupon.template
    if kind in (FAUCET_COUPON, LIVENESS_RECORD):
        name = "optIssuancePerValidatorFaucetCoupon"
    elif kind is APP_COUPON:
        name = f"issuancePer{'Featured' if coupon.payload['featured'] else 'Unfeatured'}AppRewardCoupon"
    else:
        name = "issuancePerSvRewardCoupon" if kind is SV_COUPON else "issuancePerValidatorRewardCoupon"
    return units(mining_round.payload[name])
