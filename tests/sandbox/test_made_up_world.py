"""The plausible ledger: the same for the same seed, in server order, and true to its own bookkeeping."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from tests.economics.books import Books
from tests.sandbox.economy_books import preorder

CAPTURES = Path(__file__).parents[3] / "shared" / "captures"
COIN = "Splice.Amulet:Amulet"


@pytest.fixture(scope="module")
def transactions(economy_shown):
    return [item for item in economy_shown if "events_by_id" in item]


def events_of(transactions):
    return itertools.chain.from_iterable(item["events_by_id"].values() for item in transactions)


def test_updates_stand_in_the_order_of_migration_record_time_and_id(economy, economy_shown):
    keys = [update[:3] for update in economy.updates]

    assert keys == sorted(set(keys))
    for update, item in zip(economy.updates, economy_shown, strict=True):
        inner = item.get("event", item)
        assert inner["migration_id"] == update.migration_id
        assert timestamps.parse(item["record_time"]) == update.record_time
        assert len(item["record_time"]) == len("2025-03-03T09:00:00.000000Z")
        assert update.rendered == json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode()
    tie = next(a for a, b in itertools.pairwise(economy.updates) if a[:2] == b[:2])
    after_tie = economy.position(tie[:2])
    assert economy.updates[after_tie - 1][:2] == tie[:2] < economy.updates[after_tie][:2]
    assert economy.position((99, 0)) == len(economy.updates)


def test_five_to_fifteen_percent_of_the_updates_share_their_record_time(net):
    groups = Counter((update.migration_id, update.record_time) for update in net.sandbox.world.updates)
    tied = sum(size for size in groups.values() if size > 1)

    assert 0.05 <= tied / 2_000 <= 0.15
    assert set(groups.values()) == {1, 2, 3}
    places = {(one.migration_id, one.record_time, one.synchronizer_id) for one in net.sandbox.world.updates}
    assert len(places) == 2_000, "not on one synchronizer"


def test_event_numbers_are_preorder_and_the_map_is_sorted_as_text(transactions):
    sizes = []
    for item in transactions:
        events = item["events_by_id"]
        assert [event["event_id"] for event in preorder(item)] == [
            f"{item['update_id']}:{n}" for n in range(len(events))
        ]
        assert list(events) == sorted(events)
        assert all(key == event["event_id"] for key, event in events.items())
        sizes.append(len(events))
    assert sum(size > 10 for size in sizes) > 100


def test_reassignments_of_every_sort_occur(economy_shown):
    seen: dict[str, list[str]] = defaultdict(list)
    repaired, crossing, travels = 0, set(), Counter()
    migration_of: dict[str, int] = {}
    for item in economy_shown:
        move = item.get("event")
        if move is None:
            continue
        seen[move["unassign_id"]].append("assign" if "created_event" in move else "unassign")
        repaired += move["source_synchronizer"] == move["target_synchronizer"]
        crossing.add((migration_of.setdefault(move["unassign_id"], move["migration_id"]), move["migration_id"]))
        if "contract_id" in move:
            travels[move["contract_id"]] += 1
    sorts = Counter(tuple(halves) for halves in seen.values())

    assert set(sorts) == {("unassign", "assign"), ("assign", "unassign"), ("unassign",), ("assign",)}
    assert sorts["unassign", "assign"] > sum(sorts.values()) / 2
    assert any(seen[one] == ["unassign"] and migration == 0 for one, migration in migration_of.items())
    assert repaired
    assert {(0, 1), (1, 2)} <= crossing
    assert max(travels.values()) >= 3


def test_a_package_upgrade_changes_the_hash_of_the_coin_midway(transactions):
    hashes = [event["template_id"] for event in events_of(transactions) if event["template_id"].endswith(f":{COIN}")]

    assert len(set(hashes)) == 2
    assert hashes[0] != hashes[-1]


def test_times_results_hashes_and_interfaces_vary_as_on_real_servers(economy_items):
    transactions = [item for item in economy_items if "events_by_id" in item]
    early = {timestamps.parse(item["effective_at"]) < timestamps.parse(item["record_time"]) for item in transactions}
    exercised = [event for event in events_of(transactions) if event["event_type"] == "exercised_event"]
    created_at = [one["created_at"] for one in events_of(transactions) if "created_at" in one]
    signed = sum("external_transaction_hash" in item for item in transactions)

    assert early == {True, False}
    assert {type(event["exercise_result"]) for event in exercised} == {dict, str, list, type(None)}
    assert {event["choice"] for event in exercised if event["consuming"]} > {"Archive", "Iou_Transfer", "Amulet_Expire"}
    assert {event["interface_id"] is None for event in exercised} == {True, False}
    assert not any(text.rpartition("Z")[0].endswith("0") and "." in text for text in created_at)
    assert {len(text) for text in created_at} > {20, 24, 27}
    assert {item["workflow_id"] == "" for item in transactions} == {True, False}
    assert 0.04 < signed / len(transactions) < 0.12


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="the captured responses are not on this machine")
def test_items_have_the_members_of_captured_ones_in_the_same_order(economy_shown):
    page, assignment = (
        json.loads((CAPTURES / f"scan-updates-{name}.json").read_text())["response"]["body"]["transactions"]
        for name in ("page", "assignment")
    )
    shapes = [{shape for item in one for shape in shapes_of(item)} for one in (economy_shown, page + assignment)]

    assert shapes[0] >= shapes[1]


def shapes_of(item):
    inner = (
        [item["event"], item["event"].get("created_event", {})] if "event" in item else item["events_by_id"].values()
    )
    return [tuple(one) for one in (item, *inner)]


def test_contracts_are_used_where_they_are_until_they_end_and_their_coin_is_the_ledgers(economy, economy_items):
    places = {}
    for item in economy_items:
        move = item.get("event", {})
        if "contract_id" in move:
            # Scans show some assignments before their unassignments.
            assert places[move["contract_id"]] in (move["source_synchronizer"], move["target_synchronizer"])
        elif move:
            places[move["created_event"]["contract_id"]] = move["target_synchronizer"]
        for event in preorder(item) if not move else ():
            assert places.setdefault(event["contract_id"], item["synchronizer_id"]) == item["synchronizer_id"]
    books = Books(economy_items)

    assert {contract: (life.place, life.counter) for contract, life in books.active().items()} == {
        one.contract_id: (one.synchronizer_id, one.counter) for one in economy.contracts.active.values()
    }
    assert books.supply == Decimal(economy.coins.units) / 10**10


def test_an_update_recorded_late_takes_its_place_in_the_order():
    world = generate(1, 20)
    late = world.updates[7]._replace(update_id="late", external_hash="signed")

    world.record([late])

    assert world.updates == sorted(world.updates)
    assert world.update("late") is late
    assert world.scanned_by_hash("signed") is late
