"""A fixed set of simulated histories: every invariant holds, the same seed does the same, memory does as Delta does."""

import os
from pathlib import Path

import pytest

from tests.simulation.faults import ALL, FAULTS, holding
from tests.simulation.history import run
from tests.simulation.mirrored import MirroredLake
from tests.simulation.script import draw
from tests.simulation.scripts import literal

#: More of them: `make simulate`.
SEEDS = int(os.environ.get("SIMULATED_HISTORIES", "200"))
A_TEST = 25


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("first", range(0, SEEDS, A_TEST))
def test_no_history_loses_repeats_or_tears_anything(first):
    for seed in range(first, first + A_TEST):
        outcome = run(draw(seed))
        assert not outcome.problems, f"seed {seed}: {outcome.problems[0]}\n{literal(outcome.script)}"


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("first", range(0, SEEDS // 2, A_TEST))
def test_no_history_of_verdicts_loses_repeats_or_tears_anything(first):
    for seed in range(first, first + A_TEST):
        outcome = run(draw(seed, verdicts=True))
        assert not outcome.problems, f"seed {seed}: {outcome.problems[0]}\n{literal(outcome.script)}"


def test_worlds_of_verdicts_have_items_of_every_kind():
    kinds = {item.kind for seed in range(200) for item in draw(seed, verdicts=True).items}

    assert kinds == {"create", "exercise", "assign", "unassign", "broken"}


@pytest.mark.parametrize("seed", [3, 10, 42])
def test_a_history_is_the_same_from_its_seed_and_from_its_script(seed):
    first, again = run(draw(seed)), run(draw(seed))
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


def test_every_fault_occurs_and_says_what_it_breaks():
    drawn = {name for seed in range(1000) for name in draw(seed).faults}

    assert drawn == {name for name, fault in FAULTS.items() if fault.weight}
    assert all(bool(fault.breaks) == (fault.holds != ALL) for fault in FAULTS.values())
    assert holding(["kill", "late"]) == ALL
