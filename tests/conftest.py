"""Networks that many tests read, and how Hypothesis runs."""

import pytest
from hypothesis import settings

import ledgerframes as lf
from tests.replay import captures as captures  # noqa: PLC0414 - a fixture

# An example takes as long as a busy machine lets it; its default deadline is 0.2 s of wall time.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(scope="session")
def net():
    """The embedded ledger, two thousand updates; read only."""
    with lf.sandbox(seed=7, updates=2000) as network:
        yield network


@pytest.fixture(scope="session")
def truth(net):
    """Its items, in the server's order."""
    return list(net.sandbox.world.items())
