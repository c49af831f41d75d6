"""For each mutant a history that finds it, and that is well without it; `make simulate` looks for others in 20,000 seeds."""

import pytest

from tests.simulation.faults import Holds
from tests.simulation.history import Script, run
from tests.simulation.mutants import MUTANTS
from tests.simulation.scripts import failing
from tests.simulation.world import Item, U

#: By mutant, what its history breaks, and the history.
FOUND_BY = {
    "proof-of-anybody": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 4 * U, "B", "b"),
                Item(0, 5 * U, "A", "c"),
                Item(0, 6 * U, "A", "d"),
                Item(0, 12 * U, "A", "z"),
            ),
            servers=2,
            faults=(
                "late",
                "lagging",
            ),
            choices={
                "moves": [6, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1],
            },
        ),
    ),
    "no-settle": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 5 * U, "A", "p"),
                Item(0, 6 * U, "C", "f"),
            ),
            faults=("late",),
            choices={
                "moves": [2, 1, 1],
            },
        ),
    ),
    "proof-after-the-read": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 1 * U, "A", "a"),
                Item(0, 4 * U, "B", "b"),
                Item(0, 5 * U, "A", "c"),
                Item(0, 6 * U, "A", "d"),
                Item(0, 12 * U, "A", "z"),
            ),
            faults=(
                "late",
                "catching-up",
            ),
            choices={
                "moves": [3, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1],
            },
        ),
    ),
    "any-later-item-closes": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 7 * U, "A", "g"),
                Item(0, 10 * U, "C", "j", "exercise"),
                Item(1, 7 * U, "B", "p", "exercise"),
            ),
            servers=2,
            faults=(
                "lagging",
                "catching-up",
            ),
            choices={
                "moves": [0, 1, 1, 1, 1],
            },
        ),
    ),
    "closes-when-covered": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 6 * U, "B", "y"),
                Item(0, 7 * U, "A", "x"),
                Item(1, 3 * U, "A", "f"),
            ),
            faults=("late",),
            choices={
                "moves": [2, 1, 1, 1],
            },
        ),
    ),
    "by-time": (
        Holds.ONCE,
        Script(
            items=(
                Item(0, 3 * U, "A", "k"),
                Item(0, 6 * U, "A", "f"),
                Item(0, 7 * U, "A", "j"),
                Item(0, 10 * U, "A", "g"),
            ),
            choices={
                "moves": [1, 1],
                "sync": [0, 0, 0, 1],
            },
        ),
    ),
    "any-missing-id-is-a-fork": (
        Holds.LIVE,
        Script(
            items=(
                Item(1, 7 * U, "A", "l"),
                Item(1, 10 * U, "A", "k"),
            ),
            choices={
                "moves": [2, 1],
            },
        ),
    ),
    "late-below-settled": (
        Holds.FORKS,
        Script(
            items=(
                Item(1, 6 * U, "C", "j", "unassign"),
                Item(1, 10 * U, "A", "h", "exercise"),
            ),
            servers=2,
            faults=(
                "late",
                "lagging",
                "catching-up",
                "too-late",
                "fork",
            ),
            choices={
                "fork": [1],
                "moves": [2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 2],
                "plan": [2],
            },
            branch=(
                Item(0, 1 * U, "A", "f", "assign"),
                Item(0, 4 * U, "C", "lx", "exercise"),
                Item(0, 5 * U, "A", "ax", "unassign"),
                Item(1, 10 * U, "A", "hx", "exercise"),
            ),
            cut=1 * U,
        ),
    ),
    "old-claims-trusted": (
        Holds.REACHED,
        Script(
            items=(
                Item(0, 6 * U, "A", "c"),
                Item(0, 12 * U, "A", "b"),
            ),
            faults=("old-lake",),
            choices={
                "moves": [5, 1, 1],
            },
        ),
    ),
    "one-table-for-all": (
        Holds.WHOLE,
        Script(
            items=(Item(1, 11 * U, "A", "c"),),
            faults=("kill",),
            choices={
                "kill-before": [0, 0, 0, 0, 1],
                "moves": [1, 1],
            },
        ),
    ),
    "rows-before-coverage": (
        Holds.ONCE,
        Script(
            items=(Item(1, 11 * U, "A", "c"),),
            faults=("kill",),
            choices={
                "kill-before": [0, 0, 0, 0, 1],
                "moves": [1, 1],
            },
        ),
    ),
    "rejects-repeat": (
        Holds.ONCE,
        Script(
            items=(Item(1, 11 * U, "A", "c", "broken"),),
            choices={
                "moves": [1, 1],
                "quiet": [1],
            },
        ),
    ),
    "proof-of-a-clock": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 3 * U, "A", "o"),
                Item(0, 5 * U, "A", "j"),
            ),
            choices={
                "moves": [1, 1],
            },
        ),
    ),
    "no-microsecond": (
        Holds.NO_ALARM,
        Script(
            items=(
                Item(0, 5 * U, "A", "m"),
                Item(0, 8 * U, "B", "n"),
            ),
            servers=2,
            faults=(
                "late",
                "edge",
                "lagging",
            ),
            choices={
                "moves": [0, 2, 1, 1],
                "plan": [1],
            },
        ),
    ),
}


@pytest.mark.parametrize("name", FOUND_BY)
def test_the_simulation_finds(name):
    breaks, script = FOUND_BY[name]
    well = failing(run(script))

    with MUTANTS[name].applied():
        broken = failing(run(script))

    assert not well
    assert breaks in broken
