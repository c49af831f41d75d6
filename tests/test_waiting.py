"""Waits for threads that a signal breaks off at any instruction: the program goes on, and ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from ledgerframes.store.sync.driving import ThreadDrive
from ledgerframes.waiting import Bounded, Places, in_background, together
from tests.interrupted import Broken

TIMES = 400
INTERRUPTED = """
import faulthandler, random, signal, sys, time
from contextlib import closing, suppress
from functools import partial
from ledgerframes.store.sync.driving import ThreadDrive
from ledgerframes.waiting import Places, in_background, together

class Broken(BaseException):
    pass

def leave(number, frame):
    raise Broken

places, nap = Places(2), partial(time.sleep, 0)

def drive():
    stopped = []
    def worker():
        while not stopped:
            yield 1
    commits = ThreadDrive().background("commit")
    try:
        with closing(ThreadDrive().run([worker(), worker()], ending=lambda: stopped.append(1))) as results:
            for _ in results:
                commits.put(nap)
                commits.wait()
    finally:
        stopped.append(1)
        signal.setitimer(signal.ITIMER_REAL, 0)
        commits.put(nap)
        commits.wait()

def coming():
    while True:
        in_background(nap, "call").result()

def calls():
    while True:
        together([nap] * 3, "call", at_once=2)

def held():
    while True:
        with places.held(nap, 0.01):
            nap()

signal.signal(signal.SIGALRM, leave)
wait, chance = locals()[sys.argv[1]], random.Random(7)
for _ in range(int(sys.argv[2])):
    faulthandler.dump_traceback_later(20, exit=True)
    with suppress(Broken):
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0003, 0.003))
            wait()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
with places.held(nap, 0.01), places.held(nap, 0.01):
    print("ended")
"""


@pytest.mark.long(quick=2)
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no signal after so many microseconds")
@pytest.mark.parametrize("wait", ["drive", "coming", "calls", "held"])
def test_a_signal_at_any_instruction_breaks_a_wait_off_and_nothing_hangs(wait):
    command = [sys.executable, "-c", INTERRUPTED, wait, str(TIMES)]
    ended = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ended\n", "")


LEFT_OPEN = """
from ledgerframes.store.sync.driving import ThreadDrive

def worker():
    while True:
        yield 1

def leave_open():
    results = ThreadDrive().run([worker(), worker()], ending=lambda: None)
    next(results)
    kept = [results]
    kept.append(kept)  # so that it is closed once the program ends, where threads run no more

leave_open()
print("ended")
"""


def test_a_program_ends_whatever_it_leaves_open():
    ended = subprocess.run([sys.executable, "-c", LEFT_OPEN], check=False, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ended\n", "")


def until_broken_off(wait, go):
    """Let a wait begin, have another thread receive a signal, and see the wait broken off before it has ended."""
    ended = []

    def leave(*_):
        ended.append(go.is_set())
        raise Broken

    def receive():
        time.sleep(0.1)
        # A system may hand a process's signal to any thread; this one surely does not wake the thread that waits.
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        go.wait(20)

    before = signal.signal(signal.SIGUSR1, leave)
    try:
        in_background(receive, "receive")
        with pytest.raises(Broken):
            wait()
        assert ended == [False]
    finally:
        go.set()
        signal.signal(signal.SIGUSR1, before)


def fetched(go):
    """Wait for what a worker yields."""
    with closing(ThreadDrive().run([late_worker(go)], ending=go.set)) as given:
        next(given)


def late_worker(go):
    """A worker that has nothing before it has ended."""
    silent(go)
    yield 1


def behind_a_job(commits, wait, go):
    """Wait for a job that is running."""
    commits.put(partial(silent, go))
    wait(commits)


def silent(go):
    """End once told, or after a few seconds, and say so."""
    go.wait(5)
    go.set()


WAITS = {
    "results of workers": fetched,
    "result": lambda go: in_background(partial(silent, go), "call").result(),
    "wait for seconds": lambda go: in_background(partial(silent, go), "call").wait(10),
    "together": lambda go: together([partial(silent, go)] * 2, "call"),
    "place for a job": lambda go: behind_a_job(ThreadDrive().background("a"), lambda jobs: jobs.put(go.is_set), go),
    "job": lambda go: behind_a_job(ThreadDrive().background("b"), lambda jobs: jobs.wait(), go),
}


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="Windows sends no signal to a thread")
@pytest.mark.parametrize("kind", WAITS)
def test_a_signal_that_another_thread_receives_breaks_a_wait_off(kind):
    go = threading.Event()
    until_broken_off(partial(WAITS[kind], go), go)


def test_the_result_of_a_call_can_be_waited_for_again():
    go = threading.Event()
    coming = in_background(lambda: go.wait() and 7, "call")
    with pytest.raises(TimeoutError):
        coming.result(0.01)
    go.set()
    assert [coming.result(), coming.result(0), coming.wait()] == [7, 7, True]


def test_what_a_call_raises_is_raised_where_it_is_waited_for():
    coming = in_background(partial(int, "x"), "call")
    with pytest.raises(ValueError, match="invalid literal"):
        coming.result()


@pytest.mark.parametrize("late", [True, False])
def test_a_result_that_nobody_takes_is_released(late):
    go, released = threading.Event(), threading.Event()
    coming = in_background(lambda: go.wait() and 7, "call")
    if not late:
        go.set()
        coming.wait()
    coming.drop(lambda result: released.set() if result == 7 else None)
    go.set()
    assert released.wait(20)


def test_calls_run_together_and_results_keep_their_order():
    meeting = threading.Barrier(3)
    calls = [lambda number=number: meeting.wait(20) >= 0 and number for number in range(3)]
    assert together(calls, "call") == [0, 1, 2]
    assert together([], "call") == []


def test_so_many_calls_run_at_a_time():
    running, most = [], []

    def call():
        running.append(1)
        most.append(len(running))
        time.sleep(0.001)
        running.pop()

    together([call] * 12, "call", at_once=2)
    assert max(most) <= 2
    assert len(most) == 12


def test_after_a_call_that_fails_no_other_is_begun():
    done = []

    def fail():
        raise LookupError("first")

    with pytest.raises(LookupError, match="first"):
        together([fail, *[lambda: done.append(1)] * 8], "call", at_once=1)
    assert done == []


def test_a_place_is_held_by_one_thread_at_a_time():
    places, looks = Places(1), []

    def look():
        looks.append(1)
        if len(looks) == 4:
            raise TimeoutError

    with places.held(lambda: None, 1), pytest.raises(TimeoutError), places.held(look, 0.001):
        raise AssertionError("the place was taken")
    with places.held(lambda: None, 1):
        pass


def test_a_bounded_queue_makes_who_adds_wait():
    items = Bounded(2)
    added = []

    def add():
        for number in range(4):
            items.put(number)
            added.append(number)

    adding = in_background(add, "add")
    assert not adding.wait(0.05)
    assert added == [0, 1]
    assert items.get() == 0
    items.widen(1)
    assert adding.wait(20)
    assert [items.get() for _ in range(3)] == [1, 2, 3]
