"""Transfer preapprovals: standing consents to receive coin, which some parties gave when the ledger began."""

from __future__ import annotations

from typing import Final

from ledgerframes.sandbox.generator.simulation import Simulation
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN_RULES, PREAPPROVAL
from ledgerframes.sandbox.world.transaction import Event, Transaction
from ledgerframes.sandbox.world.world import World

LIFETIME: Final = 365 * 86_400 * timestamps.SECOND


def preapprove(tx: Transaction, sim: Simulation, receiver: str, *, under: Event) -> None:
    """Let a party accept whatever coin it is sent, for a year."""
    provider, begin = sim.parties.validators[0], timestamps.trimmed(sim.now)
    until = timestamps.trimmed(sim.now + LIFETIME)
    payload = {
        "dso": sim.parties.dso,
        "receiver": receiver,
        "provider": provider,
        "validFrom": begin,
        "lastRenewedAt": begin,
        "expiresAt": until,
    }
    argument = {"receiver": receiver, "provider": provider, "expiresAt": until}
    choice = "AmuletRules_CreateTransferPreapproval"
    event = tx.exercise(sim.rules[COIN_RULES.entity], choice, argument, acting=(receiver, provider), under=under)
    signatories = (sim.parties.dso, *dict.fromkeys((receiver, provider)))
    given = tx.create(PREAPPROVAL, payload, signatories=signatories, owner=receiver, under=event)
    event["exercise_result"] = {"transferPreapprovalCid": given.contract_id, "amuletPaid": "0.0000000000"}


def preapproval_of(world: World, party: str) -> Contract | None:
    """A party's preapproval that has not run out, if it gave one."""
    given = (one for one in world.contracts.of(PREAPPROVAL) if one.payload["receiver"] == party)
    return next((one for one in given if timestamps.parse(one.payload["expiresAt"]) > world.now), None)
