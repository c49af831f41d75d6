"""What a lake says of a range is true of every range, whatever parts were synced: complete, or refused."""

import logging
import random
from bisect import bisect_left
from itertools import product

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world import timestamps
from tests.moving_window import place
from tests.rigs.servers import connected, replica


def whole_until(updates, count, settle):
    """Whether a server that shows the first updates has left out none that settle= says it must have shown."""
    newest = max(update.record_time for update in updates[:count])
    return all(update.record_time > newest - settle for update in updates[count:])


@pytest.mark.long(quick=3)
@pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")
@pytest.mark.parametrize("seed", [2, 74, 55, 99, 19, 54, 77, *range(100, 153)])
def test_every_range_that_a_lake_accepts_is_whole(seed, hour, store, caplog):
    caplog.set_level(logging.CRITICAL)
    rng, updates = random.Random(seed), hour.sandbox.world.updates
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
        with connected(replica(hour.sandbox, lag=600 - shown, prune_before=before)) as net:
            try:
                store.sync(net, workers=rng.choice([1, 3]), page_size=50, **options)
            except (lf.errors.InputError, lf.errors.PartialResultError):
                continue  # an end before its start, or what is pruned
        for _ in range(16):
            low, high = sorted(any_place() for _ in range(2))
            truth = set(ids[bisect_left(places, low) : bisect_left(places, high)])
            start, end = ((one[0], timestamps.exact(one[1])) for one in (low, high))
            if rng.random() < 0.5:
                since, until = sorted([low[1], high[1]])
                truth = {one for one, place in zip(ids, places, strict=True) if since <= place[1] < until}
                start, end = timestamps.exact(since), timestamps.exact(until)
            if start == end:
                continue
            try:
                loaded = store.load("updates", start=start, end=end, columns=["update_id"])
            except lf.LedgerframesError:
                continue
            assert loaded.attrs["complete"]
            assert set(loaded.update_id) == truth, (start, end)


def test_a_migration_in_which_a_sync_ended_is_not_read_to_its_end(hour, store):
    ids = [update.migration_id for update in hour.sandbox.world.updates]
    store.sync(hour, end=place(hour, ids.index(1) + 30)[1])

    assert store.load("updates").attrs["complete"] is True
    for end in (place(hour, ids.index(2) - 5), (2, "2020-01-01")):
        with pytest.raises(lf.errors.PartialResultError, match="does not cover migration 1 after"):
            store.load("updates", start=(1, "2020-01-01"), end=end)
    store.sync(hour)
    assert len(store.load("updates", start=(1, "2020-01-01"), end=(2, "2020-01-01"))) == ids.count(1)


def test_bare_times_reach_into_no_migration_that_was_not_synced(store, twelve_days):
    """A migration that is stored from its beginning and to its end has one before and a next one."""
    store.sync(twelve_days, derive=["transfers"], start=(1, "0001-01-01"), end=(2, "0001-01-01"))
    for one in range(3):
        times = [update.record_time for update in twelve_days.sandbox.world.updates if update.migration_id == one]
        low, high = {"start": timestamps.exact(times[300])}, {"end": timestamps.exact(times[400])}
        for table, part in product(("updates", "transfers"), (low | high, low, high)):
            if one == 1:
                loaded = store.load(table, **part)
                assert len(loaded) or len(part) == 2
                assert loaded.attrs["complete"] or len(part) == 1
                continue
            with pytest.raises(lf.errors.PartialResultError):
                store.load(table, **part)
    assert set(store.load("updates", last="1d").migration_id) == {1}
