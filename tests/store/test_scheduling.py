"""Commits in a thread of their own: one after the other, none after one that failed, and none forgotten."""

import threading
from functools import partial

import pytest

from ledgerframes.store.sync.scheduling import ThreadScheduler


@pytest.fixture
def commits():
    return ThreadScheduler().background("commit")


def test_jobs_run_in_order_and_also_after_a_wait(commits):
    done = []
    for last in (3, 5):
        for number in range(last):
            commits.put(lambda number=number: done.append(number))
        commits.wait()
    assert done == [0, 1, 2, 0, 1, 2, 3, 4]


def test_nothing_waits_beside_a_job_that_runs(commits):
    begun, go = threading.Event(), threading.Event()
    commits.put(lambda: begun.set() or go.wait(20))
    assert begun.wait(20)
    waiting = threading.Thread(target=commits.put, args=(lambda: None,), daemon=True)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    go.set()
    waiting.join(20)
    commits.wait()


@pytest.mark.parametrize("wait", ["put", "wait"])
def test_after_a_job_that_fails_none_runs_and_its_error_is_raised(commits, wait):
    done = []

    def fail():
        raise LookupError("disk")

    def use():
        for job in (fail, *[partial(done.append, 1)] * 3) if wait == "put" else (fail,):
            commits.put(job)
        commits.wait()

    for call in (use, commits.wait):
        with pytest.raises(LookupError, match="disk"):
            call()
    assert done == []
