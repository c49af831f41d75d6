"""Many seeds on all cores, counted; `make simulate` and the tests of mutants use it."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from tests.simulation.history import run
from tests.simulation.mutants import MUTANTS
from tests.simulation.script import Outcome, draw
from tests.simulation.scripts import failing

_BATCH = 50


@dataclass
class Tally:
    """What some histories came to.

    Attributes:
        histories: how many.
        requests: sent in them.
        faults: how many had each fault.
        syncs: how the syncs ended.
        failures: by broken invariant, the seeds.
    """

    histories: int = 0
    requests: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    syncs: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[int]] = field(default_factory=dict)

    def count(self, seed: int, outcome: Outcome) -> None:
        """Count one history."""
        self.histories += 1
        self.requests += outcome.requests
        self.faults.update(outcome.script.faults)
        self.syncs.update(outcome.syncs)
        for holds in failing(outcome):
            self.failures.setdefault(holds.name, []).append(seed)

    def add(self, other: Tally) -> None:
        """Count those of another process."""
        self.histories += other.histories
        self.requests += other.requests
        self.faults += other.faults
        self.syncs += other.syncs
        for name, seeds in other.failures.items():
            self.failures.setdefault(name, []).extend(seeds)


def batch(first: int, **kinds: bool) -> Tally:
    """Some seeds in a row, in a process of a pool."""
    tally = Tally()
    for seed in range(first, first + _BATCH):
        try:
            tally.count(seed, run(draw(seed, **kinds)))
        except Exception:  # noqa: BLE001 - a fault of the simulation itself is shown with its seed
            traceback.print_exc()
            tally.failures.setdefault("SIMULATION", []).append(seed)
    return tally


def one_thread() -> None:
    """Arrow's own threads cost more than they bring on tables of six rows."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def simulate(*, seed: int, minutes: float, workers: int, **kinds: bool) -> Tally:
    """Run batches of seeds on all cores until the time is over; `kinds` as for `draw`."""
    tally = Tally()
    end = time.monotonic() + minutes * 60

    def firsts() -> Iterator[int]:
        first = seed
        while time.monotonic() < end:
            yield first
            first += _BATCH

    with multiprocessing.get_context("spawn").Pool(workers, one_thread) as pool:
        waiting, coming = [], firsts()
        for first in coming:
            waiting.append(pool.apply_async(batch, (first,), kinds))
            if len(waiting) > 2 * workers:
                tally.add(waiting.pop(0).get())
        for result in waiting:
            tally.add(result.get())
    return tally


def hunt(name: str, seed: int, most: int) -> int | None:
    """The first seed that finds a mutant and is well without it."""
    mutant = MUTANTS[name]
    for number in range(seed, seed + most):
        script = draw(number, mutant.among or None, objects=mutant.objects)
        with mutant.applied():
            broken = failing(run(script))
        if broken and not failing(run(script)):
            print(f"{name}: seed {number} breaks {', '.join(sorted(one.name for one in broken))}")
            return number
    print(f"{name}: survived {most} seeds")
    return None
