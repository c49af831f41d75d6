"""Histories that several files compute from; read only."""

import json

import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from ledgerframes.sandbox.generator.generate import generate
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


@pytest.fixture(scope="session")
def three_days():
    """The books of another three days, from their raw items."""
    return Books(json.loads(one.rendered) for one in generate(4, 5_000).updates)
