"""The development fund: its manager allots what rounds set aside, beneficiaries claim it or not; duties call it.

Only what the published models say: shares are set aside when a round starts issuing, `AmuletRules` allots them as a
coupon to a beneficiary until a time, and the coupon is claimed as an input of a transfer, given back, or expired.
"""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.generator.transfers import Payment, purse, transfer
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import decimal, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import FUND_COUPON, UNCLAIMED_FUND_COUPON

#: The number of shares of rounds that are allotted together.
_SHARES: Final = 3
#: The number of ticks during which a coupon can be claimed; something happens to it after one.
_TICKS: Final = 4
_REASONS: Final = ("Wallet for merchants", "Audit of the bridge", "Documentation", "Explorer")
_REJECT, _WITHDRAW = "DevelopmentFundCoupon_Reject", "DevelopmentFundCoupon_Withdraw"
_EXPIRE: Final = "DevelopmentFundCoupon_DsoExpire"
# By the last digit of the coupon's id: which one happens takes no chance from other activities.
_ENDS: Final = {**dict.fromkeys("89a", _REJECT), **dict.fromkeys("bcd", _WITHDRAW), **dict.fromkeys("ef", _EXPIRE)}


def set_aside(tx: Transaction, amount: int, *, under: Event) -> str | None:
    """Create the fund's share of a round; returns its contract id, None without a share."""
    return _unclaimed(tx, amount, under=under) if amount else None


def is_due(sim: Simulation) -> bool:
    """Whether shares wait to be allotted, or something happens to a coupon."""
    coupon = _coupon(sim)
    if coupon is None:
        return len(_shares(sim)) >= _SHARES
    until = timestamps.parse(coupon.payload["expiresAt"])
    waits = 0 if _end_of(coupon) == _EXPIRE else (_TICKS - 1) * sim.calendar.tick
    return sim.now >= until - waits


def act(tx: Transaction, sim: Simulation) -> None:
    """Allot shares of rounds, or let a coupon that was allotted end."""
    coupon = _coupon(sim)
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
    shares, manager = _shares(sim), sim.parties.fund_manager
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
    left = _unclaimed(tx, whole - amount, under=root)
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
    again = _unclaimed(tx, units(payload["amount"]), under=root)
    root["exercise_result"] = {"unclaimedDevelopmentFundCouponCid": again}


def _unclaimed(tx: Transaction, amount: int, *, under: Event) -> str:
    return tx.create(UNCLAIMED_FUND_COUPON, {"amount": decimal(amount)}, under=under).contract_id


def _shares(sim: Simulation) -> list[Contract]:
    return list(sim.world.contracts.free(UNCLAIMED_FUND_COUPON, sim.main).values())


def _coupon(sim: Simulation) -> Contract | None:
    """The coupon that is allotted, if there is one."""
    return next((one for one in sim.world.contracts.of(FUND_COUPON) if not one.commanded), None)


def _end_of(coupon: Contract) -> str:
    return _ENDS.get(coupon.contract_id[-1], "")
