"""Decoding is tested twice: by the compiled decoder, and by the Python path that defines what is right."""

import pytest

from ledgerframes.decoding.pages import VARIABLE, choice


@pytest.fixture(params=["compiled", "python"])
def decoder(request, monkeypatch):
    """The decoder that the test runs with."""
    if request.param == "compiled" and choice().name != "compiled":
        pytest.skip(f"there is no compiled decoder: {choice().why}")
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param
