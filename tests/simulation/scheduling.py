"""`SeededScheduler`: workers and commits as steps in an order that the seed chooses, in one thread."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from typing import TypeVar

from ledgerframes.store.sync.scheduling import Idle, Scheduler
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
        self._commits: list[_Commit] = []

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

    def commit(self, job: Callable[[], None]) -> Future[None]:
        """A commit that is carried out when the seed says so, at the latest when it is waited for."""
        self._commits.append(_Commit(job))
        return self._commits[-1]

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
        for commit in self._commits:
            if not commit.done() and self._choices.chance("commit", 50):
                commit.carry_out()


class _Commit(Future[None]):
    """A commit that may be carried out before anybody waits for it."""

    def __init__(self, job: Callable[[], None]) -> None:
        super().__init__()
        self._job = job

    def carry_out(self) -> None:
        """Do what the job does; an error is raised where the commit is waited for, as in the real drive."""
        try:
            self.set_result(self._job())
        except BaseException as error:  # noqa: BLE001
            self.set_exception(error)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The error of the commit, which is carried out now if it was not."""
        if not self.done():
            self.carry_out()
        return super().exception(timeout)
