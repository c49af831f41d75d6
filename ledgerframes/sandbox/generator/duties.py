"""The duties of the members that run the ledger, in order of urgency; the generator asks for the next one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from ledgerframes.sandbox.generator import (
    claims,
    coupons,
    development_fund,
    genesis,
    governance,
    markers,
    mining_rounds,
    names,
    rewards_v2,
)
from ledgerframes.sandbox.generator.confirmations import confirmations
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract, Template, round_of
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import (
    ACTIVITY_MARKER,
    CLOSED_ROUND,
    ISSUING_ROUND,
    SUMMARIZING_ROUND,
    UNCLAIMED_REWARD,
)
from ledgerframes.sandbox.world.transaction import Transaction

Duty = Callable[[Transaction, Simulation], None]

_MOST_UNCLAIMED: Final = 10
_MARKERS: Final = 16
# A closed round is kept for a while, as on real networks.
_KEPT_ROUNDS: Final = 3


def urgent(sim: Simulation) -> Duty | None:
    """The duty that does not wait: opening the next round; and before that, the first wallets."""
    if sim.founding:
        return genesis.first_wallets
    return mining_rounds.advance_rounds if mining_rounds.round_is_due(sim) else None


def next_time(sim: Simulation) -> int:
    """When something comes to pass that members then see to: the next round, or the end of a round's issuing."""
    if sim.founding:
        return sim.now + timestamps.SECOND
    issuing = sim.world.contracts.free(ISSUING_ROUND, sim.main).values()
    ends = [timestamps.parse(one.payload["targetClosesAt"]) for one in issuing]
    coming = [end for end in ends if end > sim.now]
    return min([sim.round_opened + sim.calendar.tick, *coming])


def next_duty(sim: Simulation) -> Duty | None:
    """The most urgent of the other duties, if there is one."""
    # Votes, and rewards worked out off the ledger, come last.
    later: tuple[Callable[[Simulation], Duty | None], ...] = (rewards_v2.next_duty, governance.duty)
    duties = (find(sim) for find in (_round_duty, _coupon_duty, _closing_duty, *later))
    return next((duty for duty in duties if duty is not None), None)


def _round_duty(sim: Simulation) -> Duty | None:
    summarizing, issuing = sim.one(SUMMARIZING_ROUND), sim.one(ISSUING_ROUND)
    if summarizing is not None:
        confirmed = confirmations(sim, summarizing.contract_id)
        return mining_rounds.start_issuing if confirmed else mining_rounds.confirm_totals
    if issuing is not None and timestamps.parse(issuing.payload["targetClosesAt"]) <= sim.now:
        return mining_rounds.close_round
    return None


def _coupon_duty(sim: Simulation) -> Duty | None:
    if sim.collecting:
        return coupons.collect_sv_coupons
    if names.payment_to_collect(sim) is not None:
        return names.collect_payment
    if development_fund.is_due(sim):
        return development_fund.act
    if _count(sim, ACTIVITY_MARKER) >= _MARKERS:
        return markers.convert_markers
    return claims.merge_unclaimed if _count(sim, UNCLAIMED_REWARD) >= _MOST_UNCLAIMED else None


def _closing_duty(sim: Simulation) -> Duty | None:
    for closed in sim.world.contracts.free(CLOSED_ROUND, sim.main).values():
        if claims.has_expirable(sim, closed):
            return partial(claims.expire_coupons, closed=closed)
        if _is_old(sim, closed):
            confirmed = confirmations(sim, closed.contract_id)
            ending = mining_rounds.archive_round if confirmed else mining_rounds.confirm_archiving
            return partial(ending, closed=closed)
    return None


def _is_old(sim: Simulation, closed: Contract) -> bool:
    """Whether a closed round may go: some rounds later, and with none of its coupons anywhere."""
    number = round_of(closed)
    return round_of(sim.rounds[0]) - number > 2 + _KEPT_ROUNDS and not any(sim.world.contracts.coupons(number))


def _count(sim: Simulation, template: Template) -> int:
    return len(sim.world.contracts.free(template, sim.main))
