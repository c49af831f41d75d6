"""`SeededScheduler`: workers and commits as steps in an order that the seed chooses, in one thread."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from typing import TypeVar

from ledgerframes.store.sync.scheduling import Background, Idle, Scheduler
from tests.simulation.choices import Choices

T = TypeVar("T")

#: Workers that all have nothing to do for so many rounds wait for each other for ever.
_STALLED = 50
#: A read of so small a world takes far fewer steps, most of them pages; those of objects are no requests.
_MOST_STEPS = 300


class Deadlock(BaseException):
    """No worker has anything to do, and none has ended; or they go on for ever."""


class SeededScheduler(Scheduler):
    """Runs the parts of a sync step by step.

    Args:
        choices: who takes the next step, and when a commit that was handed over is carried out.
    """

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._jobs: list[_Queue] = []

    def run(self, workers: Sequence[Generator[T | Idle]], *, ending: Callable[[], None]) -> Generator[T]:
        """Give the next step to a worker of the seed's choice; between two steps, maybe carry out a commit."""
        del ending  # a step is over before the next one begins
        running = list(workers)
        idle = steps = 0
        try:
            while running:
                steps += 1
                if steps > _MOST_STEPS:
                    raise Deadlock(f"a read has not ended after {_MOST_STEPS} steps")
                chosen = self._choices.pick("worker", len(running)) if len(running) > 1 else 0
                # A script that has told all its choices names the first one for ever.
                worker = running[(chosen + idle // _STALLED) % len(running)]
                found = next(worker, None)
                if found is None:
                    running.remove(worker)
                    idle = 0
                elif isinstance(found, Idle):
                    idle += 1
                    if idle > _STALLED * len(running):
                        raise Deadlock(f"{len(running)} workers wait for each other")
                else:
                    idle = 0
                    yield found
                self._maybe_commit()
        finally:
            for worker in workers:
                worker.close()

    def background(self, name: str) -> Background:
        """A queue whose jobs are carried out when the seed says so, at the latest when it must."""
        del name
        self._jobs.append(_Queue())
        return self._jobs[-1]

    def ahead(self, call: Callable[[], T], name: str) -> Future[T]:
        """Make the call at once."""
        del name
        future: Future[T] = Future()
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            future.set_exception(error)
        return future

    def _maybe_commit(self) -> None:
        for queue in self._jobs:
            if queue.waiting and self._choices.chance("commit", 50):
                queue.step()


class _Queue(Background):
    """Jobs in order; one may wait beside the one that runs, where in the real drive the caller waits with it."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self._error: BaseException | None = None

    def put(self, job: Callable[[], None]) -> None:
        self._raise()
        self.waiting.append(job)
        while len(self.waiting) > 2:
            self.step()

    def wait(self) -> None:
        while self.waiting:
            self.step()
        self._raise()

    def step(self) -> None:
        """Carry out the next job; after one that failed, none is."""
        job = self.waiting.pop(0)
        if self._error is None:
            try:
                job()
            except BaseException as error:  # noqa: BLE001 - it is raised where the jobs come from, as in the real drive
                self._error = error

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error
