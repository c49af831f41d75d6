"""Paying for transfer preapprovals, standing consents to receive coin; genesis and the activities call it."""

from __future__ import annotations

from typing import Final

from ledgerframes.sandbox.generator.burning import affordable, burn, payment_context
from ledgerframes.sandbox.generator.coins import tap
from ledgerframes.sandbox.generator.coupons import coin_for
from ledgerframes.sandbox.generator.summaries import holding_metadata
from ledgerframes.sandbox.generator.transfer_inputs import tagged
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, divided
from ledgerframes.sandbox.world.configuration import DAY
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import COIN_RULES, PREAPPROVAL
from ledgerframes.sandbox.world.transaction import Event, Transaction

LIFETIME: Final = 90 * DAY

# About one USD a year.
_FEE_PER_DAY: Final = 27_400_000


def preapprove(tx: Transaction, sim: Simulation, receiver: str) -> bool:
    """Let a party accept any coin it is sent, for ninety days; returns whether its provider could pay for it."""
    provider, open_round = sim.parties.validators[0], sim.rounds[0]
    until = timestamps.trimmed(sim.now + LIFETIME)
    price = _price(open_round, LIFETIME)
    inputs = affordable(sim, provider, price, open_round)
    if not inputs:
        return False
    argument = {
        "context": payment_context(sim, open_round),
        "inputs": [tagged(coin) for coin in inputs],
        "receiver": receiver,
        "provider": provider,
        "expiresAt": until,
        "expectedDso": sim.parties.dso,
    }
    acting = tuple(dict.fromkeys((receiver, provider)))
    choice = "AmuletRules_CreateTransferPreapproval"
    event = tx.exercise(sim.rules[COIN_RULES.entity], choice, argument, acting=acting)
    result = _paid(tx, sim, inputs, price, open_round, provider=provider, under=event)
    begin = timestamps.trimmed(sim.now)
    payload = {
        "dso": sim.parties.dso,
        "receiver": receiver,
        "provider": provider,
        "validFrom": begin,
        "lastRenewedAt": begin,
        "expiresAt": until,
    }
    event["exercise_result"] = {
        "transferPreapprovalCid": tx.create(PREAPPROVAL, payload, under=event).contract_id,
        **result,
    }
    return True


def change_preapproval(tx: Transaction, sim: Simulation) -> None:
    """Consent for a party that has not, or renew the oldest consent."""
    # One of the busiest never consents, so that both cases are easy to find.
    receiver = sim.parties.people_but(sim.rng, sim.parties.people[0])
    provider = sim.parties.validators[0]
    given = sim.one(PREAPPROVAL, receiver)
    if given is None:
        if not preapprove(tx, sim, receiver):
            tap(tx, sim, provider, 5_000 * UNITS)
        return
    open_round, price = sim.rounds[0], _price(sim.rounds[0], LIFETIME)
    inputs = affordable(sim, provider, price, open_round) if given.payload["provider"] == provider else []
    if not inputs:
        tap(tx, sim, provider, 5_000 * UNITS)
        return
    until = timestamps.trimmed(timestamps.parse(given.payload["expiresAt"]) + LIFETIME)
    argument = {
        "context": payment_context(sim, open_round),
        "inputs": [tagged(coin) for coin in inputs],
        "newExpiresAt": until,
    }
    event = tx.exercise(given, "TransferPreapproval_Renew", argument, acting=(provider,), consuming=True)
    result = _paid(tx, sim, inputs, price, open_round, provider=provider, under=event)
    payload = {**given.payload, "lastRenewedAt": timestamps.trimmed(sim.now), "expiresAt": until}
    renewed = tx.create(PREAPPROVAL, payload, under=event).contract_id
    parties = {"receiver": receiver, "provider": provider}
    event["exercise_result"] = {"transferPreapprovalCid": renewed, **parties, **result}


def _paid(
    tx: Transaction,
    sim: Simulation,
    inputs: list[Contract],
    price: int,
    open_round: Contract,
    *,
    provider: str,
    under: Event,
) -> dict[str, object]:
    """Burn the price; the members of the result that are about it."""
    reason = "transfer preapproval"
    done = burn(tx, sim, inputs, price, open_round, payer=provider, to_dso=False, reason=reason, under=under)
    meta = holding_metadata("burn", burned=price + done.sums.burned, reason=reason)
    return {"transferResult": done.result, "amuletPaid": decimal(price), "meta": {"values": meta}}


def _price(open_round: Contract, lifetime: int) -> int:
    return coin_for(open_round, divided(_FEE_PER_DAY * lifetime, DAY * UNITS))
