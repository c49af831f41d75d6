"""What only histories with objects show: objects give a good part of the pages, and their limits are known."""

import pytest

from ledgerframes.objects.page_source import ObjectIndex
from tests.simulation.choices import Choices
from tests.simulation.clock import SimClock
from tests.simulation.faults import Holds
from tests.simulation.history import run
from tests.simulation.net import SimScan
from tests.simulation.objects import Bulk
from tests.simulation.script import draw, told
from tests.simulation.scripts import literal
from tests.simulation.servers import Fleet, Server
from tests.simulation.storage import Disk
from tests.simulation.world import BASE, Item, U

SEEDS = {
    "an-object-out-of-order-whose-first-item-ends-a-page": 501209,
    "a-damaged-object-cut-short-before-what-a-pruned-server-has-left": 8300467,
    "servers-whose-first-pages-have-nothing-in-common": 9100195,
    "a-group-that-one-server-ends-with-and-another-has-pruned": 7700723,
}


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_nothing_is_lost_by(seed):
    outcome = run(draw(seed, objects=True))
    assert not outcome.problems, literal(outcome.script)


def test_objects_give_pages(monkeypatch):
    given = []
    page = ObjectIndex.page
    monkeypatch.setattr(ObjectIndex, "page", lambda *asked: given.append(found := page(*asked)) or found)
    items = "a 0/1U A, b 0/1U+1 A, c 0/2U A, d 0/2U+1 A, e 0/3U A, f 0/3U+1 A, g 0/4U A, h 0/4U+1 A, z 0/20U A"
    outcome = run(told(items, "", "moves 9111111111", objects=True))

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


def test_a_tie_that_only_objects_have_may_be_larger_than_the_pages_of_a_scan(monkeypatch):
    def pruned(self):
        self.bulk.write(set(self.items), all_of_it=True)
        self.maximum, self.ever, self.shown = 2, set(self.items), set(self.items)
        self.prune(2)

    items = "c 0/1U A, v 0/1U B, w 0/1U C, s 0/3U A, t 0/4U A, l 0/8U A, f 0/18U A"
    monkeypatch.setattr(Server, "show_all", pruned)
    outcome = run(told(items, "pruned", "", objects=True))

    assert not outcome.problems
    assert any("covered migration 0 after 2026-01-30T17:59:59.999999Z" in line for line in outcome.log)


def test_ties_that_a_writer_left_out_of_an_object_are_lost():
    """The limit of objects: nothing in them shows it, and a sync does not ask for pages of the same part."""
    items = "a 0/1U A, b 0/2U A, c 0/2U B, d 0/3U A, e 0/4U A, z 0/20U A"
    outcome = run(told(items, "ties-missing-in-an-object", "moves 6111111", objects=True))
    whole = run(told(items, "", "moves 6111111", objects=True))

    assert not outcome.problems
    assert Holds.SETTLED in {problem.holds for problem in outcome.excused}
    assert [*whole.problems, *whole.excused] == []
