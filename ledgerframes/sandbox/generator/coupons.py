"""Where coupons come from: usage, which transfers reward, and the work of super validators."""

from __future__ import annotations

from ledgerframes.sandbox.generator.issuance import uses_traffic
from ledgerframes.sandbox.world.amounts import UNITS, decimal, divided, units
from ledgerframes.sandbox.world.configuration import name_of
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import APP_COUPON, DSO_RULES, SV_COUPON, SV_REWARD_STATE, VALIDATOR_COUPON
from ledgerframes.sandbox.world.transaction import Event, Transaction


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
    dso, number = sim.parties.dso, open_round.payload["round"]
    if burned:
        payload = {"dso": dso, "user": user, "amount": decimal(burned), "round": number}
        tx.create(VALIDATOR_COUPON, payload, owner=sim.parties.host(user), under=under)
    extra = coin_for(open_round, UNITS) if featured else 0
    if provider is not None and burned + extra and not uses_traffic(open_round):
        app_coupon(tx, sim, provider, provider, burned + extra, open_round, under, featured=featured, named=False)


def collect_sv_coupons(tx: Transaction, sim: Simulation) -> None:
    """Give a super validator its coupons of the round that opened last, some of them for others."""
    sv, dso = sim.collecting.pop(0), sim.parties.dso
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
    event = tx.exercise(sim.rules[DSO_RULES.entity], "DsoRules_ReceiveSvRewardCoupon", argument, acting=(sv,))
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
                "dso": dso,
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
    return int(dict(sim.rules[DSO_RULES.entity].payload["svs"])[member]["svRewardWeight"])


def first_reward_state(tx: Transaction, sim: Simulation, sv: str, *, under: Event) -> None:
    """Begin the count of a super validator's rounds."""
    state = {
        "numRoundsMissed": "0",
        "numRoundsCollected": "0",
        "lastRoundCollected": {"number": "-1"},
        "numCouponsIssued": "0",
    }
    payload = {"dso": sim.parties.dso, "svName": name_of(sv), "state": state}
    tx.create(SV_REWARD_STATE, payload, owner=sv, under=under)


def app_coupon(
    tx: Transaction,
    sim: Simulation,
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
        "dso": sim.parties.dso,
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
