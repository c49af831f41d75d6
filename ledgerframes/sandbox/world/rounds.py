"""The coin's mining rounds: three are open at a time, the earliest is closed when the next one opens."""

from __future__ import annotations

from typing import Final

from ledgerframes.sandbox.generator.simulation import Stage
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.configuration import open_round_issuance, transfer_config
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN_RULES, DSO_RULES, ISSUING_ROUND, OPEN_ROUND
from ledgerframes.sandbox.world.transaction import Event, Transaction

TICK: Final = 150 * timestamps.SECOND


def open_round(tx: Transaction, stage: Stage, number: int, under: Event) -> Contract:
    """Create an open mining round and put it last in the row."""
    price = 0.005 + stage.rng.randrange(2_000) / 10**6
    payload = {
        "dso": stage.cast.dso,
        "round": {"number": str(number)},
        "amuletPrice": f"{price:.10f}",
        "opensAt": timestamps.trimmed(stage.now),
        "targetClosesAt": timestamps.trimmed(stage.now + 2 * TICK),
        "issuingFor": {"microseconds": str(number * TICK)},
        "transferConfigUsd": transfer_config(),
        "issuanceConfig": open_round_issuance(),
        "tickDuration": {"microseconds": str(TICK)},
    }
    opened = tx.create(OPEN_ROUND, payload, signatories=(stage.cast.dso,), under=under)
    stage.rounds.append(opened)
    stage.world.coins.open_round(int(stage.rounds[0].payload["round"]["number"]))
    stage.round_opened = stage.now
    return opened


def advance_rounds(tx: Transaction, stage: Stage) -> None:
    """Close the earliest open round, open the next, and begin issuing for the closed one."""
    closing, newest = stage.rounds[0], int(stage.rounds[-1].payload["round"]["number"])
    rounds = {
        "roundToArchiveCid": closing.contract_id,
        "middleRoundCid": stage.rounds[1].contract_id,
        "latestRoundCid": stage.rounds[-1].contract_id,
    }
    root_argument = {
        "amuletRulesCid": stage.rules[COIN_RULES.entity].contract_id,
        **rounds,
        "amuletPriceVoteCids": [],
        "sv": stage.cast.sponsors[0],
    }
    root = tx.exercise(
        stage.rules[DSO_RULES.entity], "DsoRules_AdvanceOpenMiningRounds", root_argument, acting=stage.cast.sponsors[:1]
    )
    argument = {"amuletPrice": closing.payload["amuletPrice"], **rounds}
    rules = stage.rules[COIN_RULES.entity]
    step = tx.exercise(rules, "AmuletRules_AdvanceOpenMiningRounds", argument, acting=(stage.cast.dso,), under=root)
    tx.archive(closing, under=step)
    stage.rounds.popleft()
    opened = open_round(tx, stage, newest + 1, step)
    issuing = _issue(tx, stage, closing, step)
    step["exercise_result"] = {"newRoundCid": opened.contract_id, "issuingRoundCid": issuing.contract_id}
    root["exercise_result"] = {"newRoundCid": opened.contract_id}
    tx.workflow_id = "advance-rounds"
    if stage.world.earliest_round is None:
        stage.world.earliest_round = newest + 1


def round_is_due(stage: Stage) -> bool:
    """Whether the newest round has been open for a tick."""
    return stage.now - stage.round_opened >= TICK


def _issue(tx: Transaction, stage: Stage, closing: Contract, under: Event) -> Contract:
    former = next(iter(stage.world.contracts.free(ISSUING_ROUND, stage.main).values()), None)
    if former is not None:
        tx.archive(former, under=under)
    payload = {
        "dso": stage.cast.dso,
        "round": closing.payload["round"],
        "issuancePerValidatorRewardCoupon": f"{stage.rng.random():.10f}",
        "opensAt": timestamps.trimmed(stage.now),
        "targetClosesAt": timestamps.trimmed(stage.now + 2 * TICK),
        "optIssuancePerValidatorFaucetCoupon": None,
    }
    return tx.create(ISSUING_ROUND, payload, signatories=(stage.cast.dso,), under=under)
