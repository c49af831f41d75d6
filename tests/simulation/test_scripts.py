"""Histories that once lost, repeated or tore rows, or raised a false alarm, shrunk by `python -m tests.simulation`."""

import pytest

from tests.simulation.history import Script, run
from tests.simulation.world import Item, U

SCRIPTS = {
    # Any item of a later migration was taken for proof that the earlier range was complete; a clock closed it.
    "a-server-that-is-behind-while-migrations-overlap": Script(
        items=(Item(1, 1 * U, "A", "j"), Item(1, 8 * U, "A", "k"), Item(2, 7 * U, "A", "l")),
        choices={"clock": [3], "moves": [2, 1, 1]},
    ),
    # What a table was ahead by was skipped by its time; late items lie anywhere in it.
    "a-kill-between-two-tables-and-a-late-item": Script(
        items=(Item(1, 6 * U, "A", "g"), Item(1, 8 * U, "C", "d"), Item(1, 10 * U, "A", "b")),
        servers=2,
        faults=("late", "lagging", "kill"),
        choices={
            "clock": [2],
            "kill-after": [0, 0, 0, 0, 0, 0, 1],
            "kill-before": [1],
            "moves": [2, 1, 0, 0, 1, 0, 1],
            "plan": [1],
        },
    ),
    # Settling counted from the wall clock, and the first update appeared late: the store refused its own network.
    "a-first-update-that-is-late": Script(
        items=(Item(1, 8 * U, "C", "d"), Item(1, 10 * U, "A", "b")),
        servers=2,
        faults=("late", "lagging"),
        choices={"clock": [3], "moves": [2, 1, 0, 1]},
    ),
    "a-first-update-tied-with-a-late-one-and-a-kill": Script(
        items=(Item(1, 4 * U, "A", "o"), Item(1, 4 * U, "B", "c")),
        faults=("kill",),
        choices={"clock": [2], "kill-before": [0, 1], "moves": [1, 1]},
    ),
    # What 0.1 claimed was believed.
    "a-lake-of-0.1-with-a-row-missing": Script(
        items=(Item(1, 3 * U, "A", "e"), Item(1, 4 * U, "A", "f")),
        faults=("old-lake",),
        choices={"moves": [1, 1], "old": [1]},
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_lost_by(name):
    outcome = run(SCRIPTS[name])

    assert not outcome.problems, "\n".join([*outcome.log, *(problem.text for problem in outcome.problems)])
