"""Worlds and a server that several files look at; read only."""

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.calendar import updates_of_days
from tests.economics.books import Books
from tests.sandbox.commanding import Desk


@pytest.fixture(scope="session")
def sandbox(net):
    """The server of `net`; files that change theirs start one of their own."""
    return net.sandbox


@pytest.fixture(scope="session")
def items(sandbox):
    """The items of its ledger, those that a scan does not show too."""
    return list(sandbox.world.items(private=True))


@pytest.fixture(scope="session")
def net_books(items):
    """What they say."""
    return Books(items)


@pytest.fixture(scope="session")
def desk():
    """Where commands are submitted to a sandbox that they change."""
    with start(seed=7, updates=800) as running:
        yield Desk(running)


@pytest.fixture(scope="session")
def economy_items(economy):
    """The items of the economy, those that a scan does not show too."""
    return list(economy.items(private=True))


@pytest.fixture(scope="session")
def day():
    """A day with a round every ten minutes, in whose middle apps change to the second version of rewards."""
    return generate(5, updates_of_days(1), days=1, reward_version="switch")


@pytest.fixture(scope="session")
def day_items(day):
    """The items of that day, those that a scan does not show too."""
    return list(day.items(private=True))


@pytest.fixture(scope="session")
def day_books(day_items):
    """What they say."""
    return Books(day_items)
