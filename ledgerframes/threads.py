"""Threads and waits that Ctrl-C can interrupt safely; everything that starts a thread uses them.

All are daemons: neither Ctrl-C nor the end of the program waits for a silent server. The system may deliver a signal
to any thread, and Python runs its handler once the main thread is back, so every wait is a series of short ones.
"""

from __future__ import annotations

import atexit
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from traceback import walk_tb
from typing import Final, NoReturn, TypeVar

from ledgerframes.errors import StoppedError
from ledgerframes.stopping import SLICE, held_back, raised_by_handler

T = TypeVar("T")

#: Seconds that the end of the program, or of a read, waits for threads.
_LEAVING: Final = 1.0
_THREADS: Final[set[threading.Thread]] = set()


def spawn(call: Callable[[], T], name: str, into: Future[T] | None = None) -> Future[T]:
    """Make a call in a daemon thread of this name; the future, `into` or a new one, has an error if it cannot start."""
    future: Future[T] = Future() if into is None else into
    thread = threading.Thread(target=_run, args=(call, future), name=name, daemon=True)
    handled = sys.exc_info()[1]
    try:
        thread.start()
    except RuntimeError as error:
        if error.__context__ is handled:  # not what a signal's handler raised while the thread started
            future.set_exception(error)
        _raise_uncovered(error, handled)
    finally:
        # Also if a signal raises here: the call runs, and the end of the program has to wait for it.
        _THREADS.difference_update([other for other in tuple(_THREADS) if not other.is_alive()])
        _THREADS.add(thread)
    return future


def _raise_uncovered(error: RuntimeError, handled: BaseException | None) -> NoReturn:
    """Raise an error, or what a signal's handler raised inside one of Python's locks, which covers it with this error.

    Raises:
        BaseException: the handler raised it.
    """
    *_, (innermost, _) = walk_tb(error.__traceback__)
    found = error.__context__
    if found is None or found is handled or innermost.f_globals is not vars(threading):
        raise error
    raise found from found.__cause__


def _run(call: Callable[[], T], future: Future[T]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
        future.set_exception(error)
    finally:
        del call, future  # the error's traceback holds this frame


@atexit.register
def _leave() -> None:
    """Let ending threads finish: until Python 3.14, one that returns from C++ or Rust too late aborts the program."""
    until = time.monotonic() + _LEAVING
    for thread in tuple(_THREADS):
        with suppress(RuntimeError):  # it could not start
            thread.join(max(0.0, until - time.monotonic()))


def ended(future: Future[T], seconds: float = float("inf")) -> bool:
    """Whether a call ends within `seconds`; False also if the program itself ends."""
    end = time.monotonic() + seconds
    handled = sys.exc_info()[1]
    try:
        while not future.done():
            left = min(SLICE, end - time.monotonic())
            if left <= 0 or sys.is_finalizing():  # other threads are suspended then
                return False
            try:
                future.exception(left)
            except TimeoutError as error:
                if raised_by_handler(error, handled):
                    raise
    except RuntimeError as error:
        _raise_uncovered(error, handled)
    return True


def result(future: Future[T]) -> T:
    """The result of a call, once it has ended.

    Raises:
        BaseException: the call raised it.
    """
    ended(future)
    return future.result(0)


def ahead(items: Iterator[T], name: str, stop: Callable[[], object]) -> Iterator[T]:
    """Yield items, the next one made in a thread of its own while the caller works on this one.

    Args:
        items: the items.
        name: of the thread.
        stop: interrupts the thread; called at the end, and at Ctrl-C.
    """
    made: queue.SimpleQueue[tuple[T, ...]] = queue.SimpleQueue()
    wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def work() -> None:
        try:
            for item in items:
                made.put((item,))
                if not wanted.get():
                    return
        finally:
            made.put(())

    running = spawn(work, name)
    try:
        while True:
            item = None
            with held_back(stop):
                while item is None:
                    if sys.is_finalizing():
                        raise StoppedError("the program ends")
                    with suppress(queue.Empty):
                        item = made.get(timeout=SLICE)
            if not item:
                running.result(_LEAVING)
                return
            wanted.put(item=True)
            yield item[0]
            del item  # it must not be kept alive while waiting for the next one
    finally:
        # Also if the caller stops early: work in progress must not outlive the read.
        stop()
        wanted.put(item=False)
        ended(running, _LEAVING)


def to_the_end(call: Callable[[], T], name: str) -> T:
    """Make a call in a thread and wait until it has ended, even if a signal raises meanwhile; returns its result."""
    future: Future[T] = Future()
    try:
        return result(spawn(call, name, future))
    finally:
        ended(future)


def together(calls: Sequence[Callable[[], T]], name: str, *, at_once: int | None = None) -> list[T]:
    """Make calls concurrently; returns their results in order.

    Args:
        calls: what to run.
        name: of each thread.
        at_once: the number of concurrent calls; None runs all of them.

    Raises:
        BaseException: a call raised it, after the other running ones have ended. No further call is started.
    """
    if len(calls) == 1:
        return [calls[0]()]
    left = deque(enumerate(calls))
    results: dict[int, T] = {}

    def work() -> None:
        try:
            while left:
                try:
                    place, call = left.popleft()
                except IndexError:  # another thread took the last one
                    return
                results[place] = call()
        except BaseException:
            left.clear()
            raise

    try:
        threads = [spawn(work, name) for _ in range(min(len(calls), at_once or len(calls)))]
        for thread in threads:
            ended(thread)
    except BaseException:
        left.clear()
        raise
    for thread in threads:
        thread.result(0)
    return [results[place] for place in range(len(calls))]
