"""What has threads, broken off by a signal's handler wherever Python runs one: nothing hangs, and no thread goes on."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from ledgerframes import waiting
from ledgerframes.interfaces import history
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.window import Window
from ledgerframes.store.sync import driving
from ledgerframes.store.sync.driving import ThreadDrive
from ledgerframes.waiting import Places, in_background, together
from tests.interrupted import HANGS, TRACES, WHY_NOT, everywhere

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.transport.DeprecatedEndpointWarning")

nap = partial(time.sleep, 0)


def gone(*names):
    """Whether no thread of such a name works any more, after a moment."""
    until = time.monotonic() + HANGS
    while any(thread.name.startswith(names) for thread in threading.enumerate()):
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def test_workers_and_commits():
    def worker():
        yield 1
        yield 2

    def use(trace):
        commits, done = ThreadDrive().background("test-commit"), []
        with trace:
            run(commits)
        # As a sync does: what was read whole is committed after Ctrl-C too.
        commits.put(lambda: done.append(1))
        commits.wait()
        assert done == [1]
        assert gone("test-commit", "ledgerframes-fetch")

    def run(commits):
        with closing(ThreadDrive().run([worker(), worker()], ending=nap)) as results:
            for _ in results:
                commits.put(nap)
                commits.wait()

    assert everywhere(use, contextlib, waiting, driving) >= 60


def test_more_workers_than_their_results_have_room_for():
    def worker():
        yield from range(9)

    def use(trace):
        # Its own end is not broken off: that would leave threads that wait for room.
        with closing(ThreadDrive().run([worker() for _ in range(5)], ending=nap)) as results, trace:
            next(results)
        assert gone("ledgerframes-fetch")

    assert everywhere(use, contextlib, waiting, driving) >= 15


def test_a_result():
    def use(trace):
        with trace:
            in_background(nap, "test-call").result()
        assert gone("test-call")

    assert everywhere(use, contextlib, waiting) >= 5


def test_calls_that_run_together():
    def use(trace):
        begun = []
        with trace:
            together([lambda: begun.append(time.sleep(0.001))] * 12, "test-call", at_once=2)
        before = len(begun)
        assert gone("test-call")
        assert len(begun) <= before + 2  # those that were running

    assert everywhere(use, contextlib, waiting) >= 20


def test_a_place_that_is_held():
    def look():
        looks.append(1)
        if len(looks) > 50:
            raise TimeoutError

    def use(trace):
        looks.clear()
        places = Places(1)
        with trace:
            hold(places)
        with places.held(look, 0.01):
            pass

    def hold(places):
        with places.held(nap, 0.01):
            nap()

    looks = []
    assert everywhere(use, contextlib, waiting) >= 4


# A program of its own: broken off inside of it, filelock would end every later fork of this process.
TAKEN = """
import sys
from filelock import FileLock
from ledgerframes.store import lake
from tests.interrupted import everywhere

def use(trace):
    errors, holding = [], lake.Lake(sys.argv[1]).writing()
    with trace:
        try:
            holding.__enter__()
        except BaseException as error:
            errors.append(error)  # as Jupyter does: its frames, and what they hold, live on
            raise
    if not trace.hit:
        holding.__exit__(None, None, None)
    with lake.Lake(sys.argv[1]).writing():
        pass

libraries = {sys.modules[kind.__module__] for kind in FileLock.__mro__ if "filelock" in kind.__module__}
print(everywhere(use, lake, *libraries))
"""


@pytest.mark.skipif(not TRACES, reason=WHY_NOT)
def test_a_store_that_is_taken_for_writing(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", TAKEN, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) >= 20


def test_a_read_of_pages(net):
    class Source:
        """The scan's pages, with the stop that a read hands down."""

        def __init__(self):
            self.stops = []

        def stoppable(self, stop):
            self.stops.append(stop)
            return net.scan.update_pages.stoppable(stop)

    def use(trace):
        source = Source()
        with trace:
            for _ in read(source):
                nap()
        assert all(stop.is_set() for stop in source.stops)
        assert gone(history._THREAD)

    def read(source):
        return history.read_pages(source, HistoryReader(Window(), page_size=1000))

    assert everywhere(use, contextlib, waiting, history) >= 15
