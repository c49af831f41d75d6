"""One conversation with a sandbox of each release."""

import pytest

from ledgerframes.sandbox.server import start
from tests.official.conversations import conversation, short_conversation


@pytest.fixture(scope="session")
def turns():
    """What goes over the wire with the releases that the sandbox has."""
    with start(seed=7, updates=80) as sandbox:
        found = conversation(sandbox)
        for options in ({"release": "0.9"}, {"release": "0.5"}):
            with sandbox.replica(**options) as release:
                found += short_conversation(release)
    return found
