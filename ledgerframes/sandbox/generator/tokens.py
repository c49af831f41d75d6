"""A second instrument of the token standard: issued, sent, burned and settled by an app that has its own admin.

Sending goes by the standard's first version; what the admin does itself it reports by the events of the second.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ledgerframes.sandbox.generator.summaries import REASON, holding_metadata
from ledgerframes.sandbox.generator.token_standard import extra_arguments, outcome, standard_transfer
from ledgerframes.sandbox.world.amounts import UNITS, decimal, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.instruments import SECOND
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import TOKEN, TOKEN_RULES
from ledgerframes.sandbox.world.transaction import Event, Transaction

SECOND_ID: Final = SECOND.id

Payload = dict[str, Any]


def found_token(tx: Transaction, sim: Simulation) -> None:
    """Create the instrument's rules, which its admin signs."""
    admin = sim.parties.validators[3]
    payload = {"admin": admin, "instrumentId": SECOND_ID}
    sim.rules[TOKEN_RULES.entity] = tx.create(TOKEN_RULES, payload)


def act(tx: Transaction, sim: Simulation) -> None:
    """Do one of the things that can be done with the instrument."""
    rng = sim.rng
    owner, chance = sim.parties.person(rng), rng.random()
    inputs = list(islice(sim.world.contracts.free(TOKEN, sim.main, owner).values(), 3))
    if not inputs or chance < 0.15:
        _issue(tx, sim, owner)
    elif chance < 0.75:
        _send(tx, sim, inputs, owner)
    elif chance < 0.85:
        _redeem(tx, sim, inputs[0], owner)
    else:
        _settle(tx, sim, inputs, owner)


def _issue(tx: Transaction, sim: Simulation, owner: str) -> None:
    amount = sim.rng.randrange(1, 10_000) * UNITS // 100
    rules, admin = _rules(sim)
    event = tx.exercise(rules, "Rules_Issue", {"receiver": owner, "amount": decimal(amount)}, acting=(admin, owner))
    made = _create(tx, owner, amount, event)
    _log(tx, sim, owner, [], [made], [], "mint", "issuance", under=event)
    event["exercise_result"] = made.contract_id


def _redeem(tx: Transaction, sim: Simulation, holding: Contract, owner: str) -> None:
    rules, admin = _rules(sim)
    argument = {"owner": owner, "holdingCid": holding.contract_id}
    event = tx.exercise(rules, "Rules_Redeem", argument, acting=(admin, owner))
    tx.archive(holding, under=event)
    _log(tx, sim, owner, [holding], [], [], "burn", "redemption", under=event)
    event["exercise_result"] = {"redeemed": holding.payload["amount"]}


def _send(tx: Transaction, sim: Simulation, inputs: list[Contract], sender: str) -> None:
    receiver, total = sim.parties.people_but(sim.rng, sender), sum(map(_amount, inputs))
    amount, reason = sim.rng.randrange(1, total + 1), sim.rng.choice(("", "delivery", "margin"))
    rules, admin = _rules(sim)
    terms = standard_transfer(tx, sim, inputs, sender, receiver, amount, {"admin": admin, "id": SECOND_ID}, reason)
    event = tx.exercise(
        rules,
        "TransferFactory_Transfer",
        {"expectedAdmin": admin, "transfer": terms, "extraArgs": extra_arguments()},
        acting=(sender,),
        interface_id=sim.packages.transfer_interface,
    )
    for coin in inputs:
        tx.archive(coin, under=event)
    made = _create(tx, receiver, amount, event)
    change = _create(tx, sender, total - amount, event) if total > amount else None
    meta = {"values": holding_metadata("transfer", sender=sender, reason=reason)}
    value = {"receiverHoldingCids": [made.contract_id]}
    event["exercise_result"] = outcome("Completed", value, change=change, meta=meta)


def _settle(tx: Transaction, sim: Simulation, inputs: list[Contract], sender: str) -> None:
    """Move holdings to somebody else as the admin, and report both accounts' changes."""
    receiver, total = sim.parties.people_but(sim.rng, sender), sum(map(_amount, inputs))
    rules, admin = _rules(sim)
    leg_id = f"{sim.rng.getrandbits(64):016x}"
    argument = {"sender": sender, "receiver": receiver, "holdingCids": [coin.contract_id for coin in inputs]}
    event = tx.exercise(rules, "Rules_Settle", argument, acting=sorted({admin, sender, receiver}))
    for coin in inputs:
        tx.archive(coin, under=event)
    made = _create(tx, receiver, total, event)
    sides: tuple[tuple[str, str, str, list[Contract], list[Contract]], ...]
    sides = ((sender, "SenderSide", receiver, inputs, []), (receiver, "ReceiverSide", sender, [], [made]))
    for owner, side, other, used, created in sides:
        leg = {
            "transferLegId": leg_id,
            "side": side,
            "otherside": _account(other),
            "amount": decimal(total),
            "instrumentId": SECOND_ID,
            "meta": {"values": {}},
        }
        _log(tx, sim, owner, used, created, [leg], "", "settlement", under=event)
    event["exercise_result"] = {"settled": leg_id}


def _log(
    tx: Transaction,
    sim: Simulation,
    owner: str,
    used: list[Contract],
    created: list[Contract],
    legs: list[Payload],
    kind: str,
    reason: str,
    *,
    under: Event,
) -> None:
    """Report the change of one account's holdings."""
    rules, admin = _rules(sim)
    values = {REASON: reason, **holding_metadata(kind)}
    argument = {
        "admin": admin,
        "account": _account(owner),
        "inputHoldingCids": [coin.contract_id for coin in used],
        "transferLegSides": legs,
        "outputHoldingCids": [contract_id.contract_id for contract_id in created],
        "observers": [owner],
        "extraArgs": {"context": {"values": {}}, "meta": {"values": values}},
    }
    interface_id = sim.packages.event_log_interface
    tx.exercise(rules, "EventLog_HoldingsChange", argument, acting=(admin,), interface_id=interface_id, under=under)


def _rules(sim: Simulation) -> tuple[Contract, str]:
    rules = sim.rules[TOKEN_RULES.entity]
    return rules, str(rules.payload["admin"])


def _account(owner: str) -> Payload:
    return {"owner": owner, "provider": None, "id": ""}


def _amount(holding: Contract) -> int:
    return units(holding.payload["amount"])


def _create(tx: Transaction, owner: str, amount: int, under: Event) -> Contract:
    admin = tx.sim.rules[TOKEN_RULES.entity].payload["admin"]
    payload = {
        "admin": admin,
        "owner": owner,
        "instrumentId": SECOND_ID,
        "amount": decimal(amount),
        "lock": None,
        "meta": {"values": {}},
    }
    return tx.create(TOKEN, payload, under=under)
