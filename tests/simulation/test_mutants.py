"""For each mutant a history that finds it, and that is well without it. Others: make mutants."""

import pytest

from tests.simulation.faults import Holds
from tests.simulation.history import run
from tests.simulation.mutants import MUTANTS
from tests.simulation.script import draw, told
from tests.simulation.scripts import failing
from tests.simulation.test_scripts import SCRIPTS

#: Six updates in one segment of objects, and one far behind it.
SIX = "a 0/1U A, b 0/2U A, c 0/3U A, d 0/4U A, e 0/4U+1 A, f 0/4U+2 A, w 0/20U A"
#: By mutant, what its history breaks, and the history.
FOUND_BY = {
    "proof-of-anybody": (
        Holds.NO_ALARM,
        told(
            "b 0/5U C unassign, g 0/8U C exercise, k 0/12U B unassign",
            "lagging",
            "moves 412101111211, plan 2",
            servers=3,
        ),
    ),
    "no-settle": (Holds.LIVE, SCRIPTS["late-updates-of-the-same-migration-fill-the-first-page"]),
    "proof-after-the-read": (
        Holds.SETTLED,
        told("a 0/1U A, b 0/4U B, c 0/5U A, d 0/6U A, z 0/12U A", "late catching-up", "moves 311111000011, sync 02"),
    ),
    "any-later-item-closes": (Holds.SETTLED, SCRIPTS["a-server-that-is-behind-while-migrations-overlap"]),
    "closes-when-covered": (Holds.SETTLED, told("w 0/5U A, y 0/6U B, x 0/7U A, f 1/3U A", "late", "moves 310111")),
    "by-time": (Holds.ONCE, SCRIPTS["a-late-update-before-what-a-shard-had-shown-first"]),
    "any-missing-id-is-a-fork": (Holds.LIVE, SCRIPTS["rejects-that-are-settled"]),
    "late-below-settled": (Holds.LIVE, SCRIPTS["rejects-that-are-settled"]),
    "any-network": (
        Holds.MIXED,
        told("i 0/12U A unassign", "other-network", "", servers=2, branch="nf 0/7U nA unassign"),
    ),
    "every-network-is-recognised": (Holds.MIXED, draw(7, MUTANTS["every-network-is-recognised"].among)),
    "rows-before-coverage": (Holds.ONCE, SCRIPTS["a-kill-between-two-tables-and-a-late-item"]),
    "rejects-repeat": (Holds.ONCE, told("b 0/6U A broken, a 0/6U C", "", "moves 11")),
    "proof-of-a-clock": (Holds.SETTLED, SCRIPTS["a-server-that-is-behind-while-migrations-overlap"]),
    "no-microsecond": (
        Holds.NO_ALARM,
        told(
            "j 0/1U A unassign, g 0/1U B unassign, f 0/4U A exercise",
            "late edge lagging servers-change",
            "moves 61001011101111111, servers 11",
            servers=2,
        ),
    ),
    "closes-without-the-day": (Holds.SETTLED, told("a 0/1U A, x 0/7U A, f 1/3U A, g 1/7U A", "late", "moves 310111")),
    "never-compared": (Holds.ONCE, SCRIPTS["a-server-that-is-behind-while-migrations-overlap"]),
    "network-by-its-first-id": (Holds.LIVE, SCRIPTS["a-first-update-that-is-late"]),
    "covered-is-final": (Holds.SETTLED, SCRIPTS["a-late-update-that-a-look-at-an-earlier-migration-shows"]),
    "nothing-restored": (Holds.ONCE, SCRIPTS["a-kill-between-two-tables-and-a-late-item"]),
    "coverage-first": (Holds.SETTLED, SCRIPTS["a-kill-between-two-tables-and-a-late-item"]),
    "ties-cut": (Holds.SETTLED, told("e 0/1U A, n 0/6U A, c 0/6U C, b 0/12U A")),
    "an-empty-page-proves": (Holds.SETTLED, SCRIPTS["windows-beside-what-is-settled"]),
    "forks-are-merged": (Holds.FORKS, SCRIPTS["a-fork-that-is-proven-by-another-migration"]),
    "numbers-fall": (Holds.RISING, SCRIPTS["rejects-that-are-settled"]),
    "objects-to-their-end": (
        Holds.SETTLED,
        told(
            "a 0/1U A, b 0/2U A, c 0/3U A, x 0/7U B, y 0/7U+1 A, z 0/8U A, v 0/9U A, w 0/20U A",
            "late",
            "moves 811111111111",
            objects=True,
        ),
    ),
    "objects-end-the-history": (Holds.REACHED, told(SIX, "", "moves 71111111", objects=True)),
    "objects-of-anybody": (Holds.MIXED, SCRIPTS["objects-of-a-server-that-is-left-out"]),
    "objects-reach-anywhere": (Holds.SETTLED, SCRIPTS["objects-by-time-end-before-an-overlap-does"]),
    "any-digest": (
        Holds.SETTLED,
        told(SIX, "damaged-objects", "moves 71111111, object-damage 2, objects 001", objects=True),
    ),
    "lacking-rows-become-final": (Holds.FORKS, draw(980, MUTANTS["lacking-rows-become-final"].among)),
    "lagging-for-ever": (Holds.FORKS, SCRIPTS["a-fork-that-is-proven-by-another-migration"]),
    "open-ends": (Holds.QUIET, SCRIPTS["the-end-of-a-migration-before-what-settles-it"]),
    "as-of-now": (Holds.FRAMES, told("i 1/8U A", "", "frames 1")),
    "coverage-joins-anywhere": (
        Holds.SETTLED,
        told(
            "a 0/1U A, c 0/4U A, b 0/5U B, e 0/7U A, z 0/12U A",
            "late windows",
            "moves 3110112, plan 1, window 241160",
        ),
    ),
    "joins-over-what-is-pruned": (
        Holds.SETTLED,
        told("c 0/8U A assign, a 0/12U A assign", "pruned", "moves 511, prune 0001"),
    ),
    "first-shown-is-the-beginning": (Holds.BEGINS, draw(0, MUTANTS["first-shown-is-the-beginning"].among)),
    "newest-of-each": (Holds.WHOLE, draw(137, MUTANTS["newest-of-each"].among)),
    "begins-where-it-began": (Holds.SETTLED, draw(1, MUTANTS["begins-where-it-began"].among)),
    "pruned-is-a-fork": (Holds.LIVE, draw(36, MUTANTS["pruned-is-a-fork"].among)),
    "forks-are-pruned": (Holds.FORKS, draw(4, MUTANTS["forks-are-pruned"].among)),
    "anybody-is-asked": (Holds.LIVE, draw(117, MUTANTS["anybody-is-asked"].among)),
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
