"""Coupons: where they come from, what they are worth, and how a transfer takes them and coins as inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ledgerframes.sandbox.generator.configuration import uses_traffic
from ledgerframes.sandbox.generator.summaries import Sums
from ledgerframes.sandbox.world.amounts import UNITS, decimal, divided, times, units
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.parties import name_of
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    APP_COUPON,
    COIN,
    FAUCET_COUPON,
    FUND_COUPON,
    ISSUING_ROUND,
    LIVENESS_RECORD,
    REWARD_COUPON,
    SV_COUPON,
    SV_REWARD_STATE,
    VALIDATOR_COUPON,
    VALIDATOR_RIGHT,
)


def reward_usage(
    tx: Transaction,
    sim: Simulation,
    *,
    user: str,
    provider: str | None,
    burned: int,
    featured: bool,
    open_round: Contract,
    under: Event,
) -> None:
    """Create the coupons for a transfer's burning: the user's validator's, and the app's, which a feature raises."""
    number = open_round.payload["round"]
    if burned:
        payload = {"user": user, "amount": decimal(burned), "round": number}
        tx.create(VALIDATOR_COUPON, payload, owner=sim.parties.host(user), under=under)
    extra = coin_for(open_round, UNITS) if featured else 0
    if provider is not None and burned + extra and not uses_traffic(open_round):
        app_coupon(tx, provider, provider, burned + extra, open_round, under, featured=featured, named=False)


def collect_sv_coupons(tx: Transaction, sim: Simulation) -> None:
    """Give a super validator its coupons of the round that opened last, some of them for others."""
    sv = sim.collecting.pop(0)
    open_round, state = sim.rounds[1], sim.one(SV_REWARD_STATE, sv)
    if state is None:
        return
    shares = _beneficiaries(sim, sv)
    argument = {
        "sv": sv,
        "openRoundCid": open_round.contract_id,
        "rewardStateCid": state.contract_id,
        "beneficiaries": [{"_1": share, "_2": str(weight)} for share, weight in shares],
    }
    event = tx.exercise(sim.dso_rules, "DsoRules_ReceiveSvRewardCoupon", argument, acting=(sv,))
    tx.archive(state, under=event)
    former, number = state.payload["state"], round_of(open_round)
    missed = max(0, number - int(former["lastRoundCollected"]["number"]) - 1)
    now = {
        "numRoundsMissed": str(int(former["numRoundsMissed"]) + missed),
        "numRoundsCollected": str(int(former["numRoundsCollected"]) + 1),
        "lastRoundCollected": {"number": str(number)},
        "numCouponsIssued": str(int(former["numCouponsIssued"]) + len(shares)),
    }
    payload = {**state.payload, "state": now}
    renewed = tx.create(SV_REWARD_STATE, payload, owner=sv, under=event)
    coupons = [
        tx.create(
            SV_COUPON,
            {
                "sv": sv,
                "beneficiary": share,
                "round": open_round.payload["round"],
                "weight": str(weight),
            },
            under=event,
        ).contract_id
        for share, weight in shares
    ]
    event["exercise_result"] = {"svRewardState": renewed.contract_id, "svRewardCoupons": coupons}


def weight_of_member(sim: Simulation, member: str) -> int:
    """A member's reward weight by the DSO's rules."""
    return int(dict(sim.dso_rules.payload["svs"])[member]["svRewardWeight"])


def first_reward_state(tx: Transaction, sv: str, *, under: Event) -> None:
    """Begin the count of a super validator's rounds."""
    state = {
        "numRoundsMissed": "0",
        "numRoundsCollected": "0",
        "lastRoundCollected": {"number": "-1"},
        "numCouponsIssued": "0",
    }
    payload = {"svName": name_of(sv), "state": state}
    tx.create(SV_REWARD_STATE, payload, owner=sv, under=under)


def app_coupon(
    tx: Transaction,
    provider: str,
    beneficiary: str,
    amount: int,
    open_round: Contract,
    under: Event,
    *,
    featured: bool,
    named: bool = True,
) -> Contract:
    """Create an app's coupon; if it names nobody, the provider may claim it."""
    payload = {
        "provider": provider,
        "featured": featured,
        "amount": decimal(amount),
        "round": open_round.payload["round"],
        "beneficiary": beneficiary if named else None,
    }
    return tx.create(APP_COUPON, payload, owner=beneficiary, under=under)


def _beneficiaries(sim: Simulation, sv: str) -> list[tuple[str, int]]:
    """The recipients of a super validator's reward: itself, and the validators behind it."""
    position = sim.parties.sponsors.index(sv)
    weight = weight_of_member(sim, sv)
    # On networks several parties are behind most super validators.
    share, hosted = weight // 10, sim.parties.validators[position :: len(sim.parties.sponsors)]
    return [(sv, weight - len(hosted) * share), *((party, share) for party in hosted)]


def coin_for(open_round: Contract, usd: int) -> int:
    """An amount of USD in coin at a round's price, both in ten-billionths."""
    return divided(usd, units(open_round.payload["amuletPrice"]))


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
        tx.exercise(coupon, choice, {}, acting=owner, consuming=True, under=under, result=f"{choice}Result")
    elif coupon.template is VALIDATOR_COUPON:
        sums.validator += worth
        right = right_of(sim, coupon.payload["user"])
        argument = {"validator": coupon.owner, "rightCid": right.contract_id if right else None}
        choice, acting = "ValidatorRewardCoupon_ArchiveAsValidator", sorted((coupon.owner, sim.parties.dso))
        tx.exercise(coupon, choice, argument, acting=acting, consuming=True, under=under, result=f"{choice}Result")
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
