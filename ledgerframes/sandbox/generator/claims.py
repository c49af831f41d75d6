"""Where coupons go: claimed as inputs of a transfer while their round is issuing, or expired by a member after it."""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.generator.app_rewards import claimable
from ledgerframes.sandbox.generator.coins import mint
from ledgerframes.sandbox.generator.coupons import issuance_for, right_of, weight_of
from ledgerframes.sandbox.generator.transfers import Payment, purse, transfer
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, quotient, units
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.simulation import Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    APP_COUPON,
    FAUCET_COUPON,
    ISSUING_ROUND,
    LIVENESS_RECORD,
    SV_COUPON,
    UNCLAIMED_REWARD,
    VALIDATOR_COUPON,
)

MOST_EXPIRED: Final = 60
MOST_CLAIMED: Final = 80

_LISTS: Final = {
    VALIDATOR_COUPON.entity: "validatorRewardCouponCids",
    APP_COUPON.entity: "appCouponCids",
    SV_COUPON.entity: "svRewardCouponCids",
    FAUCET_COUPON.entity: "optValidatorFaucetCouponCids",
    LIVENESS_RECORD.entity: "optValidatorLivenessActivityRecordCids",
}


def claim(tx: Transaction, sim: Simulation) -> None:
    """Let somebody claim all that its coupons are worth in the rounds that are issuing."""
    issuing = [
        each
        for each in sim.world.contracts.free(ISSUING_ROUND, sim.main).values()
        if timestamps.parse(each.payload["opensAt"]) <= sim.now
    ]
    waiting = [coupon for each in issuing for coupon in sim.world.contracts.free_coupons(round_of(each), sim.main)]
    waiting += claimable(sim)
    owner = sim.rng.choice(waiting).owner if waiting else ""
    coupons = [item for item in waiting if item.owner == owner and _claimable(sim, item)][:MOST_CLAIMED]
    if not coupons:
        return mint(tx, sim)
    inputs = [*purse(sim, owner, sim.rng.randrange(4)), *coupons]
    transfer(tx, sim, inputs, [], Payment(sim.open_round()), sender=owner)
    return None


def has_expirable(sim: Simulation, closed: Contract) -> bool:
    """Whether a closed round has left coupons."""
    return any(sim.world.contracts.free_coupons(round_of(closed), sim.main))


def expire_coupons(tx: Transaction, sim: Simulation, closed: Contract) -> None:
    """Let a member expire coupons of one kind of a closed round; their value is unclaimed from then on."""
    left = list(sim.world.contracts.free_coupons(round_of(closed), sim.main))
    coupons = [coupon for coupon in left if coupon.template is left[0].template][:MOST_EXPIRED]
    member, dso = sim.rng.choice(sim.parties.sponsors), sim.parties.dso
    lists: dict[str, Any] = {name: None if name.startswith("opt") else [] for name in _LISTS.values()}
    lists[_LISTS[coupons[0].template.entity]] = [coupon.contract_id for coupon in coupons]
    argument = {
        "amuletRulesCid": sim.coin_rules.contract_id,
        "choiceArg": {"closedRoundCid": closed.contract_id, **lists},
        "sv": member,
    }
    root = tx.exercise(sim.dso_rules, "DsoRules_ClaimExpiredRewards", argument, acting=(member,))
    worth = 0
    for coupon in coupons:
        name = coupon.template.entity.partition(":")[2]
        argument = {"closedRoundCid": closed.contract_id}
        choice, result = f"{name}_DsoExpire", _expired(coupon)
        tx.exercise(coupon, choice, argument, acting=(dso,), consuming=True, under=root, result=result)
        worth += weight_of(coupon) * issuance_for(closed, coupon)
    # Rounded once, so the sum of the rounded coupons can differ in the last digits.
    unclaimed = tx.create(UNCLAIMED_REWARD, {"amount": decimal(quotient(worth, UNITS))}, under=root)
    root["exercise_result"] = {"unclaimedReward": unclaimed.contract_id}


def merge_unclaimed(tx: Transaction, sim: Simulation) -> None:
    """Merge the unclaimed rewards, once there are many."""
    rewards, member = list(sim.world.contracts.free(UNCLAIMED_REWARD, sim.main).values()), sim.parties.sponsors[0]
    rules, dso = sim.coin_rules, sim.parties.dso
    inner = {"unclaimedRewardCids": [reward.contract_id for reward in rewards]}
    argument = {"amuletRulesCid": rules.contract_id, **inner, "sv": member}
    root = tx.exercise(sim.dso_rules, "DsoRules_MergeUnclaimedRewards", argument, acting=(member,))
    step = tx.exercise(rules, "AmuletRules_MergeUnclaimedRewards", inner, acting=(dso,), under=root)
    tx.archive(*rewards, under=step)
    amount = sum(units(reward.payload["amount"]) for reward in rewards)
    merged = tx.create(UNCLAIMED_REWARD, {"amount": decimal(amount)}, under=step)
    step["exercise_result"] = {"unclaimedRewardCid": merged.contract_id}
    root["exercise_result"] = {"unclaimedReward": merged.contract_id}


def _claimable(sim: Simulation, coupon: Contract) -> bool:
    return coupon.template is not VALIDATOR_COUPON or right_of(sim, coupon.payload["user"]) is not None


def _expired(coupon: Contract) -> Any:
    if coupon.template is SV_COUPON:
        return {"weight": coupon.payload["weight"]}
    if coupon.template is APP_COUPON:
        return {"featured": coupon.payload["featured"], "amount": coupon.payload["amount"]}
    if coupon.template is VALIDATOR_COUPON:
        return {"amount": coupon.payload["amount"]}
    return f"{coupon.template.entity.partition(':')[2]}_DsoExpireResult"
