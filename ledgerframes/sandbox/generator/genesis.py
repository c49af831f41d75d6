"""How a made-up ledger begins: its rules, first rounds and licenses; and how its members report their status."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ledgerframes.sandbox.generator.licenses import grant
from ledgerframes.sandbox.generator.names import grant_names
from ledgerframes.sandbox.generator.offers import leave_offer
from ledgerframes.sandbox.generator.simulation import Stage
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.configuration import coin_rules, dso_rules, name_of
from ledgerframes.sandbox.world.contracts import Contract, Template
from ledgerframes.sandbox.world.preapprovals import preapprove
from ledgerframes.sandbox.world.rounds import TICK, open_round
from ledgerframes.sandbox.world.templates import COIN_RULES, DSO_RULES, NAME_RULES, STATUS_REPORT, TRANSFER_FACTORY
from ledgerframes.sandbox.world.transaction import Event, Transaction


def bootstrap(tx: Transaction, stage: Stage) -> None:
    """Create everything that later activities rely on."""
    dso = stage.cast.dso
    synchronizers, main = stage.world.synchronizers, stage.main
    rules = _rule(
        tx, stage, DSO_RULES, dso_rules(dso, members=stage.cast.sponsors, synchronizers=synchronizers, main=main), None
    )
    root = tx.exercise(rules, "DsoRules_Bootstrap", {"round0Number": "0"}, acting=(dso,))
    _rule(tx, stage, COIN_RULES, coin_rules(dso, synchronizers=synchronizers, main=main, tick=TICK), root)
    _rule(tx, stage, TRANSFER_FACTORY, {"dso": dso}, root)
    stage.world.ans_rules = _rule(tx, stage, NAME_RULES, {"dso": dso, "config": _name_rules()}, root)
    for number in range(3):
        open_round(tx, stage, number, root)
    for validator in stage.cast.validators:
        sponsor = stage.cast.sponsors[0]
        argument = {"sponsor": sponsor, "validator": validator, "version": None, "contactPoint": None}
        granting = tx.exercise(rules, "DsoRules_OnboardValidator", argument, acting=(sponsor,), under=root)
        granting["exercise_result"] = {"validatorLicense": grant(tx, stage, validator, under=granting).contract_id}
    _first_wallets(tx, stage, root)


def _first_wallets(tx: Transaction, stage: Stage, root: Event) -> None:
    """Give the first wallets something to list: names, offers, and a preapproval for every other one."""
    first = (stage.cast.validators[0], *stage.cast.people[:8])
    for place, party in enumerate(first):
        grant_names(tx, stage, party, under=root)
        if place % 2 == 0:
            preapprove(tx, stage, party, under=root)
    for sender, receiver in pairwise(first):
        leave_offer(tx, stage, sender=sender, receiver=receiver)


def report_status(tx: Transaction, stage: Stage) -> None:
    """Replace a member's status report."""
    sponsor = stage.rng.choice(stage.cast.sponsors)
    former = next(iter(stage.world.contracts.free(STATUS_REPORT, stage.main, sponsor).values()), None)
    status = {
        "createdAt": timestamps.trimmed(stage.now),
        "cometBftHeight": str(stage.now // timestamps.SECOND % 10**8),
        "mediatorSynchronizerTime": timestamps.trimmed(stage.now - timestamps.SECOND),
        "participantSynchronizerTime": timestamps.trimmed(stage.now - timestamps.SECOND),
        "latestOpenRound": {"number": stage.round_number()},
    }
    number = int(former.payload["number"]) + 1 if former else 0
    argument = {"sv": sponsor, "previousReportCid": former.contract_id if former else None, "status": status}
    event = tx.exercise(stage.rules[DSO_RULES.entity], "DsoRules_SubmitStatusReport", argument, acting=(sponsor,))
    if former is not None:
        tx.archive(former, under=event)
    payload = {
        "dso": stage.cast.dso,
        "sv": sponsor,
        "svName": name_of(sponsor),
        "number": str(number),
        "status": status,
    }
    report = tx.create(STATUS_REPORT, payload, signatories=(stage.cast.dso,), owner=sponsor, under=event)
    event["exercise_result"] = {"newReport": report.contract_id}


def _rule(tx: Transaction, stage: Stage, template: Template, payload: dict[str, Any], under: Event | None) -> Contract:
    rule = tx.create(template, payload, signatories=(stage.cast.dso,), under=under)
    stage.rules[template.entity] = rule
    return rule


def _name_rules() -> dict[str, Any]:
    return {
        "renewalDuration": {"microseconds": str(30 * 86_400 * timestamps.SECOND)},
        "entryLifetime": {"microseconds": str(90 * 86_400 * timestamps.SECOND)},
        "entryFee": "1.0000000000",
        "descriptionPrefix": "CNS entry: ",
    }
