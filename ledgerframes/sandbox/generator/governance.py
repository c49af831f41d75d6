"""Decisions of members by vote: the coin's configuration, weights, featured apps; and the price that each votes for.

Duties call `duty`, the generator's activities `vote_for_price`. One request is open at a time; its members vote one
after the other, with their reasons, and it closes with its outcome, which is carried out at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ledgerframes.sandbox.generator.coins import pay
from ledgerframes.sandbox.generator.configuration import MARKER_REWARDS, TRAFFIC_REWARDS, reward_config
from ledgerframes.sandbox.generator.coupons import weight_of_member
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.parties import name_of
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    COIN_RULES,
    CONFIRMATION,
    DSO_RULES,
    FEATURED_RIGHT,
    PRICE_VOTE,
    VOTE_REQUEST,
)

Payload = dict[str, Any]
Act = Callable[[Transaction, Simulation], None]

# In ticks: from one request to the next, for casting votes, and for a vote to end without enough of them.
_BETWEEN: Final = 10
_OPEN: Final = 4
#: The number of votes per tick.
_PER_TICK: Final = 3
_LOWEST_PRICE: Final = 30_000_000
_HIGHEST_PRICE: Final = 120_000_000
_REASONS: Final = ("in line with the proposal", "see the discussion", "the numbers are convincing", "")
_DOUBTS: Final = ("too early", "the effect on others is not clear")

_Proposal = tuple[Payload, str]


def duty(sim: Simulation) -> Act | None:
    """The due step of a vote, if any: a request, a vote, or the close."""
    if sim.now < sim.vote_due:
        return None
    request = sim.one(VOTE_REQUEST)
    if request is not None:
        return _close if _is_decided(sim, request) else _cast if _voters(sim, request) else None
    # The rewards' version at its time, else one thing after the other.
    return partial(_request, proposal=_reward_proposal(sim) or _usual_proposal(sim))


def first_price_votes(tx: Transaction, sim: Simulation, price: int, *, under: Event) -> None:
    """Let each member begin with a price."""
    for member in sim.parties.sponsors:
        _price_vote(tx, sim, member, price, under=under)


def vote_for_price(tx: Transaction, sim: Simulation) -> None:
    """Let a member change the price that it votes for, once per tick at most."""
    member = sim.rng.choice(sim.parties.sponsors)
    former = sim.one(PRICE_VOTE, member)
    if former is None or sim.now - timestamps.parse(former.payload["lastUpdatedAt"]) < sim.calendar.tick:
        return pay(tx, sim)
    wandered = units(former.payload["amuletPrice"]) * sim.rng.randrange(98_000, 102_300) // 10**5 // 10**4 * 10**4
    price = min(max(wandered, _LOWEST_PRICE), _HIGHEST_PRICE)
    argument = {"sv": member, "voteCid": former.contract_id, "amuletPrice": decimal(price)}
    event = tx.exercise(sim.dso_rules, "DsoRules_UpdateAmuletPriceVote", argument, acting=(member,))
    tx.archive(former, under=event)
    event["exercise_result"] = {"amuletPriceVote": _price_vote(tx, sim, member, price, under=event).contract_id}
    return None


def price_votes(sim: Simulation) -> list[Contract]:
    """The members' votes; empty if nobody votes."""
    return [vote for member in sim.parties.sponsors if (vote := sim.one(PRICE_VOTE, member)) is not None]


def median_price(votes: list[Contract]) -> int:
    """The price of the next round: the median, in ten-billionths."""
    prices = sorted(units(vote.payload["amuletPrice"]) for vote in votes)
    middle = len(prices) // 2
    return prices[middle] if len(prices) % 2 else (prices[middle - 1] + prices[middle]) // 2


def current_config(sim: Simulation) -> Payload:
    """The coin's configuration; none yet while the ledger begins."""
    rules = sim.world.rules.get(COIN_RULES.entity)
    return {} if rules is None else rules.payload["configSchedule"]["initialValue"]


def _request(tx: Transaction, sim: Simulation, proposal: _Proposal) -> None:
    action, body = proposal
    requester = sim.parties.sponsors[sim.votes % len(sim.parties.sponsors)]
    reason = {"url": f"https://governance.example/{sim.votes + 1}", "body": body}
    effective = timestamps.trimmed(sim.now + 2 * sim.calendar.tick)
    life = {"microseconds": str(_OPEN * sim.calendar.tick)}
    argument = {
        "requester": requester,
        "action": action,
        "reason": reason,
        "voteRequestTimeout": life,
        "targetEffectiveAt": effective,
    }
    event = tx.exercise(sim.dso_rules, "DsoRules_RequestVote", argument, acting=(requester,))
    payload = {
        "requester": name_of(requester),
        "action": action,
        "reason": reason,
        "voteBefore": timestamps.trimmed(sim.now + _OPEN * sim.calendar.tick),
        "votes": [[name_of(requester), _vote(tx, requester, accept=True, body="as proposed")]],
        "trackingCid": None,
        "targetEffectiveAt": effective,
    }
    event["exercise_result"] = {"voteRequest": tx.create(VOTE_REQUEST, payload, under=event).contract_id}
    sim.votes += 1
    sim.vote_due = sim.now + sim.calendar.tick // _PER_TICK


def _cast(tx: Transaction, sim: Simulation) -> None:
    request = sim.the(VOTE_REQUEST)
    member = _voters(sim, request)[0]
    # The members decide against every seventh request, but never about the rewards' version.
    doubted = sim.votes % 7 == 0 and _reward_proposal(sim) is None
    accept = not doubted or member == sim.parties.sponsors[0]
    vote = _vote(tx, member, accept=accept, body=sim.rng.choice(_REASONS if accept else _DOUBTS))
    argument = {"requestCid": request.contract_id, "vote": vote}
    event = tx.exercise(sim.dso_rules, "DsoRules_CastVote", argument, acting=(member,))
    tx.archive(request, under=event)
    payload = {
        **request.payload,
        "votes": sorted([*request.payload["votes"], [name_of(member), vote]]),
        "trackingCid": request.payload["trackingCid"] or request.contract_id,
    }
    event["exercise_result"] = {"voteRequest": tx.create(VOTE_REQUEST, payload, under=event).contract_id}
    sim.vote_due = sim.now + sim.calendar.tick // _PER_TICK


def _close(tx: Transaction, sim: Simulation) -> None:
    request, member = sim.the(VOTE_REQUEST), sim.rng.choice(sim.parties.sponsors)
    votes = [vote for _, vote in request.payload["votes"]]
    threshold = -(-2 * len(sim.parties.sponsors) // 3)
    accepted = sum(vote["accept"] for vote in votes) >= threshold
    rejected = sum(not vote["accept"] for vote in votes) > len(sim.parties.sponsors) - threshold
    outcome: Payload = {"tag": "VRO_Rejected" if rejected else "VRO_Expired", "value": {}}
    if accepted:
        outcome = {"tag": "VRO_Accepted", "value": {"effectiveAt": request.payload["targetEffectiveAt"]}}
    rules = sim.coin_rules
    argument = {"requestCid": request.contract_id, "amuletRulesCid": rules.contract_id, "sv": member}
    root = tx.exercise(sim.dso_rules, "DsoRules_CloseVoteRequest", argument, acting=(member,))
    tx.archive(request, under=root)
    root["exercise_result"] = {
        "request": request.payload,
        "completedAt": tx.created_at,
        "offboardedVoters": [],
        "abstainingSvs": [name_of(one) for one in _waiting(sim, request)],
        "outcome": outcome,
    }
    if accepted:
        _carry_out(tx, sim, request.payload["action"], root)
    sim.vote_due = sim.now + _BETWEEN * sim.calendar.tick


def _carry_out(tx: Transaction, sim: Simulation, action: Payload, root: Event) -> None:
    """Carry out the decision, below the close."""
    inner = action["value"]["amuletRulesAction" if action["tag"] == "ARC_AmuletRules" else "dsoAction"]
    dso, tag, argument = sim.parties.dso, inner["tag"], inner["value"]
    if tag == "CRARC_SetConfig":
        rules = sim.coin_rules
        step = tx.exercise(rules, "AmuletRules_SetConfig", argument, acting=(dso,), consuming=True, under=root)
        schedule = {**rules.payload["configSchedule"], "initialValue": argument["newConfig"]}
        renewed = tx.rule(COIN_RULES, {**rules.payload, "configSchedule": schedule}, under=step)
        step["exercise_result"] = {"newAmuletRules": renewed.contract_id}
        return
    rules, name = sim.dso_rules, tag.replace("SRARC", "DsoRules")
    weighing = tag == "SRARC_UpdateSvRewardWeight"
    step = tx.exercise(rules, name, argument, acting=(dso,), consuming=weighing, under=root)
    if weighing:
        members = [
            [party, {**info, "svRewardWeight": argument["newRewardWeight"]} if party == argument["svParty"] else info]
            for party, info in rules.payload["svs"]
        ]
        renewed = tx.rule(DSO_RULES, {**rules.payload, "svs": members}, under=step)
        step["exercise_result"] = {"newDsoRules": renewed.contract_id}
    elif tag == "SRARC_GrantFeaturedAppRight":
        granted = _feature(tx, argument["provider"], None, step)
        step["exercise_result"] = {"featuredAppRight": granted.contract_id}
    else:
        _change_right(tx, sim, tag, argument, step)


def _change_right(tx: Transaction, sim: Simulation, tag: str, argument: Payload, step: Event) -> None:
    """Withdraw a featured app's right, or give it another weight; nothing if it has ended meanwhile."""
    right = sim.world.contracts.active.get(argument["rightCid"])
    if right is None:
        return
    dso, reason = sim.parties.dso, {"reason": "by vote of the members"}
    if tag == "SRARC_RevokeFeaturedAppRight":
        choice = "FeaturedAppRight_Withdraw"
        tx.exercise(right, choice, reason, acting=(dso,), consuming=True, under=step, result=f"{choice}Result")
        return
    wanted = {**reason, "newActivityWeight": argument["newActivityWeight"]}
    changed = tx.exercise(right, "FeaturedAppRight_Update", wanted, acting=(dso,), consuming=True, under=step)
    again = _feature(tx, right.payload["provider"], argument["newActivityWeight"], changed)
    changed["exercise_result"] = {"featuredAppRightCid": again.contract_id}
    step["exercise_result"] = {"featuredAppRight": again.contract_id}


def _reward_proposal(sim: Simulation) -> _Proposal | None:
    calendar = sim.calendar
    if calendar.rewards != "switch" or sim.now < calendar.dry_runs:
        return None
    wanted = (TRAFFIC_REWARDS, None) if sim.now >= calendar.traffic_rewards else (MARKER_REWARDS, TRAFFIC_REWARDS)
    config = current_config(sim)
    now = config["rewardConfig"]
    if (now["mintingVersion"], now["dryRunVersion"]) == wanted:
        return None
    minting, dry_run = wanted
    changed = {**config, "rewardConfig": reward_config(minting, dry_run=dry_run, life=calendar.coupon_life)}
    body = "dry runs of rewards by traffic" if dry_run else "rewards by traffic"
    return _new_config(sim, changed), body


def _usual_proposal(sim: Simulation) -> _Proposal:
    rights = sim.world.contracts.of(FEATURED_RIGHT)
    featured = {right.payload["provider"] for right in rights}
    member = sim.parties.sponsors[sim.votes % len(sim.parties.sponsors)]
    turn = sim.votes % 4
    if turn == 1 and len(rights) > 2:
        return _dso_action("RevokeFeaturedAppRight", {"rightCid": rights[0].contract_id}), "an app that is dormant"
    if turn == 2 and rights:
        weight = decimal(UNITS * (5 + sim.votes % 20) // 10)
        argument = {"rightCid": rights[-1].contract_id, "newActivityWeight": weight}
        return _dso_action("UpdateFeaturedAppRight", argument), "the weight of an app's activity"
    if sim.votes and sim.votes % 8 == 0:
        synchronizer = current_config(sim)["decentralizedSynchronizer"]
        factor = str(int(synchronizer["fees"]["readVsWriteScalingFactor"]) + 1)
        fees = {**synchronizer["fees"], "readVsWriteScalingFactor": factor}
        changed = {**current_config(sim), "decentralizedSynchronizer": {**synchronizer, "fees": fees}}
        return _new_config(sim, changed), "what reading costs"
    if turn == 3:
        argument = {"svParty": member, "newRewardWeight": str(weight_of_member(sim, member) + 1_000)}
        return _dso_action("UpdateSvRewardWeight", argument), "a milestone was reached"
    provider = next((one for one in sim.parties.validators if one not in featured), sim.parties.validators[0])
    return _dso_action("GrantFeaturedAppRight", {"provider": provider}), "a new app"


def _new_config(sim: Simulation, changed: Payload) -> Payload:
    return coin_action("CRARC_SetConfig", {"newConfig": changed, "baseConfig": current_config(sim)})


def _dso_action(name: str, argument: Payload) -> Payload:
    return {"tag": "ARC_DsoRules", "value": {"dsoAction": {"tag": f"SRARC_{name}", "value": argument}}}


def _is_decided(sim: Simulation, request: Contract) -> bool:
    """Whether a request can be closed: all have voted and it may take effect, or its time has passed."""
    effective = timestamps.parse(request.payload["targetEffectiveAt"])
    return sim.now >= (timestamps.parse(request.payload["voteBefore"]) if _waiting(sim, request) else effective)


def _waiting(sim: Simulation, request: Contract) -> list[str]:
    """The members that have not voted yet."""
    cast = {name for name, _ in request.payload["votes"]}
    return [member for member in sim.parties.sponsors if name_of(member) not in cast]


def _voters(sim: Simulation, request: Contract) -> list[str]:
    """The voters among the members: one abstains from every third vote, and all of them from every fifth."""
    if sim.votes % 5 == 0 and _reward_proposal(sim) is None:
        return []
    away = sim.parties.sponsors[sim.votes % len(sim.parties.sponsors)] if sim.votes % 3 == 0 else ""
    return [member for member in _waiting(sim, request) if member != away]


def _vote(tx: Transaction, member: str, *, accept: bool, body: str) -> Payload:
    return {"sv": member, "accept": accept, "reason": {"url": "", "body": body}, "optCastAt": tx.created_at}


def _price_vote(tx: Transaction, sim: Simulation, member: str, price: int, *, under: Event) -> Contract:
    payload = {
        "sv": member,
        "amuletPrice": decimal(price),
        "lastUpdatedAt": timestamps.trimmed(sim.now),
    }
    return tx.create(PRICE_VOTE, payload, under=under)


def _feature(tx: Transaction, provider: str, weight: str | None, under: Event) -> Contract:
    payload = {"provider": provider, "activityWeight": weight}
    return tx.create(FEATURED_RIGHT, payload, under=under)


def confirmations(sim: Simulation, cid: str) -> list[Contract]:
    """The members' proposals about a contract, by its id."""
    return list(sim.world.contracts.free(CONFIRMATION, sim.main, cid).values())


def confirm(tx: Transaction, sim: Simulation, choice: str, argument: dict[str, Any]) -> None:
    """Let every member propose an action of the coin's rules; the first argument is the contract that it is about."""
    cid = next(iter(argument.values()))
    for member in sim.parties.sponsors:
        action = coin_action(choice, argument)
        confirming = {"confirmer": member, "action": action}
        event = tx.exercise(sim.dso_rules, "DsoRules_ConfirmAction", confirming, acting=(member,))
        expires_at = timestamps.trimmed(sim.now + 3_600 * timestamps.SECOND)
        payload = {"confirmer": member, "action": action, "expiresAt": expires_at}
        made = tx.create(CONFIRMATION, payload, owner=cid, under=event)
        event["exercise_result"] = {"confirmation": made.contract_id}


def execute(tx: Transaction, sim: Simulation, choice: str, argument: dict[str, Any]) -> Event:
    """The exercise of the coin's rules under the members' decision; its confirmations end first."""
    cid, member = next(iter(argument.values())), sim.rng.choice(sim.parties.sponsors)
    agreed, rules = confirmations(sim, cid), sim.coin_rules
    executing = {
        "action": coin_action(choice, argument),
        "amuletRulesCid": rules.contract_id,
        "confirmationCids": [confirmed.contract_id for confirmed in agreed],
        "sv": member,
    }
    root = tx.exercise(sim.dso_rules, "DsoRules_ExecuteConfirmedAction", executing, acting=(member,))
    tx.archive(*agreed, under=root)
    name = choice.replace("CRARC", "AmuletRules")
    root["exercise_result"] = "DsoRules_ExecuteConfirmedActionResult"
    return tx.exercise(rules, name, argument, acting=(sim.parties.dso,), under=root)


def coin_action(choice: str, argument: dict[str, Any]) -> dict[str, Any]:
    """An ActionRequiringConfirmation of the coin's rules."""
    return {"tag": "ARC_AmuletRules", "value": {"amuletRulesAction": {"tag": choice, "value": argument}}}
