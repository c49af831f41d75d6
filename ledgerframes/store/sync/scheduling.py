"""`Scheduler`: runs a sync's workers and commits, in threads or in a simulation that decides every step.

Workers and commits are written as steps. A worker is a generator that yields after every request, so that a drive can
schedule anything between two requests.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Final, Generic, Protocol, TypeVar

from ledgerframes.stopping import SLICE
from ledgerframes.threads import ended, spawn

T = TypeVar("T")

# Bounds the pages in memory that wait to be decoded; one is about 9 MB.
_ROOM: Final = 2


class Idle(Enum):
    """Yielded by a worker that has nothing to do."""

    IDLE = "nothing to do until another worker has taken a step"


IDLE: Final = Idle.IDLE


class Scheduler(Protocol):
    """Runs workers and commits."""

    def run(self, workers: Sequence[Generator[T | Idle]], *, ending: Callable[[], None]) -> Generator[T]:
        """Run workers concurrently and yield their results, those of each worker in order.

        Args:
            workers: what to run.
            ending: called first if the run ends early, to interrupt what workers wait for.

        Raises:
            BaseException: a worker raised it; results yielded earlier have been returned.
        """

    def commit(self, job: Callable[[], None]) -> Future[None]:
        """Start a commit, which runs concurrently with the workers."""

    def ahead(self, call: Callable[[], T], name: str) -> Future[T]:
        """Start a call whose result is needed later."""


class ThreadScheduler:
    """Runs everything in threads."""

    def run(self, workers: Sequence[Generator[T | Idle]], *, ending: Callable[[], None]) -> Generator[T]:
        """Run each worker in a thread of its own."""
        pool: _WorkerThreads[T] = _WorkerThreads(len(workers))
        threads: list[Future[None]] = []
        try:
            for number, worker in enumerate(workers):
                threads.append(spawn(partial(pool.work, worker), f"ledgerframes-fetch-{number}"))
            yield from pool.results()
        except BaseException:
            ending()  # before joining the threads, which may wait for a silent server
            raise
        finally:
            pool.stop(threads)

    def commit(self, job: Callable[[], None]) -> Future[None]:
        """Make the commit in a thread of its own."""
        return spawn(job, "ledgerframes-commit")

    def ahead(self, call: Callable[[], T], name: str) -> Future[T]:
        """Make the call in a thread of its own."""
        return spawn(call, name)


class _WorkerThreads(Generic[T]):
    """The threads of one run, and their results."""

    def __init__(self, size: int) -> None:
        self._results: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(size + _ROOM)
        self._running = size
        self._steps = 0
        self._stopped = False
        self._change = threading.Condition()

    def results(self) -> Generator[T]:
        while self._running:
            try:
                result, error = self._results.get(timeout=SLICE)
            except queue.Empty:
                continue
            if error is not None:
                raise error
            if result is None:
                self._running -= 1
            else:
                yield result

    def work(self, worker: Generator[T | Idle]) -> None:
        try:
            while not self._stopped:
                # Read before the step: whatever another worker does in between must wake this one.
                before = self._steps
                result = next(worker, None)
                if result is None:
                    break
                if isinstance(result, Idle):
                    self._wait(before)
                else:
                    self._put((result, None))
                    self._stepped()
        except BaseException as error:  # noqa: BLE001 - a worker's bug must end the run, not leave it waiting
            self._put((None, error))
        finally:
            worker.close()
            self._stepped()
            self._put((None, None))

    def stop(self, threads: Sequence[Future[None]]) -> None:
        self._stopped = True
        for thread in threads:
            ended(thread)

    def _put(self, item: tuple[T | None, BaseException | None]) -> None:
        """Hand over a result once there is room; after the end nobody takes it."""
        while not self._stopped:
            with suppress(queue.Full):
                self._results.put(item, timeout=SLICE)
                return

    def _stepped(self) -> None:
        with self._change:
            self._steps += 1
            self._change.notify_all()

    def _wait(self, before: int) -> None:
        """Wait until another worker has taken a step since `before` was read, or for a moment."""
        with self._change:
            self._change.wait_for(lambda: self._stopped or self._steps != before, SLICE)
