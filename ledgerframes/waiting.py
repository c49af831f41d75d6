"""Threads, and waits for them, that Ctrl-C may break off at any instruction; whatever has threads uses these.

A signal's handler runs in the main thread between any two instructions of Python, and most raise. What `threading`,
`queue` and `concurrent.futures` offer for waiting is Python code around a lock: broken off inside, the lock stays
held, or a thread that nobody wakes stays asleep, and the program hangs on its way out. `queue.SimpleQueue` waits in
C, where a signal finds either nothing taken or everything done, so it is the one thing that is waited on here.
A signal does not always end a wait: the system may hand it to another thread, or just before the wait begins. Python
runs its handler once the main thread is back, so every wait is one of short ones.
`Thread.start` waits as well, so the main thread has its threads started by another one.
What has to be released is in the `try` from where it begins, and loops in it are `while True`: where `while condition`
goes back, Python 3.12 and 3.13 run a handler outside of the `try`.
"""

from __future__ import annotations

import _thread
import os
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, Generic, TypeAlias, TypeVar

T = TypeVar("T")

#: Seconds that a thread waits at a time: far below the two that Ctrl-C may take.
SLICE: Final = 0.2


def taken(items: queue.SimpleQueue[T], seconds: float | None = None) -> T:
    """Take an item, once there is one.

    Raises:
        queue.Empty: there was none within so many seconds, or none comes any more because the program ends.
    """
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        if sys.is_finalizing():  # other threads stand still, and what is left is closed in this one
            return items.get_nowait()
        left = SLICE if end is None else end - time.monotonic()
        try:
            return items.get(timeout=max(0.0, min(left, SLICE)))
        except queue.Empty:
            if end is not None and left <= SLICE:
                raise


class Coming(Generic[T]):
    """The result of a call that runs in a thread of its own; one thread waits for it."""

    def __init__(self) -> None:
        self._done: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._release: Callable[[T], None] | None = None

    def wait(self, timeout: float | None = None) -> bool:
        """Whether the call ends within so many seconds; without a number, once it has ended."""
        # Looked at before: what an earlier wait took from the queue is not put back where it was broken off.
        if not self._ended:
            try:
                taken(self._done, timeout)
            except queue.Empty:
                return self._ended
        return True

    def result(self, timeout: float | None = None) -> T:
        """What the call returned.

        Raises:
            TimeoutError: it has not ended within so many seconds.
            BaseException: the call raised it.
        """
        if not self.wait(timeout):
            raise TimeoutError
        if self._error is not None:
            try:
                raise self._error
            finally:
                del self  # the error's traceback holds this frame
        return self._result[0]

    def drop(self, release: Callable[[T], None]) -> None:
        """Release a result that nobody takes any more, as soon as it is there; `release` may be called twice."""
        self._release = release
        self._drop()

    @property
    def _ended(self) -> bool:
        return self._error is not None or bool(self._result)

    def _drop(self) -> None:
        if self._release is not None and self._result:
            self._release(self._result[0])

    def run(self, call: Callable[[], T]) -> None:
        """Make the call; in the thread that is waited for."""
        try:
            result = call()
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            self.fail(error)
        else:
            self._result.append(result)
            self._done.put(None)
            self._drop()
        finally:
            del self, call  # the traceback of what was raised holds this frame

    def fail(self, error: BaseException) -> None:
        """End the wait with an error."""
        self._error = error
        self._done.put(None)


def in_background(call: Callable[[], T], name: str) -> Coming[T]:
    """Start a call in a daemon thread: neither waiting for it nor the end of the program depends on the call.

    Args:
        call: what to run.
        name: the thread's name.
    """
    coming: Coming[T] = Coming()
    _THREADS.run(partial(coming.run, call), name, coming.fail)
    return coming


def ended(coming: Coming[T]) -> T:
    """The result of a call that has ended in any case, also where a signal breaks the wait off.

    Raises:
        BaseException: the call raised it, or a signal's handler.
    """
    try:
        return coming.result()
    except BaseException:
        coming.wait()
        raise


class _Threads:
    """Daemon threads; one that has made its call waits for the next one, which is cheaper than a new thread."""

    def __init__(self) -> None:
        self._process: int | None = None

    def run(self, call: Callable[[], None], name: str, failed: Callable[[BaseException], None]) -> None:
        """Make a call soon; where the system has no more threads, `failed` is called with the error instead."""
        if self._process != os.getpid():  # a fork takes no threads along
            self._idle: queue.SimpleQueue[_Calls] = queue.SimpleQueue()
            self._asked: queue.SimpleQueue[_Asked] = queue.SimpleQueue()
            _thread.start_new_thread(_start, (self._asked,))
            self._process = os.getpid()
        try:
            calls = self._idle.get_nowait()
        except queue.Empty:
            calls = queue.SimpleQueue()
            thread = threading.Thread(target=_work, args=(calls, self._idle), daemon=True)
            self._asked.put((thread, failed))
        calls.put((call, name))


_Calls: TypeAlias = "queue.SimpleQueue[tuple[Callable[[], None], str]]"
_Asked: TypeAlias = tuple[threading.Thread, Callable[[BaseException], None]]
#: Threads that wait for a next call.
_KEPT: Final = 8
_THREADS: Final = _Threads()


def _start(asked: queue.SimpleQueue[_Asked]) -> None:
    """Start threads; in one that no signal breaks off."""
    while True:
        thread, failed = asked.get()
        try:
            thread.start()
        except RuntimeError as error:
            failed(error)
        del thread, failed  # what they hold is not to live until the next one


def _work(calls: _Calls, idle: queue.SimpleQueue[_Calls]) -> None:
    thread = threading.current_thread()
    while True:
        call, thread.name = calls.get()
        call()
        del call  # it holds what it works on
        thread.name = "ledgerframes-idle"
        if idle.qsize() >= _KEPT:
            return
        idle.put(calls)


def together(calls: Sequence[Callable[[], T]], name: str, *, at_once: int | None = None) -> list[T]:
    """Make calls concurrently; gives their results in order.

    Args:
        calls: what to run.
        name: of each thread.
        at_once: calls that run at a time; None runs all of them.

    Raises:
        BaseException: a call raised it, and those that were running have ended; or a signal's handler did. No other
            call is begun.
    """
    if len(calls) == 1:
        return [calls[0]()]
    left = deque(enumerate(calls))
    results: dict[int, T] = {}
    size = min(len(calls), at_once or len(calls))
    threads: list[Coming[None]] = []
    try:
        threads.extend(in_background(partial(_take, left, results), name) for _ in range(size))
        for thread in threads:
            thread.wait()
    except BaseException:
        left.clear()
        raise
    for thread in threads:
        thread.result()
    return [results[place] for place in range(len(calls))]


def _take(left: deque[tuple[int, Callable[[], T]]], results: dict[int, T]) -> None:
    while True:
        try:
            place, call = left.popleft()
        except IndexError:
            return
        try:
            results[place] = call()
        except BaseException:
            left.clear()
            raise


class Places:
    """So many places, each held by one thread at a time."""

    def __init__(self, count: int) -> None:
        self._free: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(count):
            self._free.put(None)

    @contextmanager
    def held(self, look: Callable[[], None], every: float) -> Iterator[None]:
        """Wait for a place, and hold it.

        Args:
            look: called before the wait and during it; what it raises ends the wait.
            every: seconds between two calls of `look`.
        """
        taken: list[None] = []
        try:
            look()
            while True:
                try:
                    # One call into C from the wait to the list: a signal behind it finds what has to be given back.
                    taken.extend(map(self._free.get, (True,), (every,)))
                    break
                except queue.Empty:
                    look()
            yield
        finally:
            if taken:
                self._free.put(None)


class Bounded(Generic[T]):
    """A queue with room for so many items; one thread takes from it."""

    def __init__(self, size: int) -> None:
        self._items: queue.SimpleQueue[T] = queue.SimpleQueue()
        self._room: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.widen(size)

    def put(self, item: T) -> None:
        """Add an item once there is room."""
        taken(self._room)
        self._items.put(item)

    def get(self) -> T:
        """The next item, once there is one."""
        item = taken(self._items)
        self._room.put(None)
        return item

    def widen(self, more: int) -> None:
        """Make room for more items."""
        for _ in range(more):
            self._room.put(None)
