"""Syncs killed at random instants: at the end every row is there exactly once."""

import multiprocessing
import random

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from tests.store.conftest import BEGIN, KEYS, assert_same
from tests.store.killed_sync import sync

FAULTS = "429:0.02,503:0.02,reset-in-body:0.02,truncated:0.02,502:0.02"


def newest(net):
    return lf.load_updates(net, start=BEGIN).record_time.max()


def kill_at_random(processes, rng, longest, arguments):
    """Start a sync and kill it, or let it end if it is quicker."""
    process = processes.Process(target=sync, args=arguments)
    process.start()
    process.join(rng.uniform(0.0, longest))
    killed = process.is_alive()
    process.kill()
    process.join()
    return killed


def run(folder, *, kills, updates, seed):
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.store.killed_sync"])
    rng = random.Random(seed)
    killed = 0
    with lf.sandbox(seed=seed, updates=updates) as base:
        with base.sandbox.replica(late=0.4, latency=0.002, faults=Faults.parse(FAULTS, seed=seed)) as server:
            for number in range(kills):
                base.sandbox.advance(updates=rng.randrange(10, 60))
                arguments = (folder, server.scan_url, newest(base), 4, seed + number)
                killed += kill_at_random(processes, rng, 0.6, arguments)
            server.faults = None
            for _ in range(6):  # pages pass over the late ones until they show
                lf.load_updates(lf.connect(scan_url=server.scan_url), start=BEGIN)
        store = lf.open_store(folder)
        base.sandbox.advance(updates=30)
        store.sync(base, now=newest(base) + pd.Timedelta("2min"))
        again = store.sync(base, now=newest(base) + pd.Timedelta("2min")).requests
        history = lf.load_history(base, start=BEGIN)
        found = {name: store.load(name) for name in KEYS}
    return killed, again, history, found


@pytest.mark.parametrize(
    ("kills", "updates"), [(12, 800), pytest.param(200, 6000, marks=pytest.mark.soak)], ids=["short", "long"]
)
def test_killed_syncs_leave_every_row_once(tmp_path, kills, updates):
    killed, again, history, found = run(tmp_path / "lake", kills=kills, updates=updates, seed=5)
    for name, frame in found.items():
        assert not frame.duplicated(KEYS[name]).any()
        assert_same(frame, getattr(history, name), name)
    assert killed > kills / 3
    assert again <= 2 * history.updates.migration_id.nunique()
