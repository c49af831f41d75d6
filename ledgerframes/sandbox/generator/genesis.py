"""How a simulated ledger begins: its rules, first rounds and licenses; and how its members report their status."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any, Final

from ledgerframes.sandbox.generator.burning import preapprove
from ledgerframes.sandbox.generator.coins import offer, tap
from ledgerframes.sandbox.generator.configuration import coin_rules, dso_rules
from ledgerframes.sandbox.generator.coupons import first_reward_state
from ledgerframes.sandbox.generator.governance import first_price_votes
from ledgerframes.sandbox.generator.licenses import grant
from ledgerframes.sandbox.generator.mining_rounds import FIRST_PRICE, open_round
from ledgerframes.sandbox.generator.names import grant_names
from ledgerframes.sandbox.generator.token_standard import found_token
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.parties import name_of
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    COIN_RULES,
    DSO_BOOTSTRAP,
    DSO_RULES,
    FEATURED_RIGHT,
    NAME_RULES,
    STATUS_REPORT,
    TRANSFER_FACTORY,
    VALIDATOR_RIGHT,
)

#: The activity weights of the apps that are featured from the beginning; none counts as 1.
WEIGHTS: Final = (None, "1.5000000000", None)


def bootstrap(tx: Transaction, sim: Simulation) -> None:
    """Create everything that later activities rely on, beginning as real ledgers do: by the bootstrap of the DSO.

    The first update of a real ledger creates `Splice.DsoBootstrap:DsoBootstrap` and exercises `DsoBootstrap_Bootstrap`
    on it, which creates the rules, the first rounds and the first reward states, and returns a plain text. What real
    ledgers add in later updates follows in the same one here, each under a root of its own: the validators' licenses,
    and the rights. The first wallets have the update after it.
    """
    dso, sponsors, calendar = sim.parties.dso, sim.parties.sponsors, sim.calendar
    governance, terms = dso_rules(sim), coin_rules(sim)
    names = _name_rules()
    begin = _bootstrap_terms(sponsors[0], governance=governance, coin=terms, names=names)
    start = tx.create(DSO_BOOTSTRAP, begin)
    root = tx.exercise(start, "DsoBootstrap_Bootstrap", {}, acting=(dso,), consuming=True)
    root["exercise_result"] = "DsoBootstrap_BootstrapResult"
    rules = tx.rule(DSO_RULES, governance, under=root, contract_id=_rules_id(dso))
    coin = tx.rule(COIN_RULES, terms, under=root)
    tx.rule(TRANSFER_FACTORY, {}, under=root)
    tx.rule(NAME_RULES, {"config": names}, under=root)
    argument = {
        "amuletPrice": start.payload["amuletPrice"],
        "round0Duration": start.payload["round0Duration"],
        "initialRound": None,
    }
    opening = tx.exercise(coin, "AmuletRules_Bootstrap_Rounds", argument, acting=(dso,), under=root)
    for number in range(3):
        opened = open_round(tx, sim, number, opening, usable=sim.now + max(0, number - 1) * calendar.tick)
        opening["exercise_result"] = {"openMiningRoundCid": opened.contract_id, "initialRound": None}
    for sponsor in sponsors:
        _report(tx, sponsor, 0, None, under=root)
    first_price_votes(tx, sim, FIRST_PRICE, under=root)
    for sponsor in sponsors:
        first_reward_state(tx, sponsor, under=root)
    sim.collecting = list(sponsors)
    for validator in sim.parties.validators:
        argument = {"sponsor": sponsors[0], "validator": validator, "version": None, "contactPoint": None}
        granting = tx.exercise(rules, "DsoRules_OnboardValidator", argument, acting=(sponsors[0],))
        granting["exercise_result"] = {"validatorLicense": grant(tx, sim, validator, under=granting).contract_id}
    _rights(tx, sim)
    found_token(tx, sim)
    sim.founding = True


def _bootstrap_terms(founder: str, *, governance: Any, coin: Any, names: Any) -> dict[str, Any]:
    """The payload of the contract that begins the ledger, with the members of a real one."""
    (_, member), *_ = governance["svs"]
    configuration = coin["configSchedule"]["initialValue"]
    return {
        "sv1Party": founder,
        "sv1Name": member["name"],
        "sv1RewardWeight": member["svRewardWeight"],
        "sv1ParticipantId": member["participantId"],
        "sv1SynchronizerNodes": [],
        "round0Duration": configuration["tickDuration"],
        "amuletConfig": _first_model(configuration),
        "amuletPrice": decimal(FIRST_PRICE),
        "ansRulesConfig": names,
        "config": governance["config"],
        "initialTrafficState": governance["initialTrafficState"],
        "isDevNet": True,
        "initialRound": None,
    }


def _first_model(value: Any) -> Any:
    """A record without the members that its model got later; the bootstrap belongs to the first one."""
    if isinstance(value, list):
        return [_first_model(one) for one in value]
    if isinstance(value, dict):
        return {name: _first_model(one) for name, one in value.items() if not name.startswith("optDevelopmentFund")}
    return value


def _rules_id(dso: str) -> str:
    """The id of the DSO's rules, from its party alone."""
    digest = hashlib.sha512(dso.encode()).hexdigest()
    return f"00{digest[:64]}ca101220{digest[64:]}"


def _rights(tx: Transaction, sim: Simulation) -> None:
    """Let the first validators be featured, and each validator claim what its users' burning earns."""
    dso = sim.parties.dso
    for provider, weight in zip(sim.parties.validators, WEIGHTS, strict=False):
        tx.create(FEATURED_RIGHT, {"provider": provider, "activityWeight": weight})
    for user in (*sim.parties.validators, *sim.parties.sponsors, *sim.parties.people):
        tx.create(VALIDATOR_RIGHT, {"dso": dso, "user": user, "validator": sim.parties.host(user)})


def first_wallets(tx: Transaction, sim: Simulation) -> None:
    """Give the first wallets something to list: names, offers, and a preapproval for every other one."""
    sim.founding = False
    first = (sim.parties.validators[0], *sim.parties.people[:8])
    # For the preapprovals, which their provider pays for.
    tap(tx, sim, first[0], 2_000 * UNITS)
    for place, party in enumerate(first):
        grant_names(tx, sim, party)
        if place % 2 == 0:
            preapprove(tx, sim, party)
    for sender, receiver in pairwise(first):
        offer(tx, sim, sender=sender, receiver=receiver, owner=receiver)


def report_status(tx: Transaction, sim: Simulation) -> None:
    """Replace a member's status report."""
    sponsor = sim.rng.choice(sim.parties.sponsors)
    former = sim.one(STATUS_REPORT, sponsor)
    seen = timestamps.trimmed(sim.now - timestamps.SECOND)
    status = {
        "createdAt": timestamps.trimmed(sim.now),
        "cometBftHeight": str(sim.now // timestamps.SECOND % 10**8),
        "mediatorSynchronizerTime": seen,
        "participantSynchronizerTime": seen,
        "latestOpenRound": {"number": str(round_of(sim.rounds[1]))},
    }
    number = int(former.payload["number"]) + 1 if former else 0
    argument = {"sv": sponsor, "previousReportCid": former.contract_id if former else None, "status": status}
    event = tx.exercise(sim.dso_rules, "DsoRules_SubmitStatusReport", argument, acting=(sponsor,))
    if former is not None:
        tx.archive(former, under=event)
    report = _report(tx, sponsor, number, status, under=event)
    event["exercise_result"] = {"newReport": report.contract_id}


def _report(tx: Transaction, sponsor: str, number: int, status: dict[str, Any] | None, *, under: Event) -> Contract:
    payload = {
        "sv": sponsor,
        "svName": name_of(sponsor),
        "number": str(number),
        "status": status,
    }
    return tx.create(STATUS_REPORT, payload, under=under)


def _name_rules() -> dict[str, Any]:
    return {
        "renewalDuration": {"microseconds": str(30 * 86_400 * timestamps.SECOND)},
        "entryLifetime": {"microseconds": str(90 * 86_400 * timestamps.SECOND)},
        "entryFee": "1.0000000000",
        "descriptionPrefix": "CNS entry: ",
    }
