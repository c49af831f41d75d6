"""The hostile ledger that other tests read: every nasty thing is in it, and its order and its trees are legal."""

from collections import Counter
from decimal import Decimal

import pytest

from ledgerframes.sandbox.world import timestamps
from tests.economics.books import steps
from tests.hostile.generate import MIGRATIONS, generate_hostile

#: Numbers, amounts, escapes, spaces and names as a server may spell them.
NEEDLES = (
    *("1e400", "-0", "12345678901234567890123", '"0E-10"', '"-1.43E-8"', "\\u0000", "\\uD83D\\uDC69", "\\/", "\u05e9"),
    *("\U0010ffff", '"9999999999999999999999999999.9999999999"', " : ", ": ", '"a~1b"', '"a/b"', '"/x"', '"absent"'),
)


@pytest.fixture(scope="module")
def world():
    return generate_hostile(1, 1_000)


def test_a_world_has_as_many_updates_as_asked_for_and_is_that_of_its_seed():
    first, again = (generate_hostile(2, 60) for _ in range(2))
    newest = first.updates[-1]
    for one in (first, again):
        one.advance(30)

    assert first.updates == again.updates
    assert min(first.updates[60:])[:2] >= newest[:2]


def test_the_order_is_legal_and_reaches_every_extreme_in_odd_spellings(world):
    assert [one for one in NEEDLES if not any(one.encode() in update.rendered for update in world.updates)] == []
    keys = [update[:3] for update in world.updates]

    assert keys == sorted(set(keys))
    assert len({(one.migration_id, one.record_time, one.synchronizer_id) for one in world.updates}) == len(keys)
    assert {update.migration_id for update in world.updates} == set(MIGRATIONS)
    assert {timestamps.FIRST, timestamps.LAST} <= {update.record_time for update in world.updates}
    assert max(Counter(update[:2] for update in world.updates).values()) >= 3
    for update, item in zip(world.updates, world.items(), strict=True):
        place = item.get("event", item)["migration_id"], item["record_time"]
        assert place == (update.migration_id, timestamps.exact(update.record_time))


def test_events_form_trees_that_are_deep_and_wide_and_empty_and_take_every_form(world):
    events, sizes, unreached, deepest = [], set(), 0, 0
    for item in (item for item in world.items() if "events_by_id" in item):
        own = item["events_by_id"].values()
        named = [*item["root_event_ids"], *(child for event in own for child in event.get("child_event_ids", []))]
        assert len(set(named)) == len(named) == len(set(named) & item["events_by_id"].keys())
        assert [event["event_id"] for event in own] == sorted(item["events_by_id"])
        deepest = max([deepest, *(len(above) for _, above, _ in steps(item))])
        unreached += len(named) < len(own)
        sizes.add(len(own))
        events += own
    exercised = [event for event in events if event["event_type"] == "exercised_event"]
    fractions = {len(event["created_at"].partition(".")[2].rstrip("Z")) for event in events if "created_at" in event}

    assert (deepest, min(sizes), max(sizes)) == (299, 0, 2_000)
    assert unreached > 20
    kinds = {event["event_type"] for event in events}
    assert kinds == {"created_event", "exercised_event", "archived_event", "rollback_event"}
    assert {type(one["exercise_result"]) for one in exercised} == {str, int, Decimal, bool, type(None), list, dict}
    assert {type(event.get("interface_id", ...)) for event in exercised} == {str, type(None), type(...)}
    assert fractions == set(range(10))
    counters = {item["event"]["reassignment_counter"] for item in world.items() if "event" in item}
    assert {2**63 - 1, -(2**63)} <= counters
