"""Simulated histories whose servers have objects: every invariant holds, and objects give a good part of the pages."""

import os

import pytest

from ledgerframes.objects.page_source import ObjectIndex
from tests.simulation.choices import Choices
from tests.simulation.clock import SimClock
from tests.simulation.faults import ALL, OBJECT_FAULTS, Holds, holding
from tests.simulation.history import run
from tests.simulation.net import SimScan
from tests.simulation.objects import Bulk
from tests.simulation.script import Script, draw
from tests.simulation.scripts import literal
from tests.simulation.servers import Fleet, Server
from tests.simulation.storage import Disk
from tests.simulation.world import BASE, Item, U

#: More of them: `python -m tests.simulation --objects`.
SEEDS = int(os.environ.get("SIMULATED_HISTORIES", "200")) * 3 // 20
A_TEST = 10


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("first", range(0, SEEDS, A_TEST))
def test_no_history_with_objects_loses_repeats_or_tears_anything(first):
    for seed in range(first, first + A_TEST):
        outcome = run(draw(seed, objects=True))
        assert not outcome.problems, f"seed {seed}: {outcome.problems[0]}\n{literal(outcome.script)}"


def test_a_history_with_objects_is_the_same_from_its_seed_and_from_its_script():
    first, again = run(draw(4, objects=True)), run(draw(4, objects=True))
    scripted = run(first.script)

    assert again.log == first.log == scripted.log
    assert again.script == first.script == scripted.script


def test_what_a_damaged_object_cuts_short_is_not_continued_by_the_items_that_a_pruned_server_has_left():
    outcome = run(draw(8300467, objects=True))
    assert {"pruned", "damaged-objects"} <= set(outcome.script.faults)
    assert not outcome.problems, literal(outcome.script)


def test_objects_give_pages(monkeypatch):
    given = []
    page = ObjectIndex.page
    monkeypatch.setattr(ObjectIndex, "page", lambda *asked: given.append(found := page(*asked)) or found)
    items = tuple(Item(0, number * U // 2, "A", name) for number, name in enumerate("abcdefgh", 1))
    outcome = run(Script((*items, Item(0, 20 * U, "A", "z")), choices={"moves": [9] + [1] * 9}, objects=True))

    assert not outcome.problems
    assert sum(one is not None for one in given) > 4


def test_all_pages_of_a_list_come_from_one_server():
    """Each writes objects of its own, and a token means something to the server that gave it."""
    items = tuple(Item(0, number * U, "A", name) for number, name in enumerate("abcdefghij", 1))
    faults, choices = frozenset({"busy-objects"}), Choices(None, {"list": [0, 1]})
    fleet = Fleet([Server(f"https://scan{number}", items) for number in range(2)], faults, choices)
    for server in fleet.servers:
        server.bulk = Bulk(faults, choices, length=U)
        server.show_all()
    scan = SimScan(fleet, fleet.servers, Disk(), clock=SimClock(BASE), faults=faults, choices=choices)
    lists = list(scan.object_lists(after="2000-01-01", up_to="2100-01-01"))

    assert len(lists) > 2
    assert {answer.server for answer in lists} == {"https://scan0"}
    assert scan.stats.retries == 1


def test_every_fault_of_objects_occurs_but_the_one_that_breaks_an_assumption():
    drawn = {name for seed in range(300) for name in draw(seed, objects=True).faults}

    assert drawn & set(OBJECT_FAULTS) == {name for name, fault in OBJECT_FAULTS.items() if not fault.breaks}
    assert all(bool(fault.breaks) == (fault.holds != ALL) for fault in OBJECT_FAULTS.values())
    assert holding(["kill", "objects-lag"]) == ALL


def test_ties_that_a_writer_left_out_of_an_object_are_lost():
    """The limit of objects: nothing in them shows it, and a sync does not ask for pages of the same part."""
    items = (
        Item(0, 1 * U, "A", "a"),
        Item(0, 2 * U, "A", "b"),
        Item(0, 2 * U, "B", "c"),
        Item(0, 3 * U, "A", "d"),
        Item(0, 4 * U, "A", "e"),
        Item(0, 20 * U, "A", "z"),
    )
    script = Script(items, faults=("ties-missing-in-an-object",), choices={"moves": [6] + [1] * 6}, objects=True)
    outcome = run(script)
    whole = run(Script(items, choices=script.choices, objects=True))

    assert not outcome.problems
    assert Holds.SETTLED in {problem.holds for problem in outcome.excused}
    assert [*whole.problems, *whole.excused] == []
