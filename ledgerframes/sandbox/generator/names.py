"""Entries of the name service: asked for, renewed, expired."""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.generator.simulation import Simulation
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import NAME_ENTRY, NAME_RULES
from ledgerframes.sandbox.world.transaction import Event, Transaction
from ledgerframes.sandbox.world.world import World

LIFETIME: Final = 90 * 86_400 * timestamps.SECOND
TRIAL: Final = 30 * timestamps.SECOND


def change_name(tx: Transaction, sim: Simulation) -> None:
    """Create an entry for a user who has none; else renew it, or let it expire."""
    owner = sim.parties.person(sim.rng)
    entry = next(iter(sim.world.contracts.free(NAME_ENTRY, sim.main, owner).values()), None)
    if entry is None:
        payload = _first_payload(sim, owner)
        argument = {"name": payload["name"], "url": payload["url"], "description": "", "requester": owner}
        event = tx.exercise(sim.rules[NAME_RULES.entity], "AnsRules_RequestEntry", argument, acting=(owner,))
        return _create(tx, payload, event)
    if sim.rng.random() < 0.3:
        event = tx.exercise(entry, "AnsEntry_Expire", {"actor": owner}, acting=(owner,), consuming=True)
        event["exercise_result"] = None
        return None
    argument = {"extension": {"microseconds": str(LIFETIME)}}
    event = tx.exercise(entry, "AnsEntry_Renew", argument, acting=entry.signatories, consuming=True)
    expires_at = timestamps.trimmed(timestamps.parse(entry.payload["expiresAt"]) + LIFETIME)
    return _create(tx, {**entry.payload, "expiresAt": expires_at}, event)


def grant_names(tx: Transaction, sim: Simulation, owner: str, *, under: Event) -> None:
    """Give a party a name that lasts and one that soon expires; nobody renews or ends either."""
    for purpose, lifetime in (("wallet", LIFETIME), ("trial", TRIAL)):
        name = f"{owner.partition('::')[0]}-{purpose}"
        argument = {"name": f"{name}.unverified.cns", "url": "", "description": "", "requester": owner}
        rules = sim.rules[NAME_RULES.entity]
        event = tx.exercise(rules, "AnsRules_RequestEntry", argument, acting=(owner,), under=under)
        payload = _first_payload(sim, owner, name=name, lifetime=lifetime)
        entry = tx.create(NAME_ENTRY, payload, signatories=(sim.parties.dso, owner), under=event)
        event["exercise_result"] = {"entryCid": entry.contract_id, "requestCid": None}


def names_of(world: World, owner: str) -> list[Contract]:
    """A party's names that have not expired by the ledger's own clock, the oldest first."""
    entries = (one for one in world.contracts.of(NAME_ENTRY) if one.payload["user"] == owner)
    return [one for one in entries if timestamps.parse(one.payload["expiresAt"]) > world.now]


def _first_payload(sim: Simulation, owner: str, *, name: str = "", lifetime: int = LIFETIME) -> dict[str, Any]:
    name = f"{name or owner.partition('::')[0]}.unverified.cns"
    return {
        "user": owner,
        "name": name,
        "url": f"https://{name}.example/",
        "description": "",
        "expiresAt": timestamps.trimmed(sim.now + lifetime),
        "dso": sim.parties.dso,
    }


def _create(tx: Transaction, payload: dict[str, Any], event: Event) -> None:
    owner: str = payload["user"]
    entry = tx.create(NAME_ENTRY, payload, signatories=(tx.sim.parties.dso, owner), owner=owner, under=event)
    event["exercise_result"] = {"entryCid": entry.contract_id, "requestCid": None}
