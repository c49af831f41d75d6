"""Transfers by the token standard: coin, at once or in two steps, and a second instrument that an app issues.

Sending goes by the standard's first version; what the second instrument's admin does itself it reports by the events of
the second.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ledgerframes.sandbox.generator.coins import locked_for, mint, release, time_lock
from ledgerframes.sandbox.generator.coupons import tagged
from ledgerframes.sandbox.generator.summaries import REASON, holding_metadata
from ledgerframes.sandbox.generator.transfers import (
    Output,
    Payment,
    Transferred,
    payment_context,
    purse,
    spendable,
    transfer,
)
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import PREAPPROVAL, TOKEN, TOKEN_RULES, TRANSFER_FACTORY, TRANSFER_INSTRUCTION

Payload = dict[str, Any]

COIN_ID: Final = "Amulet"
#: Issued by an app with an admin of its own, whose registry lists it.
SECOND_ID: Final = "HARBOR-SILVER"

_REASONS: Final = ("", "rent", "thanks", "invoice 2025/17", "Käffchen")


def send(tx: Transaction, sim: Simulation) -> None:
    """Send somebody coin, or put one's own coins together."""
    rng = sim.rng
    sender = sim.parties.person(rng)
    receiver = sender if rng.random() < 0.1 else sim.parties.people_but(rng, sender)
    open_round, inputs = sim.open_round(), purse(sim, sender, 4)
    most = spendable(inputs, open_round)
    if most <= 0:
        return mint(tx, sim, sender)
    amount, reason = rng.randrange(1, most // 2 + 2), rng.choice(_REASONS)
    rules, coin = sim.world.rules[TRANSFER_FACTORY.entity], {"admin": sim.parties.dso, "id": COIN_ID}
    event = _order(tx, rules, inputs, receiver, min(amount, most), coin, reason)
    terms = event["choice_argument"]["transfer"]
    consent = sim.one(PREAPPROVAL, receiver)
    if consent is not None and timestamps.parse(consent.payload["expiresAt"]) <= sim.now:
        consent = None
    if consent is None and receiver != sender:
        return _offer(tx, sim, inputs, terms, open_round, event)
    output = Output(receiver, units(terms["amount"]))
    if consent is None:
        done = transfer(tx, sim, inputs, [output], Payment(open_round, reason=reason), sender=sender, under=event)
    else:
        sending = {
            "context": payment_context(sim, open_round),
            "inputs": [tagged(coin) for coin in inputs],
            "amount": terms["amount"],
            "sender": sender,
            "description": reason or None,
        }
        step = tx.exercise(consent, "TransferPreapproval_Send", sending, acting=(sender,), under=event)
        payment = Payment(open_round, provider=consent.payload["provider"], reason=reason)
        done = transfer(tx, sim, inputs, [output], payment, sender=sender, under=step)
        step["exercise_result"] = {"result": done.result, "meta": done.result["meta"]}
    event["exercise_result"] = _completed(done)
    return None


def answer(tx: Transaction, sim: Simulation) -> None:
    """Let a receiver accept or reject a transfer, or the sender withdraw it; each ends the lock first."""
    waiting = sim.world.contracts.free(TRANSFER_INSTRUCTION, sim.main).values()
    offered = next((offer for offer in waiting if locked_for(sim, offer)), None)
    if offered is None:
        return send(tx, sim)
    terms, locked = offered.payload["transfer"], sim.world.contracts.active[offered.payload["lockedAmulet"]]
    sender, receiver, chance = terms["sender"], terms["receiver"], sim.rng.random()
    on_time = timestamps.parse(terms["executeBefore"]) > max(sim.now, tx.effective)
    # Fees may have risen in the meantime.
    payable = spendable([locked], sim.rounds[0])
    word = (
        "Accept" if on_time and chance < 0.7 and payable > 0 else "Reject" if on_time and chance < 0.85 else "Withdraw"
    )
    event = tx.exercise(
        offered,
        f"TransferInstruction_{word}",
        {"extraArgs": extra_arguments()},
        acting=(sender if word == "Withdraw" else receiver,),
        consuming=True,
        interface_id=sim.packages.instruction_interface,
    )
    coin = release(tx, sim, locked, under=event)
    if word != "Accept":
        kind = holding_metadata("unlock", reason=terms["meta"]["values"].get(REASON, ""))
        event["exercise_result"] = outcome("Failed", {}, change=coin, meta={"values": kind})
        return None
    payment = Payment(sim.rounds[0], reason=terms["meta"]["values"].get(REASON, ""))
    amount = min(units(terms["amount"]), payable)
    done = transfer(tx, sim, [coin], [Output(receiver, amount)], payment, sender=sender, under=event)
    event["exercise_result"] = _completed(done)
    return None


def _order(
    tx: Transaction,
    rules: Contract,
    inputs: list[Contract],
    receiver: str,
    amount: int,
    instrument: Payload,
    reason: str,
) -> Event:
    """Exercise an instrument's factory; the result is the caller's."""
    sim, sender = tx.sim, inputs[0].owner
    terms = {
        "sender": sender,
        "receiver": receiver,
        "amount": decimal(amount),
        "instrumentId": instrument,
        "requestedAt": timestamps.trimmed(tx.effective - timestamps.SECOND),
        "executeBefore": timestamps.trimmed(max(tx.effective, sim.now) + 12 * sim.calendar.tick),
        "inputHoldingCids": [coin.contract_id for coin in inputs],
        "meta": {"values": {REASON: reason} if reason else {}},
    }
    argument = {"expectedAdmin": instrument["admin"], "transfer": terms, "extraArgs": extra_arguments()}
    interface_id = sim.packages.transfer_interface
    return tx.exercise(rules, "TransferFactory_Transfer", argument, acting=(sender,), interface_id=interface_id)


def extra_arguments() -> Payload:
    """Empty extra arguments."""
    return {"context": {"values": {}}, "meta": {"values": {}}}


def outcome(word: str, value: Payload, *, change: Contract | None, meta: Payload) -> Payload:
    """A TransferInstructionResult."""
    return {
        "output": {"tag": f"TransferInstructionResult_{word}", "value": value},
        "senderChangeCids": [change.contract_id] if change is not None else [],
        "meta": meta,
    }


def _completed(done: Transferred) -> Payload:
    received = {"receiverHoldingCids": [coin.contract_id for coin in done.created]}
    return outcome("Completed", received, change=done.change, meta=done.result["meta"])


def _offer(
    tx: Transaction, sim: Simulation, inputs: list[Contract], terms: Payload, open_round: Contract, event: Event
) -> None:
    """Lock the amount, and the fees of the second step, until the receiver answers."""
    sender, reason = terms["sender"], terms["meta"]["values"].get(REASON, "")
    until = timestamps.parse(terms["executeBefore"])
    lock = time_lock([sim.parties.dso], until, f"transfer to '{terms['receiver']}'")
    most = spendable(inputs, open_round)
    output = Output(sender, min(most, units(terms["amount"]) * 2), lock=lock)
    done = transfer(tx, sim, inputs, [output], Payment(open_round, reason=reason), sender=sender, under=event)
    locked = done.created[0].contract_id
    payload = {"lockedAmulet": locked, "transfer": {**terms, "inputHoldingCids": [locked]}}
    pending = tx.create(TRANSFER_INSTRUCTION, payload, under=event)
    event["exercise_result"] = outcome(
        "Pending",
        {"transferInstructionCid": pending.contract_id},
        change=done.change,
        meta=done.result["meta"],
    )


def found_token(tx: Transaction, sim: Simulation) -> None:
    """Create the instrument's rules, which its admin signs."""
    tx.rule(TOKEN_RULES, {"admin": sim.parties.validators[3], "instrumentId": SECOND_ID})


def use_token(tx: Transaction, sim: Simulation) -> None:
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
    event = _order(tx, rules, inputs, receiver, amount, {"admin": admin, "id": SECOND_ID}, reason)
    tx.archive(*inputs, under=event)
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
    tx.archive(*inputs, under=event)
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
    rules = sim.world.rules[TOKEN_RULES.entity]
    return rules, str(rules.payload["admin"])


def _account(owner: str) -> Payload:
    return {"owner": owner, "provider": None, "id": ""}


def _amount(holding: Contract) -> int:
    return units(holding.payload["amount"])


def _create(tx: Transaction, owner: str, amount: int, under: Event) -> Contract:
    admin = tx.sim.world.rules[TOKEN_RULES.entity].payload["admin"]
    payload = {
        "admin": admin,
        "owner": owner,
        "instrumentId": SECOND_ID,
        "amount": decimal(amount),
        "lock": None,
        "meta": {"values": {}},
    }
    return tx.create(TOKEN, payload, under=under)
