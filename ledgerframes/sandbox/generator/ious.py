"""An application on every synchronizer: IOUs that people issue, pass on, split, redeem and settle in batches."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ledgerframes.sandbox.world.amounts import UNITS, decimal, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import IOU, SETTLEMENT

_CURRENCIES: Final = ("USD", "EUR", "CHF", "JPY")


def issue(tx: Transaction, sim: Simulation) -> None:
    """Create a new IOU."""
    issuer = sim.parties.person(sim.rng)
    payload: dict[str, Any] = {
        "issuer": issuer,
        "owner": sim.parties.people_but(sim.rng, issuer),
        "currency": sim.rng.choice(_CURRENCIES),
        "amount": decimal(sim.rng.randrange(1, 10_000 * UNITS)),
        "observers": [],
        "reference": None,
    }
    tx.create(IOU, payload)


def pass_on(tx: Transaction, sim: Simulation) -> None:
    """Transfer an IOU to somebody else; the result is a bare contract id."""
    iou = _some(tx, sim)
    if iou is None:
        return issue(tx, sim)
    _pass(tx, sim, iou, None)
    return None


def split(tx: Transaction, sim: Simulation) -> None:
    """Split an IOU in two; the result is a list."""
    iou = _some(tx, sim)
    if iou is None:
        return issue(tx, sim)
    whole = units(iou.payload["amount"])
    first = sim.rng.randrange(whole + 1)
    argument = {"splitAmount": decimal(first)}
    event = tx.exercise(iou, "Iou_Split", argument, acting=(iou.payload["owner"],), consuming=True)
    parts = [tx.create(IOU, {**iou.payload, "amount": decimal(part)}, under=event) for part in (first, whole - first)]
    event["exercise_result"] = [part.contract_id for part in parts]
    return None


def redeem(tx: Transaction, sim: Simulation) -> None:
    """Redeem up to three IOUs; nothing comes back."""
    ious = list(islice(sim.world.contracts.free(IOU, tx.synchronizer_id).values(), 3))
    if len(ious) < 3:
        return issue(tx, sim)
    for iou in ious:
        tx.exercise(iou, "Iou_Settle", {}, acting=(iou.payload["owner"],), consuming=True, result=None)
    return None


def query_balance(tx: Transaction, sim: Simulation) -> None:
    """Ask an IOU for its balance, which changes nothing."""
    iou = _some(tx, sim)
    if iou is None:
        return issue(tx, sim)
    viewer = sim.parties.person(sim.rng)
    tx.exercise(iou, "Iou_GetBalance", {"viewer": viewer}, acting=(viewer,), result=iou.payload["amount"])
    return None


def settle_batch(tx: Transaction, sim: Simulation) -> None:
    """Pass on up to eight IOUs in one transaction, each under its own step: more than ten events."""
    ious = list(islice(sim.world.contracts.free(IOU, tx.synchronizer_id).values(), 8))
    if not ious:
        return issue(tx, sim)
    operator = sim.parties.people[0]
    payload = {"operator": operator, "legs": [iou.contract_id for iou in ious]}
    batch = tx.create(SETTLEMENT, payload)
    root = tx.exercise(batch, "Batch_Settle", {"legCount": str(len(ious))}, acting=(operator,), consuming=True)
    root["exercise_result"] = {"settled": [_pass(tx, sim, iou, root) for iou in ious]}
    tx.workflow_id = f"settlement-{sim.rng.getrandbits(32):08x}"
    return None


def _pass(tx: Transaction, sim: Simulation, iou: Contract, under: Event | None) -> str:
    owner = iou.payload["owner"]
    receiver = sim.parties.people_but(sim.rng, owner)
    argument = {"newOwner": receiver}
    event = tx.exercise(iou, "Iou_Transfer", argument, acting=(owner,), consuming=True, under=under)
    passed = tx.create(IOU, {**iou.payload, "owner": receiver}, under=event)
    event["exercise_result"] = passed.contract_id
    return passed.contract_id


def _some(tx: Transaction, sim: Simulation) -> Contract | None:
    return next(islice(sim.world.contracts.free(IOU, tx.synchronizer_id).values(), sim.rng.randrange(4), None), None)
