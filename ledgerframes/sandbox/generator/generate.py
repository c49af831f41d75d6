"""A whole simulated ledger from a seed: `generate` is called by the server, the tests and the benchmarks."""

from __future__ import annotations

import gc
from bisect import bisect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from random import Random
from typing import Final

from ledgerframes.sandbox.generator import (
    app_rewards,
    burning,
    claims,
    coins,
    coupons,
    genesis,
    governance,
    ious,
    licenses,
    mining_rounds,
    names,
    token_standard,
)
from ledgerframes.sandbox.generator.governance import confirmations
from ledgerframes.sandbox.generator.reassignment_traffic import ReassignmentTraffic
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.calendar import Calendar, calendar_of
from ledgerframes.sandbox.world.contracts import Leg, round_of
from ledgerframes.sandbox.world.parties import fingerprint, invent_accounts, invent_parties, invent_synchronizers
from ledgerframes.sandbox.world.simulation import Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    ACTIVITY_MARKER,
    CLOSED_ROUND,
    COIN,
    ISSUING_ROUND,
    SUMMARIZING_ROUND,
    UNCLAIMED_REWARD,
    Packages,
)
from ledgerframes.sandbox.world.views import choose_period
from ledgerframes.sandbox.world.world import Update, World

Activity = Callable[[Transaction, Simulation], None]

# Several synchronizers share a record time; clients that page by "after" lose updates there.
_TIES: Final = 0.16
_SIGNED_OUTSIDE: Final = 0.08
# Activities of members, validators, apps and wallets, in the proportions of a network's own pages; few private
# workflows, since a history counts what the scan shows.
_ON_MAIN: Final[dict[Activity, int]] = {
    coins.pay: 18,
    coins.pay_batch: 1,
    coins.mint: 3,
    coins.lock: 4,
    coins.unlock: 5,
    coins.expire: 3,
    claims.claim: 14,
    licenses.renew: 70,
    app_rewards.mark_activity: 25,
    burning.buy_traffic: 6,
    burning.change_preapproval: 3,
    token_standard.send: 6,
    token_standard.answer: 4,
    token_standard.use_token: 5,
    genesis.report_status: 345,
    governance.vote_for_price: 3,
    names.change_name: 4,
    coins.make_offer: 5,
    coins.answer_offer: 6,
    ious.issue: 3,
    ious.pass_on: 3,
    ious.redeem: 2,
}
_ELSEWHERE: Final[dict[Activity, int]] = {
    ious.issue: 10,
    ious.pass_on: 14,
    ious.split: 3,
    ious.redeem: 5,
    ious.query_balance: 3,
    ious.settle_batch: 4,
}
_MAIN_WEIGHT: Final = 8
_REASSIGNED: Final = 0.09
# On other synchronizers coin is mostly on its way back.
_BACK: Final = 0.9
# Updates per step of what people do, and a round's duties as long as none have been counted.
_PER_STEP: Final = 1.12
_USUAL_DUTIES: Final = 14
_USUAL_ROUNDS: Final = 4


def generate(
    seed: int,
    updates: int,
    synchronizers: int = 3,
    migrations: int = 3,
    *,
    days: int | None = None,
    rounds_per_day: int | None = None,
    reward_version: str = "markers",
) -> World:
    """Generate a ledger; the same arguments result in the same bytes.

    Args:
        seed: the seed of chance.
        updates: how many items its history has, as the scan shows it: what the organization that runs the ledger is a
            stakeholder of, and what lies below its choices. There are more: private workflows.
        synchronizers: how many there are; the first carries the coin, the last is the slowest.
        migrations: the number of migration ids, from 0; their record times overlap.
        days: how many days they are spread over, with the hours and weekdays of real people; None takes what so many
            updates take on a network.
        rounds_per_day: how many mining rounds a day has. None: 144 as on networks, or fewer where `days` is more than
            three.
        reward_version: "markers": apps are rewarded by coupons of the rounds; "traffic": by coupons of the second
            version, which are worked out after a round; "switch": first so, then so, by votes of the members.

    Returns:
        The world; its `advance` adds to the newest migration.
    """
    calendar = calendar_of(updates, days=days, rounds_per_day=rounds_per_day, reward_version=reward_version)
    generator = _Generator(seed, synchronizers, calendar)
    generator.planned = updates
    with _uncollected():
        for migration_id in range(migrations):
            share = updates // migrations + (migration_id < updates % migrations)
            generator.migrate(migration_id, share, last=migration_id == migrations - 1)
    generator.world.snapshot_period = choose_period(generator.world)
    generator.world.made = {"seed": seed, "updates": updates, "synchronizers": synchronizers, "migrations": migrations}
    generator.world.made |= {"days": days, "rounds_per_day": rounds_per_day, "reward_version": reward_version}
    return generator.world


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of cycles: a ledger has none, and looking for them takes a fifth of the time."""
    collecting, frozen = gc.isenabled(), gc.get_freeze_count()
    gc.disable()
    try:
        yield
    finally:
        if not frozen:  # what is there now counts as old, and is not looked through at once
            gc.freeze()
            gc.unfreeze()
        if collecting:
            gc.enable()


class _Generator:
    """Writes the history in server order, step by step; a step is one record time."""

    def __init__(self, seed: int, synchronizers: int, calendar: Calendar) -> None:
        self.rng = Random(seed)
        synchronizer_ids = invent_synchronizers(self.rng, synchronizers)
        parties, packages = invent_parties(self.rng), Packages(self.rng)
        self.world = World(synchronizers=synchronizer_ids, grow=self.grow, scan_party=parties.dso)
        self.sim = Simulation(self.rng, self.world, parties, packages, calendar.begin, calendar)
        self.world.simulation = self.sim
        self.traffic = ReassignmentTraffic(self.sim)
        # Accounts have their own random generator, so that they do not change the history's bytes.
        self.world.accounts = invent_accounts(Random(f"accounts/{seed}"), parties)
        #: The length of the history that is made at the start.
        self.planned = 0
        #: How many updates came at their time, and when the members' next duty is due.
        self._scheduled = 0
        self._duty_at = timestamps.LAST
        others = range(synchronizers + 1, 2, -1)
        weights = [_MAIN_WEIGHT * sum(others) or 1, *others][:synchronizers]
        self._synchronizer_weights = list(accumulate(weights))
        on_main = _ON_MAIN | ({app_rewards.share: 4} if calendar.rewards != "markers" else {})
        self._main = (list(on_main), list(accumulate(on_main.values())))
        self._elsewhere = (list(_ELSEWHERE), list(accumulate(_ELSEWHERE.values())))

    def migrate(self, migration_id: int, updates: int, *, last: bool) -> None:
        """Begin a migration a little before the former one ends, and write its share of the history."""
        begin = self.sim.now
        # An upgrade changes the package's hash, so people have to group by `Module:Entity`.
        if migration_id == 1:
            self.sim.packages.upgrade(COIN.package_name)
        self.sim.migration_id = migration_id
        self.traffic.resume()
        self.grow(updates, last=last)
        if not last:
            # Record times of neighbouring migrations overlap on real networks, so the next one begins earlier.
            calendar = self.sim.calendar
            overlap = min((self.sim.now - begin) // 16, calendar.tick // 4)
            self.sim.now -= max(3 * calendar.mean_gap, overlap)

    def grow(self, updates: int, *, last: bool = True) -> None:
        """Write a number of updates; near the end of a migration reassignments begin that end in the next one."""
        left = updates
        while left > 0:
            left -= self.world.record(self._group(left, crossing=not last and left <= 12))

    def _group(self, room: int, *, crossing: bool) -> list[Update]:
        """The updates of the next record time: one, or one on each of several synchronizers."""
        gap = 1 if self.rng.random() < 0.03 else 1 + int(self.rng.expovariate(1 / self._mean_gap()))
        then = self.sim.calendar.after(self.sim.now, gap)
        if not self.world.updates:
            self.sim.now = then
            return [self._transaction(self.sim.main, genesis.bootstrap)]
        due = self._next_due()
        self.sim.now = min(then, max(due, self.sim.now + 1))
        if due <= then:
            self._scheduled += 1
            return [self._due()]
        chosen = self._choose_synchronizers(room)
        return [self._next_update(place, crossing=crossing, alone=len(chosen) == 1) for place in chosen]

    def _mean_gap(self) -> float:
        """The mean time between activities, so that the history ends in time."""
        sim, calendar = self.sim, self.sim.calendar
        time, updates = calendar.end - sim.now, self.planned - len(self.world.updates)
        if time <= 0 or updates <= 0:
            return calendar.mean_gap
        # As if what is due had come at its usual rate for some rounds before the first.
        passed = sim.now - calendar.begin + _USUAL_ROUNDS * calendar.tick
        due = time * (self._scheduled + _USUAL_ROUNDS * _USUAL_DUTIES) / passed
        return min(max(time * _PER_STEP / max(updates - due, 1), 1), calendar.tick)

    def _next_due(self) -> int:
        """When the next leg or duty is due."""
        sim = self.sim
        if self._duty_at == timestamps.LAST and next_duty(sim) is not None:
            self._duty_at = sim.now + self.rng.randrange(1, 15 * timestamps.SECOND)
        return min(self.traffic.next_time, next_time(sim), self._duty_at)

    def _due(self) -> Update:
        """The next update: a due leg, a duty of the members, or else an activity of users."""
        leg = self.traffic.due(self.sim.now)
        if leg is not None:
            update = self._leg(leg)
            self.traffic.complete(leg)
            return update
        self._duty_at = timestamps.LAST
        duty = urgent(self.sim) or next_duty(self.sim)
        if duty is None:
            return self._next_update(self.sim.main, crossing=False, alone=True)
        return self._transaction(self.sim.main, duty)

    def _choose_synchronizers(self, room: int) -> list[str]:
        everywhere = self.world.synchronizers
        if room > 1 and len(everywhere) > 1 and self.rng.random() < _TIES:
            return self.rng.sample(everywhere, self.rng.randint(2, min(room, len(everywhere))))
        return [everywhere[self._drawn(self._synchronizer_weights)]]

    def _next_update(self, place: str, *, crossing: bool, alone: bool) -> Update:
        on_main = place == self.sim.main
        duty = urgent(self.sim) if on_main else None
        if duty is not None:
            return self._transaction(place, duty)
        if crossing or self.rng.random() < (_REASSIGNED if on_main else _BACK):
            leg = self.traffic.start(place, alone=alone, crossing=crossing)
            if leg is not None:
                return self._leg(leg)
        activities, weights = self._main if on_main else self._elsewhere
        return self._transaction(place, activities[self._drawn(weights)])

    def _drawn(self, weights: list[int]) -> int:
        """The position that chance picks by cumulative weights: the first that `rng.choices` picks, and sooner."""
        return bisect(weights, self.rng.random() * weights[-1])

    def _transaction(self, place: str, activity: Activity) -> Update:
        rng, record_time = self.rng, self.sim.now
        # The effective time can lie before or after the record time.
        effective = record_time + rng.randrange(-3 * timestamps.SECOND, 5 * timestamps.SECOND)
        if rng.random() < 0.2:
            # Round times give `created_at` of fewer digits, since servers trim it.
            effective -= effective % (1_000 if rng.random() < 0.8 else timestamps.SECOND)
        update_id = fingerprint(rng)
        tx = Transaction(self.sim, update_id=update_id, synchronizer_id=place, effective=effective)
        activity(tx, self.sim)
        signed = f"{rng.getrandbits(256):064x}" if rng.random() < _SIGNED_OUTSIDE else None
        return tx.update(migration_id=self.sim.migration_id, record_time=record_time, external_hash=signed)

    def _leg(self, leg: Leg) -> Update:
        place = {"migration_id": self.sim.migration_id, "record_time": self.sim.now}
        return self.world.leg(leg, update_id=fingerprint(self.rng), **place)


_MOST_UNCLAIMED: Final = 10
_MARKERS: Final = 16
# A closed round is kept for a while, as on real networks.
_RETAINED_ROUNDS: Final = 3


def urgent(sim: Simulation) -> Activity | None:
    """The duty that does not wait: opening the next round; and before that, the first wallets."""
    if sim.founding:
        return genesis.first_wallets
    return mining_rounds.advance_rounds if sim.now - sim.round_opened >= sim.calendar.tick else None


def next_time(sim: Simulation) -> int:
    """When something comes to pass that members then see to: the next round, or the end of a round's issuing."""
    if sim.founding:
        return sim.now + timestamps.SECOND
    soonest = sim.round_opened + sim.calendar.tick
    for issuing in sim.world.contracts.free(ISSUING_ROUND, sim.main).values():
        end = timestamps.parse(issuing.payload["targetClosesAt"])
        if sim.now < end < soonest:
            soonest = end
    return soonest


def next_duty(sim: Simulation) -> Activity | None:
    """The most urgent of the other duties, if there is one."""
    # Votes, and rewards worked out off the ledger, come last.
    duty = _round_duty(sim) or _coupon_duty(sim) or _closing_duty(sim)
    return duty or app_rewards.next_duty(sim) or governance.duty(sim)


def _round_duty(sim: Simulation) -> Activity | None:
    summarizing, issuing = sim.one(SUMMARIZING_ROUND), sim.one(ISSUING_ROUND)
    if summarizing is not None:
        confirmed = confirmations(sim, summarizing.contract_id)
        return mining_rounds.start_issuing if confirmed else mining_rounds.confirm_totals
    if issuing is not None and timestamps.parse(issuing.payload["targetClosesAt"]) <= sim.now:
        return mining_rounds.close_round
    return None


def _coupon_duty(sim: Simulation) -> Activity | None:
    if sim.collecting:
        return coupons.collect_sv_coupons
    if names.payment_to_collect(sim) is not None:
        return names.collect_payment
    if claims.fund_is_due(sim):
        return claims.use_fund
    if len(sim.world.contracts.free(ACTIVITY_MARKER, sim.main)) >= _MARKERS:
        return app_rewards.convert_markers
    waiting = len(sim.world.contracts.free(UNCLAIMED_REWARD, sim.main))
    return claims.merge_unclaimed if waiting >= _MOST_UNCLAIMED else None


def _closing_duty(sim: Simulation) -> Activity | None:
    # A closed round may go some rounds later, and with none of its coupons anywhere.
    contracts, newest = sim.world.contracts, round_of(sim.rounds[0]) - 3 - _RETAINED_ROUNDS
    for closed in contracts.free(CLOSED_ROUND, sim.main).values():
        number = round_of(closed)
        coupons = contracts.coupons(number)
        if coupons and any(contracts.free_coupons(number, sim.main)):
            return partial(claims.expire_coupons, closed=closed)
        if number <= newest and not coupons:
            confirmed = confirmations(sim, closed.contract_id)
            ending = mining_rounds.archive_round if confirmed else mining_rounds.confirm_archiving
            return partial(ending, closed=closed)
    return None
