"""Histories to analyse, and the books of their items, which are another way of working things out."""

import pytest

import ledgerframes as lf
from tests.economics.books import Books
from tests.rigs.servers import simulated
from tests.store.conftest import BEGIN

#: In addition to that of `net`.
WORLDS = {
    "hostile": {"seed": 3, "updates": 600, "hostile": True},
    "ten thousand contracts": {"seed": 21, "updates": 7000},
}


class Served:
    """A sandbox, its whole history, its items and their books."""

    def __init__(self, net):
        self.net = net
        self.history = lf.load_history(net, start=BEGIN, decimals="exact")
        self.books = Books(lf.rebuild_items(self.history))


@pytest.fixture(scope="session")
def normal(net):
    return Served(net)


@pytest.fixture(scope="session", params=["normal", *WORLDS])
def served(request):
    if request.param == "normal":
        yield request.getfixturevalue("normal")
    else:
        with simulated(**WORLDS[request.param]) as net:
            yield Served(net)
