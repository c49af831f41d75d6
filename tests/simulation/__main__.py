"""`make simulate`: histories from one seed on, on all cores, for a given time; failures shrunk into scripts.

python -m tests.simulation --minutes 10 --seed 0          all cores
python -m tests.simulation --show 4711                    one seed, told step by step
python -m tests.simulation --shrink 4711 --breaks LIVE    its script, made small
python -m tests.simulation --mutant by-time               seeds until the mutant is found
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field

import pyarrow as pa

from tests.simulation.faults import Holds
from tests.simulation.history import Outcome, draw, run
from tests.simulation.mutants import MUTANTS
from tests.simulation.scripts import failing, literal, shrink

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


def batch(first: int) -> Tally:
    """Some seeds in a row, in a process of a pool."""
    tally = Tally()
    for seed in range(first, first + _BATCH):
        try:
            tally.count(seed, run(draw(seed)))
        except Exception:  # noqa: BLE001 - a fault of the simulation itself is shown with its seed
            traceback.print_exc()
            tally.failures.setdefault("SIMULATION", []).append(seed)
    return tally


def one_thread() -> None:
    """Arrow's own threads cost more than they bring on tables of six rows."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def simulate(*, seed: int, minutes: float, workers: int) -> Tally:
    """Run batches of seeds on all cores until the time is over."""
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
            waiting.append(pool.apply_async(batch, (first,)))
            if len(waiting) > 2 * workers:
                tally.add(waiting.pop(0).get())
        for result in waiting:
            tally.add(result.get())
    return tally


def show(seed: int) -> None:
    """Tell one history."""
    script = draw(seed)
    outcome = run(script)
    print(literal(outcome.script))
    print("\n".join(outcome.log))
    for problem in outcome.problems:
        print(f"** {problem.holds.name}: {problem.text}")


def small(seed: int, breaks: str | None) -> None:
    """Print the shrunk script of a failing seed."""
    outcome = run(draw(seed))
    broken = failing(outcome)
    if not broken:
        print(f"seed {seed} breaks nothing")
        return
    holds = Holds[breaks] if breaks else min(broken, key=lambda one: one.name)
    script = shrink(outcome.script, breaks=holds)
    print(f"# breaks {holds.name}: {holds.value}")
    print(literal(script))
    print("\n".join(run(script).log))


def hunt(name: str, seed: int, most: int) -> int | None:
    """The first seed that finds a mutant and is well without it."""
    mutant = MUTANTS[name]
    for number in range(seed, seed + most):
        script = draw(number, mutant.among or None)
        with mutant.applied():
            broken = failing(run(script))
        if broken and not failing(run(script)):
            print(f"{name}: seed {number} breaks {', '.join(sorted(one.name for one in broken))}")
            return number
    print(f"{name}: survived {most} seeds")
    return None


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", type=int)
    parser.add_argument("--shrink", type=int)
    parser.add_argument("--breaks", choices=[one.name for one in Holds])
    parser.add_argument("--mutant", choices=[*MUTANTS, "all"])
    parser.add_argument("--most", type=int, default=20_000)
    given = parser.parse_args()
    with nullcontext():
        if given.show is not None:
            show(given.show)
            return 0
        if given.shrink is not None:
            small(given.shrink, given.breaks)
            return 0
        if given.mutant:
            names = list(MUTANTS) if given.mutant == "all" else [given.mutant]
            return int(any(hunt(name, given.seed, given.most) is None for name in names))
    began = time.monotonic()
    tally = simulate(seed=given.seed, minutes=given.minutes, workers=given.workers)
    seconds = time.monotonic() - began
    print(f"{tally.histories:,} histories from seed {given.seed} on, {tally.requests:,} requests, {seconds:,.0f} s,"
          f" {tally.histories / seconds:,.1f} per second on {given.workers} cores")  # fmt: skip
    print("with the fault: " + ", ".join(f"{name} {count:,}" for name, count in tally.faults.most_common()))
    print("syncs: " + ", ".join(f"{name} {count:,}" for name, count in tally.syncs.most_common()))
    for name, seeds in sorted(tally.failures.items()):
        print(f"FAILED {name}: {len(seeds):,} histories, such as seeds {sorted(seeds)[:8]}")
    if not tally.failures:
        print("no invariant was broken")
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
