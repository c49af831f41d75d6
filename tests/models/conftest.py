"""Histories that several files compute from; read only."""

import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.economics.books import Books


@pytest.fixture(scope="session")
def history(net):
    """The whole history of the embedded ledger."""
    return lf.load_history(net, start="begin", as_="arrow", progress=False)


@pytest.fixture(scope="module")
def tables(history):
    """The history of a file, for several tables."""
    with together(history) as inputs:
        yield inputs


@pytest.fixture(scope="module")
def books(history):
    """The books of the history of a file, from its raw items."""
    return Books(lf.rebuild_items(history))
