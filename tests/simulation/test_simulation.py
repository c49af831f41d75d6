"""A fixed set of simulated histories: every invariant holds, the same seed does the same, memory does as Delta does."""

import os
from pathlib import Path

import pytest

from tests.simulation.faults import ALL, FAULTS, OBJECT_FAULTS, holding
from tests.simulation.history import run
from tests.simulation.mirrored import MirroredLake
from tests.simulation.script import draw
from tests.simulation.scripts import literal

#: More of them: `make simulate`.
SEEDS = int(os.environ.get("SIMULATED_HISTORIES", "200"))
#: How many of each kind, and how many in a test.
KINDS = {"updates": (SEEDS, 25), "verdicts": (SEEDS // 2, 25), "objects": (SEEDS * 3 // 20, 10)}
BATCHES = [(first, kind, step) for kind, (most, step) in KINDS.items() for first in range(0, most, step)]


@pytest.mark.long(quick=10)
@pytest.mark.parametrize(("first", "kind", "step"), sorted(BATCHES))
def test_no_history_loses_repeats_or_tears_anything(first, kind, step):
    for seed in range(first, first + step):
        outcome = run(draw(seed, verdicts=kind == "verdicts", objects=kind == "objects"))
        assert not outcome.problems, f"seed {seed}: {outcome.problems[0]}\n{literal(outcome.script)}"


def test_worlds_of_verdicts_have_items_of_every_kind():
    kinds = {item.kind for seed in range(200) for item in draw(seed, verdicts=True).items}

    assert kinds == {"create", "exercise", "assign", "unassign", "broken"}


@pytest.mark.parametrize(("seed", "objects"), [(3, False), (10, False), (42, False), (4, True)])
def test_a_history_is_the_same_from_its_seed_and_from_its_script(seed, objects):
    first, again = run(draw(seed, objects=objects)), run(draw(seed, objects=objects))
    scripted = run(first.script)

    assert again.log == first.log == scripted.log
    assert again.script == first.script == scripted.script


@pytest.mark.parametrize("seed", [100, 200, 300, 400])
def test_memory_ends_with_the_rows_and_numbers_that_delta_ends_with(seed, tmp_path):
    lakes = []

    def lake(disk):
        lakes.append(MirroredLake(disk, Path(tmp_path)))
        return lakes[-1]

    outcome = run(draw(seed), lake=lake)

    assert not outcome.problems
    assert outcome.log == run(draw(seed)).log
    assert lakes[0].differences() == []


@pytest.mark.parametrize(("faults", "objects"), [(FAULTS, False), (OBJECT_FAULTS, True)])
def test_every_fault_occurs_and_says_what_it_breaks(faults, objects):
    drawn = {name for seed in range(1000) for name in draw(seed, objects=objects).faults}

    assert drawn & faults.keys() == {name for name, fault in faults.items() if fault.weight}
    assert all(bool(fault.breaks) == (fault.holds != ALL) for fault in faults.values())
    assert holding(["kill", "late", "objects-lag"]) == ALL
