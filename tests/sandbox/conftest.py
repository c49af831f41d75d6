"""Worlds and a server that several files look at; read only."""

import pytest

from ledgerframes.sandbox.server import start
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
def economy_books(economy_items):
    """What they say."""
    return Books(economy_items)
