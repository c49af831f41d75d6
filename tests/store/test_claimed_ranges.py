"""What a lake says of a range is true of every range, whatever parts were synced: complete, or refused."""

import logging
import random
from bisect import bisect_left

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world import timestamps
from tests.rigs.servers import connected, replica


@pytest.fixture(scope="module")
def ledger():
    with lf.sandbox(seed=7, updates=600) as net:
        yield net


def whole_until(updates, count, settle):
    """Whether a server that shows the first updates has left out none that settle= says it must have shown."""
    newest = max(update.record_time for update in updates[:count])
    return all(update.record_time > newest - settle for update in updates[count:])


@pytest.mark.long(quick=4)
@pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")
@pytest.mark.parametrize("seed", [2, 74, 55, 99, 19, 54, 77, *range(100, 153)])
def test_every_range_that_a_lake_accepts_is_whole(seed, ledger, store, caplog):
    caplog.set_level(logging.CRITICAL)
    rng, updates = random.Random(seed), ledger.sandbox.world.updates
    ids = [update.update_id for update in updates]
    places = [(update.migration_id, update.record_time) for update in updates]
    counts = [count for count in range(30, 600) if whole_until(updates, count, 60_000_000)]

    def any_place():
        migration_id, micros = rng.choice(places)
        return rng.choice([migration_id, migration_id, rng.randrange(3)]), micros

    for shown in sorted(rng.choices(counts, k=2)) + [600] * rng.randrange(2):
        pruned = rng.choice([None, None, None, rng.randrange(shown)])
        before = None if pruned is None else (places[pruned][0], timestamps.exact(places[pruned][1]))
        options = {}
        for name in ("start", "end"):
            if rng.random() < 0.4:
                migration_id, micros = any_place()
                at = rng.choice([timestamps.exact(micros), "0001-01-01"])
                options[name] = rng.choice([at, (migration_id, at)])
        with connected(replica(ledger.sandbox, lag=600 - shown, prune_before=before)) as net:
            try:
                store.sync(net, workers=rng.choice([1, 3]), page_size=50, **options)
            except (lf.errors.InputError, lf.errors.PartialResultError):
                continue  # an end before its start, or what is pruned
        for _ in range(12):
            low, high = sorted(any_place() for _ in range(2))
            if low == high:
                continue
            start, end = ((one[0], timestamps.exact(one[1])) for one in (low, high))
            try:
                loaded = store.load("updates", start=start, end=end, columns=["update_id"])
            except lf.LedgerframesError:
                continue
            truth = set(ids[bisect_left(places, low) : bisect_left(places, high)])
            assert loaded.attrs["complete"]
            assert set(loaded.update_id) == truth, (start, end)
