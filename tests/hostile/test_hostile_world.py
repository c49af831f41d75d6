"""The hostile ledger: every nasty thing is in it, and all of it is legal."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from decimal import Decimal

import pytest

from ledgerframes.sandbox.world import timestamps
from tests.hostile.generate import MIGRATIONS, generate_hostile
from tests.hostile.json_variants import SPELLINGS, Number

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
CREATED = {
    "event_type", "event_id", "contract_id", "template_id", "package_name", "create_arguments", "created_at",
    "signatories", "observers",
}  # fmt: skip
EXERCISED = {
    "event_type", "event_id", "contract_id", "template_id", "package_name", "choice", "choice_argument",
    "child_event_ids", "exercise_result", "consuming", "acting_parties",
}  # fmt: skip
TRANSACTION = {
    "update_id", "migration_id", "workflow_id", "record_time", "synchronizer_id", "effective_at", "root_event_ids",
    "events_by_id",
}  # fmt: skip
REASSIGNMENT = {
    "submitter", "source_synchronizer", "target_synchronizer", "migration_id", "unassign_id", "reassignment_counter",
}  # fmt: skip


@pytest.fixture(scope="module")
def world():
    return generate_hostile(1, 2_000)


@pytest.fixture(scope="module")
def items(world):
    return list(world.items())


@pytest.fixture(scope="module")
def events(items):
    return [event for item in items for event in item.get("events_by_id", {}).values()]


def of_type(events, event_type):
    return [event for event in events if event["event_type"] == event_type]


def depth_of(item):
    events, deepest = item["events_by_id"], 0
    waiting = [(one, 1) for one in item["root_event_ids"]]
    while waiting:
        event_id, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting.extend((child, depth + 1) for child in events[event_id].get("child_event_ids", []))
    return deepest


def nesting_of(value, depth=0):
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max((nesting_of(one, depth + 1) for one in below), default=depth)


def test_the_same_seed_gives_the_same_bytes():
    assert generate_hostile(2, 300).updates == generate_hostile(2, 300).updates


@pytest.mark.parametrize("updates", [0, 1, 6, 8, 50])
def test_a_world_of_any_size_has_as_many_updates_as_asked_for(updates):
    assert len(generate_hostile(2, updates).updates) == updates


def test_the_order_is_legal_and_reaches_every_extreme(world, items):
    keys = [update[:3] for update in world.updates]
    places = [(update.migration_id, update.record_time, update.synchronizer_id) for update in world.updates]

    assert keys == sorted(set(keys))
    assert len(set(places)) == len(places)
    assert {update.migration_id for update in world.updates} == set(MIGRATIONS)
    assert {timestamps.FIRST, timestamps.LAST} <= {update.record_time for update in world.updates}
    assert max(Counter(update[:2] for update in world.updates).values()) >= 3
    for update, item in zip(world.updates, items, strict=True):
        assert timestamps.exact(update.record_time) == item["record_time"]
        assert item.get("event", item)["migration_id"] == update.migration_id


def test_required_members_are_always_there(items, events):
    for item in items:
        if "events_by_id" in item:
            assert item.keys() >= TRANSACTION
        else:
            assert item.keys() >= {"update_id", "offset", "record_time", "event"}
            assert item["event"].keys() >= REASSIGNMENT
            assert ("created_event" in item["event"]) != ("contract_id" in item["event"])
    assert all(event.keys() >= CREATED for event in of_type(events, "created_event"))
    assert all(event.keys() >= EXERCISED for event in of_type(events, "exercised_event"))
    assert all(isinstance(event["create_arguments"], dict) for event in of_type(events, "created_event"))


def test_references_between_events_form_trees(items):
    for item in items:
        events = item.get("events_by_id", {})
        named = list(item.get("root_event_ids", []))
        named += [child for event in events.values() for child in event.get("child_event_ids", [])]
        assert set(named) <= set(events)
        assert len(set(named)) == len(named)
        assert all(event["event_id"] == key for key, event in events.items())
        assert list(events) == sorted(events)


def test_times_have_zero_to_nine_digits_from_the_first_year_to_the_last(items, events):
    texts = [item["effective_at"] for item in items if "effective_at" in item]
    texts += [event["created_at"] for event in of_type(events, "created_event")]

    assert all(TIME.fullmatch(text) for text in texts)
    assert {len(text.partition(".")[2].rstrip("Z")) for text in texts} == set(range(10))
    assert {"0001", "9999"} <= {text[:4] for text in texts}


def test_trees_are_deep_and_wide_and_empty(items):
    trees = [item for item in items if "events_by_id" in item]

    assert max(map(depth_of, trees)) == 300
    assert max(len(item["events_by_id"]) for item in trees) == 2_000
    assert any(not item["events_by_id"] for item in trees)


@pytest.mark.parametrize("updates", [60])
def test_every_special_shape_is_in_a_small_world_too(updates):
    small = list(generate_hostile(5, updates).items())
    payloads = [
        event.get("create_arguments", event.get("choice_argument"))
        for item in small
        for event in item.get("events_by_id", {}).values()
    ]

    assert max(depth_of(item) for item in small if "events_by_id" in item) == 300
    assert max(len(item.get("events_by_id", {})) for item in small) == 2_000
    assert max(map(nesting_of, payloads)) == 200
    assert any(isinstance(one, dict) and len(str(one.get("text"))) == 50_000 for one in payloads)


def test_events_come_in_unknown_kinds_unreached_and_oddly_numbered(items, events):
    unreached = odd = 0
    for item in items:
        named = set(item.get("root_event_ids", []))
        for event in item.get("events_by_id", {}).values():
            named.update(event.get("child_event_ids", []))
        unreached += bool(set(item.get("events_by_id", {})) - named)
        odd += any(not key.startswith(item["update_id"]) for key in item.get("events_by_id", {}))

    assert {event["event_type"] for event in events} == {
        "created_event", "exercised_event", "archived_event", "rollback_event",
    }  # fmt: skip
    assert any(event.get("child_event_ids") for event in of_type(events, "rollback_event"))
    assert unreached > 20
    assert odd > 20


def test_results_arguments_and_optional_members_take_every_form(items, events):
    exercised = of_type(events, "exercised_event")
    kinds = {type(event["exercise_result"]) for event in exercised}
    hashes = {type(item.get("external_transaction_hash", ...)) for item in items if "events_by_id" in item}

    assert kinds == {str, int, Decimal, bool, type(None), list, dict}
    assert any(event["choice_argument"].keys() == {"error", "value"} for event in exercised
               if isinstance(event["choice_argument"], dict))  # fmt: skip
    assert {type(event.get("interface_id", ...)) for event in exercised} == {str, type(None), type(...)}
    assert hashes == {str, type(None), type(...)}


def test_unknown_members_stand_on_every_level(items, events):
    created = of_type(events, "created_event")
    moves = [item["event"] for item in items if "event" in item]
    halves = [move["created_event"] for move in moves if "created_event" in move]

    for level in (items, created, of_type(events, "exercised_event"), moves, halves):
        assert {"extra", "absent", "/x", ""} <= set(itertools.chain.from_iterable(level))


def test_reassignments_stay_in_place_and_count_to_the_extremes(items):
    moves = [item["event"] for item in items if "event" in item]

    assert any(move["source_synchronizer"] == move["target_synchronizer"] for move in moves)
    assert {2**63 - 1, -(2**63)} <= {move["reassignment_counter"] for move in moves}


@pytest.mark.parametrize(
    "needle",
    ["1e400", "-0", "12345678901234567890123", '"0E-10"', '"-1.43E-8"', "\\u0000", "\\uD83D\\uDC69", "\\/", "\u05e9",
     "\U0010ffff", '"9999999999999999999999999999.9999999999"', " : ", ": ", '"a~1b"', '"a/b"'],
    ids=ascii,
)  # fmt: skip
def test_the_bytes_carry_odd_spellings(world, needle):
    assert any(needle.encode() in update.rendered for update in world.updates)


@pytest.mark.parametrize("spelling", SPELLINGS, ids=range(len(SPELLINGS)))
def test_every_spelling_means_the_same(spelling):
    value = {"": [], "a/b": ["\x00\u2028\U0001f469", None, True, False, -5], "\u00e9": {"n": Number("1e400")}, "o": {}}

    read = json.loads(spelling.write(value), parse_float=Decimal)

    assert read == {**value, "\u00e9": {"n": Decimal("1e400")}}


def test_it_advances_after_its_newest_update():
    world = generate_hostile(4, 40)
    newest = world.updates[-1]

    world.advance(30)

    assert len(world.updates) == 70
    assert all(update[:2] >= newest[:2] for update in world.updates[40:])
    places = [(update.migration_id, update.record_time, update.synchronizer_id) for update in world.updates]
    assert len(set(places)) == len(places)
