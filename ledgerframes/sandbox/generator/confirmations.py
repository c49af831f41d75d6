"""Actions that members confirm together and then carry out: rounds and rewards work this way."""

from __future__ import annotations

from typing import Any

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import COIN_RULES, CONFIRMATION, DSO_RULES
from ledgerframes.sandbox.world.transaction import Event, Transaction


def confirmations(sim: Simulation, cid: str) -> list[Contract]:
    """The members' proposals about a contract, by its id."""
    return list(sim.world.contracts.free(CONFIRMATION, sim.main, cid).values())


def confirm(tx: Transaction, sim: Simulation, choice: str, argument: dict[str, Any]) -> None:
    """Let every member propose an action of the coin's rules; the first argument is the contract that it is about."""
    cid = next(iter(argument.values()))
    for member in sim.parties.sponsors:
        action = coin_action(choice, argument)
        confirming = {"confirmer": member, "action": action}
        event = tx.exercise(sim.rules[DSO_RULES.entity], "DsoRules_ConfirmAction", confirming, acting=(member,))
        expires_at = timestamps.trimmed(sim.now + 3_600 * timestamps.SECOND)
        payload = {"dso": sim.parties.dso, "confirmer": member, "action": action, "expiresAt": expires_at}
        made = tx.create(CONFIRMATION, payload, owner=cid, under=event)
        event["exercise_result"] = {"confirmation": made.contract_id}


def execute(tx: Transaction, sim: Simulation, choice: str, argument: dict[str, Any]) -> Event:
    """The exercise of the coin's rules under the members' decision; its confirmations end first."""
    cid, member = next(iter(argument.values())), sim.rng.choice(sim.parties.sponsors)
    given, rules = confirmations(sim, cid), sim.rules[COIN_RULES.entity]
    executing = {
        "action": coin_action(choice, argument),
        "amuletRulesCid": rules.contract_id,
        "confirmationCids": [confirmed.contract_id for confirmed in given],
        "sv": member,
    }
    root = tx.exercise(sim.rules[DSO_RULES.entity], "DsoRules_ExecuteConfirmedAction", executing, acting=(member,))
    for confirmed in given:
        tx.archive(confirmed, under=root)
    name = choice.replace("CRARC", "AmuletRules")
    root["exercise_result"] = "DsoRules_ExecuteConfirmedActionResult"
    return tx.exercise(rules, name, argument, acting=(sim.parties.dso,), under=root)


def coin_action(choice: str, argument: dict[str, Any]) -> dict[str, Any]:
    """An ActionRequiringConfirmation of the coin's rules."""
    return {"tag": "ARC_AmuletRules", "value": {"amuletRulesAction": {"tag": choice, "value": argument}}}
