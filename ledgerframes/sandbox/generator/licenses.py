"""Validator licenses: each is ended and created anew whenever something about it changes."""

from __future__ import annotations

from typing import Any

from ledgerframes.sandbox.generator.coins import mint
from ledgerframes.sandbox.generator.simulation import Simulation
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import LICENSE
from ledgerframes.sandbox.world.transaction import Event, Transaction


def grant(tx: Transaction, sim: Simulation, validator: str, *, under: Event | None = None) -> Contract:
    """Give a validator its first license."""
    index = sim.parties.validators.index(validator)
    payload = {
        "validator": validator,
        "sponsor": sim.parties.sponsors[index % len(sim.parties.sponsors)],
        "dso": sim.parties.dso,
        "faucetState": None,
        "metadata": {
            "lastUpdatedAt": tx.created_at,
            "version": f"0.{4 + index % 2}.{index % 9}",
            "contactPoint": f"ops{index}@validators.example",
        },
        "lastActiveAt": None,
    }
    return _create(tx, sim, payload, under)


def renew(tx: Transaction, sim: Simulation) -> None:
    """Report a validator active, pay its faucet coupon or update its metadata: a new contract in place of the old."""
    validator = sim.parties.validators[int(sim.rng.random() ** 2 * len(sim.parties.validators))]
    former = _present(sim, validator)
    if former is None:
        return mint(tx, sim)
    validator = former.owner
    chance = sim.rng.random()
    argument: dict[str, Any] = {}
    if chance < 0.6:
        argument = {"openRoundCid": sim.rounds[0].contract_id}
        choice, changes = "ValidatorLicense_RecordValidatorLivenessActivity", _one_more_round(sim, former)
    elif chance < 0.9:
        choice, changes = "ValidatorLicense_ReportActive", {"lastActiveAt": tx.created_at}
    else:
        metadata = {**former.payload["metadata"], "lastUpdatedAt": tx.created_at}
        choice, changes = "ValidatorLicense_UpdateMetadata", {"metadata": metadata}
        argument = {name: metadata[name] for name in ("version", "contactPoint")}
    # Every change archives the license and creates it anew, as on real networks, where most are a day old at most.
    event = tx.exercise(former, choice, argument, acting=(validator,), consuming=True)
    renewed = _create(tx, sim, {**former.payload, **changes}, event)
    event["exercise_result"] = {"licenseCid": renewed.contract_id}
    return None


def _present(sim: Simulation, validator: str) -> Contract | None:
    """The license of a validator, or of another one where commands have sent that license elsewhere."""
    at_home = (sim.world.contracts.free(LICENSE, sim.main, one) for one in (validator, *sim.parties.validators))
    return next((found for licenses in at_home for found in licenses.values()), None)


def _create(tx: Transaction, sim: Simulation, payload: dict[str, Any], under: Event | None) -> Contract:
    validator: str = payload["validator"]
    return tx.create(
        LICENSE, payload, signatories=(sim.parties.dso,), observers=(validator,), owner=validator, under=under
    )


def _one_more_round(sim: Simulation, former: Contract) -> dict[str, Any]:
    number = int(sim.rounds[0].payload["round"]["number"])
    state = former.payload["faucetState"] or {"firstReceivedFor": {"number": str(number)}, "numCouponsMissed": "0"}
    last = int(state["lastReceivedFor"]["number"]) if "lastReceivedFor" in state else number - 1
    missed = int(state["numCouponsMissed"]) + max(0, number - last - 1)
    received = {**state, "lastReceivedFor": {"number": str(number)}, "numCouponsMissed": str(missed)}
    return {"faucetState": received, "lastActiveAt": timestamps.trimmed(sim.now)}
