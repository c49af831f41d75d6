"""Validator licenses: each is ended and created anew whenever something about it changes."""

from __future__ import annotations

from typing import Any

from ledgerframes.sandbox.generator.coins import mint
from ledgerframes.sandbox.generator.simulation import Stage
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import LICENSE
from ledgerframes.sandbox.world.transaction import Event, Transaction


def grant(tx: Transaction, stage: Stage, validator: str, *, under: Event | None = None) -> Contract:
    """Give a validator its first license."""
    index = stage.cast.validators.index(validator)
    payload = {
        "validator": validator,
        "sponsor": stage.cast.sponsors[index % len(stage.cast.sponsors)],
        "dso": stage.cast.dso,
        "faucetState": None,
        "metadata": {
            "lastUpdatedAt": tx.created_at,
            "version": f"0.{4 + index % 2}.{index % 9}",
            "contactPoint": f"ops{index}@validators.example",
        },
        "lastActiveAt": None,
    }
    return _create(tx, stage, payload, under)


def renew(tx: Transaction, stage: Stage) -> None:
    """Report a validator active, pay its faucet coupon or update its metadata: a new contract in place of the old."""
    validator = stage.cast.validators[int(stage.rng.random() ** 2 * len(stage.cast.validators))]
    former = _present(stage, validator)
    if former is None:
        return mint(tx, stage)
    validator = former.owner
    chance = stage.rng.random()
    argument: dict[str, Any] = {}
    if chance < 0.6:
        argument = {"openRoundCid": stage.rounds[0].contract_id}
        choice, changes = "ValidatorLicense_RecordValidatorLivenessActivity", _one_more_round(stage, former)
    elif chance < 0.9:
        choice, changes = "ValidatorLicense_ReportActive", {"lastActiveAt": tx.created_at}
    else:
        metadata = {**former.payload["metadata"], "lastUpdatedAt": tx.created_at}
        choice, changes = "ValidatorLicense_UpdateMetadata", {"metadata": metadata}
        argument = {name: metadata[name] for name in ("version", "contactPoint")}
    event = tx.exercise(former, choice, argument, acting=(validator,), consuming=True)
    renewed = _create(tx, stage, {**former.payload, **changes}, event)
    event["exercise_result"] = {"licenseCid": renewed.contract_id}
    return None


def _present(stage: Stage, validator: str) -> Contract | None:
    """The license of a validator, or of another one where commands have sent that license elsewhere."""
    at_home = (stage.world.contracts.free(LICENSE, stage.main, one) for one in (validator, *stage.cast.validators))
    return next((found for licenses in at_home for found in licenses.values()), None)


def _create(tx: Transaction, stage: Stage, payload: dict[str, Any], under: Event | None) -> Contract:
    validator: str = payload["validator"]
    return tx.create(
        LICENSE, payload, signatories=(stage.cast.dso,), observers=(validator,), owner=validator, under=under
    )


def _one_more_round(stage: Stage, former: Contract) -> dict[str, Any]:
    number = int(stage.rounds[0].payload["round"]["number"])
    state = former.payload["faucetState"] or {"firstReceivedFor": {"number": str(number)}, "numCouponsMissed": "0"}
    last = int(state["lastReceivedFor"]["number"]) if "lastReceivedFor" in state else number - 1
    missed = int(state["numCouponsMissed"]) + max(0, number - last - 1)
    received = {**state, "lastReceivedFor": {"number": str(number)}, "numCouponsMissed": str(missed)}
    return {"faucetState": received, "lastActiveAt": timestamps.trimmed(stage.now)}
