"""`make simulate`: histories from one seed on, on all cores, for a given time; failures shrunk into scripts.

python -m tests.simulation --minutes 10 --seed 0          all cores
python -m tests.simulation --verdicts ...                 worlds of verdicts, with any other option but --mutant
python -m tests.simulation --objects ...                  servers that have objects, likewise
python -m tests.simulation --show 4711                    one seed, told step by step
python -m tests.simulation --shrink 4711 --breaks LIVE    its script, made small
python -m tests.simulation --mutant by-time               seeds until the mutant is found
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from tests.simulation.faults import Holds
from tests.simulation.history import run
from tests.simulation.mutants import MUTANTS
from tests.simulation.script import draw
from tests.simulation.scripts import failing, literal, shrink
from tests.simulation.searching import hunt, simulate


def show(seed: int, **kinds: bool) -> None:
    """Tell one history."""
    script = draw(seed, **kinds)
    outcome = run(script)
    print(literal(outcome.script))
    print("\n".join(outcome.log))
    for problem in outcome.problems:
        print(f"** {problem.holds.name}: {problem.text}")


def small(seed: int, breaks: str | None, **kinds: bool) -> None:
    """Print the shrunk script of a failing seed."""
    outcome = run(draw(seed, **kinds))
    broken = failing(outcome)
    if not broken:
        print(f"seed {seed} breaks nothing")
        return
    holds = Holds[breaks] if breaks else min(broken, key=lambda one: one.name)
    script = shrink(outcome.script, breaks=holds)
    print(f"# breaks {holds.name}: {holds.value}")
    print(literal(script))
    print("\n".join(run(script).log))


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--verdicts", action="store_true", help="sync the event history in place of that of updates")
    parser.add_argument("--show", type=int)
    parser.add_argument("--shrink", type=int)
    parser.add_argument("--breaks", choices=[one.name for one in Holds])
    parser.add_argument("--mutant", choices=[*MUTANTS, "all"])
    parser.add_argument("--most", type=int, default=20_000)
    parser.add_argument("--objects", action="store_true", help="servers have objects as well")
    given = parser.parse_args()
    kinds = {"verdicts": given.verdicts, "objects": given.objects}
    if all(kinds.values()):
        parser.error("--verdicts and --objects do not go together: objects hold updates only")
    if given.show is not None:
        show(given.show, **kinds)
        return 0
    if given.shrink is not None:
        small(given.shrink, given.breaks, **kinds)
        return 0
    if given.mutant:
        names = list(MUTANTS) if given.mutant == "all" else [given.mutant]
        return int(any(hunt(name, given.seed, given.most) is None for name in names))
    began = time.monotonic()
    tally = simulate(seed=given.seed, minutes=given.minutes, workers=given.workers, **kinds)
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
