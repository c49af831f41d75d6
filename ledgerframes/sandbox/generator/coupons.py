"""Coupons: where they come from, what they are worth, and how a transfer takes them and coins as inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ledgerframes.sandbox.generator.configuration import PER_COUPON, uses_traffic
from ledgerframes.sandbox.generator.summaries import Sums
from ledgerframes.sandbox.world.amounts import UNITS, decimal, divided, quotient, units
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
    tx: Transaction, user: str, provider: str | None, burned: int, open_round: Contract, under: Event, *, featured: bool
) -> None:
    """Create the coupons for a transfer's burning: the user's validator's, and the app's, which a feature raises."""
    number = open_round.payload["round"]
    if burned:
        payload = {"user": user, "amount": decimal(burned), "round": number}
        tx.create(VALIDATOR_COUPON, payload, owner=tx.sim.parties.host(user), under=under)
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


class Kind(NamedTuple):
    """How a transfer that claims it, and its round, use a kind of coupon.

    Attributes:
        tag: of a transfer's input.
        sums: the sums of a transfer that it adds to.
        share: the share of a round's issuance that it is paid from; empty for a coupon that states coin itself.
        listed: the list of a round's expired coupons that it belongs to.
    """

    tag: str
    sums: tuple[str, ...]
    share: str = ""
    listed: str = ""


_ACTIVITY: Final = "InputValidatorLivenessActivityRecord"
KINDS: Final = {
    VALIDATOR_COUPON: Kind("InputValidatorRewardCoupon", ("validator",), "validator", "validatorRewardCouponCids"),
    APP_COUPON: Kind("InputAppRewardCoupon", ("app",), "unfeatured", "appCouponCids"),
    SV_COUPON: Kind("InputSvRewardCoupon", ("sv",), "sv", "svRewardCouponCids"),
    # The validators' amount contains the faucets'.
    FAUCET_COUPON: Kind("ExtTransferInput", ("validator", "faucet"), "faucet", "optValidatorFaucetCouponCids"),
    LIVENESS_RECORD: Kind(_ACTIVITY, ("validator", "faucet"), "faucet", "optValidatorLivenessActivityRecordCids"),
    FUND_COUPON: Kind("InputDevelopmentFundCoupon", ("fund",)),
    REWARD_COUPON: Kind("InputRewardCouponV2", ("app",)),
}


def consume_coupon(tx: Transaction, sim: Simulation, coupon: Contract, sums: Sums, *, under: Event) -> None:
    """End a coupon as the input of a transfer, and add its value to the transfer's sums."""
    kind = KINDS[coupon.template]
    if kind.share:
        worth = quotient(worth_of(coupon, issuing(sim)[round_of(coupon)]), UNITS)
    else:
        worth = units(coupon.payload["amount"])
    for name in kind.sums:
        setattr(sums, name, getattr(sums, name) + worth)
    argument: dict[str, Any] = {}
    if coupon.template is SV_COUPON:
        choice, acting = "SvRewardCoupon_ArchiveAsBeneficiary", [coupon.owner]
    elif coupon.template is VALIDATOR_COUPON:
        right = sim.one(VALIDATOR_RIGHT, coupon.payload["user"])
        argument = {"validator": coupon.owner, "rightCid": right.contract_id if right else None}
        choice, acting = "ValidatorRewardCoupon_ArchiveAsValidator", sorted((coupon.owner, sim.parties.dso))
    else:
        tx.archive(coupon, under=under)
        return
    tx.exercise(coupon, choice, argument, acting=acting, consuming=True, under=under, result=f"{choice}Result")


def tagged(one: Contract) -> dict[str, Any]:
    """A coin or a coupon as a transfer's input."""
    if one.template is COIN:
        return {"tag": "InputAmulet", "value": one.contract_id}
    faucet = {"dummyUnitField": {}, "optInputValidatorFaucetCoupon": one.contract_id}
    return {"tag": KINDS[one.template].tag, "value": faucet if one.template is FAUCET_COUPON else one.contract_id}


def issuing_rounds(sim: Simulation, coupons: Sequence[Contract]) -> list[list[Any]]:
    """The rounds that coupons are claimed from, each with its contract."""
    coupons = [coupon for coupon in coupons if KINDS[coupon.template].share]
    rounds = issuing(sim) if coupons else {}
    return [
        [rounds[number].payload["round"], rounds[number].contract_id]
        for number in sorted({round_of(coupon) for coupon in coupons})
    ]


def rights_of(sim: Simulation, coupons: Sequence[Contract]) -> list[list[str]]:
    """The rights that validators need for their users' coupons, by user."""
    users = sorted({coupon.payload["user"] for coupon in coupons if coupon.template is VALIDATOR_COUPON})
    rights = [(user, sim.one(VALIDATOR_RIGHT, user)) for user in users]
    return [[user, right.contract_id] for user, right in rights if right is not None]


def issuing(sim: Simulation) -> dict[int, Contract]:
    """The rounds that are issuing, by number."""
    return {round_of(issuing): issuing for issuing in sim.world.contracts.free(ISSUING_ROUND, sim.main).values()}


def share_of(coupon: Contract) -> str:
    """The share of a round's issuance that a coupon is paid from, a member of `Totals` and of `Issuance`."""
    share = KINDS[coupon.template].share
    return "featured" if share == "unfeatured" and coupon.payload["featured"] else share


def weight_of(coupon: Contract) -> int:
    """A coupon's weight in its share: an amount in ten-billionths, a super validator's weight, or one for a faucet."""
    weight = coupon.payload.get("weight", 1)
    return units(coupon.payload["amount"]) if "amount" in coupon.payload else int(weight)


def worth_of(coupon: Contract, mining_round: Contract) -> int:
    """A coupon's worth in an issuing or closed round, in ten-billionths of a ten-billionth: a sum is rounded once."""
    each = units(mining_round.payload[PER_COUPON[share_of(coupon)]])
    return weight_of(coupon) * each * (1 if "amount" in coupon.payload else UNITS)
