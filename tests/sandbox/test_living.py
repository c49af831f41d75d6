"""A ledger that grows by itself: at its rate, while it is asked, until it is stopped."""

from __future__ import annotations

import threading
import time
from itertools import islice

from ledgerframes.sandbox.server import LARGEST_STEP, LedgerGrowth, start
from tests.sandbox.asking import ask

LATEST = 300.0


class Growth:
    """Counts what is added and says when there is enough."""

    def __init__(self, enough, fails_at=None):
        self.enough = enough
        self.fails_at = fails_at
        self.steps = []
        self.reached = threading.Event()

    def advance(self, updates):
        if self.fails_at is not None and sum(self.steps) >= self.fails_at:
            self.reached.set()
            raise LookupError("the world has ended")
        self.steps.append(updates)
        if sum(self.steps) >= self.enough:
            self.reached.set()


def test_it_grows_at_its_rate_until_it_is_stopped_and_not_beyond():
    growth = Growth(enough=300)
    begin = time.monotonic()
    living = LedgerGrowth(growth.advance, rate=1_000)
    assert growth.reached.wait(LATEST)

    living.stop()
    living.stop()

    grown = list(growth.steps)
    assert sum(grown) <= (time.monotonic() - begin) * 1_000
    assert max(grown) <= LARGEST_STEP
    assert "sandbox lives" not in {thread.name for thread in threading.enumerate()}
    assert growth.steps == grown


def test_a_world_that_cannot_grow_is_logged_and_the_thread_ends(caplog):
    growth = Growth(enough=1, fails_at=0)

    living = LedgerGrowth(growth.advance, rate=1_000)
    assert growth.reached.wait(LATEST)
    living.stop()

    assert "the world has ended" in caplog.text
    assert "stopped growing" in caplog.text


def test_readers_see_it_grow_while_record_times_move_on():
    with start(updates=20, live="2000/s") as sandbox:
        seen = [20]
        while seen[-1] < 200:
            page = ask(f"{sandbox.scan_url}/v2/updates", {"page_size": 1_000}).json["transactions"]
            assert len(page) >= seen[-1]
            seen.append(len(page))
    length = len(sandbox.world.updates)
    assert "sandbox lives" not in {thread.name for thread in threading.enumerate()}
    times = [
        one["record_time"] for one in page if one.get("migration_id", one.get("event", {}).get("migration_id")) == 2
    ]
    assert times == sorted(times)
    assert times[-1] > times[0]
    assert list(islice(sandbox.world.items(), 20)) == page[:20]
    assert len(sandbox.world.updates) == length
