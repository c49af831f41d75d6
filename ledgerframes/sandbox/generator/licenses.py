"""Validator licenses: each is archived and created again whenever something about it changes."""

from __future__ import annotations

from typing import Any

from ledgerframes.sandbox.generator.coins import mint
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import FAUCET_COUPON, LICENSE, LIVENESS_RECORD


def grant(tx: Transaction, sim: Simulation, validator: str, *, under: Event) -> Contract:
    """Give a validator its first license."""
    index = sim.parties.validators.index(validator)
    payload = {
        "validator": validator,
        "sponsor": sim.parties.sponsors[index % len(sim.parties.sponsors)],
        "dso": sim.parties.dso,
        "faucetState": None,
        # Old programs report none.
        "metadata": None
        if index % 3 == 1
        else {
            "lastUpdatedAt": tx.created_at,
            "version": f"0.{4 + index % 2}.{index % 9}",
            "contactPoint": f"ops{index}@validators.example",
        },
        "lastActiveAt": None,
    }
    return tx.create(LICENSE, payload, under=under)


def renew(tx: Transaction, sim: Simulation) -> None:
    """Report a validator alive or active, or update its metadata: a new contract in place of the old."""
    validator = sim.parties.validators[int(sim.rng.random() ** 2 * len(sim.parties.validators))]
    former = _present(sim, validator)
    if former is None:
        return mint(tx, sim)
    validator = former.owner
    chance = sim.rng.random()
    argument: dict[str, Any] = {}
    changes: dict[str, Any]
    open_round = sim.rounds[1]
    if chance < 0.75 and _last_round(former) < round_of(open_round):
        return _report_alive(tx, former, open_round)
    if chance < 0.9 or former.payload["metadata"] is None:
        choice, changes = "ValidatorLicense_ReportActive", {"lastActiveAt": tx.created_at}
    else:
        metadata = {**former.payload["metadata"], "lastUpdatedAt": tx.created_at}
        choice, changes = "ValidatorLicense_UpdateMetadata", {"metadata": metadata}
        argument = {name: metadata[name] for name in ("version", "contactPoint")}
    # Every change archives the license and creates it again, as on real networks, where most are at most a day old.
    event = tx.exercise(former, choice, argument, acting=(validator,), consuming=True)
    renewed = tx.create(LICENSE, {**former.payload, **changes}, under=event)
    event["exercise_result"] = {"licenseCid": renewed.contract_id}
    return None


def _present(sim: Simulation, validator: str) -> Contract | None:
    """The license of a validator, or of another one where commands have sent that license elsewhere."""
    at_home = (sim.world.contracts.free(LICENSE, sim.main, party) for party in (validator, *sim.parties.validators))
    return next((contract for licenses in at_home for contract in licenses.values()), None)


def _report_alive(tx: Transaction, former: Contract, open_round: Contract) -> None:
    """Record a round for which a validator gets a reward, once at most."""
    validator = former.owner
    # The coupon's successor can be expired without the validator's consent, so it is the one in use later.
    old = tx.sim.migration_id == 0
    choice = "ReceiveFaucetCoupon" if old else "RecordValidatorLivenessActivity"
    argument = {"openRoundCid": open_round.contract_id}
    event = tx.exercise(former, f"ValidatorLicense_{choice}", argument, acting=(validator,), consuming=True)
    renewed = tx.create(LICENSE, {**former.payload, **_one_more_round(former, open_round, tx)}, under=event)
    coupon = tx.create(
        FAUCET_COUPON if old else LIVENESS_RECORD,
        {"validator": validator, "round": open_round.payload["round"]},
        under=event,
    )
    event["exercise_result"] = {"licenseCid": renewed.contract_id, "couponCid": coupon.contract_id}


def _last_round(former: Contract) -> int:
    state = former.payload["faucetState"]
    return -1 if state is None else int(state["lastReceivedFor"]["number"])


def _one_more_round(former: Contract, open_round: Contract, tx: Transaction) -> dict[str, Any]:
    state, last = former.payload["faucetState"], _last_round(former)
    number = round_of(open_round)
    missed = 0 if state is None else int(state["numCouponsMissed"]) + number - last - 1
    received = {
        "firstReceivedFor": open_round.payload["round"] if state is None else state["firstReceivedFor"],
        "lastReceivedFor": open_round.payload["round"],
        "numCouponsMissed": str(missed),
    }
    return {"faucetState": received, "lastActiveAt": tx.created_at}
