"""A whole made-up ledger from a seed: `generate` is called by the server, the tests and the benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from random import Random
from typing import Final

from ledgerframes.sandbox.generator import (
    claims,
    coins,
    duties,
    genesis,
    ious,
    licenses,
    markers,
    names,
    offers,
    preapproving,
    token_standard,
    tokens,
    traffic,
)
from ledgerframes.sandbox.generator.calendar import Calendar, calendar_of
from ledgerframes.sandbox.generator.made_up_users import invent_accounts
from ledgerframes.sandbox.generator.reassignment_traffic import ReassignmentTraffic
from ledgerframes.sandbox.generator.simulation import Simulation
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.instruments import invent_instruments
from ledgerframes.sandbox.world.parties import fingerprint, invent_parties, invent_synchronizers
from ledgerframes.sandbox.world.reassignment_legs import Leg, render_leg
from ledgerframes.sandbox.world.snapshots import choose_period
from ledgerframes.sandbox.world.templates import COIN, Packages
from ledgerframes.sandbox.world.transaction import Transaction
from ledgerframes.sandbox.world.world import Update, World

Activity = Callable[[Transaction, Simulation], None]

# Several synchronizers share a record time; clients that page by "after" lose updates there.
_TIES: Final = 0.045
_SIGNED_OUTSIDE: Final = 0.08
_ON_MAIN: Final[dict[Activity, int]] = {
    coins.pay: 22,
    coins.pay_batch: 4,
    coins.mint: 7,
    coins.lock: 5,
    coins.unlock: 5,
    coins.expire: 3,
    claims.claim: 24,
    licenses.renew: 13,
    markers.mark_activity: 5,
    traffic.buy_traffic: 5,
    preapproving.change_preapproval: 2,
    token_standard.send: 6,
    token_standard.answer: 4,
    tokens.act: 5,
    genesis.report_status: 4,
    names.change_name: 4,
    offers.make_offer: 8,
    offers.answer_offer: 8,
    ious.issue: 18,
    ious.pass_on: 12,
    ious.redeem: 2,
}
_ELSEWHERE: Final[dict[Activity, int]] = {
    ious.issue: 10,
    ious.pass_on: 14,
    ious.split: 3,
    ious.redeem: 5,
    ious.look: 3,
    ious.settle_batch: 4,
}
_REASSIGNED: Final = 0.1
# How readily members do what is due before anything else happens.
_DUTIFUL: Final = 0.7
_LONGEST_OVERLAP: Final = 3_600 * timestamps.SECOND


def generate(seed: int, updates: int, synchronizers: int = 3, migrations: int = 3, *, days: int | None = None) -> World:
    """Make up a ledger; the same arguments give the same bytes.

    Args:
        seed: what chance starts from.
        updates: how many items its history has.
        synchronizers: how many there are; the first carries the coin, the last is the slowest.
        migrations: how many migration ids, from 0; their record times overlap.
        days: how many days they are spread over, with the hours and weekdays of real people; None writes an update
            every two seconds.

    Returns:
        The world; its `advance` adds to the newest migration.
    """
    generator = _Generator(seed, synchronizers, calendar_of(updates, days=days))
    for migration_id in range(migrations):
        share = updates // migrations + (migration_id < updates % migrations)
        generator.migrate(migration_id, share, last=migration_id == migrations - 1)
    generator.world.snapshot_period = choose_period(generator.world)
    return generator.world


class _Generator:
    """Writes the history in server order, step by step; a step is one record time."""

    def __init__(self, seed: int, synchronizers: int, calendar: Calendar) -> None:
        self.rng = Random(seed)
        self.world = World(synchronizers=invent_synchronizers(self.rng, synchronizers), grow=self.grow)
        parties, packages = invent_parties(self.rng), Packages(self.rng)
        self.sim = Simulation(self.rng, self.world, parties, packages, calendar.begin, calendar)
        self.world.simulation = self.sim
        self.traffic = ReassignmentTraffic(self.sim)
        # Accounts and instruments have their own random generators, so that they do not change the history's bytes.
        self.world.accounts = invent_accounts(Random(f"accounts/{seed}"), parties)
        self.world.instruments = invent_instruments(Random(f"instruments/{seed}"))
        self.step = 0
        weights = [6, *range(synchronizers + 1, 2, -1)][:synchronizers]
        self._synchronizer_weights = list(accumulate(weights))
        self._main = (list(_ON_MAIN), list(accumulate(_ON_MAIN.values())))
        self._elsewhere = (list(_ELSEWHERE), list(accumulate(_ELSEWHERE.values())))

    def migrate(self, migration_id: int, updates: int, *, last: bool) -> None:
        """Begin a migration a little before the former one ends, and write its share of the history."""
        begin = self.sim.now
        # An upgrade changes the package's hash, so people have to group by `Module:Entity`.
        if migration_id == 1:
            self.sim.packages.upgrade(COIN.package_name)
        self.sim.migration_id = migration_id
        self.grow(updates, last=last)
        if not last:
            # Record times of neighbouring migrations overlap on real networks, so the next one begins earlier.
            overlap = min((self.sim.now - begin) // 16, _LONGEST_OVERLAP)
            self.sim.now -= max(3 * self.sim.calendar.mean_gap, overlap)

    def grow(self, updates: int, *, last: bool = True) -> None:
        """Write a number of updates; near the end of a migration reassignments begin that end in the next one."""
        left = updates
        while left > 0:
            group = self._group(left, crossing=not last and left <= 6)
            self.world.record(group)
            left -= len(group)

    def _group(self, room: int, *, crossing: bool) -> list[Update]:
        """The updates of the next record time: one, or one on each of several synchronizers."""
        self.step += 1
        calendar = self.sim.calendar
        gap = 1 if self.rng.random() < 0.03 else 1 + int(self.rng.expovariate(1 / calendar.mean_gap))
        self.sim.now = calendar.after(self.sim.now, gap)
        if not self.world.updates:
            return [self._transaction(self.sim.main, genesis.bootstrap)]
        late_leg = self.traffic.due(self.step)
        places = self._places(room)
        if late_leg is not None:
            places = [synchronizer_id for synchronizer_id in places[1:] if synchronizer_id != late_leg.synchronizer_id]
        alone = len(places) == 1 and late_leg is None
        group = [self._something(place, room if crossing else 0, alone=alone) for place in places]
        if late_leg is not None:
            group.append(self._leg(late_leg))
            self.traffic.complete(late_leg)
        return group

    def _places(self, room: int) -> list[str]:
        everywhere = self.world.synchronizers
        if room > 1 and len(everywhere) > 1 and self.rng.random() < _TIES:
            return self.rng.sample(everywhere, self.rng.randint(2, min(room, len(everywhere))))
        return self.rng.choices(everywhere, cum_weights=self._synchronizer_weights)

    def _something(self, place: str, crossing: int, *, alone: bool) -> Update:
        on_main = place == self.sim.main
        duty = duties.urgent(self.sim) if on_main else None
        if duty is not None:
            return self._transaction(place, duty)
        if crossing or self.rng.random() < _REASSIGNED:
            delay = crossing + self.rng.randrange(2, 12) if crossing else None
            leg = self.traffic.start(place, step=self.step, alone=alone, delay=delay)
            if leg is not None:
                return self._leg(leg)
        duty = duties.next_duty(self.sim) if on_main and self.rng.random() < _DUTIFUL else None
        if duty is not None:
            return self._transaction(place, duty)
        activities, weights = self._main if on_main else self._elsewhere
        return self._transaction(place, self.rng.choices(activities, cum_weights=weights)[0])

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
        rendered = tx.render(migration_id=self.sim.migration_id, record_time=record_time, external_hash=signed)
        return Update(self.sim.migration_id, record_time, update_id, place, signed, rendered)

    def _leg(self, leg: Leg) -> Update:
        update_id, now = fingerprint(self.rng), self.sim.now
        rendered = render_leg(leg, update_id=update_id, migration_id=self.sim.migration_id, record_time=now)
        return Update(self.sim.migration_id, now, update_id, leg.synchronizer_id, None, rendered)
