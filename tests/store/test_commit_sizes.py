"""Commits run one after another, none after one that failed, and partitions keep few files."""

import threading

import pytest

import ledgerframes as lf
from ledgerframes.store.sync.scheduling import ThreadScheduler


def test_jobs_run_in_order_one_at_a_time_and_none_after_one_that_failed():
    commits, done = ThreadScheduler().background("commit"), []
    for last in (3, 2):
        for number in range(last):
            commits.put(lambda number=number: done.append(number))
        commits.wait()
    assert done == [0, 1, 2, 0, 1]
    begun, go = threading.Event(), threading.Event()
    commits.put(lambda: begun.set() or go.wait(20))
    assert begun.wait(20)
    waiting = threading.Thread(target=commits.put, args=(lambda: {}["disk"],), daemon=True)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    go.set()
    waiting.join(20)
    for call in (lambda: commits.put(lambda: done.append("never")), commits.wait):
        with pytest.raises(KeyError, match="disk"):
            call()
    assert done == [0, 1, 2, 0, 1]


@pytest.mark.long
def test_a_long_sync_of_tiny_commits_leaves_few_files_in_each_partition(store):
    with lf.sandbox(updates=2_600, migrations=1) as net:
        report = store.sync(net, page_size=20, commit_bytes=1, workers=1, progress=False)
        assert report.commits > 120
        for name in ("events", "reassignments", "updates"):
            counts = store._lake.table(name).refresh().partition_files()
            assert max(counts.values()) <= 100, counts
        assert len(store.load("updates")) == 2_600
        assert store.check()
