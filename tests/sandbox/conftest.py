"""Worlds and a server that several files look at; read only."""

import pytest

from ledgerframes.sandbox.generator.generate import generate


@pytest.fixture(scope="session")
def sandbox(net):
    """The server of `net`; files that change theirs start one of their own."""
    return net.sandbox


@pytest.fixture(scope="session")
def economy():
    """Some days of a ledger with everything that its economy knows."""
    return generate(11, 9_000)
