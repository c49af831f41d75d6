"""The long history: which updates it has, how many events, what comes after a cursor, and its server."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world import timestamps
from tests.benchmarks.long_history import COPY, events_in, first_after, items
from tests.benchmarks.servers import bulk_scan
from tests.economics.books import Books, micros

UPDATES = 2 * COPY + 100


@pytest.fixture(scope="module")
def history() -> list[dict]:
    return [json.loads(text) for text in items(0, UPDATES)]


def test_every_copy_has_ids_and_times_of_its_own_and_what_it_consumes(history):
    assert len({update["update_id"] for update in history}) == UPDATES
    order = [(update["record_time"], update["update_id"]) for update in history]
    assert order == sorted(order)
    created, consumed = set(), set()
    for update in history:
        for event in update.get("events_by_id", {}).values():
            assert event["event_id"].startswith(update["update_id"])
            if event["event_type"] == "created_event":
                created.add(event["contract_id"])
            elif event["consuming"]:
                consumed.add(event["contract_id"])
    first, second = (Books(history[begin : begin + COPY]) for begin in (0, COPY))
    assert len(first.lives) == len(second.lives)
    assert first.lives.keys().isdisjoint(second.lives)
    assert consumed <= created


@pytest.mark.parametrize("updates", [0, 1, COPY, COPY + 37, UPDATES])
def test_events_are_counted_as_a_reader_counts_them(history, updates):
    assert events_in(updates) == sum(len(update.get("events_by_id", {})) for update in history[:updates])


def test_the_updates_after_a_cursor_are_found_without_search(history):
    times = [micros(update["record_time"]) for update in history]
    for index, time in enumerate(times[:-1]):
        assert first_after(0, time) == index + times[index:].count(time)
        assert first_after(0, time - 1) == times.index(time)
    assert (first_after(-1, times[9]), first_after(0, times[0] - 1)) == (0, 0)
    assert first_after(1, times[0]) > 1 << 60
    (last,) = items(9_999_999, 10_000_000)
    assert first_after(0, timestamps.parse(json.loads(last)["record_time"])) >= 10_000_000


@pytest.mark.long
@pytest.mark.parametrize("keep", [False, True], ids=["made again", "kept"])
def test_its_server_pages_through_it(history, keep):
    with bulk_scan(UPDATES, keep=keep) as url, lf.connect(scan_url=url) as net:
        for _ in range(2):
            loaded = lf.load_history(net, start="begin", as_="arrow", progress=False)
            assert list(lf.rebuild_items(loaded)) == history


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
