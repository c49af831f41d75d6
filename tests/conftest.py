"""Networks that many tests read."""

import pytest

import ledgerframes as lf
from tests.replay import captures as captures  # noqa: PLC0414 - a fixture


@pytest.fixture(scope="session")
def net():
    """The embedded ledger, two thousand updates; read only."""
    with lf.sandbox(seed=7, updates=2000) as network:
        yield network


@pytest.fixture(scope="session")
def truth(net):
    """Its items, in the server's order."""
    return list(net.sandbox.world.items())
