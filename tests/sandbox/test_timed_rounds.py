"""Histories with so many rounds per day: every phase at its time, issuance of the network, legs seconds apart."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

import pytest

from ledgerframes.sandbox.generator.coins import PURPOSES
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from tests.sandbox.economy_books import Books, entity_of, preorder, round_number

SECOND, MINUTE = timestamps.SECOND, 60 * timestamps.SECOND
TICK = 10 * MINUTE


@pytest.fixture(scope="module")
def phases(day_books):
    """When each phase of a round began, in microseconds of ledger time, and its payload, by phase and number."""
    rounds = (life for life in day_books.lives.values() if life.entity.startswith("Splice.Round:"))
    return {
        (life.entity.removesuffix("MiningRound")[13:], round_number(life.payload)): (life.since, life.payload)
        for life in rounds
    }


def times(phases, phase):
    return [at for (name, _), (at, _) in sorted(phases.items()) if name == phase]


def test_a_day_is_as_long_as_it_says_and_has_its_rounds(day_items, phases):
    assert 143 <= len(times(phases, "Summarizing")) <= 144
    first, last = (timestamps.parse(day_items[place]["record_time"]) for place in (0, -1))
    assert 0.97 < (last - first) / (1_440 * MINUTE) < 1.03


def test_each_phase_begins_at_its_time(phases):
    opened = times(phases, "Open")[3:]
    apart = [later - earlier for earlier, later in pairwise(opened)]
    late = {"Issuing": [], "Closed": []}
    for (phase, number), (at, payload) in phases.items():
        if phase == "Issuing":
            assert timestamps.parse(payload["opensAt"]) == at + TICK
            late[phase].append(at - phases["Summarizing", number][0])
        if phase == "Closed":
            late[phase].append(at - timestamps.parse(phases["Issuing", number][1]["targetClosesAt"]))

    assert median(apart) == TICK
    assert all(TICK <= one < TICK + SECOND for one in apart)
    # A migration can begin a little before the former one ends.
    assert all(-TICK // 3 < one < 3 * MINUTE for one in late["Issuing"])
    assert all(0 <= one < 3 * MINUTE for one in late["Closed"])
    assert median(late["Issuing"]) > 0


def test_coupons_are_claimed_from_a_tick_after_their_round_began_to_issue(day_books, phases):
    claims = list(day_books.exercises("SvRewardCoupon_ArchiveAsBeneficiary"))

    assert len(claims) > 20
    for item, event, _ in claims:
        issuing = phases["Issuing", round_number(day_books.lives[event["contract_id"]].payload)][1]
        assert timestamps.parse(item["record_time"]) >= timestamps.parse(issuing["opensAt"])


def test_the_second_leg_follows_within_seconds_whatever_the_days(day_books):
    apart = [abs(end - begin) for begin, end, _ in day_books.flows().values() if None not in (begin, end)]

    assert len(apart) > 100
    assert median(apart) < 10 * SECOND
    assert any(one > 30 * MINUTE for one in apart)


def test_coin_is_locked_for_a_purpose_until_its_time_is_over(day_items):
    locks, ended = {}, []
    for item in day_items:
        for event in preorder(item) if "events_by_id" in item else ():
            if entity_of(event) == "Splice.Amulet:LockedAmulet":
                if event["event_type"] == "created_event":
                    locks[event["contract_id"]] = event["create_arguments"]["lock"]
                elif locks[event["contract_id"]]["optContext"] in PURPOSES:
                    ended.append((event["choice"], item["effective_at"], locks[event["contract_id"]]["expiresAt"]))

    assert len(set(PURPOSES) & {terms["optContext"] for terms in locks.values()}) > 1
    assert {choice for choice, _, _ in ended} == {"LockedAmulet_OwnerExpireLock"}
    assert all(timestamps.parse(at) >= timestamps.parse(until) for _, at, until in ended)


def test_other_numbers_of_rounds_are_other_ticks():
    world = generate(3, 600, rounds_per_day=24)

    assert world.simulation.calendar.tick == 60 * MINUTE
    assert Books().read(world.items()).supply * 10**10 == world.coins.units
