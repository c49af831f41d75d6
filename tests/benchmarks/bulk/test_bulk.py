"""The bulk history: pure items, how many events it has, cursor arithmetic, and its server."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections import Counter

import httpx
import pytest

from tests.benchmarks.bulk.history import BEGINS, FIRST_ITEMS, Position, events_in, first_after, items, position
from tests.benchmarks.servers import bulk_scan

UPDATES = 6_000


@pytest.fixture(scope="module")
def history() -> list[dict]:
    return [json.loads(text) for text in items(0, UPDATES, seed=7)]


@pytest.fixture(scope="module", params=[False, True], ids=["made again", "kept"])
def scan(request):
    with bulk_scan(UPDATES, keep=request.param) as url:
        yield url


def page(scan: str, after: tuple[int, str] | None, size: int) -> list[dict]:
    body: dict = {"page_size": size}
    if after is not None:
        body["after"] = {"after_migration_id": after[0], "after_record_time": after[1]}
    return httpx.post(f"{scan}/v2/updates", json=body, timeout=60).json()["transactions"]


def cursor(update: dict) -> tuple[int, str]:
    return update.get("event", update)["migration_id"], update["record_time"]


def events_of(update: dict) -> list[dict]:
    return list(update.get("events_by_id", {}).values())


@pytest.mark.parametrize("index", [0, 24, 1_199, 4_801, 9_999_999])
def test_an_item_depends_on_its_number_and_seed_alone(index):
    inside = list(items(max(0, index - 3), index + 2, seed=7))[min(index, 3)]
    assert [*items(index, index + 1, seed=7)] == [inside]
    assert [*items(index, index + 1, seed=8)] != [inside]


def test_items_are_json_of_the_size_of_real_ones(history):
    size = sum(len(text) for text in items(0, 400, seed=7)) / 400
    events = [len(events_of(update)) for update in history if "event" not in update]
    assert 4_000 < size < 6_000
    assert set(events) == set(range(1, 9))
    assert 3.2 < sum(events) / len(events) < 3.8


def test_update_ids_do_not_repeat(history):
    assert len({update["update_id"] for update in history}) == UPDATES


def test_items_stand_in_the_order_of_migration_record_time_and_id(history):
    order = [(*cursor(update), update["update_id"]) for update in history]
    assert order == sorted(order)


def test_record_times_rise_on_each_synchronizer_and_tie_across_them(history):
    where: dict[tuple, list[str]] = {}
    for update in history:
        event = update.get("event", {})
        recorder = event.get("target_synchronizer" if "created_event" in event else "source_synchronizer")
        where.setdefault(cursor(update), []).append(update.get("synchronizer_id", recorder))
    shared = [recorders for recorders in where.values() if len(recorders) > 1]
    assert all(len(set(recorders)) == len(recorders) == 2 for recorders in shared)
    assert len(shared) == 3 * UPDATES / 20


def test_record_times_of_migrations_overlap(history):
    times: dict[int, list[str]] = {}
    for update in history:
        times.setdefault(cursor(update)[0], []).append(update["record_time"])
    assert list(times) == [0, 1, 3]
    assert times[1][0] < times[0][-1]
    assert times[3][0] < times[1][-1]


def test_events_are_numbered_in_preorder_and_reached_from_the_roots(history):
    for update in history:
        events = update.get("events_by_id", {})
        reached: list[str] = []
        ahead = list(reversed(update.get("root_event_ids", [])))
        while ahead:
            reached.append(ahead.pop())
            ahead.extend(reversed(events[reached[-1]].get("child_event_ids", [])))
        assert reached == [f"{update['update_id']}:{n}" for n in range(len(events))]


def test_consumed_contracts_were_created_before_and_are_consumed_once(history):
    created: set[str] = set()
    consumed: Counter[str] = Counter()
    for update in history:
        for _, event in sorted(update.get("events_by_id", {}).items()):
            if event["event_type"] == "created_event":
                created.add(event["contract_id"])
            elif event["consuming"]:
                assert event["contract_id"] in created
                consumed[event["contract_id"]] += 1
    assert set(consumed.values()) == {1}


def test_a_reassigned_contract_leaves_arrives_and_comes_back(history):
    created = {event["contract_id"] for update in history for event in events_of(update)}
    away: dict[str, dict] = {}
    for update in history:
        event = update.get("event")
        if event is None:
            continue
        if "contract_id" in event:
            assert event["contract_id"] in created
            assert away.setdefault(event["unassign_id"], event) is event
        else:
            left = away.pop(event["unassign_id"])
            same = ("source_synchronizer", "target_synchronizer", "reassignment_counter", "submitter")
            assert [event[name] for name in same] == [left[name] for name in same]
            assert event["created_event"]["contract_id"] == left["contract_id"]
            assert event["source_synchronizer"] != event["target_synchronizer"]
    assert len(away) == UPDATES / 400


@pytest.mark.parametrize("updates", [0, 1, 399, 400, 1_237, UPDATES])
def test_events_are_counted_as_a_reader_counts_them(history, updates):
    assert events_in(updates, seed=7) == sum(len(events_of(update)) for update in history[:updates])


def test_the_items_after_a_cursor_are_found_without_search():
    for index in [*range(7_000), *range(9_999_980, 10_000_000)]:
        at = position(index)
        tied = position(index + 1) == at
        assert first_after(at.migration_id, at.record_time) == index + 1 + tied
        assert first_after(at.migration_id, at.record_time - 1) in (index, index - 1)


@pytest.mark.parametrize(
    ("after", "first"),
    [
        pytest.param(Position(-1, 0), 0, id="before the first migration"),
        pytest.param(Position(0, -1), 0, id="before the first item"),
        pytest.param(Position(0, 10**15), FIRST_ITEMS[1], id="after the last of a migration"),
        pytest.param(Position(1, BEGINS[1] - 1), FIRST_ITEMS[1], id="before the first of a migration"),
        pytest.param(Position(2, 0), FIRST_ITEMS[2], id="a migration id that is skipped"),
    ],
)
def test_cursors_between_the_migrations_lead_to_the_next_item(after, first):
    assert first_after(after.migration_id, after.record_time) == first


@pytest.mark.long
def test_the_server_pages_like_a_real_one(scan, history):
    for _ in range(2):
        read: list[dict] = []
        after = None
        while got := page(scan, after, 1_000):
            after = cursor(got[-1])
            read += got
        assert read == history


def test_a_plain_cursor_loses_the_second_of_a_tie(scan, history):
    assert page(scan, cursor(history[3]), 1)[0] == history[5]


def test_nothing_comes_after_the_last_update_or_migration(scan, history):
    assert page(scan, cursor(history[-1]), 5) == []
    assert page(scan, (9, "2024-07-01T00:00:00Z"), 5) == []


def test_an_unknown_path_is_a_404_in_text(scan):
    answer = httpx.get(f"{scan}/v0/dso")

    assert (answer.status_code, answer.text) == (404, "The requested resource could not be found.")


@pytest.mark.long
def test_the_server_ends_with_the_program_that_started_it():
    program = (
        "import os; from tests.benchmarks.servers import bulk_scan\n"
        "with bulk_scan(10) as url: print(url.split(':')[2].partition('/')[0], flush=True); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=300)
    # run() returns once nobody holds the error output, which the server has inherited; its port is free then.
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", int(killed.stdout)))
