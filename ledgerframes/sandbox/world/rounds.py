"""The coin's mining rounds: three are open at a time, the earliest is closed when the next one opens."""

from __future__ import annotations

from typing import Final

from ledgerframes.sandbox.generator.simulation import Simulation
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.configuration import open_round_issuance, transfer_config
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN_RULES, DSO_RULES, ISSUING_ROUND, OPEN_ROUND
from ledgerframes.sandbox.world.transaction import Event, Transaction

# Shorter than the ten minutes of a real round, so that small ledgers have several.
TICK: Final = 150 * timestamps.SECOND


def open_round(tx: Transaction, sim: Simulation, number: int, under: Event) -> Contract:
    """Create an open mining round and put it last in the row."""
    price = 0.005 + sim.rng.randrange(2_000) / 10**6
    payload = {
        "dso": sim.parties.dso,
        "round": {"number": str(number)},
        "amuletPrice": f"{price:.10f}",
        "opensAt": timestamps.trimmed(sim.now),
        "targetClosesAt": timestamps.trimmed(sim.now + 2 * TICK),
        "issuingFor": {"microseconds": str(number * TICK)},
        "transferConfigUsd": transfer_config(),
        "issuanceConfig": open_round_issuance(),
        "tickDuration": {"microseconds": str(TICK)},
    }
    opened = tx.create(OPEN_ROUND, payload, signatories=(sim.parties.dso,), under=under)
    sim.rounds.append(opened)
    sim.world.coins.open_round(int(sim.rounds[0].payload["round"]["number"]))
    sim.round_opened = sim.now
    return opened


def advance_rounds(tx: Transaction, sim: Simulation) -> None:
    """Close the earliest open round, open the next, and begin issuing for the closed one."""
    closing, newest = sim.rounds[0], int(sim.rounds[-1].payload["round"]["number"])
    rounds = {
        "roundToArchiveCid": closing.contract_id,
        "middleRoundCid": sim.rounds[1].contract_id,
        "latestRoundCid": sim.rounds[-1].contract_id,
    }
    root_argument = {
        "amuletRulesCid": sim.rules[COIN_RULES.entity].contract_id,
        **rounds,
        "amuletPriceVoteCids": [],
        "sv": sim.parties.sponsors[0],
    }
    root = tx.exercise(
        sim.rules[DSO_RULES.entity], "DsoRules_AdvanceOpenMiningRounds", root_argument, acting=sim.parties.sponsors[:1]
    )
    argument = {"amuletPrice": closing.payload["amuletPrice"], **rounds}
    rules = sim.rules[COIN_RULES.entity]
    step = tx.exercise(rules, "AmuletRules_AdvanceOpenMiningRounds", argument, acting=(sim.parties.dso,), under=root)
    tx.archive(closing, under=step)
    sim.rounds.popleft()
    opened = open_round(tx, sim, newest + 1, step)
    issuing = _issue(tx, sim, closing, step)
    step["exercise_result"] = {"newRoundCid": opened.contract_id, "issuingRoundCid": issuing.contract_id}
    root["exercise_result"] = {"newRoundCid": opened.contract_id}
    tx.workflow_id = "advance-rounds"
    if sim.world.earliest_round is None:
        sim.world.earliest_round = newest + 1


def round_is_due(sim: Simulation) -> bool:
    """Whether the newest round has been open for a tick."""
    return sim.now - sim.round_opened >= TICK


def _issue(tx: Transaction, sim: Simulation, closing: Contract, under: Event) -> Contract:
    former = next(iter(sim.world.contracts.free(ISSUING_ROUND, sim.main).values()), None)
    if former is not None:
        tx.archive(former, under=under)
    payload = {
        "dso": sim.parties.dso,
        "round": closing.payload["round"],
        "issuancePerValidatorRewardCoupon": f"{sim.rng.random():.10f}",
        "opensAt": timestamps.trimmed(sim.now),
        "targetClosesAt": timestamps.trimmed(sim.now + 2 * TICK),
        "optIssuancePerValidatorFaucetCoupon": None,
    }
    return tx.create(ISSUING_ROUND, payload, signatories=(sim.parties.dso,), under=under)
