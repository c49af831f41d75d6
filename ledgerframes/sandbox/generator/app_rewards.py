"""Rewards of featured apps: by markers of activity, which become coupons, or by traffic, worked out off the ledger.

Duties and activities call it. By traffic, as in the published model, a round's calculation is asked for when the round
closes, confirmed by its hash, and carried out; a dry run goes the same way and makes no coupon. There is a coupon per
provider and round, which is shared, claimed or expired by time.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from ledgerframes.sandbox.generator.coins import mint, pay
from ledgerframes.sandbox.generator.configuration import TRAFFIC_REWARDS, to_apps, uses_traffic
from ledgerframes.sandbox.generator.coupons import app_coupon, coin_for
from ledgerframes.sandbox.generator.governance import confirm, confirmations, execute
from ledgerframes.sandbox.generator.token_standard import extra_arguments
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, times, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    ACTIVITY_MARKER,
    CALCULATE_REWARDS,
    FEATURED_RIGHT,
    PROCESS_REWARDS,
    REWARD_COUPON,
    UNCLAIMED_REWARD,
)


def mark_activity(tx: Transaction, sim: Simulation) -> None:
    """Let a featured app mark its activity, alone or shared with some of its users."""
    rng = sim.rng
    rights = [right for one in sim.parties.validators if (right := sim.one(FEATURED_RIGHT, one)) is not None]
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
    choice, interface_id = "FeaturedAppRight_CreateActivityMarker", sim.packages.featured_interface
    event = tx.exercise(right, choice, argument, acting=(provider,), interface_id=interface_id)
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


_START: Final = "CRARC_StartProcessingRewardsV2"
_MOST_EXPIRED: Final = 40
_MOST_SHARED: Final = 6
#: Now and then a provider's participant does not know the coupon's package, so the coupon is hidden from it.
_HIDDEN: Final = 0.05


def ask_for_rewards(tx: Transaction, sim: Simulation, closing: Contract, *, under: Event) -> None:
    """Request the calculation of a round that closes, and of a dry run, according to its configuration."""
    config = closing.payload.get("rewardConfig")
    if config is None:
        return
    for version, dry_run in ((config["mintingVersion"], False), (config["dryRunVersion"], True)):
        if version == TRAFFIC_REWARDS:
            payload = {
                "round": closing.payload["round"],
                "roundClosedAt": tx.created_at,
                "rewardCouponTimeToLive": config["rewardCouponTimeToLive"],
                "dryRun": dry_run,
                "kind": None,
            }
            calculation = tx.create(CALCULATE_REWARDS, payload, under=under)
            sim.allowances[calculation.contract_id] = _allowances(sim, closing)


def next_duty(sim: Simulation) -> Any:
    """The next step of members for rewards, as a duty without its contracts; None if there is none."""
    calculation = sim.one(CALCULATE_REWARDS)
    if calculation is not None:
        return start_processing if confirmations(sim, calculation.contract_id) else confirm_hash
    if sim.one(PROCESS_REWARDS) is not None:
        return process
    return expire if _expired(sim) else None


def confirm_hash(tx: Transaction, sim: Simulation) -> None:
    """Let three members confirm the hash of the amounts that a round's providers may mint."""
    confirm(tx, sim, _START, _start_argument(sim, sim.the(CALCULATE_REWARDS)))


def start_processing(tx: Transaction, sim: Simulation) -> None:
    """Carry out the confirmed step: the hash is on the ledger, and its batch can be processed."""
    calculation = sim.the(CALCULATE_REWARDS)
    argument = _start_argument(sim, calculation)
    step = execute(tx, sim, _START, argument)
    tx.archive(calculation, under=step)
    payload = {**calculation.payload, "batchHash": argument["batchHash"]}
    begun = tx.create(PROCESS_REWARDS, payload, under=step)
    sim.allowances[begun.contract_id] = sim.allowances.pop(calculation.contract_id)


def process(tx: Transaction, sim: Simulation) -> None:
    """Make the coupons of a round, one per provider; a dry run makes none."""
    processing, dso = sim.the(PROCESS_REWARDS), sim.parties.dso
    allowances = sim.allowances.pop(processing.contract_id)
    hidden = [provider for provider, _ in allowances if sim.rng.random() < _HIDDEN]
    batch = [{"provider": provider, "amount": decimal(amount)} for provider, amount in allowances]
    inner = {
        "batch": {"tag": "BatchOfMintingAllowances", "value": batch},
        "providersWithWrongVettingState": {"map": [[provider, {}] for provider in hidden]},
    }
    member, name = sim.rng.choice(sim.parties.sponsors), "ProcessRewardsV2_ProcessBatch"
    argument = {"processRewardsCid": processing.contract_id, "choiceArg": inner, "sv": member}
    root = tx.exercise(sim.dso_rules, f"DsoRules_{name}", argument, acting=(member,))
    step = tx.exercise(processing, name, inner, acting=(dso,), consuming=True, under=root)
    if processing.payload["dryRun"]:
        return
    life = int(processing.payload["rewardCouponTimeToLive"]["microseconds"])
    for provider, amount in allowances:
        payload = {
            "provider": provider,
            "round": processing.payload["round"],
            "amount": decimal(amount),
            "expiresAt": timestamps.trimmed(tx.effective + life),
            "providerIsObserver": provider not in hidden,
            "beneficiary": None,
            "kind": None,
        }
        _create(tx, payload, under=step)


def share(tx: Transaction, sim: Simulation) -> None:
    """Let a provider assign its coupons to beneficiaries, itself among them."""
    mine = [one for one in claimable(sim) if one.payload["beneficiary"] is None]
    if not mine:
        return pay(tx, sim)
    provider = sim.rng.choice(mine).owner
    first, *others = [one for one in mine if one.owner == provider][:_MOST_SHARED]
    person = sim.parties.person(sim.rng)
    part = sim.rng.randrange(5, 95) * UNITS // 100
    shares = [(provider, part), (person, UNITS - part)]
    argument = {
        "additionalCoupons": [one.contract_id for one in others],
        "newBeneficiaries": [{"beneficiary": party, "percentage": decimal(part)} for party, part in shares],
        "extraArgs": extra_arguments(),
    }
    choice, interface_id = "RewardCoupon_AssignBeneficiaries", sim.packages.reward_interface
    event = tx.exercise(first, choice, argument, acting=(provider,), consuming=True, interface_id=interface_id)
    tx.archive(*others, under=event)
    made = []
    for party, part in shares:
        coupons = [
            {**one.payload, "amount": decimal(amount), "beneficiary": party, "providerIsObserver": True}
            for one in (first, *others)
            if (amount := times(units(one.payload["amount"]), part))
        ]
        made.append([party, [_create(tx, payload, under=event).contract_id for payload in coupons]])
    event["exercise_result"] = {"newBeneficiariesCouponCids": made}
    return None


def expire(tx: Transaction, sim: Simulation) -> None:
    """Let a member end the coupons whose time has passed; their value is unclaimed from then on."""
    coupons, member, dso = _expired(sim)[:_MOST_EXPIRED], sim.rng.choice(sim.parties.sponsors), sim.parties.dso
    observers = sorted({party for coupon in coupons for party in coupon.observers})
    inner = {"rewardCouponCids": [coupon.contract_id for coupon in coupons], "expiryObservers": observers}
    rules, name = sim.coin_rules, "ClaimExpiredRewardsV2"
    argument = {"amuletRulesCid": rules.contract_id, "choiceArg": inner, "sv": member}
    root = tx.exercise(sim.dso_rules, f"DsoRules_{name}", argument, acting=(member,))
    step = tx.exercise(rules, f"AmuletRules_{name}", inner, acting=(dso,), under=root)
    tx.archive(*coupons, under=step)
    amount = sum(units(coupon.payload["amount"]) for coupon in coupons)
    tx.create(UNCLAIMED_REWARD, {"amount": decimal(amount)}, under=step)


def claimable(sim: Simulation) -> list[Contract]:
    """The coupons that their beneficiaries, or else their providers, know of and may still mint."""
    return [one for one in _known(sim) if one.observers and timestamps.parse(one.payload["expiresAt"]) > sim.now]


def _expired(sim: Simulation) -> list[Contract]:
    # By record and by ledger time, either of which may be earlier.
    return [one for one in _known(sim) if timestamps.parse(one.payload["expiresAt"]) <= sim.now - 5 * timestamps.SECOND]


def _known(sim: Simulation) -> list[Contract]:
    return [one for one in sim.world.contracts.of(REWARD_COUPON) if not one.commanded]


def _create(tx: Transaction, payload: dict[str, Any], *, under: Event) -> Contract:
    return tx.create(REWARD_COUPON, payload, owner=payload["beneficiary"] or payload["provider"], under=under)


def _allowances(sim: Simulation, closing: Contract) -> list[tuple[str, int]]:
    """The amount that each featured app may mint for a round: its share by its activity and its weight."""
    weights = {
        right.payload["provider"]: sim.rng.randrange(1, 100) * units(right.payload["activityWeight"] or decimal(UNITS))
        for right in sim.world.contracts.of(FEATURED_RIGHT)
    }
    whole = to_apps(closing.payload["issuanceConfig"], tick=sim.calendar.tick)
    total = sum(weights.values()) or 1
    return [(provider, amount) for provider, weight in weights.items() if (amount := whole * weight // total)]


def _start_argument(sim: Simulation, calculation: Contract) -> dict[str, Any]:
    batch = repr(sim.allowances[calculation.contract_id]).encode()
    return {
        "calculateRewardsCid": calculation.contract_id,
        "batchHash": {"value": hashlib.sha256(batch).hexdigest()},
    }
