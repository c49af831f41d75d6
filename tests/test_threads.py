"""Threads, waits for them, and signals that are held back while one waits."""

import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from functools import partial
from traceback import walk_tb
from unittest.mock import Mock

import pytest

import ledgerframes as lf
from ledgerframes.stopping import Signalled, forget_signals, held_back, leave
from ledgerframes.threads import _leave, ahead, result, spawn, to_the_end, together


def test_so_many_calls_run_at_a_time_and_results_keep_their_order():
    running, most = [], []

    def call(number):
        running.append(1)
        most.append(len(running))
        time.sleep(0.001)
        running.pop()
        return 12 // number

    assert together([partial(call, number) for number in range(1, 13)], "call", at_once=2)[:3] == [12, 6, 4]
    assert max(most) <= 2


def test_after_a_call_that_fails_no_other_is_begun():
    begun, failed = [], threading.Event()

    def fail():
        failed.set()
        raise IndexError("first")

    def call():
        begun.append(1)
        failed.wait(20)
        time.sleep(0.1)

    with pytest.raises(IndexError, match="first"):
        together([fail, *[call] * 8], "call", at_once=2)
    assert len(begun) <= 1


LEFT_OPEN = """
from ledgerframes.store.sync.scheduling import ThreadScheduler

def worker():
    while True:
        yield 1

results = ThreadScheduler().run([worker(), worker()], ending=lambda: None)
next(results)
kept = [results]
kept.append(kept)  # so that it is closed once the program ends, where threads run no more
"""


def test_a_program_with_a_read_left_open_ends():
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def handler():
    """Sets the handler of Ctrl-C, and sets it back."""
    before = signal.getsignal(signal.SIGINT)
    yield partial(signal.signal, signal.SIGINT)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("own", "error"), [(signal.default_int_handler, KeyboardInterrupt), (leave, Signalled)], ids=["Python", "command"]
)
def test_a_signal_is_raised_once_the_call_has_ended(handler, own, error):
    handler(own)
    told, done = [], []

    def part():
        signal.raise_signal(signal.SIGINT)
        done.append(1)
        with held_back(partial(told.append, "begun later")):
            raise ValueError("it was told to end")

    with (
        pytest.raises(error) as raised,
        held_back(partial(told.append, "outer")),
        held_back(partial(told.append, "in")),
    ):
        part()
    assert told == ["outer", "in", "begun later"]
    assert done == [1]
    assert raised.value.__suppress_context__
    assert signal.getsignal(signal.SIGINT) is own


def test_a_second_signal_is_raised_at_once(handler):
    handler(signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), held_back(lambda: None):  # noqa: PT012 - where it is raised is the point
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the second one was held back, too")
    with held_back(lambda: None):  # the next call begins without them
        pass


def test_handlers_of_the_user_stay_and_other_threads_have_none(handler):
    def own(*_):
        came.append(1)

    came, told = [], []
    handler(own)
    with held_back(partial(told.append, 1)):
        signal.raise_signal(signal.SIGINT)
    handler(signal.default_int_handler)

    def elsewhere():
        with held_back(partial(told.append, 1)):
            return signal.getsignal(signal.SIGINT)

    assert result(spawn(elsewhere, "call")) is signal.default_int_handler
    assert came == [1]
    assert told == []


def test_a_call_is_waited_for_though_a_signal_comes_while_its_thread_starts(monkeypatch):
    start, steps = threading.Thread.start, []

    def start_and_raise(thread):
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start_and_raise)
    with pytest.raises(KeyboardInterrupt):
        to_the_end(lambda: time.sleep(0.1) or steps.append("ended"), "library")
    assert steps == ["ended"]
    with pytest.raises(KeyboardInterrupt):
        spawn(lambda: time.sleep(0.1) or steps.append("too"), "library")
    _leave()  # as the end of a program does
    assert steps == ["ended", "too"]


def test_a_thread_that_cannot_start_says_so_and_nobody_waits_for_it(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    with pytest.raises(RuntimeError, match="can't start new thread"):
        to_the_end(list, "library")


def test_an_item_is_made_while_the_one_before_is_worked_on_and_an_error_comes_behind_them():
    made, stopped, second = [], [], threading.Event()

    def items():
        for number in range(9):
            made.append(number)
            if number == 1:
                second.set()
            yield number
        raise LookupError("tenth")

    with closing(ahead(items(), "call", partial(stopped.append, 1))) as read:
        assert next(read) == 0
        assert second.wait(20)
        assert made == [0, 1]
    assert stopped
    read = ahead(items(), "call", list)
    assert [next(read) for _ in range(9)] == list(range(9))
    with pytest.raises(LookupError, match="tenth"):
        next(read)


def test_a_signal_that_a_finalizer_dropped_ends_the_command_at_its_next_call():
    before = signal.signal(signal.SIGTERM, leave)
    try:
        with suppress(Signalled):  # as a finalizer does
            leave(signal.SIGTERM, None)
        with pytest.raises(Signalled), held_back(list):
            pytest.fail("the call began")
    finally:
        signal.signal(signal.SIGTERM, before)
        forget_signals()
    with held_back(list):
        pass


@pytest.fixture
def alarm():
    """Sets the caller's own time limit in seconds, whose handler raises a TimeoutError."""

    def handler(*_):
        raise TimeoutError("the caller's")

    before = signal.signal(signal.SIGALRM, handler)
    yield partial(signal.setitimer, signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no SIGALRM")
@pytest.mark.parametrize("load", [lf.load_licenses, lf.load_history, lf.plan])
def test_a_time_limit_of_the_caller_is_not_taken_for_a_servers(alarm, load):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/api/scan"
        net = lf.connect(scan_url=url, scan_token="s3cret", read_timeout=10)
        alarm(0.2)
        with pytest.raises(TimeoutError, match="the caller's") as caught:
            load(net)
        frames = [frame for frame, _ in walk_tb(caught.tb) if frame.f_code.co_filename != __file__]
        assert not [frame for frame in frames if "s3cret" in repr({**frame.f_locals})]
        try:
            raise caught.value
        except TimeoutError:  # whoever tries again while it is handled hears of the server
            with pytest.raises(lf.errors.NoAnswerError):
                load(lf.connect(scan_url=url, read_timeout=0.1, attempts=1))


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no SIGALRM")
def test_a_time_limit_of_the_caller_ends_a_wait_for_a_thread(alarm):
    alarm(0.1)
    with pytest.raises(TimeoutError, match="the caller's"):
        result(spawn(lambda: time.sleep(3), "call"))
