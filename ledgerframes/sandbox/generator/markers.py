"""Markers of featured apps' activity, which become coupons; the generator's activities and duties call it."""

from __future__ import annotations

from ledgerframes.sandbox.generator.coins import mint
from ledgerframes.sandbox.generator.coupons import app_coupon, coin_for
from ledgerframes.sandbox.generator.round_terms import uses_traffic
from ledgerframes.sandbox.world.amounts import UNITS, decimal, times, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import ACTIVITY_MARKER, FEATURED_RIGHT
from ledgerframes.sandbox.world.transaction import Transaction


def mark_activity(tx: Transaction, sim: Simulation) -> None:
    """Let a featured app mark its activity, alone or shared with some of its users."""
    rng = sim.rng
    rights = [
        right
        for validator in sim.parties.validators
        for right in [sim.one(FEATURED_RIGHT, validator)]
        if right is not None
    ]
    if not rights:
        return mint(tx, sim)
    right = rng.choice(rights)
    # Apps mark in batches if there is much to mark.
    for _ in range(rng.randrange(2, 10)):
        _mark(tx, sim, right)
    return None


def _mark(tx: Transaction, sim: Simulation, right: Contract) -> None:
    rng = sim.rng
    provider: str = right.payload["provider"]
    others = {sim.parties.person(rng) for _ in range(rng.randrange(1, 5))}
    shares = _weights(rng.randrange(5, 100), [provider, *sorted(others)])
    argument = {"beneficiaries": [{"beneficiary": share, "weight": decimal(weight)} for share, weight in shares]}
    event = tx.exercise(
        right,
        "FeaturedAppRight_CreateActivityMarker",
        argument,
        acting=(provider,),
        interface_id=sim.packages.featured_interface,
    )
    markers = [
        tx.create(
            ACTIVITY_MARKER,
            {"provider": provider, "beneficiary": share, "weight": decimal(weight)},
            under=event,
        )
        for share, weight in shares
    ]
    event["exercise_result"] = {"activityMarkerCids": [marker.contract_id for marker in markers]}


def convert_markers(tx: Transaction, sim: Simulation) -> None:
    """Turn the waiting markers into app coupons, one for each app and beneficiary."""
    markers = list(sim.world.contracts.free(ACTIVITY_MARKER, sim.main).values())[:30]
    open_round, rules, member = sim.rounds[1], sim.coin_rules, sim.rng.choice(sim.parties.sponsors)
    inner = {
        "markerCids": [marker.contract_id for marker in markers],
        "openMiningRoundCid": open_round.contract_id,
        "observers": None,
    }
    argument = {"amuletRulesCid": rules.contract_id, "argument": inner, "sv": member}
    name = "AmuletRules_ConvertFeaturedAppActivityMarkers"
    root = tx.exercise(sim.dso_rules, f"DsoRules_{name}", argument, acting=(member,))
    step = tx.exercise(rules, name, inner, acting=(sim.parties.dso,), under=root)
    weights: dict[tuple[str, str], int] = {}
    tx.archive(*markers, under=step)
    for marker in markers:
        key = (marker.payload["provider"], marker.payload["beneficiary"])
        weights[key] = weights.get(key, 0) + units(marker.payload["weight"])
    whole = coin_for(open_round, UNITS)
    coupons = [
        app_coupon(tx, provider, beneficiary, times(weight, whole), open_round, step, featured=True).contract_id
        for (provider, beneficiary), weight in ({} if uses_traffic(open_round) else weights).items()
    ]
    step["exercise_result"] = {"appRewardCouponCids": coupons}
    root["exercise_result"] = {"result": step["exercise_result"]}


def _weights(percent: int, parties: list[str]) -> list[tuple[str, int]]:
    """Shares of one in whole percents: the first party's, and the rest for the others."""
    if len(parties) == 1:
        return [(parties[0], UNITS)]
    others, rest = parties[1:], 100 - percent
    shares = [percent + rest % len(others), *[rest // len(others)] * len(others)]
    return [(party, share * UNITS // 100) for party, share in zip(parties, shares, strict=True) if share]
