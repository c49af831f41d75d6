"""Where coupons go: claimed as inputs of a transfer, or ended by a member after their time; and the development fund.

Of the fund only what the published models say: shares are set aside when a round starts issuing, `AmuletRules` allots
them as a coupon to a beneficiary until a time, and the coupon is claimed as an input of a transfer, given back, or
expired.
"""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.generator.app_rewards import claimable
from ledgerframes.sandbox.generator.coins import mint
from ledgerframes.sandbox.generator.coupons import KINDS, worth_of
from ledgerframes.sandbox.generator.transfers import Payment, purse, transfer
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, quotient, units
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    FUND_COUPON,
    ISSUING_ROUND,
    UNCLAIMED_FUND_COUPON,
    UNCLAIMED_REWARD,
    VALIDATOR_COUPON,
    VALIDATOR_RIGHT,
)

MOST_EXPIRED: Final = 60
MOST_CLAIMED: Final = 80


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
    mine = (coupon for coupon in waiting if coupon.owner == owner)
    # A validator claims what its users' burning earns by a right that each of them gave.
    coupons = [
        one for one in mine if one.template is not VALIDATOR_COUPON or sim.one(VALIDATOR_RIGHT, one.payload["user"])
    ][:MOST_CLAIMED]
    if not coupons:
        return mint(tx, sim)
    inputs = [*purse(sim, owner, sim.rng.randrange(4)), *coupons]
    transfer(tx, sim, inputs, [], Payment(sim.open_round()), sender=owner)
    return None


def expire_coupons(tx: Transaction, sim: Simulation, closed: Contract) -> None:
    """Let a member expire coupons of one kind of a closed round; their value is unclaimed from then on."""
    left = list(sim.world.contracts.free_coupons(round_of(closed), sim.main))
    coupons = [coupon for coupon in left if coupon.template is left[0].template][:MOST_EXPIRED]
    member, dso = sim.rng.choice(sim.parties.sponsors), sim.parties.dso
    names = [kind.listed for kind in KINDS.values() if kind.listed]
    lists: dict[str, Any] = {name: None if name.startswith("opt") else [] for name in names}
    lists[KINDS[coupons[0].template].listed] = [coupon.contract_id for coupon in coupons]
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
        told = {name: coupon.payload[name] for name in ("featured", "weight", "amount") if name in coupon.payload}
        choice, result = f"{name}_DsoExpire", told or f"{name}_DsoExpireResult"
        tx.exercise(coupon, choice, argument, acting=(dso,), consuming=True, under=root, result=result)
        worth += worth_of(coupon, closed)
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


#: The number of shares of rounds that are allotted together.
_SHARES: Final = 3
#: The number of ticks during which a coupon can be claimed; something happens to it after one.
_TICKS: Final = 4
_REASONS: Final = ("Wallet for merchants", "Audit of the bridge", "Documentation", "Explorer")
_REJECT, _WITHDRAW = "DevelopmentFundCoupon_Reject", "DevelopmentFundCoupon_Withdraw"
_EXPIRE: Final = "DevelopmentFundCoupon_DsoExpire"
# By the last digit of the coupon's id: which one happens takes no chance from other activities.
_ENDS: Final = {**dict.fromkeys("89a", _REJECT), **dict.fromkeys("bcd", _WITHDRAW), **dict.fromkeys("ef", _EXPIRE)}


def set_aside(tx: Transaction, amount: int, *, under: Event) -> str:
    """Put an amount into the fund; returns the id of its contract."""
    return tx.create(UNCLAIMED_FUND_COUPON, {"amount": decimal(amount)}, under=under).contract_id


def fund_is_due(sim: Simulation) -> bool:
    """Whether shares wait to be allotted, or something happens to a coupon."""
    coupon = _allotted(sim)
    if coupon is None:
        return len(sim.world.contracts.free(UNCLAIMED_FUND_COUPON, sim.main)) >= _SHARES
    until = timestamps.parse(coupon.payload["expiresAt"])
    waits = 0 if _end_of(coupon) == _EXPIRE else (_TICKS - 1) * sim.calendar.tick
    return sim.now >= until - waits


def use_fund(tx: Transaction, sim: Simulation) -> None:
    """Allot shares of rounds, or let a coupon that was allotted end."""
    coupon = _allotted(sim)
    if coupon is None:
        _allot(tx, sim)
    elif timestamps.parse(coupon.payload["expiresAt"]) <= sim.now:
        _give_back(tx, coupon, _EXPIRE)
    elif _end_of(coupon):
        _give_back(tx, coupon, _end_of(coupon))
    else:
        owner = coupon.owner
        transfer(tx, sim, [*purse(sim, owner, 2), coupon], [], Payment(sim.open_round()), sender=owner)


def _allot(tx: Transaction, sim: Simulation) -> None:
    """Allot two thirds of the shares; the rest becomes one share."""
    shares = list(sim.world.contracts.free(UNCLAIMED_FUND_COUPON, sim.main).values())
    manager = sim.parties.fund_manager
    beneficiary = sim.parties.person(sim.rng)
    whole = sum(units(share.payload["amount"]) for share in shares)
    amount = whole * 2 // 3
    terms = {
        "beneficiary": beneficiary,
        "amount": decimal(amount),
        "expiresAt": timestamps.trimmed(sim.now + _TICKS * sim.calendar.tick),
        "reason": sim.rng.choice(_REASONS),
        "fundManager": manager,
        "mintAfter": timestamps.trimmed(sim.now + sim.calendar.tick),
    }
    argument = {"unclaimedDevelopmentFundCouponCids": [share.contract_id for share in shares], **terms}
    rules, choice = sim.coin_rules, "AmuletRules_AllocateDevelopmentFundCoupon"
    root = tx.exercise(rules, choice, argument, acting=(manager,))
    tx.archive(*shares, under=root)
    coupon = tx.create(FUND_COUPON, terms, under=root)
    left = set_aside(tx, whole - amount, under=root)
    root["exercise_result"] = {
        "developmentFundCouponCid": coupon.contract_id,
        "optUnclaimedDevelopmentFundCouponCid": left,
    }


def _give_back(tx: Transaction, coupon: Contract, choice: str) -> None:
    """End a coupon without minting: its amount is the fund's again."""
    payload = coupon.payload
    acting = {_REJECT: payload["beneficiary"], _WITHDRAW: payload["fundManager"]}.get(choice, payload["dso"])
    argument: dict[str, Any] = {} if choice == _EXPIRE else {"reason": "not needed any more"}
    root = tx.exercise(coupon, choice, argument, acting=(acting,), consuming=True)
    again = set_aside(tx, units(payload["amount"]), under=root)
    root["exercise_result"] = {"unclaimedDevelopmentFundCouponCid": again}


def _allotted(sim: Simulation) -> Contract | None:
    """The coupon that is allotted, if there is one."""
    for coupon in sim.world.contracts.of(FUND_COUPON):
        if not coupon.commanded:
            return coupon
    return None


def _end_of(coupon: Contract) -> str:
    return _ENDS.get(coupon.contract_id[-1], "")
