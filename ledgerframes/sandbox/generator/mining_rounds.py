"""The life of a mining round: open, summarizing, issuing, closed, gone; the members' duties call it."""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.generator.development_fund import set_aside
from ledgerframes.sandbox.generator.issuance import Issuance, Totals, issuance_of
from ledgerframes.sandbox.generator.simulation import Simulation
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import decimal, spelled, units
from ledgerframes.sandbox.world.configuration import issuance_config, transfer_config
from ledgerframes.sandbox.world.contracts import Contract, Template
from ledgerframes.sandbox.world.coupon_book import round_of
from ledgerframes.sandbox.world.templates import (
    APP_COUPON,
    CLOSED_ROUND,
    COIN_RULES,
    CONFIRMATION,
    DSO_RULES,
    ISSUING_ROUND,
    OPEN_ROUND,
    SUMMARIZING_ROUND,
    SV_COUPON,
    UNCLAIMED_REWARD,
    VALIDATOR_COUPON,
)
from ledgerframes.sandbox.world.transaction import Event, Transaction

FIRST_PRICE: Final = 50_000_000
_LOWEST_PRICE: Final = 30_000_000
_HIGHEST_PRICE: Final = 120_000_000


def open_round(tx: Transaction, sim: Simulation, number: int, under: Event, *, usable: int | None = None) -> Contract:
    """Create an open mining round and put it last in the row; transfers can use it from `usable` on."""
    calendar = sim.calendar
    opens_at = sim.now + calendar.tick if usable is None else usable
    later = number * calendar.tick >= calendar.step
    payload = {
        "dso": sim.parties.dso,
        "round": {"number": str(number)},
        "amuletPrice": decimal(_next_price(sim)),
        "opensAt": timestamps.trimmed(opens_at),
        "targetClosesAt": timestamps.trimmed(opens_at + 2 * calendar.tick),
        "issuingFor": {"microseconds": str(number * calendar.tick)},
        "transferConfigUsd": transfer_config(charged=sim.now < calendar.fees_end),
        "issuanceConfig": issuance_config(later=later),
        "tickDuration": {"microseconds": str(calendar.tick)},
    }
    opened = tx.create(OPEN_ROUND, payload, signatories=(sim.parties.dso,), under=under)
    sim.rounds.append(opened)
    sim.world.coins.open_round(round_of(sim.rounds[0]))
    sim.round_opened = sim.now
    return opened


def advance_rounds(tx: Transaction, sim: Simulation) -> None:
    """Summarize the earliest open round and open the next."""
    closing, newest = sim.rounds[0], round_of(sim.rounds[-1])
    rounds = {
        "roundToArchiveCid": closing.contract_id,
        "middleRoundCid": sim.rounds[1].contract_id,
        "latestRoundCid": sim.rounds[-1].contract_id,
    }
    rules, delegate = sim.rules[COIN_RULES.entity], sim.parties.sponsors[0]
    argument = {
        "amuletRulesCid": rules.contract_id,
        **rounds,
        "amuletPriceVoteCids": [],
        "sv": delegate,
    }
    root = tx.exercise(sim.rules[DSO_RULES.entity], "DsoRules_AdvanceOpenMiningRounds", argument, acting=(delegate,))
    step = tx.exercise(rules, "AmuletRules_AdvanceOpenMiningRounds", {}, acting=(sim.parties.dso,), under=root)
    tx.archive(closing, under=step)
    sim.rounds.popleft()
    terms = ("dso", "round", "amuletPrice", "issuanceConfig", "tickDuration")
    summarizing = _create(tx, SUMMARIZING_ROUND, {name: closing.payload[name] for name in terms}, step)
    opened = open_round(tx, sim, newest + 1, step)
    step["choice_argument"] = {"amuletPrice": opened.payload["amuletPrice"], **rounds}
    step["exercise_result"] = {
        "summarizingRoundCid": summarizing.contract_id,
        "openRoundCid": opened.contract_id,
    }
    root["exercise_result"] = {"summarizingRound": summarizing.contract_id, "openRound": opened.contract_id}
    tx.workflow_id = "advance-rounds"
    # Most members collect for most rounds; a round that nobody is left to collect for has been missed.
    sim.collecting = [sponsor for sponsor in sim.parties.sponsors if sim.rng.random() < 0.9]
    if sim.world.earliest_round is None:
        sim.world.earliest_round = newest + 1


def round_is_due(sim: Simulation) -> bool:
    """Whether the newest round has been open for a tick."""
    return sim.now - sim.round_opened >= sim.calendar.tick


def confirm_totals(tx: Transaction, sim: Simulation) -> None:
    """Let three members propose that a round's issuing begins, each with what it counted."""
    summarizing = _oldest(sim, SUMMARIZING_ROUND)
    _confirm(tx, sim, "CRARC_MiningRound_StartIssuing", _start_argument(sim, summarizing))


def start_issuing(tx: Transaction, sim: Simulation) -> None:
    """Carry out what the members confirmed: fix the round's issuance for every kind of coupon."""
    summarizing = _oldest(sim, SUMMARIZING_ROUND)
    payload, argument = summarizing.payload, _start_argument(sim, summarizing)
    issuance = issuance_of(
        payload["issuanceConfig"],
        tick=sim.calendar.tick,
        price=units(payload["amuletPrice"]),
        totals=_totals(sim, round_of(summarizing)),
    )
    step = _execute(tx, sim, "CRARC_MiningRound_StartIssuing", argument)
    tx.archive(summarizing, under=step)
    opens_at = sim.now
    issuing = {
        "dso": sim.parties.dso,
        "round": payload["round"],
        **_per_coupon(issuance),
        "opensAt": timestamps.trimmed(opens_at),
        "targetClosesAt": timestamps.trimmed(opens_at + 2 * sim.calendar.tick),
        "optIssuancePerValidatorFaucetCoupon": decimal(issuance.faucet),
    }
    begun = _create(tx, ISSUING_ROUND, issuing, step)
    if issuance.unclaimed:
        left = {"dso": sim.parties.dso, "amount": decimal(issuance.unclaimed)}
        _create(tx, UNCLAIMED_REWARD, left, step)
    aside = set_aside(tx, sim, issuance.fund, under=step)
    step["exercise_result"] = {"issuingRoundCid": begun.contract_id, "unclaimedDevelopmentFundCouponCid": aside}


def close_round(tx: Transaction, sim: Simulation) -> None:
    """End a round's issuing; what is left of its coupons can be expired from now on."""
    issuing = _oldest(sim, ISSUING_ROUND)
    rules, member = sim.rules[COIN_RULES.entity], sim.rng.choice(sim.parties.sponsors)
    argument = {"amuletRulesCid": rules.contract_id, "issuingRoundCid": issuing.contract_id, "sv": member}
    root = tx.exercise(sim.rules[DSO_RULES.entity], "DsoRules_MiningRound_Close", argument, acting=(member,))
    step = tx.exercise(
        rules,
        "AmuletRules_MiningRound_Close",
        {"issuingRoundCid": issuing.contract_id},
        acting=(sim.parties.dso,),
        under=root,
    )
    tx.archive(issuing, under=step)
    left_out = ("opensAt", "targetClosesAt")
    payload = {name: value for name, value in issuing.payload.items() if name not in left_out}
    closed = _create(tx, CLOSED_ROUND, payload, step)
    step["exercise_result"] = {"closedRoundCid": closed.contract_id}
    root["exercise_result"] = {"closedRound": closed.contract_id}


def confirm_archiving(tx: Transaction, sim: Simulation, closed: Contract) -> None:
    """Let three members propose that a closed round without coupons is archived."""
    _confirm(tx, sim, "CRARC_MiningRound_Archive", {"closedRoundCid": closed.contract_id})


def archive_round(tx: Transaction, sim: Simulation, closed: Contract) -> None:
    """Archive a closed round."""
    step = _execute(tx, sim, "CRARC_MiningRound_Archive", {"closedRoundCid": closed.contract_id})
    tx.archive(closed, under=step)


def confirmations(sim: Simulation, cid: str) -> list[Contract]:
    """What members have proposed about a round, by the round's contract id."""
    return list(sim.world.contracts.free(CONFIRMATION, sim.main, cid).values())


def _confirm(tx: Transaction, sim: Simulation, choice: str, argument: dict[str, Any]) -> None:
    cid = next(iter(argument.values()))
    for member in sim.parties.sponsors[:3]:
        action = _action(choice, argument)
        confirming = {"confirmer": member, "action": action}
        event = tx.exercise(sim.rules[DSO_RULES.entity], "DsoRules_ConfirmAction", confirming, acting=(member,))
        expires_at = timestamps.trimmed(sim.now + 3_600 * timestamps.SECOND)
        payload = {"dso": sim.parties.dso, "confirmer": member, "action": action, "expiresAt": expires_at}
        made = tx.create(CONFIRMATION, payload, signatories=(sim.parties.dso,), owner=cid, under=event)
        event["exercise_result"] = {"confirmation": made.contract_id}


def _execute(tx: Transaction, sim: Simulation, choice: str, argument: dict[str, Any]) -> Event:
    """The exercise of the coin's rules under the members' decision; its confirmations end first."""
    cid, member = next(iter(argument.values())), sim.rng.choice(sim.parties.sponsors)
    given, rules = confirmations(sim, cid), sim.rules[COIN_RULES.entity]
    executing = {
        "action": _action(choice, argument),
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


def _action(choice: str, argument: dict[str, Any]) -> dict[str, Any]:
    return {"tag": "ARC_AmuletRules", "value": {"amuletRulesAction": {"tag": choice, "value": argument}}}


def _start_argument(sim: Simulation, summarizing: Contract) -> dict[str, Any]:
    totals = _totals(sim, round_of(summarizing))
    return {"miningRoundCid": summarizing.contract_id, "summary": totals.record()}


def _totals(sim: Simulation, number: int) -> Totals:
    """The weights of all of a round's coupons, wherever they are; none has been claimed before it is issuing."""
    validator = featured = unfeatured = sv = faucet = 0
    for coupon in sim.world.coupons.all_of(number):
        payload = coupon.payload
        if coupon.template is SV_COUPON:
            sv += int(payload["weight"])
        elif coupon.template is VALIDATOR_COUPON:
            validator += units(payload["amount"])
        elif coupon.template is not APP_COUPON:
            faucet += 1
        elif payload["featured"]:
            featured += units(payload["amount"])
        else:
            unfeatured += units(payload["amount"])
    return Totals(validator, featured, unfeatured, sv, faucet)


def _per_coupon(issuance: Issuance) -> dict[str, str]:
    return {
        "issuancePerValidatorRewardCoupon": spelled(issuance.validator),
        "issuancePerFeaturedAppRewardCoupon": spelled(issuance.featured),
        "issuancePerUnfeaturedAppRewardCoupon": spelled(issuance.unfeatured),
        "issuancePerSvRewardCoupon": spelled(issuance.sv),
    }


def _next_price(sim: Simulation) -> int:
    """The coin's price in USD, which wanders from round to round."""
    if not sim.rounds:
        return FIRST_PRICE
    before = units(sim.rounds[-1].payload["amuletPrice"])
    # Members vote on six decimal places.
    wandered = before * sim.rng.randrange(97_000, 103_500) // 10**5 // 10**4 * 10**4
    return min(max(wandered, _LOWEST_PRICE), _HIGHEST_PRICE)


def _oldest(sim: Simulation, template: Template) -> Contract:
    return next(iter(sim.world.contracts.free(template, sim.main).values()))


def _create(tx: Transaction, template: Template, payload: dict[str, Any], under: Event) -> Contract:
    return tx.create(template, payload, signatories=(tx.sim.parties.dso,), under=under)
