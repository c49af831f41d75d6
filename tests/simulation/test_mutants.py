"""For each mutant a history that finds it, and that is well without it. Others: make mutants."""

import pytest

from tests.simulation.faults import Holds
from tests.simulation.history import run
from tests.simulation.mutants import MUTANTS
from tests.simulation.script import Script, draw
from tests.simulation.scripts import failing
from tests.simulation.test_scripts import SCRIPTS
from tests.simulation.world import Item, U

#: Six updates in one segment of objects, and one far behind it.
SIX = (
    Item(0, 1 * U, "A", "a"),
    Item(0, 2 * U, "A", "b"),
    Item(0, 3 * U, "A", "c"),
    Item(0, 4 * U, "A", "d"),
    Item(0, 4 * U + 1, "A", "e"),
    Item(0, 4 * U + 2, "A", "f"),
    Item(0, 20 * U, "A", "w"),
)
#: By mutant, what its history breaks, and the history.
FOUND_BY = {
    "a-tie-fills-a-page-of-objects": (Holds.SETTLED, SCRIPTS["a-tie-that-fills-a-page-of-objects"]),
    "pages-of-any-window": (Holds.SETTLED, SCRIPTS["a-first-item-pruned-between-two-windows"]),
    "proof-of-anybody": (
        Holds.NO_ALARM,
        Script(
            items=(
                Item(0, 5 * U, "C", "b", "unassign"),
                Item(0, 8 * U, "C", "g", "exercise"),
                Item(0, 12 * U, "B", "k", "unassign"),
            ),
            servers=3,
            faults=("lagging",),
            choices={
                "moves": [4, 1, 2, 1, 0, 1, 1, 1, 1, 2, 1, 1],
                "plan": [2],
            },
        ),
    ),
    "no-settle": (
        Holds.NO_ALARM,
        Script(
            items=(
                Item(0, 2 * U, "B", "n", "exercise"),
                Item(0, 3 * U, "A", "d", "exercise"),
                Item(0, 5 * U, "B", "c"),
                Item(0, 11 * U, "A", "h"),
            ),
            servers=2,
            faults=("late", "lagging", "catching-up", "servers-change"),
            choices={
                "moves": [*map(int, "21111100021000112110002011110001")],
                "plan": [1],
                "servers": [1],
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
            faults=("late", "catching-up"),
            choices={
                "moves": [3, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1],
                "sync": [0, 2],
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
            faults=("lagging", "catching-up"),
            choices={
                "moves": [0, 1, 0, 1, 1, 1],
                "sync": [0, 2],
            },
        ),
    ),
    "closes-when-covered": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 5 * U, "A", "w"),
                Item(0, 6 * U, "B", "y"),
                Item(0, 7 * U, "A", "x"),
                Item(1, 3 * U, "A", "f"),
            ),
            faults=("late",),
            choices={
                "moves": [3, 1, 0, 1, 1, 1],
            },
        ),
    ),
    "by-time": (
        Holds.ONCE,
        Script(
            items=(
                Item(0, 6 * U, "A", "i", "exercise"),
                Item(0, 11 * U, "B", "d", "assign"),
            ),
            servers=2,
            faults=("lagging",),
            choices={
                "moves": [4, 1, 1, 1, 1, 1],
                "sync": [0, 2, 1, 2],
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
    "late-below-settled": (Holds.LIVE, draw(33, MUTANTS["late-below-settled"].among)),
    "any-network": (
        Holds.MIXED,
        Script(
            items=(Item(0, 12 * U, "A", "i"),),
            servers=2,
            faults=("other-network",),
            branch=(Item(0, 7 * U, "A", "nf"),),
        ),
    ),
    "every-network-is-recognised": (
        Holds.MIXED,
        Script(
            items=(Item(0, 5 * U, "A", "j"),),
            servers=2,
            faults=("other-network",),
            choices={
                "moves": [1, 1],
            },
            branch=(Item(0, 2 * U, "nA", "nk", "exercise"),),
            cut=0 * U,
        ),
    ),
    "rows-before-coverage": (
        Holds.ONCE,
        Script(
            items=(Item(0, 1 * U, "A", "m"),),
            faults=("kill",),
            choices={"kill-before": [0, 0, 0, 0, 0, 0, 0, 1], "moves": [1, 1]},
        ),
    ),
    "rejects-repeat": (
        Holds.ONCE,
        Script(
            items=(
                Item(0, 6 * U, "A", "b", "broken"),
                Item(0, 6 * U, "C", "a"),
            ),
            choices={
                "moves": [1, 1],
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
                Item(0, 1 * U, "A", "j", "unassign"),
                Item(0, 1 * U, "B", "g", "unassign"),
                Item(0, 4 * U, "A", "f", "exercise"),
            ),
            servers=2,
            faults=("late", "edge", "lagging", "servers-change"),
            choices={
                "moves": [6, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1],
                "servers": [1, 1],
            },
        ),
    ),
    "closes-without-the-day": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 1 * U, "A", "a"),
                Item(0, 7 * U, "A", "x"),
                Item(1, 3 * U, "A", "f"),
                Item(1, 7 * U, "A", "g"),
            ),
            faults=("late",),
            choices={
                "moves": [3, 1, 0, 1, 1, 1],
            },
        ),
    ),
    "never-compared": (
        Holds.ONCE,
        Script(
            items=(
                Item(0, 2 * U, "A", "m"),
                Item(0, 2 * U, "B", "d"),
            ),
            choices={
                "moves": [1, 1],
                "quiet": [1],
            },
        ),
    ),
    "network-by-its-first-id": (
        Holds.NO_ALARM,
        Script(
            items=(
                Item(0, 1 * U, "A", "j", "unassign"),
                Item(0, 1 * U, "B", "g", "unassign"),
                Item(0, 4 * U, "A", "f", "exercise"),
                Item(0, 4 * U, "B", "p", "exercise"),
                Item(0, 11 * U, "A", "a", "unassign"),
            ),
            servers=2,
            faults=("late", "lagging"),
            choices={
                "moves": [6, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1],
                "plan": [2],
            },
        ),
    ),
    "covered-is-final": (
        Holds.LIVE,
        Script(
            items=(Item(0, 1 * U, "B", "o"), Item(0, 2 * U, "A", "j")),
            servers=2,
            faults=("late", "lagging", "catching-up", "servers-change", "low-maximum"),
            choices={"moves": [0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 2], "servers": [1, 1]},
        ),
    ),
    "nothing-restored": (
        Holds.ONCE,
        Script(
            items=(Item(0, 1 * U, "A", "m"),),
            faults=("kill",),
            choices={"kill-after": [0, 0, 0, 0, 0, 1], "moves": [1, 1]},
        ),
    ),
    "coverage-first": (
        Holds.SETTLED,
        Script(
            items=(Item(0, 7 * U, "A", "a"), Item(0, 11 * U, "A", "d")),
            faults=("kill",),
            choices={"kill-before": [0, 0, 0, 0, 0, 0, 0, 1], "moves": [5, 1, 1]},
        ),
    ),
    "ties-cut": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 1 * U, "A", "e"),
                Item(0, 6 * U, "A", "n"),
                Item(0, 6 * U, "C", "c"),
                Item(0, 12 * U, "A", "b"),
            ),
        ),
    ),
    "an-empty-page-proves": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 3 * U, "B", "o", "exercise"),
                Item(0, 5 * U, "A", "j", "assign"),
            ),
            choices={
                "moves": [1, 1],
            },
        ),
    ),
    "forks-are-merged": (
        Holds.LIVE,
        Script(
            items=(
                Item(0, 5 * U, "A", "m"),
                Item(0, 11 * U, "A", "h"),
            ),
            choices={
                "moves": [1, 1],
            },
        ),
    ),
    "numbers-fall": (
        Holds.ONCE,
        Script(
            items=(
                Item(0, 3 * U, "A", "d"),
                Item(0, 5 * U, "B", "c"),
                Item(0, 11 * U, "A", "h"),
            ),
            choices={
                "moves": [2, 1, 1],
            },
        ),
    ),
    "objects-to-their-end": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 1 * U, "A", "a"),
                Item(0, 2 * U, "A", "b"),
                Item(0, 3 * U, "A", "c"),
                Item(0, 7 * U, "B", "x"),
                Item(0, 7 * U + 1, "A", "y"),
                Item(0, 8 * U, "A", "z"),
                Item(0, 9 * U, "A", "v"),
                Item(0, 20 * U, "A", "w"),
            ),
            faults=("late",),
            choices={"moves": [8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]},
            objects=True,
        ),
    ),
    "objects-end-the-history": (
        Holds.REACHED,
        Script(items=SIX, choices={"moves": [7, 1, 1, 1, 1, 1, 1, 1]}, objects=True),
    ),
    "objects-of-anybody": (Holds.MIXED, SCRIPTS["objects-of-a-server-that-is-left-out"]),
    "objects-reach-anywhere": (Holds.SETTLED, SCRIPTS["objects-by-time-end-before-an-overlap-does"]),
    "any-digest": (
        Holds.SETTLED,
        Script(
            items=SIX,
            faults=("damaged-objects",),
            choices={"moves": [7, 1, 1, 1, 1, 1, 1, 1], "object-damage": [2], "objects": [0, 0, 1]},
            objects=True,
        ),
    ),
    "lacking-rows-become-final": (Holds.FORKS, SCRIPTS["a-fork-that-is-proven-while-a-sync-reads"]),
    "lagging-for-ever": (Holds.FORKS, SCRIPTS["a-fork-that-is-proven-by-another-migration"]),
    "open-ends": (Holds.QUIET, SCRIPTS["the-end-of-a-migration-before-what-settles-it"]),
    "as-of-now": (
        Holds.FRAMES,
        Script(
            items=(Item(1, 8 * U, "A", "i"),),
            choices={
                "frames": [1],
            },
        ),
    ),
    "coverage-joins-anywhere": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 4 * U, "B", "d", "assign"),
                Item(0, 5 * U, "C", "h", "unassign"),
                Item(0, 7 * U, "C", "p"),
                Item(0, 11 * U, "A", "l", "unassign"),
            ),
            faults=("late", "catching-up", "windows"),
            choices={
                "clock": [0, 3],
                "moves": [0, 1, 1, 0, 0, 0, 0, 0, 4, 0, 1, 0, 2, 0, 0, 1, 1, 0, 1, 1],
                "plan": [2],
                "sync": [2, 2, 0, 2, 0, 0, 0, 2],
                "window": [0, 0, 5, 1, 5, 0, 1, 4, 1],
            },
        ),
    ),
    "joins-over-what-is-pruned": (
        Holds.SETTLED,
        Script(
            items=(
                Item(0, 8 * U, "A", "c", "assign"),
                Item(0, 12 * U, "A", "a", "assign"),
            ),
            faults=("pruned",),
            choices={
                "moves": [5, 1, 1],
                "prune": [0, 0, 0, 1],
            },
        ),
    ),
    "first-shown-is-the-beginning": (Holds.BEGINS, draw(0, MUTANTS["first-shown-is-the-beginning"].among)),
    "newest-of-each": (Holds.WHOLE, draw(137, MUTANTS["newest-of-each"].among)),
    "begins-where-it-began": (Holds.NO_ALARM, draw(1, MUTANTS["begins-where-it-began"].among)),
    "pruned-is-a-fork": (Holds.LIVE, draw(18, MUTANTS["pruned-is-a-fork"].among)),
    "forks-are-pruned": (Holds.FORKS, draw(4, MUTANTS["forks-are-pruned"].among)),
    "anybody-is-asked": (Holds.LIVE, draw(133, MUTANTS["anybody-is-asked"].among)),
    "known-by-its-updates-alone": (Holds.LIVE, draw(20, MUTANTS["known-by-its-updates-alone"].among)),
}


@pytest.mark.long(quick=10)
@pytest.mark.parametrize("name", FOUND_BY)
def test_the_simulation_finds(name):
    breaks, script = FOUND_BY[name]
    well = failing(run(script))

    with MUTANTS[name].applied():
        broken = failing(run(script))

    assert not well
    assert breaks in broken


def test_every_mutant_has_its_history():
    assert set(FOUND_BY) == set(MUTANTS)
