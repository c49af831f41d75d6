"""The life of a mining round: open, summarizing, issuing, closed, gone; the members' duties call it."""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.generator.app_rewards import ask_for_rewards
from ledgerframes.sandbox.generator.claims import set_aside
from ledgerframes.sandbox.generator.configuration import (
    PER_COUPON,
    Totals,
    issuance_config,
    issuance_of,
    to_apps,
    transfer_config,
    uses_traffic,
)
from ledgerframes.sandbox.generator.coupons import share_of, weight_of
from ledgerframes.sandbox.generator.governance import confirm, current_config, execute, median_price, price_votes
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import decimal, spelled, units
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    CLOSED_ROUND,
    ISSUING_ROUND,
    OPEN_ROUND,
    SUMMARIZING_ROUND,
    UNCLAIMED_REWARD,
)

FIRST_PRICE: Final = 50_000_000


def open_round(tx: Transaction, sim: Simulation, number: int, under: Event, *, usable: int | None = None) -> Contract:
    """Create an open mining round and put it last in the row; transfers can use it from `usable` on."""
    calendar, votes = sim.calendar, price_votes(sim)
    opens_at = sim.now + calendar.tick if usable is None else usable
    later = number * calendar.tick >= calendar.step
    payload = {
        "round": {"number": str(number)},
        "amuletPrice": decimal(median_price(votes) if votes else FIRST_PRICE),
        "opensAt": timestamps.trimmed(opens_at),
        "targetClosesAt": timestamps.trimmed(opens_at + 2 * calendar.tick),
        "issuingFor": {"microseconds": str(number * calendar.tick)},
        "transferConfigUsd": transfer_config(charged=sim.now < calendar.fees_end),
        "issuanceConfig": issuance_config(later=later),
        "tickDuration": {"microseconds": str(calendar.tick)},
    }
    # Rounds and their summaries have the members of the newer rewards only if the configuration does.
    config = current_config(sim)
    if "rewardConfig" in config:
        price = config["decentralizedSynchronizer"]["fees"]["extraTrafficPrice"]
        payload |= {"rewardConfig": config["rewardConfig"], "trafficPrice": price}
    opened = tx.create(OPEN_ROUND, payload, under=under)
    sim.round_opened = sim.now
    return opened


def advance_rounds(tx: Transaction, sim: Simulation) -> None:
    """Summarize the earliest open round and open the next."""
    closing, newest = sim.rounds[0], round_of(sim.rounds[-1])
    rounds = {
        "roundToArchiveCid": closing.contract_id,
        "middleRoundCid": sim.rounds[1].contract_id,
        "latestRoundCid": sim.rounds[-1].contract_id,
    }
    rules, delegate = sim.coin_rules, sim.parties.sponsors[0]
    argument = {
        "amuletRulesCid": rules.contract_id,
        **rounds,
        "amuletPriceVoteCids": [vote.contract_id for vote in price_votes(sim)],
        "sv": delegate,
    }
    root = tx.exercise(sim.dso_rules, "DsoRules_AdvanceOpenMiningRounds", argument, acting=(delegate,))
    step = tx.exercise(rules, "AmuletRules_AdvanceOpenMiningRounds", {}, acting=(sim.parties.dso,), under=root)
    tx.archive(closing, under=step)
    terms = ("dso", "round", "amuletPrice", "issuanceConfig", "tickDuration", "rewardConfig", "trafficPrice")
    payload = {name: closing.payload[name] for name in terms if name in closing.payload}
    summarizing = tx.create(SUMMARIZING_ROUND, payload, under=step)
    ask_for_rewards(tx, sim, closing, under=step)
    opened = open_round(tx, sim, newest + 1, step)
    step["choice_argument"] = {"amuletPrice": opened.payload["amuletPrice"], **rounds}
    step["exercise_result"] = {
        "summarizingRoundCid": summarizing.contract_id,
        "openRoundCid": opened.contract_id,
    }
    root["exercise_result"] = {"summarizingRound": summarizing.contract_id, "openRound": opened.contract_id}
    tx.workflow_id = "advance-rounds"
    # Most members collect for most rounds; a round that nobody is left to collect for has been missed.
    sim.collecting = [sponsor for sponsor in sim.parties.sponsors if sim.rng.random() < 0.9]
    if sim.world.earliest_round is None:
        sim.world.earliest_round = newest + 1


def confirm_totals(tx: Transaction, sim: Simulation) -> None:
    """Let three members propose that a round's issuing begins, each with its own totals."""
    summarizing = sim.the(SUMMARIZING_ROUND)
    confirm(tx, sim, "CRARC_MiningRound_StartIssuing", _start_argument(summarizing, _totals(sim, summarizing)))


def start_issuing(tx: Transaction, sim: Simulation) -> None:
    """Carry out the confirmed proposal: fix the round's issuance for every kind of coupon."""
    summarizing = sim.the(SUMMARIZING_ROUND)
    payload, totals = summarizing.payload, _totals(sim, summarizing)
    price = units(payload["amuletPrice"])
    issuance = issuance_of(payload["issuanceConfig"], tick=sim.calendar.tick, price=price, totals=totals)
    step = execute(tx, sim, "CRARC_MiningRound_StartIssuing", _start_argument(summarizing, totals))
    tx.archive(summarizing, under=step)
    # On a network coupons can be claimed a tick after the round begins to issue.
    opens_at = sim.now + sim.calendar.tick
    issuing = {
        "round": payload["round"],
        **{PER_COUPON[share]: spelled(getattr(issuance, share)) for share in Totals._fields if share != "faucet"},
        "opensAt": timestamps.trimmed(opens_at),
        "targetClosesAt": timestamps.trimmed(opens_at + 2 * sim.calendar.tick),
        PER_COUPON["faucet"]: decimal(issuance.faucet),
    }
    begun = tx.create(ISSUING_ROUND, issuing, under=step)
    unclaimed = issuance.unclaimed
    if uses_traffic(summarizing):
        # The apps' share is not left over: coupons of the second version mint it.
        unclaimed -= to_apps(payload["issuanceConfig"], tick=sim.calendar.tick)
    if unclaimed > 0:
        tx.create(UNCLAIMED_REWARD, {"amount": decimal(unclaimed)}, under=step)
    aside = set_aside(tx, issuance.fund, under=step) if issuance.fund else None
    step["exercise_result"] = {"issuingRoundCid": begun.contract_id, "unclaimedDevelopmentFundCouponCid": aside}


def close_round(tx: Transaction, sim: Simulation) -> None:
    """End a round's issuing; its remaining coupons can be expired from now on."""
    issuing = sim.the(ISSUING_ROUND)
    rules, member = sim.coin_rules, sim.rng.choice(sim.parties.sponsors)
    inner = {"issuingRoundCid": issuing.contract_id}
    argument = {"amuletRulesCid": rules.contract_id, **inner, "sv": member}
    root = tx.exercise(sim.dso_rules, "DsoRules_MiningRound_Close", argument, acting=(member,))
    step = tx.exercise(rules, "AmuletRules_MiningRound_Close", inner, acting=(sim.parties.dso,), under=root)
    tx.archive(issuing, under=step)
    left_out = ("opensAt", "targetClosesAt")
    payload = {name: value for name, value in issuing.payload.items() if name not in left_out}
    closed = tx.create(CLOSED_ROUND, payload, under=step)
    step["exercise_result"] = {"closedRoundCid": closed.contract_id}
    root["exercise_result"] = {"closedRound": closed.contract_id}


def confirm_archiving(tx: Transaction, sim: Simulation, closed: Contract) -> None:
    """Let three members propose that a closed round without coupons is archived."""
    confirm(tx, sim, "CRARC_MiningRound_Archive", {"closedRoundCid": closed.contract_id})


def archive_round(tx: Transaction, sim: Simulation, closed: Contract) -> None:
    """Archive a closed round."""
    step = execute(tx, sim, "CRARC_MiningRound_Archive", {"closedRoundCid": closed.contract_id})
    tx.archive(closed, under=step)


def _start_argument(summarizing: Contract, totals: Totals) -> dict[str, Any]:
    return {"miningRoundCid": summarizing.contract_id, "summary": totals.record()}


def _totals(sim: Simulation, summarizing: Contract) -> Totals:
    """The weights of all of the round's coupons, wherever they are; none has been claimed before it is issuing."""
    totals = dict.fromkeys(Totals._fields, 0)
    for coupon in sim.world.contracts.coupons(round_of(summarizing)):
        totals[share_of(coupon)] += weight_of(coupon)
    return Totals(**totals)
